//! What descriptors and paths stand for.

use crate::script::{CWD, ENOENT, Script, fd, hint, path, symbols, value};
use iotrail_model::raw::{Arg, Return, Target};

#[test]
fn a_read_names_the_file_that_was_opened() {
    let script = Script::new().open("/a", 3).read(3, 10);
    assert_eq!((script.path(), script.last().fd, script.offset()), (Some("/a"), Some(3), Some(0)));
    assert_eq!(
        (script.last().requested, script.last().size, script.last().ret),
        (Some(4096), Some(10), Some(10))
    );
}

#[test]
fn a_call_that_makes_a_descriptor_shows_the_new_one() {
    assert_eq!(Script::new().open("/a", 7).last().fd, Some(7));
    assert_eq!(Script::new().open("/a", 3).dup2(3, 9).last().fd, Some(9));
}

#[test]
fn a_path_that_the_tracer_resolved_is_taken_as_it_is() {
    let script = Script::new().call("chdir", &[Arg::Located(b"/real/deep")], value(0));
    let script = script.call("openat", &[CWD, Arg::Located(b"/none/../x"), symbols("O_RDONLY")], ENOENT);
    assert_eq!(script.path(), Some("/none/../x"));
    let script = script.call("symlink", &[Arg::Located(b"/a/b"), Arg::Located(b"/c/d")], value(0));
    assert_eq!((script.path(), script.last().path2.as_deref()), (Some("/c/d"), Some("/a/b")));
    assert_eq!(script.call("stat", &[path("x")], ENOENT).path(), Some("/real/deep/x"));
}

#[test]
fn a_file_without_a_name_does_not_have_that_of_its_directory() {
    let script = Script::new().call("openat", &[CWD, path("/d"), symbols("O_RDWR|O_TMPFILE")], value(3));
    assert_eq!(script.path(), Some("/d/#unnamed"));
    assert_eq!(script.read(3, 1).path(), Some("/d/#unnamed"));
    let named = Return::Value(4, hint("/d/#7"));
    let script = Script::new().call("openat", &[CWD, path("/d"), symbols("O_RDWR|O_TMPFILE")], named);
    assert_eq!(script.path(), Some("/d/#7"));
}

#[test]
fn a_failed_open_has_its_path_and_no_descriptor() {
    let script = Script::new().call("openat", &[CWD, path("/no"), symbols("O_RDONLY")], ENOENT);
    assert_eq!((script.path(), script.last().fd), (Some("/no"), None));
    assert_eq!((script.last().ret, script.last().errno.as_deref()), (Some(-1), Some("ENOENT")));
}

#[test]
fn a_failed_read_has_no_size() {
    let script = Script::new().open("/a", 3).call(
        "read",
        &[fd(3), Arg::Opaque, Arg::Int(9)],
        Return::Failed(b"EINTR"),
    );
    assert_eq!((script.last().size, script.last().requested), (None, Some(9)));
}

#[test]
fn a_call_whose_end_was_not_seen_has_neither_result_nor_duration() {
    let script = Script::new().open("/a", 3).call("read", &[fd(3)], Return::Unseen);
    assert_eq!((script.last().ret, script.last().has_dur, script.path()), (None, false, Some("/a")));
    assert_eq!(script.read(3, 1).offset(), None);
}

#[test]
fn what_was_never_opened_has_no_path() {
    assert_eq!(Script::new().write(1, 5).path(), None);
    assert_eq!(Script::new().open("/a", 3).close(3).read(3, 1).path(), None);
}

#[test]
fn every_copy_of_a_descriptor_names_the_file() {
    let script = Script::new().open("/a", 3).dup2(3, 1).close(3).write(1, 5);
    assert_eq!(script.path(), Some("/a"));
    let copy = [fd(1), symbols("F_DUPFD_CLOEXEC"), Arg::Int(10)];
    assert_eq!(script.call("fcntl", &copy, value(10)).read(10, 1).path(), Some("/a"));
    let raw = [fd(3), Arg::Int(0), Arg::Int(5)];
    assert_eq!(Script::new().open("/b", 3).call("fcntl", &raw, value(5)).read(5, 1).path(), Some("/b"));
}

