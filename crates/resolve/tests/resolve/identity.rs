//! Which file a call acted on, whatever its names.
#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use crate::script::{CWD, ENOENT, Script, fd, hint, path, symbols, value};
use iotrail_model::raw::{Arg, RawItem, Return, Target};
use iotrail_model::{FileFacts, FileKind, Tid};

const CREATE: &str = "O_WRONLY|O_CREAT|O_TRUNC";

/// The files of the events, by the calls' names.
fn files(script: &Script, call: &str) -> Vec<Option<u32>> {
    script.events().iter().filter(|event| event.call == call).map(|event| event.file).collect()
}

fn link(script: Script, old: &str, new: &str) -> Script {
    script.call("link", &[path(old), path(new)], value(0))
}

fn symlink(script: Script, target: &str, name: &str) -> Script {
    script.call("symlink", &[path(target), path(name)], value(0))
}

fn rename(script: Script, old: &str, new: &str) -> Script {
    script.call("rename", &[path(old), path(new)], value(0))
}

fn unlink(script: Script, name: &str) -> Script {
    script.call("unlink", &[path(name)], value(0))
}

fn behind(script: Script, number: i32, inode: u64, birth: Option<i64>) -> Script {
    let facts = FileFacts { device: 8, inode, size: None, kind: Some(FileKind::File), birth };
    script.item(&RawItem::FileInfo { tid: Tid(100), fd: number, facts })
}

#[test]
fn a_file_keeps_its_number_under_every_name_and_descriptor() {
    let script = Script::new().open_with("/a", CREATE, 3).write(3, 5);
    let script = link(script, "/a", "/b").open("/b", 4).read(4, 5).dup2(4, 5).read(5, 0);
    let script = rename(script, "/a", "/c").write(3, 1).open("/c", 6).read(6, 6);
    assert!(script.events().iter().all(|event| event.file == Some(0)), "{:?}", script.events());
    let renamed = script.events().iter().find(|event| event.call == "rename").unwrap();
    assert_eq!((renamed.file, renamed.file2), (Some(0), Some(0)));
}

#[test]
fn what_is_made_anew_under_a_name_is_another_file() {
    let script = Script::new().open_with("/a", CREATE, 3).write(3, 5);
    let script = unlink(script, "/a").write(3, 5).open_with("/a", CREATE, 4).write(4, 1).write(3, 1);
    assert_eq!(files(&script, "write"), [Some(0), Some(0), Some(1), Some(0)]);
    assert_eq!(files(&script, "unlink"), [Some(0)]);
    let script = script.open_with("/a", "O_RDWR|O_CREAT", 5).open_with("/a", "O_RDWR|O_CREAT|O_EXCL", 6);
    assert_eq!(files(&script, "openat"), [Some(0), Some(1), Some(1), Some(2)]);
}

#[test]
fn a_rename_replaces_what_was_there() {
    let script = Script::new().open("/old", 3).open_with("/tmp", CREATE, 4);
    let script = rename(script, "/tmp", "/old").open("/old", 5).read(3, 1).read(5, 1);
    assert_eq!(files(&script, "read"), [Some(0), Some(1)]);
    let script = link(script, "/old", "/twin");
    let script = rename(script, "/twin", "/old").open("/twin", 6);
    assert_eq!(script.last().file, Some(1), "two names of one file both stay");
}

#[test]
fn exchanged_names_exchange_files() {
    let script = Script::new().open("/a", 3).open("/b", 4);
    let args = [CWD, path("/a"), CWD, path("/b"), symbols("RENAME_EXCHANGE")];
    let script = script.call("renameat2", &args, value(0));
    assert_eq!((script.last().file, script.last().file2), (Some(0), Some(1)));
    assert_eq!((script.is_gone("/a", 0), script.is_gone("/b", 0)), (Some(true), Some(false)));
    assert_eq!((script.is_gone("/b", 1), script.is_gone("/a", 1)), (Some(true), Some(false)));
    let script = script.open("/a", 5).open("/b", 6);
    assert_eq!(files(&script, "openat"), [Some(0), Some(1), Some(1), Some(0)]);
}

#[test]
fn a_rename_may_leave_a_device_behind() {
    let script = Script::new().of_trace().open_with("/a", CREATE, 3);
    let args = [CWD, path("/a"), CWD, path("/b"), symbols("RENAME_NOREPLACE|RENAME_WHITEOUT")];
    let script = script.call("renameat2", &args, value(0));
    let look = |script: Script, name| script.call("lstat", &[path(name), Arg::Opaque], value(0));
    assert_eq!((script.last().file, script.is_gone("/a", 0)), (Some(0), Some(true)));
    let script = look(look(script, "/b"), "/a");
    assert_eq!(files(&script, "lstat"), [Some(0), Some(1)]);
    let args = [CWD, path("/b"), CWD, path("/a"), symbols("RENAME_NOREPLACE")];
    let script = script.call("renameat2", &args, Return::Failed(b"EEXIST"));
    assert_eq!(look(script, "/b").last().file, Some(0), "a call that failed renames nothing");
}

/// The second argument is shown where the first is from now on.
fn mount(script: Script, target: &str, source: &str, flags: &str) -> Script {
    script.call("mount", &[path(source), path(target), Arg::Null, symbols(flags), Arg::Null], value(0))
}

#[test]
fn names_below_a_bind_mount_are_those_of_what_is_mounted() {
    let script = mkdir(mkdir(Script::new().of_trace(), "/w/src"), "/w/mnt");
    let script = script.open_with("/w/mnt/b", CREATE, 3).chdir("/w");
    let script = mount(script, "mnt", "src", "MS_BIND");
    assert_eq!((script.path(), script.path2()), (Some("/w/mnt"), Some("/w/src")));
    let script = script.open_with("/w/mnt/b", CREATE, 4).open("/w/src/b", 5).open("mnt/../src/b", 6);
    assert_eq!(files(&script, "openat"), [Some(2), Some(4), Some(4), Some(4)]);
    let script = unlink(script, "/w/mnt/b");
    assert_eq!(script.last().file, Some(4));
    let script =
        script.open_with("/w/src/c", CREATE, 7).call("umount2", &[path("mnt"), Arg::Int(0)], value(0));
    let script = script.open("/w/mnt/b", 8).open("/w/mnt/c", 9).open("/w/src/c", 10);
    assert_eq!(files(&script, "openat")[4..], [Some(5), Some(2), Some(6), Some(5)]);
    assert_eq!(script.summary().unclear_mounts, 0);
}

#[test]
fn what_is_mounted_hides_what_was_there_from_those_who_see_it() {
    let script = mkdir(Script::new().of_trace(), "/m").open_with("/m/a", CREATE, 3);
    let script = script.call("unshare", &[symbols("CLONE_NEWNS")], value(0));
    let script = mount(script, "/", "none", "MS_REC|MS_PRIVATE");
    let script = mount(script, "/m", "tmpfs", "MS_NOSUID").open_with("/m/a", "O_RDWR|O_CREAT", 4);
    assert_eq!(script.last().file, Some(3), "the root has a number, too");
    let script = script.fork(101).by(101).open("/m/a", 4);
    assert_eq!(script.last().file, Some(3), "a child sees what its parent sees");
    let script = script.by(200).open("/m/a", 3);
    assert_eq!(script.last().file, Some(1), "in another namespace nothing was mounted");
    let script = mount(script.by(100), "/n", "/m", "MS_MOVE").open("/m/a", 5).open("/n/a", 6);
    assert_eq!(files(&script, "openat")[4..], [Some(1), Some(3)]);
    assert_eq!(script.summary().unclear_mounts, 0);
    let script = script.call("umount", &[path("/unseen")], value(0));
    assert_eq!(script.summary().unclear_mounts, 1);
}

#[test]
fn who_is_in_a_directory_when_something_is_mounted_over_it_stays_there() {
    let directory = "O_RDONLY|O_DIRECTORY";
    let made = mkdir(mkdir(Script::new().of_trace(), "/w/A"), "/w/B");
    let made = made.open_with("/w/A/x", CREATE, 3).open_with("/w/B/x", CREATE, 4);
    let script = mount(made.open_with("/w/A", directory, 5).chdir("/w/A"), "/w/A", "/w/B", "MS_BIND");
    let script = script.open("x", 6).open("../A/x", 7).open("/w/A/x", 8).open_with("new", CREATE, 9);
    let at = |script: Script| script.call("openat", &[fd(5), path("x"), symbols("O_RDWR")], value(10));
    let script = rename(at(script), "x", "y").open("y", 11).open("/w/A/new", 12);
    let script = script.call("umount2", &[path("/w/A"), symbols("MNT_DETACH")], value(0));
    let script = script.open("/w/A/y", 13).open("/w/A/new", 14).open("/w/B/x", 15);
    let files: Vec<_> = files(&script, "openat").into_iter().flatten().collect();
    let [a, b, new] = [files[0], files[1], files[6]];
    assert_eq!(files, [a, b, files[2], a, b, b, new, a, a, files[9], a, new, b], "{:?}", script.events());
    assert_eq!([a == b, new == a, files[9] == new], [false; 3]);
}

