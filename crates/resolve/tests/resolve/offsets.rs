//! Where transfers start.

use crate::script::{CWD, Script, THREAD, fd, path, symbols, value};
use iotrail_model::raw::{Arg, RawItem, Return};

fn offsets(script: &Script) -> Vec<Option<i64>> {
    let transfers = script.events().iter().filter(|event| event.size.is_some());
    transfers.map(|event| event.offset).collect()
}

#[test]
fn reads_and_writes_move_the_cursor_by_the_bytes_moved() {
    let script = Script::new().open("/a", 3).read(3, 10).write(3, 5).read(3, 0).read(3, 1);
    assert_eq!(offsets(&script), [Some(0), Some(10), Some(15), Some(15)]);
}

#[test]
fn seeking_sets_it_and_shows_where_it_was() {
    let script = Script::new().open("/a", 3).read(3, 10).lseek(3, 100);
    assert_eq!(script.offset(), Some(10));
    assert_eq!(script.read(3, 1).offset(), Some(100));
    let far = [fd(3), Arg::Int(7), Arg::Int(7), symbols("SEEK_SET")];
    assert_eq!(Script::new().open("/a", 3).call("_llseek", &far, value(0)).read(3, 1).offset(), Some(7));
}

#[test]
fn calls_with_their_own_offset_leave_it_alone() {
    let script = Script::new().open("/a", 3).read(3, 10).pread(3, 5, 1000);
    assert_eq!(script.offset(), Some(1000));
    assert_eq!(script.read(3, 1).offset(), Some(10));
    let vector = [fd(3), Arg::Length(30), Arg::Int(2), Arg::Int(-1), Arg::Int(0)];
    let script = Script::new().open("/a", 3).read(3, 10).call("preadv2", &vector, value(20));
    assert_eq!((script.offset(), script.last().requested), (Some(10), Some(30)));
    assert_eq!(script.read(3, 1).offset(), Some(30));
}

#[test]
fn copies_share_the_cursor() {
    let script = Script::new().open("/a", 3).dup2(3, 4).read(3, 10).read(4, 5).fork(101).by(101).read(4, 1);
    assert_eq!(offsets(&script), [Some(0), Some(10), Some(15)]);
    assert_eq!(script.by(100).read(3, 1).offset(), Some(16));
}

#[test]
fn two_openings_of_a_file_have_two_cursors() {
    assert_eq!(Script::new().open("/a", 3).open("/a", 4).read(3, 10).read(4, 5).offset(), Some(0));
}

#[test]
fn appending_writes_start_at_an_unknown_end() {
    let script = Script::new().open_with("/log", "O_WRONLY|O_APPEND", 3).write(3, 10);
    assert_eq!(script.offset(), None);
    let place = [fd(3), Arg::Opaque, Arg::Int(4), Arg::Int(0)];
    assert_eq!(script.call("pwrite64", &place, value(4)).offset(), None);
    let script = Script::new()
        .open("/log", 3)
        .call("fcntl", &[fd(3), symbols("F_SETFL"), symbols("O_RDWR|O_APPEND")], value(0))
        .write(3, 10);
    assert_eq!(script.offset(), None);
    let script =
        Script::new().open("/log", 3).call("fcntl", &[fd(3), symbols("F_GETFL")], value(0x8402)).write(3, 10);
    assert_eq!(script.offset(), None);
}

#[test]
fn failed_transfers_move_nothing() {
    let script = Script::new().open("/a", 3).read(3, 10);
    let script = script.call("read", &[fd(3), Arg::Null, Arg::Int(1)], Return::Failed(b"EFAULT"));
    assert_eq!(script.offset(), Some(10));
    let seek = [fd(3), Arg::Int(-1), symbols("SEEK_SET")];
    let script = script.call("lseek", &seek, Return::Failed(b"EINVAL"));
    assert_eq!(script.offset(), Some(10));
    assert_eq!(script.read(3, 1).offset(), Some(10));
}

#[test]
fn what_leaves_a_signal_handler_has_no_result() {
    for ret in [Return::Failed(b"EINTR"), value(7)] {
        let script = Script::new().call("rt_sigreturn", &[], ret);
        assert_eq!((script.last().ret, script.last().errno.as_deref()), (None, None));
    }
}

