//! Which file a call acted on, whatever its names.
#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

mod script;

use iotrail_model::raw::{Arg, RawItem, Return, Target};
use iotrail_model::{FileFacts, FileKind, Tid};
use script::{CWD, ENOENT, Script, fd, path, symbols, value};

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
    script.item(&RawItem::Behind { tid: Tid(100), fd: number, facts })
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
    let script = script.open("/a", 5).open("/b", 6);
    assert_eq!(files(&script, "openat"), [Some(0), Some(1), Some(1), Some(0)]);
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

#[test]
fn where_nothing_is_there_is_no_file() {
    let script = Script::new().call("stat", &[path("/a"), Arg::Opaque], ENOENT);
    assert_eq!(script.last().file, None);
    let script = script.open("/a", 3).call("mkdir", &[path("/a"), Arg::Int(0)], Return::Failed(b"EEXIST"));
    assert_eq!(script.last().file, Some(0));
    let script =
        script.call("pipe2", &[Arg::FdPair([(5, None), (6, None)]), Arg::Int(0)], value(0)).read(5, 1);
    assert_eq!(script.last().file, None);
    assert_eq!(script.call("stat", &[path("relative"), Arg::Opaque], value(0)).last().file, None);
}