#[test]
fn the_way_up_from_a_directory_leads_to_what_was_mounted_over_those_above() {
    let made = mkdir(mkdir(Script::new().of_trace(), "/w/d"), "/w/d/e");
    let made = made.open_with("/w/d/e/b", CREATE, 3).open_with("/w/d/b", CREATE, 4).chdir("/w/d/e");
    let script = mount(made, "/w/d", "/w/d/e", "MS_BIND").open("../b", 5).open("b", 6).open("../../d/b", 7);
    let files = files(&script, "openat");
    assert_eq!(files[2..], [files[0]; 3]);
}

#[test]
fn a_root_that_is_a_bind_mount_has_nothing_above_it() {
    let made = mkdir(mkdir(mkdir(Script::new().of_trace(), "/w/J"), "/w/J/s"), "/w/D");
    let made = made.open_with("/w/J/y", CREATE, 3).open_with("/w/y", CREATE, 4);
    let script = mount(made, "/w/D", "/w/J", "MS_BIND").call("chroot", &[path("/w/D")], value(0));
    let script = script.chdir("/").open("../y", 5).open("../../y", 6).open("s/../../y", 7).chdir("s");
    let script = script.open("../../y", 8).open("/y", 9).chdir("..").open("y", 10);
    let files = files(&script, "openat");
    assert_eq!(files[2..], [files[0]; 6], "{:?}", script.events());
    assert_eq!(script.path(), Some("/w/D/y"));
}

#[test]
fn files_move_with_their_directory() {
    let script = Script::new().call("mkdir", &[path("/d"), Arg::Int(0o777)], value(0));
    let script = script.open_with("/d/x/a", CREATE, 3);
    let script = rename(script, "/d", "/e").open("/e/x/a", 4);
    assert_eq!(files(&script, "openat"), [Some(1), Some(1)]);
    assert_eq!(script.open_with("/d/x/a", CREATE, 5).last().file, Some(2));
}

#[test]
fn reading_through_a_link_reads_its_target_and_names_the_link() {
    let script = Script::new().open_with("/w/1/out", CREATE, 3);
    let script = symlink(script, "../1/out", "/w/2/in");
    assert_eq!((script.last().file, script.last().file2), (Some(1), Some(0)));
    let script = script.open("/w/2/in", 4);
    let seen = script.last();
    assert_eq!((seen.file, seen.file2, seen.path2.as_deref()), (Some(0), Some(1), Some("/w/2/in")));
    assert_eq!(seen.path.as_deref(), Some("/w/1/out"));
    let script = script.call("lstat", &[path("/w/2/in"), Arg::Opaque], value(0));
    assert_eq!((script.last().file, script.last().file2), (Some(1), None));
    let script = symlink(script, "/w/1", "/w/dir").call("stat", &[path("/w/dir/out"), Arg::Opaque], value(0));
    assert_eq!((script.last().file, script.path2()), (Some(0), Some("/w/dir")));
    let shown = Return::Value(5, Some(Target { name: b"/w/1/out", deleted: false }));
    let script = script.call("openat", &[CWD, path("/w/2/in"), symbols("O_RDONLY")], shown);
    assert_eq!((script.path(), script.path2()), (Some("/w/1/out"), Some("/w/2/in")));
    assert_eq!((script.last().file, script.last().file2), (Some(0), Some(1)));
    let script = unlink(script, "/w/2/in");
    assert_eq!(script.last().file, Some(1));
    let script = script.open_with("/w/2/in", CREATE, 6);
    assert_eq!((script.last().file, script.path2()), (Some(3), None));
}

#[test]
fn descriptors_by_their_links_in_proc_are_the_same_file() {
    let script = Script::new().open_with("/a", CREATE, 3);
    let script = unlink(script, "/a").open("/proc/self/fd/3", 4).read(4, 1);
    assert_eq!(script.last().file, Some(0));
    let shown = Return::Value(7, Some(Target { name: b"/a", deleted: true }));
    let script = script.call("openat", &[CWD, path("/dev/fd/3"), symbols("O_RDONLY")], shown);
    assert_eq!(script.last().file, Some(0));
    let flags = symbols("AT_SYMLINK_FOLLOW");
    let script = script.call("linkat", &[CWD, path("/proc/self/fd/3"), CWD, path("/b"), flags], value(0));
    assert_eq!(script.open("/b", 5).last().file, Some(0));
}

#[test]
fn what_a_link_of_the_kernel_leads_to_is_called_what_it_is_by_now() {
    for make in [Script::new(), Script::new().of_trace()] {
        let script = mkdir(mkdir(make.chdir("/"), "/w"), "/w/d").open_with("/w/d/x", CREATE, 3);
        let script = rename(script, "/w/d", "/w/e");
        let flags = symbols("AT_SYMLINK_FOLLOW");
        let script = script.call("linkat", &[CWD, path("/proc/self/fd/3"), CWD, path("/y"), flags], value(0));
        assert_eq!((script.path(), script.path2()), (Some("/w/e/x"), Some("/y")));
    }
}

#[test]
fn files_without_a_name_have_a_number_and_may_get_a_name() {
    let script =
        Script::new().open_with("/tmp", "O_RDWR|O_TMPFILE", 3).open_with("/tmp", "O_RDWR|O_TMPFILE", 4);
    let script =
        script.call("linkat", &[fd(4), path(""), CWD, path("/b"), symbols("AT_EMPTY_PATH")], value(0));
    assert_eq!(files(&script, "linkat"), [Some(1)]);
    assert_eq!(script.open("/b", 5).last().file, Some(1));
    let memory = Script::new()
        .call("memfd_create", &[path("m"), Arg::Int(0)], value(3))
        .call("memfd_create", &[path("m"), Arg::Int(0)], value(4))
        .write(3, 1)
        .write(4, 1);
    assert_eq!(files(&memory, "write"), [Some(0), Some(1)]);
}

#[test]
fn what_was_found_is_believed_more_than_names() {
    // A hard link that was there before.
    let script = behind(Script::new().getpid(), 3, 7, Some(1)).open("/a", 3);
    let script = behind(script, 4, 7, Some(1)).open("/b", 4).read(4, 1);
    assert_eq!(script.last().file, Some(0));
    // The name was given to another file by somebody else.
    let script = behind(script, 5, 8, Some(2)).open("/a", 5).read(5, 1).read(3, 1);
    assert_eq!(files(&script, "read"), [Some(0), Some(1), Some(0)]);
    // The inode number was given again.
    let script = unlink(unlink(script, "/a"), "/b");
    let script = behind(script, 6, 7, Some(9)).open_with("/c", CREATE, 6);
    assert_eq!(script.last().file, Some(2));
    let script = behind(script, 7, 99, None).open("/n", 7);
    let script = unlink(script, "/n");
    let script = behind(script, 8, 99, None).open_with("/m", CREATE, 8);
    assert_eq!(files(&script, "openat")[4..], [Some(3), Some(4)], "no birth is known, so the names decide");
}

#[test]
fn births_are_coarse_and_inodes_are_given_again_at_once() {
    let mut script = Script::new().getpid();
    for number in 0..3 {
        script = behind(script, 3 + number, 7, Some(1)).open_with("/turn", CREATE, 3 + number);
        script = unlink(script, "/turn").write(3 + number, 1);
    }
    assert_eq!(files(&script, "write"), [Some(0), Some(1), Some(2)]);
    // Under names of which nothing was known, by an open that may have found the file there.
    let mut script = Script::new().getpid();
    for (number, name) in ["/a", "/b", "/c"].into_iter().enumerate() {
        let fd = 3 + number as i32;
        script = behind(script, fd, 7, Some(1)).open_with(name, "O_RDWR|O_CREAT", fd);
        script = unlink(script.write(fd, 1), name);
    }
    assert_eq!(files(&script, "write"), [Some(0), Some(1), Some(2)]);
}

const SECOND: i64 = 1_000_000_000;

/// Opens a name, behind which a recorder finds that inode with that birth, and writes.
fn writes(script: Script, name: &str, flags: &str, (inode, birth): (u64, i64)) -> Script {
    behind(script, 3, inode, Some(birth)).open_with(name, flags, 3).write(3, 1).close(3)
}