#[test]
fn terminals_and_what_cannot_be_sought_have_no_offsets() {
    assert_eq!(Script::new().open("/dev/pts/1", 3).write(3, 10).offset(), None);
    let seek = [fd(3), Arg::Int(0), symbols("SEEK_CUR")];
    let script = Script::new().open("/tmp/fifo", 3).call("lseek", &seek, Return::Failed(b"ESPIPE"));
    assert_eq!(script.read(3, 10).offset(), None);
}

#[test]
fn a_write_to_proc_may_leave_the_position_where_it_is() {
    let script = Script::new().open("/proc/self/comm", 3).write(3, 7);
    assert_eq!(script.offset(), Some(0));
    let script = script.read(3, 8);
    assert_eq!(script.offset(), None);
    assert_eq!(script.lseek(3, 0).read(3, 8).read(3, 0).offset(), Some(8));
    let script = Script::new().open("/proc/sys/kernel/core_pattern", 3).write(3, 7).read(3, 8);
    assert_eq!(script.offset(), Some(7), "these move it");
}

#[test]
fn others_may_move_the_cursors_of_inherited_descriptors() {
    let script = Script::new().read(0, 10).lseek(0, 5).read(0, 10).read(0, 10);
    assert_eq!(offsets(&script), [None; 3]);
    assert_eq!(Script::new().lseek(1, 0).write(2, 10).write(1, 10).offset(), None);
}

#[test]
fn an_inherited_descriptor_may_be_open_for_appending() {
    let write = [fd(1), Arg::Opaque, Arg::Int(4), Arg::Int(100)];
    let script = Script::new().call("pwrite64", &write, value(4));
    assert_eq!(script.offset(), None);
    let write = [fd(3), Arg::Opaque, Arg::Int(4), Arg::Int(7)];
    let script = Script::new().open("/a", 3).call("pwrite64", &write, value(4));
    assert_eq!(script.offset(), Some(7));
    let script = script.escaped().call("pwrite64", &write, value(4));
    assert_eq!(script.offset(), None, "who shares it may have set O_APPEND");
    assert_eq!(Script::new().pread(0, 4, 100).offset(), Some(100));
}

#[test]
fn a_renamed_file_keeps_its_cursor_and_how_it_was_opened() {
    let named = |name: &'static str| Arg::Fd(3, crate::script::hint(name));
    let read = |script: Script, name: &'static str| {
        script.call("read", &[named(name), Arg::Opaque, Arg::Int(9)], value(2))
    };
    let write = |script: Script, name: &'static str| {
        script.call("write", &[named(name), Arg::Opaque, Arg::Int(9)], value(2))
    };
    let open = |flags: &'static str| {
        let args = [CWD, path("/a"), symbols(flags)];
        Script::new().call("openat", &args, Return::Value(3, crate::script::hint("/a"))).dup2(3, 4)
    };
    let rename = |script: Script| script.call("rename", &[path("/a"), path("/b")], value(0));
    let script = read(rename(read(open("O_RDWR"), "/a")), "/b");
    assert_eq!((script.path(), script.offset()), (Some("/b"), Some(2)));
    assert_eq!(script.read(4, 1).offset(), Some(4));
    let script = write(rename(open("O_WRONLY|O_APPEND")), "/b");
    assert_eq!(script.offset(), None);
    // Somebody else renamed it, or it was closed and opened again; and back.
    let script = read(read(open("O_RDWR"), "/a"), "/b");
    assert_eq!(script.offset(), None);
    assert_eq!(read(script.read(4, 1), "/a").offset(), None);
}

#[test]
fn a_copy_within_one_description_moves_its_cursor_once() {
    let script = Script::new().open("/a", 3).dup2(3, 4).read(3, 10);
    let script = script.call("sendfile", &[fd(4), fd(3), Arg::Null, Arg::Int(7)], value(7));
    assert_eq!(script.offset(), Some(10));
    let script = script.read(3, 1);
    assert_eq!(script.offset(), Some(17));
    let script = script.call("sendfile", &[fd(4), fd(3), Arg::Int(100), Arg::Int(7)], value(7));
    assert_eq!(script.offset(), Some(100));
    assert_eq!(script.read(3, 1).offset(), Some(25));
}