#[test]
fn a_number_used_again_names_the_new_file() {
    assert_eq!(Script::new().open("/a", 3).close(3).open("/b", 3).read(3, 1).path(), Some("/b"));
    assert_eq!(Script::new().open("/a", 3).open("/b", 4).dup2(4, 3).read(3, 1).path(), Some("/b"));
}

#[test]
fn a_close_that_failed_with_an_error_of_the_file_still_closes() {
    let script = Script::new().open("/a", 3).call("close", &[fd(3)], Return::Failed(b"EIO"));
    assert_eq!(script.path(), Some("/a"));
    assert_eq!(script.read(3, 1).path(), None);
}

#[test]
fn ranges_are_closed() {
    let range = [Arg::Int(4), Arg::Int(0xffff_ffff), Arg::Int(0)];
    let script = Script::new().open("/a", 3).open("/b", 4).call("close_range", &range, value(0));
    let script = script.read(3, 1);
    assert_eq!(script.path(), Some("/a"));
    assert_eq!(script.read(4, 1).path(), None);
}

#[test]
fn descriptors_without_files_have_the_name_of_their_kind() {
    let pair = Arg::FdPair([(3, None), (4, None)]);
    let script = Script::new().call("pipe2", &[pair, symbols("O_CLOEXEC")], value(0));
    assert_eq!((script.path(), script.last().fd), (Some("pipe"), Some(3)));
    let script = script.write(4, 1);
    assert_eq!((script.path(), script.offset()), (Some("pipe"), None));
    let script = Script::new().call("socket", &[symbols("AF_INET"), symbols("SOCK_STREAM")], value(3));
    assert_eq!(script.path(), Some("socket"));
    assert_eq!(script.call("accept4", &[fd(3)], value(5)).read(5, 1).path(), Some("socket"));
    let script = Script::new().call("eventfd2", &[Arg::Int(0), Arg::Int(0)], value(6)).read(6, 8);
    assert_eq!(script.path(), Some("anon_inode:[eventfd]"));
    let memory = [path("shared"), symbols("MFD_CLOEXEC")];
    let script = Script::new().call("memfd_create", &memory, value(3)).write(3, 9);
    assert_eq!((script.path(), script.offset()), (Some("/memfd:shared"), Some(0)));
}

#[test]
fn a_failed_accept_acted_on_the_listening_socket() {
    let script = Script::new().call("socket", &[symbols("AF_UNIX")], value(3)).call(
        "accept",
        &[fd(3)],
        Return::Failed(b"EAGAIN"),
    );
    assert_eq!((script.last().fd, script.path()), (Some(3), Some("socket")));
}

#[test]
fn relative_paths_start_at_the_working_directory() {
    let script = Script::new().chdir("/home/u").open("x/../data", 3);
    assert_eq!(script.path(), Some("/home/u/data"));
    let script = script.chdir("..").open("./f", 3);
    assert_eq!(script.path(), Some("/home/f"));
    assert_eq!(script.summary().relative_paths, 0);
}

#[test]
fn relative_paths_start_at_the_directory_descriptor() {
    let script = Script::new().open("/etc", 5).call("openat", &[fd(5), path("ssh//config")], value(6));
    assert_eq!((script.path(), script.last().fd), (Some("/etc/ssh/config"), Some(6)));
    let script = script.call("fchdir", &[fd(5)], value(0)).open("passwd", 7);
    assert_eq!(script.path(), Some("/etc/passwd"));
}

#[test]
fn without_a_known_directory_paths_stay_relative_and_are_counted() {
    let script = Script::new().open("data/./x", 3).read(3, 1);
    assert_eq!((script.path(), script.summary().relative_paths), (Some("data/x"), 1));
    let script = script.call("getcwd", &[path("/w"), Arg::Int(99)], value(3)).open("y", 4);
    assert_eq!((script.path(), script.summary().relative_paths), (Some("/w/y"), 1));
    assert_eq!(script.chdir("sub").open("z", 4).path(), Some("/w/sub/z"));
}