/// Somebody else, whom nobody traces, rotates a log.
#[test]
fn a_file_that_somebody_else_gave_another_name_is_the_same() {
    const APPEND: &str = "O_WRONLY|O_CREAT|O_APPEND";
    let rotated = |wait: i64, then: &str| {
        let script = Script::new().later(SECOND).getpid();
        let birth = script.now();
        let script = writes(script, "/log", APPEND, (7, birth)).later(wait);
        let script = writes(script, "/log", APPEND, (8, birth + wait));
        writes(script.later(wait), "/log.1", then, (7, birth))
    };
    for flags in [APPEND, "O_WRONLY"] {
        let script = rotated(SECOND, flags);
        assert_eq!(files(&script, "write"), [Some(0), Some(1), Some(0)], "{flags}");
        let script = writes(script, "/log", APPEND, (8, 2 * SECOND + 10));
        assert_eq!(script.last().file, Some(1));
    }
    // Within one tick of the clock a new file may have got the inode.
    assert_eq!(files(&rotated(1_000_000, APPEND), "write"), [Some(0), Some(1), Some(2)]);
}

#[test]
fn a_file_that_was_swapped_and_swapped_back_is_the_same() {
    let script = Script::new().later(SECOND).getpid();
    let birth = script.now();
    let script = writes(script, "/a", CREATE, (7, birth)).later(SECOND);
    let script = writes(script, "/a", "O_RDWR", (8, birth + SECOND)).later(SECOND);
    let script = writes(script, "/a", "O_RDWR", (7, birth));
    assert_eq!(files(&script, "write"), [Some(0), Some(1), Some(0)]);
    // A later file with its inode is another one, and so is what an open must have made.
    let script = writes(script, "/a", "O_RDWR", (9, birth + 3 * SECOND));
    let script = writes(script, "/b", "O_RDWR", (7, birth + 3 * SECOND));
    assert_eq!(script.last().file, Some(3));
    let script = writes(script, "/c", "O_RDWR|O_CREAT|O_EXCL", (7, birth + 3 * SECOND));
    assert_eq!(script.last().file, Some(4));
}

#[test]
fn a_file_that_was_there_for_long_is_known_after_its_last_known_name_was_removed() {
    let script = Script::new().later(SECOND).getpid();
    let birth = script.now();
    let script = unlink(writes(script, "/a", CREATE, (7, birth)).later(SECOND), "/a");
    assert_eq!(writes(script, "/link", "O_RDWR", (7, birth)).last().file, Some(0));
}

#[test]
fn where_no_birth_is_known_a_file_that_was_made_and_lost_its_name_is_not_found_again() {
    let writes = |script: Script, name: &str, inode| {
        behind(script, 3, inode, None).open_with(name, CREATE, 3).write(3, 1).close(3).later(SECOND)
    };
    let script = writes(writes(writes(Script::new().getpid(), "/a", 7), "/a", 8), "/b", 7);
    assert_eq!(files(&script, "write"), [Some(0), Some(1), Some(2)]);
}

#[test]
fn what_a_mount_hides_keeps_its_name() {
    let script = Script::new().later(SECOND).getpid();
    let birth = script.now();
    let script = writes(writes(script, "/a", CREATE, (7, birth)), "/b", CREATE, (8, birth));
    let script = writes(mount(script, "/a", "/b", "MS_BIND"), "/a", "O_RDWR", (8, birth));
    assert_eq!((script.last().file, script.is_gone("/a", 0)), (Some(1), Some(false)));
    let script = script.call("umount2", &[path("/a"), symbols("MNT_DETACH")], value(0));
    let script = writes(script, "/a", "O_RDWR", (7, birth));
    assert_eq!((script.last().file, script.is_gone("/a", 0)), (Some(0), Some(false)));
    assert_eq!((script.is_gone("/a", 1), script.is_gone("/b", 1)), (Some(true), Some(false)));
}

/// Somebody else, whom nobody traces, makes a file with the inode of one that was removed, in the same tick.
#[test]
fn what_was_made_and_removed_is_not_what_another_one_makes_at_once() {
    let reused = |flags, age: i64| {
        let script = Script::new().getpid();
        let birth = Some(script.now() - age);
        let script = behind(script, 3, 7, birth).open_with("/probe", flags, 3).write(3, 1).close(3);
        let script = unlink(script, "/probe");
        files(&behind(script, 3, 7, birth).open("/shared", 3).write(3, 1), "write")
    };
    assert_eq!(reused("O_RDWR|O_CREAT", 0), [Some(0), Some(1)]);
    assert_eq!(reused("O_RDWR|O_CREAT|O_EXCL", 1_000_000_000), [Some(0), Some(1)]);
    // What was there before may have other names.
    assert_eq!(reused("O_RDWR|O_CREAT", 1_000_000_000), [Some(0), Some(0)]);
    assert_eq!(reused("O_RDWR", 0), [Some(0), Some(0)]);
}

/// Somebody else, whom nobody traces, removed what has the name.
#[test]
fn what_an_open_must_have_made_is_a_new_file() {
    let script = Script::new().getpid();
    let birth = Some(script.now());
    let script =
        behind(script, 3, 7, birth).open_with("/lock", "O_RDWR|O_CREAT|O_EXCL", 3).write(3, 1).close(3);
    let script =
        behind(script, 3, 7, birth).open_with("/lock", "O_RDWR|O_CREAT|O_EXCL", 3).write(3, 1).close(3);
    let script = behind(script, 3, 7, birth).open("/lock", 3).write(3, 1);
    assert_eq!(files(&script, "write"), [Some(0), Some(1), Some(1)]);
}

#[test]
fn an_inode_is_given_again_before_the_call_that_freed_it_returns() {
    const CREATED: &str = "O_RDWR|O_CREAT";
    for (frees, words) in [("unlink", vec![path("/a")]), ("rename", vec![path("/x"), path("/a")])] {
        let script =
            behind(Script::new().getpid(), 3, 7, Some(1)).open_with("/a", CREATED, 3).close(3).fork(200);
        let script = script.by(200).entered(frees, &words);
        let start = script.now();
        let script = behind(script.by(100), 4, 7, Some(1)).open_with("/b", CREATED, 4).write(4, 1);
        assert_eq!(files(&script, "write"), [Some(1)], "{frees}");
        let script = script.by(200).returned(start, frees, &words, value(0)).by(100);
        let script = behind(script, 5, 7, Some(1)).open("/c", 5).write(5, 1);
        assert_eq!(
            files(&script, "write"),
            [Some(1), Some(1)],
            "who does not make it opens another name of the last"
        );
    }
}

#[test]
fn where_nothing_is_there_is_no_file() {
    let script = Script::new().call("stat", &[path("/a"), Arg::Opaque], ENOENT);
    assert_eq!(script.last().file, None);
    let script = script.open("/a", 3).call("mkdir", &[path("/a"), Arg::Int(0)], Return::Failed(b"EEXIST"));
    assert_eq!(script.last().file, Some(0));
    let opens =
        |script: Script, flags| script.call("openat", &[CWD, path("/a"), flags], Return::Failed(b"ENOTDIR"));
    let script = opens(script, symbols("O_RDONLY|O_PATH|O_DIRECTORY"));
    assert_eq!(script.last().file, Some(0), "it is not a directory");
    let script = opens(script, Arg::Int(if cfg!(target_arch = "aarch64") { 0x4000 } else { 0x1_0000 }));
    assert_eq!(script.last().file, Some(0), "by number");
    let script = opens(script, symbols("O_RDONLY"));
    assert_eq!(script.last().file, None, "something above it is not a directory");
    let script =
        script.call("pipe2", &[Arg::FdPair([(5, None), (6, None)]), Arg::Int(0)], value(0)).read(5, 1);
    assert_eq!(script.last().file, None);
    assert_eq!(script.call("stat", &[path("relative"), Arg::Opaque], value(0)).last().file, None);
}

fn mkdir(script: Script, name: &str) -> Script {
    script.call("mkdir", &[path(name), Arg::Int(0o777)], value(0))
}

fn fstat(script: Script, number: i32, text: &str) -> Script {
    script.call("fstat", &[fd(number), Arg::Text(text.as_bytes())], value(0))
}

fn stat(script: Script, name: &str, text: &str) -> Script {
    script.call("stat", &[path(name), Arg::Text(text.as_bytes())], value(0))
}

fn attributes(inode: u64) -> String {
    format!("{{st_dev=makedev(0x8, 0x1), st_ino={inode}, st_mode=S_IFREG|0644, st_nlink=1, st_size=5}}")
}

#[test]
fn the_working_directory_and_open_directories_keep_their_names_up_to_date() {
    let script = mkdir(mkdir(Script::new().of_trace(), "/w"), "/w/d").chdir("/w/d").open("/w/d", 3);
    let script = script.open_with("x", CREATE, 4);
    let created = script.last().file;
    let script = rename(script, "/w", "/v").open("x", 5);
    assert_eq!((script.path(), script.last().file), (Some("/v/d/x"), created));
    let script = script.call("openat", &[fd(3), path("x"), symbols("O_RDONLY")], value(6));
    assert_eq!((script.path(), script.last().file), (Some("/v/d/x"), created));
    let script = rename(script, "/v/d", "/e").call("fchdir", &[fd(3)], value(0)).open("x", 7);
    assert_eq!((script.path(), script.last().file), (Some("/e/x"), created));
    // Without a call that would show it, as an empty directory.
    let script = mkdir(script, "/empty").chdir("/empty");
    let script = rename(script, "/empty", "/full").open_with("y", CREATE, 8);
    assert_eq!(script.path(), Some("/full/y"));
}