#[test]
fn whoever_receives_a_descriptor_may_move_its_cursor() {
    let script = Script::new().open("/a", 3).read(3, 10).sent(3).read(3, 10);
    assert_eq!(script.offset(), None);
    // A thread that is followed received it.
    let script = script.fork(101).by(101).looked(9, "/a", 20).arrived(9, 100, 3).read(9, 5);
    assert_eq!(script.offset(), Some(20));
    let script = script.by(100).read(3, 1);
    assert_eq!(script.offset(), Some(25));
    assert_eq!(script.escaped().read(3, 1).offset(), None);
}

#[test]
fn a_call_overtaken_by_another_has_no_known_place_whatever_the_clock_says() {
    let seek = [fd(3), Arg::Int(5), symbols("SEEK_SET")];
    let script = Script::new().open("/a", 3).fork(101).entered("lseek", &seek).by(101).lasting(0);
    let script = script.at_once().read(3, 10).by(100).call("lseek", &seek, value(5));
    assert_eq!(script.offset(), None);
    assert_eq!(script.read(3, 1).offset(), None);
}

#[test]
fn an_earlier_call_that_is_not_over_makes_later_places_unknown() {
    let script = Script::new().open("/a", 3).fork(101).lasting(1000).read(3, 10).lasting(5).by(101);
    let script = script.lseek(3, 0).lseek(3, 50).read(3, 1);
    assert_eq!(script.offset(), None);
}

#[test]
fn places_in_directories_mean_nothing() {
    let seek = [fd(3), Arg::Int(0), symbols("SEEK_CUR")];
    let script =
        Script::new().open("/d", 3).call("getdents64", &[fd(3), Arg::Opaque, Arg::Int(99)], value(48));
    assert_eq!(script.call("lseek", &seek, value(7)).offset(), None);
    let script = Script::new().open_with("/d", "O_RDONLY|O_DIRECTORY", 3).call("lseek", &seek, value(0));
    assert_eq!(script.offset(), None);
}

#[test]
fn a_trace_must_show_that_it_holds_the_calls_that_move_cursors() {
    let script = Script::new().of_trace().open_with("/a", "O_RDONLY", 3).read(3, 10);
    assert_eq!(script.offset(), None);
    let script = script.getpid().read(3, 10);
    assert_eq!(script.offset(), Some(10));
    // Who made the thread is not in it.
    let script = script.by(200).getpid().by(100).read(3, 10);
    assert_eq!(script.offset(), None);
    let script = Script::new().of_trace().getpid().open_with("/a", "O_RDONLY", 3);
    let script = script.call("io_uring_setup", &[Arg::Int(8), Arg::Opaque], value(4)).read(3, 10);
    assert_eq!(script.offset(), None);
}

#[test]
fn without_an_order_of_threads_only_what_one_has_for_itself_is_certain() {
    let start = || Script::with_a_file_per_thread().of_trace().getpid().write(9, 1).open("/a", 3).read(3, 10);
    assert_eq!(start().read(3, 10).offset(), Some(10));
    let script = start().fork(101).read(3, 10);
    assert_eq!(script.offset(), None);
    let script = script.by(101).read(3, 10);
    assert_eq!(script.offset(), None);
    assert_eq!(script.open("/b", 4).read(4, 10).read(4, 10).offset(), Some(10));
    assert_eq!(start().clone("CLONE_VM|CLONE_FILES", 101).open("/b", 4).read(4, 10).offset(), None);
}

#[test]
fn transfers_in_flight_together_have_no_known_order() {
    let script = Script::new().open("/a", 3).clone(THREAD, 101);
    let script = script.by(101).entered("read", &[fd(3)]).by(100).read(3, 10).by(101).read(3, 20);
    assert_eq!(offsets(&script), [None, None]);
    let script = script.by(100).read(3, 1);
    assert_eq!(script.offset(), None);
    assert_eq!(script.lseek(3, 50).by(101).read(3, 1).offset(), Some(50));
}

#[test]
fn overlaps_in_time_are_noticed_without_announcement() {
    let script =
        Script::new().open("/a", 3).fork(101).lasting(100).read(3, 10).lasting(5).by(101).read(3, 20);
    assert_eq!(script.offset(), None);
    let script = script.by(100).read(3, 1);
    assert_eq!(script.offset(), None);
}

#[test]
fn one_thread_after_the_other_is_no_contention() {
    let script = Script::new().open("/a", 3).fork(101).read(3, 10).by(101).read(3, 20).by(100).read(3, 1);
    assert_eq!(offsets(&script), [Some(0), Some(10), Some(30)]);
}