#[test]
fn a_relative_move_from_nowhere_leads_nowhere() {
    assert_eq!(Script::new().chdir("sub").open("z", 4).path(), Some("z"));
}

#[test]
fn an_empty_path_stands_for_the_descriptor() {
    let empty = [fd(3), path(""), Arg::Opaque, symbols("AT_EMPTY_PATH")];
    let script = Script::new().open("/a", 3).call("newfstatat", &empty, value(0));
    assert_eq!((script.path(), script.last().fd), (Some("/a"), Some(3)));
    let script = script.call("utimensat", &[fd(3), Arg::Null, Arg::Null, Arg::Int(0)], value(0));
    assert_eq!((script.path(), script.last().fd), (Some("/a"), Some(3)));
    let script = script.call("newfstatat", &[CWD, path(""), Arg::Opaque, Arg::Int(0)], ENOENT);
    assert_eq!(script.path(), None);
    let script = Script::new().call("pipe2", &[Arg::FdPair([(3, None), (4, None)]), Arg::Int(0)], value(0));
    assert_eq!(script.call("newfstatat", &empty, value(0)).path(), Some("pipe"));
}

#[test]
fn a_path_that_was_cut_is_not_a_path() {
    let cut = Arg::Path { bytes: b"/very/lon", complete: false };
    let script = Script::new().call("openat", &[CWD, cut, symbols("O_RDONLY")], value(3)).read(3, 7);
    assert_eq!((script.path(), script.offset()), (None, Some(0)));
}

#[test]
fn two_paths_are_both_absolute() {
    let script = Script::new().chdir("/w").call("rename", &[path("a"), path("b")], value(0));
    assert_eq!((script.path(), script.path2()), (Some("/w/a"), Some("/w/b")));
    let script =
        script.open("/d", 3).call("linkat", &[CWD, path("a"), fd(3), path("b"), Arg::Int(0)], value(0));
    assert_eq!((script.path(), script.path2()), (Some("/w/a"), Some("/d/b")));
}

#[test]
fn a_symbolic_link_points_from_where_it_lies() {
    let script = Script::new().chdir("/w").call("symlink", &[path("../lib/x"), path("d/link")], value(0));
    assert_eq!((script.path(), script.path2()), (Some("/w/d/link"), Some("/w/lib/x")));
}

#[test]
fn an_open_file_is_called_as_it_is_by_now() {
    let script = Script::new().open("/a.tmp", 3).call("rename", &[path("/a.tmp"), path("/a")], value(0));
    assert_eq!(script.write(3, 1).path(), Some("/a"));
}

#[test]
fn a_copy_names_source_and_destination() {
    let script = Script::new().open("/from", 3).open("/to", 4).read(3, 10);
    let sendfile = [fd(4), fd(3), Arg::Null, Arg::Int(100)];
    let script = script.call("sendfile", &sendfile, value(50));
    assert_eq!((script.path(), script.path2()), (Some("/from"), Some("/to")));
    assert_eq!((script.last().fd, script.last().size, script.offset()), (Some(3), Some(50), Some(10)));
    let script = script.read(3, 1);
    assert_eq!(script.offset(), Some(60));
    assert_eq!(script.write(4, 1).offset(), Some(50));
}

#[test]
fn flags_are_kept_as_seen() {
    let script = Script::new().open_with("/a", "O_RDONLY|O_CLOEXEC", 3);
    assert_eq!(script.last().flags.as_deref(), Some("O_RDONLY|O_CLOEXEC"));
    let map = [Arg::Null, Arg::Int(9), symbols("PROT_READ"), symbols("MAP_PRIVATE"), fd(3), Arg::Int(4096)];
    let script = script.call("mmap", &map, value(0x7f00));
    assert_eq!(script.last().flags.as_deref(), Some("PROT_READ|MAP_PRIVATE"));
    assert_eq!((script.path(), script.offset(), script.last().size), (Some("/a"), Some(4096), None));
    let how = Arg::Text(b"{flags=O_RDWR|O_APPEND, resolve=0}");
    let script = script.call("openat2", &[CWD, path("/b"), how, Arg::Int(24)], value(4)).write(4, 3);
    assert_eq!((script.events()[2].flags.as_deref(), script.offset()), (Some("O_RDWR|O_APPEND"), None));
}