#[test]
fn relative_names_in_an_unknown_directory_are_followed() {
    let script = Script::new().of_trace().open_with("a", CREATE, 3);
    let script = rename(script, "a", "b").open("b", 4);
    assert_eq!((script.path(), script.last().file), (Some("b"), Some(0)));
    let script = mkdir(script, "d").chdir("d").open("../b", 5);
    assert_eq!((script.path(), script.last().file), (Some("b"), Some(0)));
    let script = script.open_with("b", CREATE, 6);
    assert_eq!((script.path(), script.last().file), (Some("d/b"), Some(2)));
    let script = script.chdir("..").open("../b", 7);
    assert_eq!((script.path(), script.last().file), (Some("../b"), Some(4)));
    // Now it is known where that is.
    let script = script.fork(101).by(101);
    let getcwd = [Arg::Path { bytes: b"/home", complete: true }, Arg::Int(4096)];
    let script = script.call("getcwd", &getcwd, value(6)).open("b", 8);
    assert_eq!(script.path(), Some("/home/b"));
    // What a directory that nobody knows is called, or what lies in it, is not known.
    let script = script.call("openat", &[fd(99), path("b"), symbols("O_RDONLY")], value(9));
    assert_eq!((script.path(), script.last().file), (Some("b"), None));
}

#[test]
fn where_the_trace_began_may_have_been_seen_by_both_names() {
    let seven = attributes(7);
    let script = stat(stat(Script::new().of_trace(), "/home", &seven), ".", &seven);
    let getcwd = [Arg::Path { bytes: b"/home", complete: true }, Arg::Int(4096)];
    let script = script.call("getcwd", &getcwd, value(6)).open_with("a", CREATE, 3).close(3);
    let file = script.last().file;
    assert!(file.is_some() && script.path() == Some("/home/a"));
    assert_eq!(unlink(script, "a").last().file, file);
}

#[test]
fn where_the_trace_began_gets_its_name_later() {
    let getcwd = [Arg::Path { bytes: b"/home", complete: true }, Arg::Int(4096)];
    let script = Script::new().of_trace().open_with("a", CREATE, 3).call("getcwd", &getcwd, value(6));
    let script = script.open("a", 4);
    assert_eq!((script.path(), script.last().file), (Some("/home/a"), Some(0)));
    assert_eq!(script.open("/home/a", 5).last().file, Some(0));
}

#[test]
fn names_that_were_lost_are_told() {
    let script = mkdir(Script::new().of_trace(), "/d").open_with("/d/a", CREATE, 3);
    let script = rename(script.open_with("/d/s/b", CREATE, 4), "/d", "/e");
    let (a, b) = (1, 2);
    assert_eq!((script.is_gone("/d/a", a), script.is_gone("/e/a", a)), (Some(true), Some(false)));
    assert_eq!((script.is_gone("/d/s/b", b), script.is_gone("/e/s/b", b)), (Some(true), Some(false)));
    assert_eq!((script.is_gone("/d", 0), script.is_gone("/e", 0)), (Some(true), Some(false)));
    let script = unlink(script, "/e/a");
    assert_eq!(script.is_gone("/e/a", a), Some(true));
    let script = rename(script.open_with("/c", CREATE, 5), "/c", "/e/s/b");
    assert_eq!((script.is_gone("/e/s/b", b), script.is_gone("/e/s/b", 3)), (Some(true), Some(false)));
    let script = mkdir(script, "/f");
    let args = [CWD, path("/e"), CWD, path("/f"), symbols("RENAME_EXCHANGE")];
    let script = script.call("renameat2", &args, value(0));
    assert_eq!((script.is_gone("/e/s/b", 3), script.is_gone("/f/s/b", 3)), (Some(true), Some(false)));
}

#[test]
fn chains_of_links_are_followed_to_their_end() {
    let script = mkdir(mkdir(Script::new().of_trace(), "/w"), "/w/d").open_with("/w/d/f", CREATE, 3);
    let script = symlink(symlink(script, "d", "/w/l"), "../w/l/../l/f", "/w/in");
    let script = symlink(symlink(script, "in", "/w/again"), "/w/again", "/first").open("/first", 4);
    assert_eq!(
        (script.path(), script.path2(), script.last().file),
        (Some("/w/d/f"), Some("/first"), Some(2))
    );
    let script = script.chdir("/w/l").open("../again", 5);
    assert_eq!((script.path(), script.last().file), (Some("/w/d/f"), Some(2)));
    let script = script.open("/w/l/../d/f", 6);
    assert_eq!((script.path(), script.last().file), (Some("/w/d/f"), Some(2)));
    // A name below a link to a directory is a name in that.
    let script = unlink(script, "/w/l/f");
    assert_eq!((script.path(), script.path2(), script.last().file), (Some("/w/d/f"), Some("/w/l"), Some(2)));
    assert_eq!(script.is_gone("/w/d/f", 2), Some(true));
    let script = rename(script.open_with("/w/x", CREATE, 7), "/w/x", "/w/l/y").open("/w/d/y", 8);
    assert_eq!(script.last().file, Some(7));
    assert_eq!((script.is_gone("/w/x", 7), script.is_gone("/w/d/y", 7)), (Some(true), Some(false)));
    let script = symlink(symlink(script, "b", "/a"), "a", "/b").open("/a", 9).open("/a/x", 10);
    assert_eq!(script.last().file, None, "a loop leads nowhere");
}

#[test]
fn a_file_without_a_name_gets_the_one_that_is_linked() {
    let script = Script::new().of_trace().open_with("/tmp", "O_RDWR|O_TMPFILE", 3);
    assert_eq!(script.is_gone("/tmp/#unnamed", 0), Some(true));
    let flags = symbols("AT_SYMLINK_FOLLOW");
    let script = script.call("linkat", &[CWD, path("/proc/self/fd/3"), CWD, path("/b"), flags], value(0));
    assert_eq!((script.last().file, script.last().file2), (Some(0), Some(0)));
    assert_eq!((script.is_gone("/b", 0), script.open("/b", 4).last().file), (Some(false), Some(0)));
}

#[test]
fn a_file_without_a_name_lies_where_the_links_to_its_directory_lead() {
    let script = symlink(Script::new().of_trace(), "b", "/w/a").open_with("/w/a", "O_RDWR|O_TMPFILE", 3);
    assert_eq!((script.path(), script.path2()), (Some("/w/b/#unnamed"), Some("/w/a")));
    let flags = symbols("AT_EMPTY_PATH");
    let taken = Return::Failed(b"EEXIST");
    let script = script.call("linkat", &[fd(3), path(""), CWD, path("/w/c"), flags], taken);
    assert_eq!((script.path(), script.is_gone("/w/b/#unnamed", 1)), (Some("/w/b/#unnamed"), Some(true)));
}

#[test]
fn a_descriptor_keeps_its_file_when_the_tracer_calls_it_otherwise() {
    let target = |name: &'static str, deleted| Some(Target { name: name.as_bytes(), deleted });
    let shown = Return::Value(3, target("/a", false));
    let script = Script::new().of_trace();
    let script = script.call("openat", &[CWD, path("/a"), symbols("O_RDWR|O_CREAT|O_EXCL")], shown);
    let script = rename(script, "/a", "/b");
    let read = |script: Script, name, deleted| {
        script.call("read", &[Arg::Fd(3, target(name, deleted)), Arg::Opaque, Arg::Int(9)], value(1))
    };
    let script = read(unlink(read(script, "/b", false), "/b"), "/b", true);
    assert_eq!(files(&script, "read"), [Some(0), Some(0)]);
    let script = read(script.open_with("/b", CREATE, 4), "/b", true);
    assert_eq!(script.last().file, Some(0));
    // What it was called has another name by now.
    let script = read(rename(script, "/x", "/d"), "/d/b", true);
    assert_eq!((script.last().file, script.is_gone("/d/b", 0)), (Some(0), Some(true)));
}