#[test]
fn a_number_reused_while_a_call_is_in_flight_does_not_rename_it() {
    let script = Script::new().open("/b", 3).clone(THREAD, 101);
    let script = script.by(101).entered("close", &[fd(3)]).by(100).open("/c", 3).by(101).close(3);
    assert_eq!(script.path(), Some("/b"));
    assert_eq!(script.read(3, 1).path(), Some("/c"));
}

#[test]
fn lengths_and_places_of_other_calls_are_offsets() {
    let script = Script::new().open("/a", 3).call("ftruncate", &[fd(3), Arg::Int(777)], value(0));
    assert_eq!((script.offset(), script.last().size, script.last().requested), (Some(777), None, None));
    let script = script.call("truncate", &[path("/a"), Arg::Int(5)], value(0));
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(5)));
}

#[test]
fn a_flag_of_the_call_overrides_appending() {
    let write = |flags: &'static str| [fd(3), Arg::Length(4), Arg::Int(1), Arg::Int(8), symbols(flags)];
    let script = Script::new().open_with("/log", "O_WRONLY|O_APPEND", 3);
    let script = script.call("pwritev2", &write("RWF_NOAPPEND"), value(4));
    assert_eq!(script.offset(), Some(8));
    let script = Script::new().open("/log", 3).call("pwritev2", &write("RWF_APPEND"), value(4));
    assert_eq!(script.offset(), None);
    let script = script.read(3, 1);
    assert_eq!(script.offset(), Some(0));
    let at_cursor = [fd(3), Arg::Length(4), Arg::Int(1), Arg::Int(-1), symbols("0")];
    let script = script.call("pwritev2", &at_cursor, value(4));
    assert_eq!(script.offset(), Some(1));
}

#[test]
fn copies_move_the_cursors_that_they_use() {
    let script = Script::new().open("/from", 3).open("/to", 4).read(3, 10);
    let args = [fd(3), Arg::Int(100), fd(4), Arg::Null, Arg::Int(50), Arg::Int(0)];
    let script = script.call("copy_file_range", &args, value(20));
    assert_eq!((script.offset(), script.path2(), script.last().size), (Some(100), Some("/to"), Some(20)));
    let script = script.write(4, 1);
    assert_eq!(script.offset(), Some(20));
    assert_eq!(script.read(3, 1).offset(), Some(10));
    let pair = Arg::FdPair([(3, None), (4, None)]);
    let splice = [fd(5), Arg::Null, fd(4), Arg::Null, Arg::Int(50), symbols("SPLICE_F_MOVE")];
    let script =
        Script::new().call("pipe2", &[pair], value(0)).open("/a", 5).call("splice", &splice, value(30));
    assert_eq!((script.path(), script.offset(), script.path2()), (Some("/a"), Some(0), Some("pipe")));
    assert_eq!(script.read(5, 1).offset(), Some(30));
}

#[test]
fn allocating_has_an_offset_and_moves_nothing() {
    let args = [fd(3), symbols("FALLOC_FL_KEEP_SIZE"), Arg::Int(4096), Arg::Int(100)];
    let script = Script::new().open("/a", 3).call("fallocate", &args, value(0));
    assert_eq!((script.offset(), script.last().requested, script.last().size), (Some(4096), None, None));
    assert_eq!(script.read(3, 1).offset(), Some(0));
}

#[test]
fn locks_have_a_kind_and_a_place() {
    let lock = |script: Script, command: &str, text: &str| {
        let script = script.call("fcntl", &[fd(3), symbols(command), Arg::Text(text.as_bytes())], value(0));
        (script.last().flags.clone().unwrap_or_default(), script.offset(), script)
    };
    let at = "{l_type=F_WRLCK, l_whence=SEEK_SET, l_start=100, l_len=10}";
    let (flags, offset, script) = lock(Script::new().open("/a", 3).read(3, 7), "F_SETLKW", at);
    assert_eq!((flags.as_str(), offset, script.path()), ("F_SETLKW|F_WRLCK", Some(100), Some("/a")));
    assert_eq!((script.last().requested, script.last().size), (None, None));
    let here = "{l_type=F_UNLCK, l_whence=SEEK_CUR, l_start=3, l_len=0}";
    let (flags, offset, script) = lock(script, "F_OFD_SETLK", here);
    assert_eq!((flags.as_str(), offset), ("F_OFD_SETLK|F_UNLCK", Some(10)));
    let end = "{l_type=F_RDLCK, l_whence=SEEK_END, l_start=-5, l_len=5}";
    let (flags, offset, script) = lock(script, "F_GETLK", end);
    assert_eq!((flags.as_str(), offset), ("F_GETLK|F_RDLCK", None));
    assert_eq!(script.read(3, 1).offset(), Some(7));
    assert_eq!(
        Script::new().open("/a", 3).call("flock", &[fd(3), symbols("LOCK_EX")], value(0)).offset(),
        None
    );
}