#[test]
fn what_the_tracer_prints_is_believed() {
    let known = Return::Value(3, hint("/usr/lib/libc.so.6"));
    let script = Script::new().call("openat", &[CWD, path("/lib/libc.so"), symbols("O_RDONLY")], known);
    assert_eq!(script.path(), Some("/usr/lib/libc.so.6"));
    let script = script.call("read", &[Arg::Fd(0, hint("pipe:[7]")), Arg::Opaque, Arg::Int(1)], value(1));
    assert_eq!((script.path(), script.offset()), (Some("pipe:[7]"), None));
    let script = script.read(0, 1);
    assert_eq!(script.path(), Some("pipe:[7]"));
    let deleted = Some(Target { name: b"/x", deleted: true });
    let script = script.call("write", &[Arg::Fd(3, deleted), Arg::Opaque, Arg::Int(1)], value(1));
    assert_eq!((script.path(), script.offset()), (Some("/x"), None));
}

#[test]
fn a_missed_opening_is_learnt_without_a_cursor() {
    let script = Script::new().call("read", &[Arg::Fd(8, hint("/x")), Arg::Opaque, Arg::Int(5)], value(5));
    assert_eq!((script.path(), script.offset()), (Some("/x"), None));
    assert_eq!(script.lseek(8, 100).read(8, 1).offset(), None);
}

#[test]
fn a_link_resolved_by_the_tracer_keeps_the_cursor() {
    let real = [Arg::Fd(3, hint("/real/a")), Arg::Opaque, Arg::Int(5)];
    let script = Script::new().open("/link/a", 3).read(3, 5).call("read", &real, value(5));
    assert_eq!((script.path(), script.offset()), (Some("/real/a"), Some(5)));
}

#[test]
fn an_open_through_links_keeps_the_name_that_it_was_given() {
    let via = |given: &str, real: &str| {
        let script = Script::new().chdir("/w");
        let script =
            script.call("openat", &[CWD, path(given), symbols("O_RDONLY")], Return::Value(3, hint(real)));
        script.last().via.clone()
    };
    assert_eq!(via("lf", "/w/in.txt").as_deref(), Some("/w/lf"));
    assert_eq!(via("./cur//f", "/data/f").as_deref(), Some("/w/cur/f"));
    for (given, real) in [
        ("in.txt", "/w/in.txt"),
        ("l/../x", "/data/x"),
        ("/dev/fd/3", "/w/x"),
        ("/proc/self/fd/3", "/w/x"),
        ("p", "pipe:[7]"),
    ] {
        assert_eq!(via(given, real), None, "{given}");
    }
}

#[test]
fn the_working_directory_is_learnt_from_the_tracer() {
    let args = [Arg::Cwd(hint("/w")), path("a"), symbols("O_RDONLY")];
    let script = Script::new().call("openat", &args, value(3));
    assert_eq!(script.path(), Some("/w/a"));
    let script = script.call("stat", &[path("b")], value(0));
    assert_eq!(script.path(), Some("/w/b"));
    assert_eq!(script.finish().processes()[0].cwd.as_deref(), Some("/w"));
}

#[test]
fn unknown_calls_are_events_with_the_descriptor_that_the_tracer_saw() {
    let script = Script::new().call("frobnicate", &[Arg::Int(1), Arg::Fd(3, hint("/x"))], value(0));
    assert_eq!(
        (script.last().call.as_str(), script.path(), script.last().fd),
        ("frobnicate", Some("/x"), Some(3))
    );
}