#[test]
fn attributes_that_a_trace_shows_join_and_part_names() {
    let [seven, eight] = [7, 8].map(attributes);
    let script = stat(Script::new().of_trace(), "/a", &seven);
    let script = stat(script, "/b", &seven);
    assert_eq!(files(&script, "stat"), [Some(0), Some(0)]);
    let script = script.open("/b", 3).close(3).open("/c", 4);
    let script = fstat(script, 4, &seven).read(4, 1).open("/c", 5).close(5);
    assert_eq!((files(&script, "read"), script.last().file), (vec![Some(0)], Some(0)));
    assert_eq!((script.is_gone("/c", 2), script.is_gone("/c", 0)), (Some(false), Some(false)));
    // Somebody else replaced it.
    let script = stat(script, "/a", &eight).read(4, 1);
    assert_eq!((files(&script, "stat")[2], script.last().file), (Some(3), Some(0)));
    assert_eq!(script.is_gone("/a", 0), Some(true));
    // The number was given again to what the trace made.
    let script = unlink(unlink(unlink(script, "/b"), "/c"), "/a").open_with("/n", "O_RDWR|O_CREAT|O_EXCL", 6);
    let script = stat(fstat(script, 6, &seven), "/n", &seven);
    assert_eq!(script.last().file, Some(4));
    assert!(script.files().iter().any(|(path, facts)| path == "/n" && facts.inode == 7));
}

/// Somebody else, whom nobody traces, replaced what has the name.
#[test]
fn an_open_file_description_is_the_file_that_the_trace_shows_of_it() {
    let [seven, eight] = [7, 8].map(attributes);
    let through_path = |script: Script, text: &str| {
        let text = Arg::Text(text.as_bytes());
        script.call("newfstatat", &[fd(4), path(""), text, symbols("AT_EMPTY_PATH")], value(0))
    };
    let begin = || fstat(Script::new().of_trace().open_with("/a", CREATE, 3), 3, &seven).write(3, 5).close(3);
    for shown in [through_path as fn(Script, &str) -> Script, |script, text| fstat(script, 4, text)] {
        let script =
            shown(begin().open("/a", 4).getpid(), &eight).write(4, 5).close(4).open("/a", 5).finish();
        let files: Vec<_> = script.events().iter().filter_map(|event| event.file).collect();
        assert_eq!(files, [0, 0, 0, 0, 1, 1, 1, 1, 1]);
        let calls: Vec<_> = script.events().iter().map(|event| event.call.clone()).collect();
        assert_eq!(calls[4..6], ["openat", "getpid"], "in their order");
        assert_eq!((script.is_gone("/a", 0), script.is_gone("/a", 1)), (Some(true), Some(false)));
    }
    // Too late to correct what was told: it stays what its name said, and the name is that of the other one from then on.
    let late = (0..70).fold(begin().open("/a", 4), |script, _| script.read(4, 1));
    let script = through_path(late, &eight).read(4, 1).open("/a", 5).finish();
    let files: Vec<_> = script.events().iter().skip(4).filter_map(|event| event.file).collect();
    assert_eq!((files[..73].iter().max(), &files[73..]), (Some(&0), &[1][..]));
    // What is closed or never asked for comes out.
    assert_eq!(begin().open("/a", 4).close(4).events().len(), 6);
    assert_eq!((begin().open("/a", 4).events().len(), begin().open("/a", 4).finish().events().len()), (4, 5));
}

#[test]
fn a_file_without_a_name_is_known_by_what_the_kernel_calls_it() {
    let target = Target { name: b"/tmp/#17", deleted: true };
    let open = |script: Script, number: i64| {
        let shown = Return::Value(number, Some(target));
        let script = behind(script, number as i32, 17, Some(1));
        script.call("openat", &[CWD, path("/tmp"), symbols("O_RDWR|O_TMPFILE")], shown)
    };
    let script = open(Script::new().getpid(), 3);
    assert_eq!(script.is_gone("/tmp/#17", 0), Some(true));
    let link = [CWD, Arg::Located(b"/tmp/#17"), CWD, path("/b"), symbols("AT_SYMLINK_FOLLOW")];
    let script = script.call("linkat", &link, value(0));
    assert_eq!((script.last().file, script.last().file2), (Some(0), Some(0)));
    // The inode is given again.
    let script = open(unlink(script.close(3), "/b"), 4);
    assert_eq!(script.last().file, Some(1));
    let script = behind(script.close(4), 5, 17, Some(1)).open_with("/c", CREATE, 5);
    assert_eq!((script.last().file, script.is_gone("/tmp/#17", 1)), (Some(2), Some(true)));
}

#[test]
fn a_name_that_was_only_looked_at_is_joined_when_it_is_opened() {
    let script = Script::new().call("stat", &[path("/a"), Arg::Opaque], value(0));
    let script = behind(script, 3, 7, Some(1)).open("/b", 3);
    let script = behind(script, 4, 7, Some(1)).open("/a", 4);
    assert_eq!((files(&script, "stat"), script.last().file), (vec![Some(0)], Some(1)));
    let facts: Vec<_> =
        script.files().iter().filter(|(path, facts)| path == "/a" && facts.inode == 7).collect();
    assert!(facts.len() >= 2, "both numbers have the facts by which they are joined");
    assert_eq!(script.is_gone("/a", 0), Some(false));
}

#[test]
fn a_removed_directory_is_not_what_has_its_name_now() {
    let script = mkdir(mkdir(Script::new().of_trace(), "/w"), "/w/d").chdir("/w/d").open("/w/d", 3);
    let removed = script.last().file;
    let script = rename(mkdir(script, "/w/e"), "/w/e", "/w/d").open(".", 4);
    assert_eq!(script.last().file, removed);
    let script = script.call("openat", &[fd(3), path("."), symbols("O_RDONLY")], value(5));
    assert_eq!(script.last().file, removed);
    let deleted = Arg::Cwd(Some(Target { name: b"/w/d", deleted: true }));
    let script = script.call("openat", &[deleted, path("./"), symbols("O_RDONLY")], value(6));
    assert_eq!(script.last().file, removed);
    assert_eq!(script.call("stat", &[path("."), Arg::Opaque], value(0)).last().file, removed);
}

#[test]
fn what_leads_through_links_is_no_name_of_the_file() {
    let script = mkdir(Script::new().of_trace(), "/d").open_with("/d/a", CREATE, 3);
    let script = symlink(symlink(script, "d", "/l"), "/l/a", "/m");
    assert_eq!((script.last().file2, script.is_gone("/l/a", 1)), (Some(1), Some(true)));
    let args = [CWD, path("/m"), symbols("O_RDONLY")];
    let script = script.call("openat", &args, Return::Failed(b"EACCES"));
    assert_eq!((script.path(), script.path2(), script.last().file), (Some("/d/a"), Some("/m"), Some(1)));
    let script = rename(script, "/m", "/n").call("openat", &args, ENOENT);
    assert_eq!((script.path(), script.last().file), (Some("/m"), None));
}

#[test]
fn only_calls_that_follow_links_act_on_their_targets() {
    let script = Script::new().of_trace().open_with("/w/f", CREATE, 3);
    let script = symlink(script, "f", "/w/l");
    let acts = |script: Script, name: &str, args: &[Arg<'_>]| {
        let script = script.call(name, args, value(0));
        (script.last().file, script)
    };
    // A mode is no flag, whatever its bits.
    let (file, script) = acts(script, "chmod", &[path("/w/l"), Arg::Int(0o755)]);
    assert_eq!(file, Some(0));
    let (file, script) = acts(script, "fchmodat", &[CWD, path("/w/l"), Arg::Int(0o644)]);
    assert_eq!(file, Some(0));
    let (file, script) =
        acts(script, "fchmodat2", &[CWD, path("/w/l"), Arg::Int(0o644), symbols("AT_SYMLINK_NOFOLLOW")]);
    assert_eq!(file, Some(1));
    for (flags, expected) in [("IN_MODIFY", Some(0)), ("IN_MODIFY|IN_DONT_FOLLOW", Some(1))] {
        let args = [fd(9), path("/w/l"), symbols(flags)];
        let script = Script::new().of_trace().open_with("/w/f", CREATE, 3);
        assert_eq!(acts(symlink(script, "f", "/w/l"), "inotify_add_watch", &args).0, expected, "{flags}");
    }
    let args = [CWD, path("/w/l"), Arg::Text(b"{flags=O_RDONLY|O_NOFOLLOW, resolve=0}")];
    let script = script.call("openat2", &args, Return::Failed(b"EACCES"));
    assert_eq!(script.last().file, Some(1));
}