#[test]
fn several_messages_move_what_their_headers_say() {
    let receive = |headers| [fd(3), headers, Arg::Int(8), symbols("MSG_DONTWAIT"), Arg::Null];
    let script = Script::new().open("/a", 3).call("recvmmsg", &receive(Arg::Length(42)), value(2));
    assert_eq!((script.last().size, script.last().requested), (Some(42), None));
    let script = script.call("recvmmsg", &receive(Arg::Opaque), value(2));
    assert_eq!(script.last().size, None);
}

#[test]
fn a_message_moves_no_more_than_there_is_room_for() {
    let receive = |room, flags| [fd(3), Arg::Opaque, Arg::Int(room), symbols(flags), Arg::Null, Arg::Null];
    let moved = |room, flags| {
        let script = Script::new().open("/a", 3).call("recvfrom", &receive(room, flags), value(500));
        (script.last().requested, script.last().size)
    };
    assert_eq!(moved(10, "MSG_TRUNC"), (Some(10), Some(10)));
    assert_eq!(moved(0, "MSG_PEEK|MSG_TRUNC"), (Some(0), Some(0)));
    assert_eq!(moved(600, "MSG_TRUNC"), (Some(600), Some(500)));
    assert_eq!(moved(600, "MSG_PEEK"), (Some(600), Some(500)));
    let cut = [fd(3), Arg::Length(7), symbols("MSG_TRUNC")];
    assert_eq!(Script::new().open("/a", 3).call("recvmsg", &cut, value(9)).last().size, Some(7));
}

#[test]
fn each_way_of_moving_a_cursor_must_have_been_seen() {
    let vector = [fd(3), Arg::Length(7), Arg::Int(1)];
    let start = |flags| Script::new().of_trace().getpid().open_with("/a", flags, 3);
    // Who can only be read is not moved by writes.
    assert_eq!(start("O_RDONLY").read(3, 5).read(3, 5).offset(), Some(5));
    assert_eq!(start("O_WRONLY|O_CREAT").write(3, 5).write(3, 5).offset(), Some(5));
    assert_eq!(start("O_RDONLY").call("readv", &vector, value(7)).offset(), None, "reads may be left out");
    assert_eq!(start("O_WRONLY").call("writev", &vector, value(7)).offset(), None);
    let script = start("O_RDWR").read(3, 5).read(3, 5);
    assert_eq!(script.offset(), None, "writes may be left out");
    assert_eq!(script.write(3, 1).offset(), Some(10));
    let script = start("O_RDWR").write(3, 5).write(3, 5);
    assert_eq!(script.offset(), None, "reads may be left out");
    let place = [fd(3), Arg::Opaque, Arg::Int(4), Arg::Int(70)];
    let script = script.call("pwrite64", &place, value(4));
    assert_eq!(script.offset(), Some(70), "what it is told, as it was not opened for appending");
    assert_eq!(script.read(9, 0).write(3, 1).offset(), Some(10));
}

#[test]
fn a_number_that_is_open_and_given_again_shows_that_calls_are_missing() {
    let start = || Script::new().of_trace().getpid().open_with("/a", "O_RDONLY", 3).read(3, 5);
    assert_eq!(start().close(3).open_with("/b", "O_RDONLY", 3).read(3, 5).offset(), Some(0));
    assert_eq!(start().open_with("/b", "O_RDONLY", 3).read(3, 5).offset(), None);
}