#[test]
fn names_in_use_survive_a_rotation() {
    let script = Script::new().chdir("/w").open("a", 3).open("b", 4).close(4).read(3, 2).rotate();
    assert_eq!(script.names.paths.len(), 2);
    let script = script.read(3, 1);
    assert_eq!((script.path(), script.offset()), (Some("/w/a"), Some(2)));
    assert_eq!(script.open("c", 5).path(), Some("/w/c"));
}

#[test]
fn hostile_numbers_are_survived() {
    let script = Script::new()
        .call("openat", &[CWD, path("/a"), Arg::Int(-1)], value(i64::MAX))
        .call("dup2", &[fd(i32::MAX), fd(i32::MIN)], value(i64::from(i32::MAX)))
        .call("read", &[fd(-7), Arg::Null, Arg::Int(i64::MIN)], value(i64::MAX))
        .open("/a", 3)
        .lseek(3, i64::MAX)
        .read(3, i64::MAX)
        .read(3, i64::MAX);
    assert_eq!((script.path(), script.offset()), (Some("/a"), None));
}

#[test]
fn where_a_seek_went_that_answered_a_negative_number_is_not_known() {
    let sought = |ret| {
        let script = Script::new().open("/proc/self/mem", 3).lseek(3, 100);
        script.call("lseek", &[fd(3), Arg::Opaque, Arg::Int(0)], ret).read(3, 1).offset()
    };
    assert_eq!(sought(value(i64::MIN >> 16)), None);
    assert_eq!(sought(Return::Failed(b"EUNKNOWN")), None);
    assert_eq!(sought(Return::Failed(b"EINVAL")), Some(100));
}

#[test]
fn a_descriptor_that_is_bad_is_gone_unless_it_was_only_used_for_what_it_is_not_open_for() {
    let bad = Return::Failed(b"EBADF");
    let read = |script: Script| script.call("read", &[fd(3), Arg::Opaque, Arg::Int(5)], bad);
    let opened = |flags| Script::new().of_trace().call("open", &[path("/a"), symbols(flags)], value(3));
    let script = read(opened("O_RDONLY"));
    assert_eq!((script.path(), script.last().open), (None, None));
    let script = script.call("fstat", &[fd(3), Arg::Opaque], bad);
    assert_eq!(script.path(), None);
    assert_eq!(read(opened("O_WRONLY")).path(), Some("/a"), "it may be open all the same");
    let hinted = [Arg::Fd(3, hint("/a")), Arg::Opaque, Arg::Int(5)];
    assert_eq!(opened("O_RDONLY").call("read", &hinted, bad).path(), Some("/a"), "the tracer saw it");
    let lock = [fd(3), symbols("F_SETLK"), Arg::Opaque];
    assert_eq!(
        opened("O_RDONLY").call("fcntl", &lock, bad).path(),
        Some("/a"),
        "it may be open all the same"
    );
}

#[test]
fn no_follow_ends_at_a_slash() {
    let script =
        Script::new().of_trace().open("/d/x", 3).call("symlink", &[path("/d"), path("/l")], value(0));
    let mut files = Vec::new();
    let mut script = script;
    for name in ["/l", "/d", "/l/", "/l/."] {
        script = script.call("lstat", &[path(name), Arg::Opaque], value(0));
        files.push(script.last().file);
    }
    assert_ne!(files[0], files[1]);
    assert_eq!(files[1..], [files[1]; 3]);
}