#[test]
fn an_inode_of_a_file_without_a_name_is_given_again_when_nobody_has_it() {
    let nameless = |script: Script, number: i32| {
        let script = behind(script, number, 5, Some(70));
        script
            .call("openat", &[CWD, path("/w"), symbols("O_RDWR|O_TMPFILE")], value(number.into()))
            .write(number, 3)
    };
    let script = nameless(Script::new().getpid(), 3).close(3);
    let made = [path("/w/d"), symbols("S_IFREG|0644"), Arg::Int(0)];
    let script = script.call("mknod", &made, value(0));
    let script = behind(script, 3, 5, Some(70)).open("/w/d", 3).write(3, 2).close(3);
    assert_eq!(files(&script, "write"), [Some(0), Some(1)]);
    assert_eq!((files(&script, "mknod"), script.last().file), (vec![Some(1)], Some(1)));
    // One that was made unseen, under a name of which nothing is known.
    let script = nameless(Script::new().getpid(), 3).close(3);
    let script = behind(script, 4, 5, Some(70)).open("/w/other", 4).write(4, 1);
    assert_eq!(files(&script, "write"), [Some(0), Some(1)]);
    // While somebody has it, it is that: somebody else gave it a name.
    let script = nameless(Script::new().getpid(), 3);
    let script = behind(script, 4, 5, Some(70)).open("/w/other", 4).write(4, 1);
    assert_eq!(files(&script, "write"), [Some(0), Some(0)]);
}

#[test]
fn a_socket_in_the_file_system_is_a_new_file() {
    let address = Arg::Text(b"{sa_family=AF_UNIX, sun_path=\"/w/s\"}");
    let bind = |script: Script| script.call("bind", &[fd(3), address, Arg::Int(110)], value(0));
    let script = bind(Script::new());
    assert_eq!((script.path2(), script.last().file2), (Some("/w/s"), Some(0)));
    let script = unlink(script, "/w/s");
    assert_eq!(script.last().file, Some(0));
    let script = bind(script).call("connect", &[fd(4), address, Arg::Int(110)], value(0));
    assert_eq!(script.last().file2, Some(1));
}

#[test]
fn a_look_at_what_came_with_a_message_recognises_a_file_without_a_name() {
    let facts = FileFacts { device: 8, inode: 5, size: None, kind: Some(FileKind::File), birth: Some(70) };
    let script = behind(Script::new().getpid(), 3, 5, Some(70)).open_with("/w/x", CREATE, 3);
    let script = unlink(script, "/w/x").sent(3).close(3);
    let target = Target { name: b"/w/x", deleted: true };
    let found = iotrail_model::raw::OpenFile { target, facts: Some(facts), ..crate::script::open_file("") };
    let script = script.looked_at(4, found).read(4, 1);
    assert_eq!(script.last().file, Some(0));
}

#[test]
fn a_descriptor_in_a_message_keeps_its_file_in_a_trace() {
    let deleted = |name: &'static str| Some(Target { name: name.as_bytes(), deleted: true });
    let create = [CWD, path("/w/x"), symbols(CREATE)];
    let shown = |number| Return::Value(number, hint("/w/x"));
    let script = Script::new().of_trace().call("openat", &create, shown(3));
    let script = unlink(script, "/w/x").sent(3).close(3).call("openat", &create, shown(3));
    let tid = Tid(100);
    let script = script.item(&RawItem::Received { tid, fd: 7, target: deleted("/w/x") }).read(7, 1);
    assert_eq!((script.last().file, script.path()), (Some(0), Some("/w/x")));
    // A descriptor that came otherwise, of a file that somebody still has.
    let script = script.call("read", &[Arg::Fd(9, deleted("/w/x")), Arg::Opaque, Arg::Int(5)], value(1));
    assert_eq!(script.last().file, Some(0));
    let script = script.item(&RawItem::Received { tid, fd: 8, target: None }).read(8, 1);
    assert_eq!((script.last().file, script.path()), (None, None));
}

#[test]
fn a_descriptor_in_a_message_keeps_its_file_that_has_another_name_by_now() {
    let deleted = Some(Target { name: b"/w/x", deleted: true });
    let shown = Return::Value(3, hint("/w/x"));
    for script in [Script::new().of_trace(), Script::new()] {
        let script = script.call("openat", &[CWD, path("/w/x"), symbols(CREATE)], shown);
        let number = script.last().open;
        let script = script.call("link", &[path("/w/x"), path("/w/y")], value(0));
        let script = unlink(script, "/w/x").sent(3).close(3);
        let script = script.item(&RawItem::Received { tid: Tid(100), fd: 7, target: deleted }).read(7, 1);
        assert_eq!((script.last().file, script.last().open), (Some(0), number));
    }
}

#[test]
fn what_a_recorder_saw_arrive_is_on_its_way_no_more() {
    let script = Script::new().open_with("/w/x", CREATE, 3).open("/w/x", 4);
    let number = script.last().open;
    let script =
        script.sent(3).looked_at(5, crate::script::open_file("/w/x")).arrived(5, 100, 3).close(5).close(3);
    let target = Some(Target { name: b"/w/x", deleted: true });
    let script = unlink(script, "/w/x").sent(4).close(4);
    let script = script.item(&RawItem::Received { tid: Tid(100), fd: 7, target }).read(7, 1);
    assert_eq!((script.last().file, script.last().open), (Some(0), number));
}

#[test]
fn what_may_be_one_of_two_descriptions_of_a_file_is_that_file() {
    let script = Script::new().open_with("/w/x", CREATE, 3).open("/w/x", 4).sent(3).sent(4).close(3).close(4);
    let target = Some(Target { name: b"/w/x", deleted: true });
    let script = unlink(script, "/w/x");
    let script = script.item(&RawItem::Received { tid: Tid(100), fd: 7, target }).read(7, 1);
    assert_eq!((script.last().file, script.last().open), (Some(0), None));
}

#[test]
fn what_is_found_after_a_message_with_descriptors_untold_may_be_a_copy() {
    let script = Script::new().of_trace();
    let script = script.call("read", &[Arg::Fd(3, hint("/w/x")), Arg::Opaque, Arg::Int(5)], value(1));
    let known = script.last().open;
    assert!(known.is_some());
    let script = script.item(&RawItem::CameUnseen { tid: Tid(100) });
    let script = script.call("read", &[Arg::Fd(7, hint("/w/x")), Arg::Opaque, Arg::Int(5)], value(1));
    assert_eq!((script.last().open, script.path()), (None, Some("/w/x")));
    // What a call opens is its own, and what was known stays known.
    let script = script.open_with("/w/y", CREATE, 8).write(8, 1);
    assert!(script.last().open.is_some_and(|open| Some(open) != known));
    assert_eq!(script.read(3, 1).last().open, known);
}

#[test]
fn a_descriptor_taken_from_a_process_is_a_copy_of_it() {
    let script =
        Script::new().of_trace().getpid().read(9, 0).write(9, 0).open_with("/w/x", "O_RDWR|O_CREAT", 3);
    let script = unlink(script.write(3, 3), "/w/x").open_with("/w/x", "O_RDWR|O_CREAT|O_EXCL", 4).close(4);
    let script = script.call("pidfd_open", &[Arg::Int(100), Arg::Int(0)], value(5));
    let take = [fd(5), Arg::Int(3), Arg::Int(0)];
    let hint = Some(Target { name: b"/w/x", deleted: true });
    let script = script.call("pidfd_getfd", &take, Return::Value(6, hint)).read(6, 0);
    assert_eq!((script.last().file, script.offset()), (Some(0), Some(3)));
    let script = script.call("pidfd_getfd", &take, value(7)).read(7, 0);
    assert_eq!((script.last().file, script.path()), (Some(0), Some("/w/x")));
}

#[test]
fn a_pidfd_that_a_call_stores_is_of_the_process_that_it_makes() {
    let clone = |script: Script| {
        let args = [Arg::Null, symbols("CLONE_PIDFD|SIGCHLD"), Arg::Text(b"[5]")];
        script.call("clone", &args, value(101))
    };
    let clone3 = |script: Script| {
        let text = b"{flags=0x1000, pidfd=0x7ffc, exit_signal=17} => {pidfd=[5<anon_inode:[pidfd]>]}";
        script.call("clone3", &[Arg::Text(text), Arg::Int(88)], value(101))
    };
    let makers: [&dyn Fn(Script) -> Script; 2] = [&clone, &clone3];
    for make in makers {
        let script = Script::new().of_trace().open("/w/a", 3).read(3, 4);
        let original = script.last().open;
        let script = make(script).by(101).getpid().by(100);
        let script = script.call("pidfd_getfd", &[fd(5), Arg::Int(3), Arg::Int(0)], value(6)).read(6, 2);
        assert_eq!((script.path(), script.last().open), (Some("/w/a"), original));
    }
}

#[test]
fn a_descriptor_taken_from_who_knows_where_has_no_number() {
    let script = Script::new().of_trace().open("/w/a", 3);
    let script = script.call("pidfd_getfd", &[fd(5), Arg::Int(3), Arg::Int(0)], value(6));
    assert_eq!((script.last().fd, script.last().open), (Some(6), None));
    assert_eq!(script.read(6, 2).last().open, None);
}