fn lost<'a>(script: Script, call: Option<(&str, &'a [Arg<'a>])>) -> Script {
    let tid = iotrail_model::Tid(100);
    let call = call.map(|(name, args)| {
        let call = script.names.calls.find(name.as_bytes()).map(iotrail_model::CallId);
        let start = iotrail_model::Timestamp(0);
        iotrail_model::raw::RawCall {
            tid,
            layer: iotrail_model::Layer::Syscall,
            call: call.unwrap_or_default(),
            start,
            dur: None,
            ret: Return::Unseen,
            args,
        }
    });
    script.item(&RawItem::Lost { tid, call })
}

#[test]
fn a_lost_call_makes_unknown_what_it_may_have_moved() {
    let start = || {
        let script = Script::new().of_trace().getpid().read(9, 0).write(9, 0);
        script.open("/a", 3).open("/b", 4).read(3, 5).read(4, 5)
    };
    let offsets = |script: Script| {
        let script = script.read(3, 1);
        let first = script.offset();
        (first, script.read(4, 1).offset())
    };
    assert_eq!(offsets(start()), (Some(5), Some(5)));
    assert_eq!(offsets(lost(start(), None)), (None, None));
    assert_eq!(offsets(lost(start(), None).lseek(3, 9)), (Some(9), None));
    assert_eq!(offsets(lost(start(), Some(("write", &[fd(3), Arg::Opaque, Arg::Int(5)])))), (None, Some(5)));
    // The last argument may be cut: 3 may be 31.
    assert_eq!(offsets(lost(start(), Some(("write", &[fd(3)])))), (None, None));
    assert_eq!(offsets(lost(start(), Some(("stat", &[path("/a")])))), (Some(5), Some(5)));
    assert_eq!(offsets(lost(start(), Some(("dup2", &[fd(7), fd(3)])))), (None, None));
    let script = lost(start(), Some(("fcntl", &[fd(3), symbols("F_SETFL"), symbols("O_APP")]))).lseek(3, 2);
    assert_eq!(script.write(3, 1).offset(), None, "it may append now");
    let other = lost(start().fork(101).by(101).read(3, 1), None).by(100);
    assert_eq!(offsets(other), (None, None));
}

#[test]
fn the_end_of_a_call_without_its_beginning_may_have_moved_any_cursor() {
    let start = || {
        let script = Script::new().of_trace().getpid().read(9, 0).write(9, 0);
        script.open("/a", 3).read(3, 5)
    };
    assert_eq!(start().call("write", &[], value(50)).read(3, 1).offset(), None);
    assert_eq!(start().call("write", &[], Return::Failed(b"EIO")).read(3, 1).offset(), Some(5));
    assert_eq!(start().call("lseek", &[], value(50)).read(3, 1).offset(), None);
    assert_eq!(start().call("futex", &[], value(0)).read(3, 1).offset(), Some(5));
    let script = start().call("dup2", &[], value(3)).read(3, 1);
    assert_eq!((script.path(), script.offset()), (None, None));
    let script = start().call("openat", &[], value(4)).write(4, 5);
    assert_eq!((script.path(), script.offset()), (None, None), "it may append");
}

#[test]
fn what_a_tracer_returned_in_place_of_a_call_did_not_happen() {
    let injected = |script: Script, name: &str, args: &[Arg<'_>], value, error| {
        script.call(name, args, Return::Injected(value, error))
    };
    let start = || Script::new().open("/a", 3).read(3, 5);
    let script = injected(start(), "write", &[fd(3), Arg::Opaque, Arg::Int(50)], 50, None);
    assert_eq!((script.last().size, script.last().ret, script.path()), (None, Some(50), Some("/a")));
    assert_eq!(script.read(3, 1).offset(), Some(5));
    let seek = [fd(3), Arg::Int(0), symbols("SEEK_CUR")];
    let script = injected(start(), "lseek", &seek, -1, Some(b"ESPIPE"));
    assert_eq!((script.last().ret, script.last().errno.as_deref()), (Some(-1), Some("ESPIPE")));
    assert_eq!(script.read(3, 1).offset(), Some(5));
    let script = injected(start(), "close", &[fd(3)], 0, None).read(3, 1);
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(5)));
    let script = injected(start().entered("close", &[fd(3)]), "close", &[fd(3)], 0, None).read(3, 1);
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(5)));
    let script =
        injected(start(), "openat", &[CWD, path("/b"), symbols("O_RDWR|O_CREAT")], 3, None).read(3, 1);
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(5)));
}