#[test]
fn links_to_descriptors_open_the_file_behind_them_anew() {
    for link in ["/proc/self/fd/3", "/dev/fd/3", "/proc/thread-self/fd/3", "/proc/100/fd/3"] {
        let script = Script::new().open("/a", 3).read(3, 10).open(link, 4).read(4, 1);
        assert_eq!((script.path(), script.offset()), (Some("/a"), Some(0)), "{link}");
    }
    assert_eq!(Script::new().open("/a", 0).open("/dev/stdin", 4).path(), Some("/a"));
    assert_eq!(
        Script::new().open("/a", 3).fork(101).by(101).close(3).open("/proc/100/fd/3", 3).path(),
        Some("/a")
    );
    let pair = Arg::FdPair([(3, None), (4, None)]);
    let script = Script::new().call("pipe2", &[pair], value(0)).open("/dev/fd/3", 5).read(5, 1);
    assert_eq!((script.path(), script.offset()), (Some("pipe"), None));
    assert_eq!(Script::new().open("/dev/fd/9", 4).path(), Some("/dev/fd/9"));
    let script = Script::new().open("/a", 3).open_with("/proc/self/fd/3", "O_PATH|O_NOFOLLOW", 4);
    assert_eq!(script.path(), Some("/proc/self/fd/3"));
    let readlink = [path("/proc/self/fd/3"), Arg::Opaque, Arg::Int(99)];
    let script = Script::new().open("/a", 3).call("readlink", &readlink, value(2));
    assert_eq!(script.path(), Some("/proc/self/fd/3"));
}

#[test]
fn ranges_are_marked_or_closed_alone() {
    let marked = [Arg::Int(3), Arg::Int(3), symbols("CLOSE_RANGE_CLOEXEC")];
    let script = Script::new().open("/a", 3).open("/b", 4).call("close_range", &marked, value(0)).read(3, 1);
    assert_eq!(script.path(), Some("/a"));
    let script = script.exec("/bin/x", "x").read(3, 1);
    assert_eq!(script.path(), None);
    assert_eq!(script.read(4, 1).path(), Some("/b"));
    let alone = [Arg::Int(3), Arg::Int(9), symbols("CLOSE_RANGE_UNSHARE")];
    let thread = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD";
    let script = Script::new().open("/a", 3).clone(thread, 101).by(101).call("close_range", &alone, value(0));
    let script = script.read(3, 1);
    assert_eq!(script.path(), None);
    assert_eq!(script.by(100).read(3, 1).path(), Some("/a"));
}

#[test]
fn links_of_the_kernel_are_those_of_the_first_thread_unless_they_say_whose() {
    let thread = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD";
    let alone = [symbols("CLONE_FS|CLONE_FILES")];
    let apart = || {
        let script = Script::new().open("/a", 3).clone(thread, 101).by(101);
        script.call("unshare", &alone, value(0)).close(3).open("/b", 3).chdir("/d")
    };
    for (link, expected) in [
        ("/proc/self/fd/3", "/a"),
        ("/dev/fd/3", "/a"),
        ("/proc/100/fd/3", "/a"),
        ("/proc/thread-self/fd/3", "/b"),
        ("/proc/101/fd/3", "/b"),
        ("/proc/self/task/101/fd/3", "/b"),
        ("/proc/100/task/100/fd/3", "/a"),
        ("/proc/thread-self/cwd/x", "/d/x"),
        ("/proc/100/task/101/cwd/x", "/d/x"),
    ] {
        assert_eq!(apart().open(link, 9).read(9, 1).path(), Some(expected), "{link}");
    }
}

#[test]
fn an_exec_ends_the_sharing_of_descriptors() {
    let script = Script::new().open_with("/a", "O_CLOEXEC", 3).clone("CLONE_FILES|SIGCHLD", 101).by(101);
    let script = script.exec("/bin/x", "x").open("/b", 5).read(3, 1);
    assert_eq!(script.path(), None);
    let script = script.by(100).read(3, 1);
    assert_eq!(script.path(), Some("/a"));
    assert_eq!(script.read(5, 1).path(), None);
}

#[test]
fn a_descriptor_taken_from_another_process_is_unknown_until_somebody_looks() {
    let script = Script::new().call("pidfd_open", &[Arg::Int(7), Arg::Int(0)], value(4));
    let script = script.call("pidfd_getfd", &[fd(4), Arg::Int(1), Arg::Int(0)], value(5));
    assert_eq!((script.path(), script.last().fd, script.knows(5)), (None, Some(5), false));
    let script = script.looked(5, "/log", 30).write(5, 1);
    assert_eq!((script.path(), script.offset()), (Some("/log"), Some(30)));
}