#[test]
fn a_link_to_an_unknown_descriptor_is_no_file() {
    let script = Script::new()
        .of_trace()
        .getpid()
        .item(&RawItem::Received { tid: Tid(100), fd: 5, target: None })
        .open("/proc/self/fd/5", 6)
        .read(6, 1);
    assert_eq!((script.path(), script.last().file), (Some("/proc/self/fd/5"), None));
    let script = script.open("/dev/fd/77", 7).read(7, 1);
    assert_eq!(script.last().file, None);
    let script = script.call("stat", &[path("/proc/self/fd/77"), Arg::Opaque], value(0));
    assert_eq!(script.last().file, None);
    let script = script.call("lstat", &[path("/proc/self/fd/77"), Arg::Opaque], value(0));
    assert!(script.last().file.is_some());
    let script = script.open("/w/a", 8).open("/proc/self/fd/8", 9).read(9, 1);
    assert_eq!(script.path(), Some("/w/a"));
    assert!(script.last().file.is_some());
}

#[test]
fn a_descriptor_is_called_after_renames_of_its_name() {
    let script = Script::new().open_with("/w/a", CREATE, 3).dup2(3, 4).write(3, 1);
    let script = rename(script, "/w/a", "/w/b").write(3, 2);
    assert_eq!(script.path(), Some("/w/b"));
    let script = unlink(link(script, "/w/b", "/w/c"), "/w/b").write(4, 3);
    assert_eq!(script.path(), Some("/w/b"), "the kernel calls it so");
    let script = rename(script, "/w/c", "/w/d").write(3, 4);
    assert_eq!(script.path(), Some("/w/b"));
    // Another file that comes by that name takes nothing with it.
    let script = rename(script.open_with("/w/b", CREATE, 5), "/w/b", "/w/e").write(3, 1);
    assert_eq!(script.path(), Some("/w/b"));
    assert_eq!(script.write(5, 1).path(), Some("/w/e"));
    let script = unlink(Script::new().open_with("/d/x/a", CREATE, 3).open_with("/d/b", CREATE, 4), "/d/b");
    let script = rename(script, "/d", "/e").write(4, 1);
    assert_eq!((script.path(), script.is_gone("/e/b", 1)), (Some("/e/b"), Some(true)));
    let script = rename(Script::new().open_with("/d/x/a", CREATE, 3), "/d", "/e").rotate().write(3, 1);
    assert_eq!(script.path(), Some("/e/x/a"));
    let args = [CWD, path("/e/x/a"), CWD, path("/f"), symbols("RENAME_EXCHANGE")];
    let script = script.open("/f", 4).call("renameat2", &args, value(0)).write(3, 1);
    assert_eq!(script.path(), Some("/f"));
    assert_eq!(script.write(4, 1).path(), Some("/e/x/a"));
}

#[test]
fn a_name_that_was_removed_does_not_come_alive_again() {
    let script = link(Script::new().open_with("/w/p", CREATE, 3), "/w/p", "/w/q").open("/w/q", 4);
    let script = link(unlink(script, "/w/q"), "/w/p", "/w/q").open("/w/q", 5);
    let script = rename(script, "/w/q", "/w/r").write(4, 1);
    assert_eq!((script.path(), script.last().file), (Some("/w/q"), Some(0)), "the kernel calls it so");
    let script = script.write(5, 1);
    assert_eq!(script.path(), Some("/w/r"));
    assert_eq!(rename(script, "/w/r", "/w/s").write(4, 1).path(), Some("/w/q"));
}

#[test]
fn a_descriptor_finds_its_name_after_many_renames() {
    let mut script = Script::new().open_with("/w/0", CREATE, 3);
    for number in 0..300 {
        script = rename(script, &format!("/w/{number}"), &format!("/w/{}", number + 1));
    }
    assert_eq!(script.write(3, 1).path(), Some("/w/300"));
}

#[test]
fn names_behind_links_of_the_kernel_to_directories_are_seen_from_there() {
    let mut script = mkdir(mkdir(Script::new().of_trace().chdir("/"), "/w"), "/w/d");
    script = script.open_with("/w/d/f", CREATE, 3).open_with("/w", "O_PATH|O_DIRECTORY", 7).chdir("/w/d");
    let file = files(&script, "openat")[0];
    for name in [
        "/proc/self/cwd/f",
        "/proc/thread-self/cwd/./f",
        "/proc/100/cwd/../d/f",
        "/proc/self/root/w/d/f",
        "/proc/self/fd/7/d/f",
        "/dev/fd/7/d/f",
    ] {
        script = script.open(name, 9).close(9).open(name, 9);
        assert_eq!((script.path(), script.last().file), (Some("/w/d/f"), file), "{name}");
        script = script.close(9);
    }
}

#[test]
fn a_path_that_may_not_leave_a_directory_is_seen_from_there() {
    let how = |resolve: &'static [u8]| Arg::Text(resolve);
    let opened = |name: &'static str, text: &'static [u8]| {
        let script = Script::new().of_trace().chdir("/").open_with("/box", "O_PATH|O_DIRECTORY", 3);
        let script = script.call("openat2", &[fd(3), path(name), how(text), Arg::Int(24)], value(4));
        script.path().map(str::to_owned)
    };
    let inside: &[u8] = b"{flags=O_RDWR, resolve=RESOLVE_NO_MAGICLINKS|RESOLVE_IN_ROOT}";
    assert_eq!(opened("/etc/passwd", inside).as_deref(), Some("/box/etc/passwd"));
    assert_eq!(opened("../../etc/passwd", inside).as_deref(), Some("/box/etc/passwd"));
    assert_eq!(opened("/etc/passwd", b"{flags=O_RDWR, resolve=0}").as_deref(), Some("/etc/passwd"));
}

/// An absolute link leads to where it says below the root of who follows it.
#[test]
fn an_absolute_link_begins_at_the_root_of_who_follows_it() {
    let jail = |target| {
        let script = mkdir(Script::new().of_trace().chdir("/w"), "jail").open_with("jail/in", CREATE, 3);
        symlink(script, target, "jail/lnk")
    };
    let how = Arg::Text(b"{flags=O_RDONLY, resolve=RESOLVE_IN_ROOT}");
    for target in ["/in", "/../in", "../in", "sub/../../../in"] {
        let script = jail(target);
        let file = script.last().file;
        let script = script.open("jail/in", 4);
        let inside = script.last().file;
        assert_ne!(inside, file);
        let script = script.open_with("jail", "O_PATH|O_DIRECTORY", 5);
        let script = script.call("openat2", &[fd(5), path("lnk"), how, Arg::Int(24)], value(6));
        assert_eq!((script.path(), script.last().file), (Some("/w/jail/in"), inside), "{target}");
        // Outside it leads out of the directory again.
        let outside = if target.starts_with('/') { "/in" } else { "/w/in" };
        let outside = if target.starts_with('s') { "/in" } else { outside };
        assert_eq!(script.open("/w/jail/lnk", 7).path(), Some(outside), "{target}");
        let script = jail(target).call("chroot", &[path("jail")], value(0)).open("/lnk", 4);
        assert_eq!(script.path(), Some("/w/jail/in"), "{target}");
    }
}

#[test]
fn a_link_of_the_kernel_leads_to_the_file_under_its_name_by_now() {
    let script = mkdir(Script::new().of_trace().chdir("/"), "/d").open_with("/d/f", CREATE, 3);
    let script = rename(script, "/d", "/e").open("/proc/self/fd/3", 4);
    assert_eq!(script.path(), Some("/e/f"));
    let script = rename(script, "/e/f", "/e/h").open("/dev/fd/3", 5);
    assert_eq!(script.path(), Some("/e/h"));
}

#[test]
fn to_exchange_two_names_of_one_file_changes_nothing() {
    let script = link(Script::new().open_with("/a", CREATE, 3), "/a", "/b");
    let args = [CWD, path("/a"), CWD, path("/b"), symbols("RENAME_EXCHANGE")];
    let script = script.call("renameat2", &args, value(0));
    assert_eq!((script.last().file, script.last().file2), (Some(0), Some(0)));
    assert_eq!(script.write(3, 1).path(), Some("/a"));
}

#[test]
fn a_name_that_a_file_got_again_is_not_lost_because_a_descriptor_was_opened_under_it() {
    let script = link(Script::new().of_trace().chdir("/").open_with("/a", CREATE, 3), "/a", "/b");
    let script = unlink(script, "/a");
    let script = script.call("link", &[path("/b"), path("/a")], value(0));
    let shown = Return::Value(4, Some(Target { name: b"/a", deleted: true }));
    let script = script.call("openat", &[CWD, path("/proc/self/fd/3"), symbols("O_RDWR")], shown);
    assert_eq!((script.last().file, script.is_gone("/a", 1)), (Some(1), Some(false)));
}

#[test]
fn above_where_a_trace_began_nothing_is_below_it() {
    let script = mkdir(Script::new().of_trace(), "a");
    let script = symlink(script, "a/..", "b").open_with("b/../e", CREATE, 3);
    assert_eq!(script.path(), Some("../e"));
    let script = script.open("e", 4);
    assert_ne!(script.last().file, script.events().iter().rev().nth(1).unwrap().file);
}