#[test]
fn a_descriptor_that_was_looked_at_before_its_call_is_told_is_what_was_found() {
    let script = Script::new().open("/a", 3).read(3, 4);
    let original = script.last().open;
    let script = script.call("pidfd_open", &[Arg::Int(100), Arg::Int(0)], value(4)).looked(5, "/a", 4);
    let script = script.copies(5, 3).call("pidfd_getfd", &[fd(4), Arg::Int(3), Arg::Int(0)], value(5));
    assert_eq!((script.path(), script.last().open), (Some("/a"), original));
    let script = script.read(5, 1);
    assert_eq!((script.last().open, script.offset()), (original, Some(4)));
}

#[test]
fn copies_of_a_descriptor_share_an_open_file_description_and_each_open_makes_another() {
    let script = Script::new().open("/a", 3).dup2(3, 5).read(5, 1).fork(200).by(200).read(3, 1);
    let shared = script.last().open;
    assert!(shared.is_some() && script.events()[..3].iter().all(|event| event.open == shared));
    // The number 3 comes again, for the same file; what the child has is another thing.
    let script = script.by(100).close(3).open("/a", 3).read(3, 1);
    let again = script.last().open;
    assert!(again.is_some() && again != shared);
    assert_eq!(script.by(200).read(3, 1).last().open, shared);
}

#[test]
fn calls_with_two_descriptors_have_both_descriptions() {
    let script = Script::new().open("/a", 3).open("/b", 4);
    let opens: Vec<Option<u32>> = script.events().iter().map(|event| event.open).collect();
    let script = script.call("sendfile", &[fd(4), fd(3), Arg::Opaque, Arg::Int(9)], value(9));
    assert_eq!((script.last().open, script.last().open2), (opens[0], opens[1]));
    let script = script.call("pipe", &[Arg::FdPair([(5, None), (6, None)])], value(0));
    let (reads, writes) = (script.last().open, script.last().open2);
    assert!(reads.is_some() && writes.is_some() && reads != writes);
    let script = script.write(6, 1);
    assert_eq!(script.last().open, writes);
    assert_eq!(script.read(5, 1).last().open, reads);
}

#[test]
fn calls_without_a_descriptor_have_no_description() {
    let script = Script::new().call("stat", &[path("/a"), Arg::Opaque], value(0));
    assert_eq!((script.last().open, script.last().open2), (None, None));
    let script = Script::new().call("openat", &[CWD, path("/no"), symbols("O_RDONLY")], ENOENT);
    assert_eq!(script.last().open, None);
}

#[test]
fn a_name_may_really_end_in_deleted() {
    let shown = Some(Target { name: b"/w/x", deleted: true });
    let script = Script::new().open("/w/x", 3).read(3, 1);
    let open = [CWD, path("/w/x (deleted)"), symbols("O_RDONLY")];
    let script = script.call("openat", &open, Return::Value(4, shown));
    assert_eq!(script.path(), Some("/w/x (deleted)"));
    let script = script.call("read", &[Arg::Fd(4, shown), Arg::Opaque, Arg::Int(9)], value(2));
    assert_eq!((script.path(), script.offset()), (Some("/w/x (deleted)"), Some(0)));
    let script = script.call("read", &[Arg::Fd(4, shown), Arg::Opaque, Arg::Int(9)], value(2));
    assert_eq!((script.path(), script.offset()), (Some("/w/x (deleted)"), Some(2)));
    let gone = Some(Target { name: b"/w/x", deleted: true });
    let script = script.call("read", &[Arg::Fd(3, gone), Arg::Opaque, Arg::Int(9)], value(2));
    assert_eq!((script.path(), script.offset()), (Some("/w/x"), Some(1)));
}

#[test]
fn no_call_moves_more_than_it_was_asked_to() {
    let write = [fd(3), Arg::Opaque, Arg::Int(127)];
    let script = Script::new().open("/a", 3).call("write", &write, value(336));
    let told = script.last();
    assert_eq!((told.requested, told.size, told.ret), (Some(127), None, Some(336)));
}