#[test]
fn what_a_ring_opened_is_that_file_and_not_an_earlier_one_of_that_name() {
    let held = |name: &'static [u8]| Arg::Fd(-1, Some(Target { name, deleted: false }));
    let script = unlink(Script::new().open_with("/a", CREATE, 3), "/a");
    let how = symbols("O_RDWR|O_CREAT");
    let script = script.call("io_uring_openat_direct", &[CWD, path("/a"), how, Arg::Int(0)], value(0));
    let script =
        script.call("io_uring_write", &[held(b"/a"), Arg::Opaque, Arg::Int(5), Arg::Int(0)], value(5));
    assert_eq!((files(&script, "io_uring_openat_direct"), script.last().file), (vec![Some(1)], Some(1)));
    let script = unlink(script, "/a");
    let script =
        script.call("io_uring_write", &[held(b"/a"), Arg::Opaque, Arg::Int(5), Arg::Int(5)], value(5));
    assert_eq!(script.last().file, Some(1));
}

#[test]
fn a_bind_mount_shows_what_is_mounted_below_its_source_only_if_it_is_asked_to() {
    let script = mkdir(mkdir(mkdir(Script::new().of_trace().chdir("/"), "/src"), "/src/sub"), "/dst");
    let script = mkdir(script, "/all").open_with("/src/sub/a", CREATE, 3);
    let hidden = script.last().file;
    let script = mount(script, "/src/sub", "tmpfs", "0").open_with("/src/sub/a", CREATE, 4);
    let shown = script.last().file;
    assert_ne!(hidden, shown);
    let script = mount(mount(script, "/dst", "/src", "MS_BIND"), "/all", "/src", "MS_BIND|MS_REC");
    let script = script.open("/dst/sub/a", 5);
    assert_eq!(script.last().file, hidden);
    let script = script.open("/all/sub/a", 6);
    assert_eq!(script.last().file, shown);
    let script = script.open("/dst/sub/../sub/../../src/sub/a", 7);
    assert_eq!((script.last().file, script.summary().unclear_mounts), (shown, 0));
}

#[test]
fn what_is_mounted_over_the_source_of_a_bind_mount_is_not_seen_in_it() {
    let script =
        mkdir(mkdir(Script::new().of_trace().chdir("/"), "/src"), "/dst").open_with("/src/a", CREATE, 3);
    let file = script.last().file;
    let script = mount(mount(script, "/dst", "/src", "MS_BIND"), "/src", "tmpfs", "0");
    let script = script.open_with("/src/a", CREATE, 4);
    assert_ne!(script.last().file, file);
    let script = script.open("/dst/a", 5);
    assert_eq!(script.last().file, file);
    let script = script.call("umount2", &[path("/src"), Arg::Int(0)], value(0)).open("/src/a", 6);
    assert_eq!((script.last().file, script.summary().unclear_mounts), (file, 0));
}

#[test]
fn names_in_a_tree_that_is_attached_to_no_name_are_none_of_the_root() {
    let script = mkdir(mkdir(Script::new().of_trace(), "/d"), "/y").open_with("/f", CREATE, 3);
    let of_root = script.last().file;
    let script = script.call("open_tree", &[CWD, path("/d"), symbols("OPEN_TREE_CLONE")], value(4));
    let below = |script: Script, number, shown| {
        let ret = Return::Value(number, hint(shown));
        script.call("openat", &[Arg::Fd(4, hint("/")), path("f"), symbols("O_RDWR")], ret)
    };
    let script = below(script, 5, "/f");
    assert!(script.last().file != of_root, "{:?}", script.last().file);
    let script = script
        .call("move_mount", &[fd(4), path(""), CWD, path("/y"), symbols("MOVE_MOUNT_F_EMPTY_PATH")], value(0))
        .open("/f", 6);
    assert_eq!((script.last().file, script.summary().unclear_mounts), (of_root, 1));
}

#[test]
fn after_pivot_root_no_name_is_known_any_more_to_those_who_see_it() {
    let script = Script::new().of_trace().open_with("/f", CREATE, 3);
    let file = script.last().file;
    let script = script.call("unshare", &[symbols("CLONE_NEWNS")], value(0));
    let script = script.call("pivot_root", &[path("/new"), path("/new/old")], value(0)).open("/f", 4);
    assert_ne!(script.last().file, file);
    let script = script.by(200).open("/f", 3);
    assert_eq!(script.last().file, file, "it sees other mounts");
}

#[test]
fn after_pivot_root_names_lead_to_the_new_root_and_to_the_old_one_where_it_was_put() {
    let script = mkdir(mkdir(Script::new().of_trace(), "/new"), "/m").open_with("/f", CREATE, 3);
    let old = script.last().file;
    let script = mount(script, "/m", "tmpfs", "0").open_with("/m/f", CREATE, 3);
    let below_old = script.last().file;
    let script = mount(script, "/new", "tmpfs", "0").open_with("/new/f", CREATE, 3);
    let new = script.last().file;
    let script = mkdir(script, "/new/in");
    let script = mount(mkdir(script, "/new/put"), "/new/in", "tmpfs", "0").open_with("/new/in/f", CREATE, 3);
    let below_new = script.last().file;
    let mut script = script.call("pivot_root", &[path("/new"), path("/new/put")], value(0));
    for (name, file) in
        [("/f", new), ("/in/f", below_new), ("/put/f", old), ("/put/m/f", below_old), ("/put/../f", new)]
    {
        script = script.open(name, 4);
        assert_eq!(script.last().file, file, "{name}");
    }
}

#[test]
fn the_way_up_from_a_directory_that_was_removed_leads_to_where_those_above_are_by_now() {
    let script = mkdir(mkdir(Script::new().of_trace().chdir("/"), "/d"), "/d/s").chdir("/d/s");
    let script = rename(script, "/d", "/e").call("rmdir", &[path("/e/s")], value(0));
    let script = script.open_with("../q", CREATE, 3);
    assert_eq!((script.path(), script.last().file.is_some()), (Some("/e/q"), true));
    let script = mkdir(script, "../s");
    assert_eq!(script.path(), Some("/e/s"));
}

#[test]
fn a_removed_file_keeps_its_path_when_its_directory_is_made_anew_and_renamed() {
    let script = mkdir(Script::new().of_trace(), "/s").open_with("/s/c", CREATE, 3);
    let script = mkdir(unlink(script, "/s/c").call("rmdir", &[path("/s")], value(0)), "/s");
    let script = rename(script, "/s", "/t").write(3, 1);
    assert_eq!(script.path(), Some("/s/c"));
}

#[test]
fn at_the_end_every_name_that_a_written_file_still_has_tells_how_long_it_is() {
    let script = behind(Script::new().getpid(), 3, 5, Some(70)).open_with("/w/a", CREATE, 3);
    let script = unlink(link(link(script, "/w/a", "/w/b"), "/w/a", "/w/c"), "/w/c");
    let facts = FileFacts { device: 8, inode: 5, size: Some(6), kind: Some(FileKind::File), birth: Some(70) };
    let told = script.files().len();
    let script = script.look_again(facts);
    let told: Vec<_> = script.files()[told..]
        .iter()
        .map(|(name, facts)| (&**name, facts.size.map(|size| size as u64)))
        .collect();
    assert_eq!(told, [("/w/a", Some(6)), ("/w/b", Some(6))]);
}

#[test]
fn what_asks_through_a_descriptor_asks_by_the_name_that_it_was_opened_by() {
    let by_itself = |script: Script| {
        script.call("newfstatat", &[fd(3), path(""), Arg::Opaque, symbols("AT_EMPTY_PATH")], value(0))
    };
    let script = Script::new().open_with("/a", CREATE, 3);
    let script = by_itself(rename(link(script, "/a", "/b"), "/b", "/c"));
    let script = by_itself(unlink(script, "/c"));
    let script = by_itself(rename(script, "/a", "/d"));
    let events = script.events();
    let asked = events.iter().filter(|event| event.call == "newfstatat");
    let paths: Vec<&str> = asked.map(|event| event.path.as_deref().unwrap()).collect();
    assert_eq!(paths, ["/a", "/a", "/d"]);
}

#[test]
fn what_is_opened_by_a_handle_is_what_has_the_name_now() {
    let script = unlink(Script::new().open_with("/a", CREATE, 3), "/a").open_with("/a", CREATE, 4);
    let script = script.call(
        "open_by_handle_at",
        &[fd(5), Arg::Opaque, symbols("O_RDWR")],
        Return::Value(6, hint("/a")),
    );
    assert_eq!(files(&script.read(6, 1), "open_by_handle_at"), [Some(1)]);
}
