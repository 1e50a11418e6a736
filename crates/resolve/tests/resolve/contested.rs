//! Descriptors that other threads change while calls on them are in flight.

use crate::script::{CWD, Script, THREAD, fd, hint, path, symbols, value};
use iotrail_model::Tid;
use iotrail_model::raw::{Arg, RawItem, Return};

/// 100 and 101 share their descriptors: 3 is /a, 5 is /b.
fn two_threads() -> Script {
    Script::new().open("/a", 3).open("/b", 5).clone(THREAD, 101)
}

fn read(script: Script, number: i32) -> Script {
    script.entered("read", &[fd(number)])
}

fn count(script: &Script) -> u64 {
    script.summary().uncertain_calls
}

#[test]
fn a_number_replaced_during_a_call_may_have_been_replaced_before_it() {
    let script = read(two_threads().by(101), 3).by(100).dup2(5, 3).by(101).read(3, 10);
    assert_eq!(
        (script.path(), script.last().open, script.last().file, script.offset()),
        (None, None, None, None)
    );
    assert_eq!(count(&script), 1);
    assert_eq!(script.by(100).read(3, 1).path(), Some("/b"));
}

#[test]
fn neither_file_has_a_known_position_afterwards() {
    let script = read(two_threads().dup2(3, 7).by(101), 3).by(100).dup2(5, 3).by(101).read(3, 10);
    let script = script.read(7, 1);
    assert_eq!((script.path(), script.offset()), (Some("/a"), None));
    let script = script.read(5, 1);
    assert_eq!((script.path(), script.offset()), (Some("/b"), None));
}

#[test]
fn a_replacement_that_is_still_in_flight_may_have_happened() {
    let script = two_threads().by(101).entered("dup2", &[fd(5), fd(3)]).by(100).read(3, 10);
    assert_eq!((script.path(), count(&script)), (None, 1));
    let script = script.by(101).dup2(5, 3).by(100).read(3, 1);
    assert_eq!((script.path(), count(&script)), (Some("/b"), 1));
}

#[test]
fn a_replacement_before_or_after_a_call_is_no_doubt() {
    let script = read(two_threads().by(100).dup2(5, 3).by(101), 3).by(100).getpid().by(101).read(3, 1);
    assert_eq!((script.path(), count(&script)), (Some("/b"), 0));
    let script = script.entered("read", &[fd(5)]).by(100).dup2(5, 9).by(101).read(5, 1);
    assert_eq!((script.path(), count(&script)), (Some("/b"), 0));
    let script = read(two_threads().by(101), 3).by(100).dup2(3, 3).by(101).read(3, 1);
    assert_eq!((script.path(), count(&script)), (Some("/a"), 0));
}

#[test]
fn what_was_read_was_not_closed_before() {
    let script = read(two_threads().by(101), 3).by(100).close(3).by(101).read(3, 10);
    assert_eq!((script.path(), script.offset(), count(&script)), (Some("/a"), Some(0), 0));
}

#[test]
fn a_bad_descriptor_that_is_closed_meanwhile_is_none() {
    let bad =
        |script: Script| script.call("read", &[fd(3), Arg::Opaque, Arg::Int(9)], Return::Failed(b"EBADF"));
    let script = bad(read(two_threads().by(101), 3).by(100).close(3).by(101));
    assert_eq!((script.path(), count(&script)), (None, 1));
    let script = bad(read(two_threads().by(101), 3).by(100).getpid().by(101));
    assert_eq!((script.path(), count(&script)), (Some("/a"), 0));
}

#[test]
fn a_number_closed_and_given_again_during_a_call_may_be_either() {
    let script = read(two_threads().by(101), 3).by(100).close(3).open("/c", 3).by(101).read(3, 10);
    assert_eq!((script.path(), count(&script)), (None, 1));
    assert_eq!(script.read(3, 1).path(), Some("/c"));
}

#[test]
fn a_number_given_again_during_its_close_was_closed_before() {
    let closing = two_threads().by(101).entered("close", &[fd(3)]);
    let script = closing.by(100).open("/c", 3).by(101).close(3);
    assert_eq!((script.path(), count(&script)), (Some("/a"), 0));
    assert_eq!(script.read(3, 1).path(), Some("/c"));
}

#[test]
fn a_close_in_flight_is_done_when_its_number_is_given_again() {
    let closing = two_threads().by(101).entered("close", &[fd(3)]);
    let script = closing.by(100).open("/c", 3).read(3, 10);
    assert_eq!((script.path(), script.offset()), (Some("/c"), Some(0)));
    let script = script.entered("openat", &[CWD, path("/d"), symbols("O_RDONLY")]).read(3, 10);
    assert_eq!((script.path(), script.offset()), (Some("/c"), Some(10)));
    let script = script.close(3);
    assert_eq!(script.path(), Some("/c"));
    let script = script.by(101).close(3);
    assert_eq!((script.path(), count(&script)), (Some("/a"), 0));
    assert_eq!(script.read(3, 1).path(), None);
}

#[test]
fn a_close_that_is_done_is_certain_while_what_came_is_closed() {
    let closing = two_threads().by(101).entered("close", &[fd(3)]);
    let script = closing.by(100).open("/c", 3).entered("close", &[fd(3)]).by(101).close(3);
    assert_eq!(script.path(), Some("/a"));
    let script = script.by(100).close(3);
    assert_eq!((script.path(), count(&script)), (Some("/c"), 0));
}

#[test]
fn what_is_read_while_its_number_is_closed_was_there() {
    let closing = two_threads().dup2(3, 7).by(101).entered("close", &[fd(3)]);
    let script = closing.by(100).read(3, 10);
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(0)));
    let script = read(script, 3).by(101).close(3).by(100).read(3, 10);
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(10)));
    let script = script.read(7, 1);
    assert_eq!((script.offset(), count(&script)), (Some(20), 0));
}

#[test]
fn a_position_is_unknown_while_a_call_may_move_it_that_began_before_the_number_was_given() {
    let reading = read(two_threads().close(3).by(101), 3);
    let script = reading.by(100).open("/c", 3).dup2(3, 7).read(7, 1);
    assert_eq!((script.path(), script.offset()), (Some("/c"), None));
    let script = script.by(101).read(3, 10).by(100).read(7, 1);
    assert_eq!((script.path(), script.offset()), (Some("/c"), None));
}

#[test]
fn what_an_open_made_may_be_read_before_it_is_told() {
    let open = [CWD, path("/c"), symbols("O_RDONLY")];
    let script = two_threads().by(101).entered("openat", &open).by(100).read(8, 10);
    assert_eq!(script.path(), None);
    let script = script.by(101).call("openat", &open, value(8)).read(8, 1);
    assert_eq!((script.path(), script.offset()), (Some("/c"), None));
    // Read, closed, and only then told.
    let script = two_threads().by(101).entered("openat", &open).by(100).read(8, 10).close(8);
    let script = script.by(101).call("openat", &open, value(8)).read(8, 1);
    assert_eq!(script.path(), None);
}

#[test]
fn what_is_given_after_a_close_that_began_before_the_gift_stays() {
    let open = |name: &'static str| [CWD, path(name), symbols("O_RDONLY")];
    let script = two_threads().by(101).entered("openat", &open("/c")).by(100).entered("close", &[fd(8)]);
    let script = script.by(101).call("openat", &open("/c"), value(8)).entered("openat", &open("/d"));
    let script = script.by(100).close(8).by(101).call("openat", &open("/d"), value(8));
    assert_eq!(script.by(100).read(8, 1).path(), Some("/d"));
    let script = two_threads().by(101).entered("openat", &open("/c")).by(100).entered("close", &[fd(8)]);
    let script = script.by(101).call("openat", &open("/c"), value(8)).entered("openat", &open("/d"));
    let script = script.call("openat", &open("/d"), value(8)).by(100).close(8);
    assert_eq!(script.by(100).read(8, 1).path(), Some("/d"));
}

#[test]
fn of_two_gifts_with_a_close_between_them_nobody_knows_the_last() {
    let open = |name: &'static str| [CWD, path(name), symbols("O_RDONLY")];
    let opening = two_threads().clone(THREAD, 102).by(101).entered("openat", &open("/c"));
    let script = opening.by(102).entered("openat", &open("/d")).by(100).close(8);
    let script = script.by(102).call("openat", &open("/d"), value(8));
    let script = script.by(101).call("openat", &open("/c"), value(8));
    assert_eq!(script.read(8, 1).path(), None);
}

#[test]
fn what_came_after_a_close_may_be_what_it_closed() {
    let closing = two_threads().dup2(3, 7).by(101).entered("close", &[fd(3)]);
    let script = closing.by(100).open("/c", 3).dup2(7, 3).by(101).close(3);
    let script = script.read(3, 1);
    assert_eq!((script.path(), count(&script)), (Some("/a"), 0));
}

#[test]
fn a_close_told_before_a_replacement_may_have_come_after_it() {
    let replacing = two_threads().by(101).entered("dup2", &[fd(5), fd(3)]);
    let script = replacing.by(100).close(3).by(101).dup2(5, 3).read(3, 1);
    assert_eq!(script.path(), None);
}

#[test]
fn of_two_closes_in_flight_nobody_knows_which_is_done() {
    let closing = two_threads().clone(THREAD, 102).by(101).entered("close", &[fd(3)]);
    let script = closing.by(102).entered("close", &[fd(3)]).by(100).open("/c", 3).close(3);
    assert_eq!((script.path(), count(&script)), (None, 1));
}

#[test]
fn a_close_that_found_a_number_open_may_have_freed_it() {
    let closing = two_threads().by(101).entered("close", &[fd(3)]);
    let script = closing.by(100).close(3).open("/c", 3).close(3);
    assert_eq!((script.path(), count(&script)), (None, 2));
}

#[test]
fn a_range_that_is_being_closed_may_have_freed_a_number() {
    let closing = two_threads().clone(THREAD, 102).by(101).entered("close", &[fd(3)]);
    let script = closing.by(102).entered("close_range", &[Arg::Int(3), Arg::Int(9), Arg::Int(0)]);
    let script = script.by(100).open("/c", 3).close(3);
    assert_eq!((script.path(), count(&script)), (None, 1));
}

#[test]
fn a_close_and_a_replacement_at_once() {
    let closing = two_threads().by(101).entered("close", &[fd(3)]);
    let script = closing.by(100).dup2(5, 3).by(101).close(3);
    assert_eq!((script.path(), count(&script)), (None, 1));
}

#[test]
fn of_two_replacements_at_once_nobody_knows_the_last() {
    let script = two_threads().open("/c", 6).by(101).entered("dup2", &[fd(5), fd(3)]);
    let script = script.by(100).dup2(6, 3);
    assert_eq!(script.path(), Some("/c"));
    let script = script.by(101).dup2(5, 3);
    assert_eq!(script.path(), Some("/b"));
    let script = script.read(3, 1);
    assert_eq!(script.path(), None);
    assert_eq!(script.dup2(5, 3).read(3, 1).path(), Some("/b"));
}

#[test]
fn a_copy_of_something_unclear_is_unclear() {
    let script = two_threads().by(101).entered("dup", &[fd(3)]).by(100).dup2(5, 3);
    let script = script.by(101).call("dup", &[fd(3)], value(8)).read(8, 1);
    assert_eq!(script.path(), None);
}

#[test]
fn a_directory_replaced_during_a_call_is_unclear() {
    let script = two_threads().by(101).entered("openat", &[fd(3), path("x"), symbols("O_RDONLY")]);
    let script = script.by(100).dup2(5, 3).by(101);
    let script = script.call("openat", &[fd(3), path("x"), symbols("O_RDONLY")], value(9));
    assert_eq!((script.path(), count(&script)), (Some("x"), 1));
}

#[test]
fn both_ends_of_a_copy_may_be_unclear() {
    let args = [fd(5), fd(3), Arg::Null, Arg::Int(100)];
    let script = two_threads().open("/c", 6).by(101).entered("sendfile", &args).by(100).dup2(6, 5);
    let script = script.by(101).call("sendfile", &args, value(50));
    assert_eq!((script.path(), script.path2(), script.offset()), (Some("/a"), None, Some(0)));
}

#[test]
fn a_name_that_a_tracer_printed_at_the_begin_tells_no_more() {
    let named = [Arg::Fd(3, hint("/a")), Arg::Opaque, Arg::Int(10)];
    let script = two_threads().by(101).entered("read", &named).by(100).dup2(5, 3).by(101);
    let script = script.call("read", &named, value(10));
    assert_eq!((script.path(), count(&script)), (None, 1));
    assert_eq!(script.by(100).read(3, 1).path(), Some("/b"));
}

#[test]
fn another_process_has_numbers_of_its_own() {
    let script = Script::new().open("/a", 3).open("/b", 5).fork(101).by(101).entered("read", &[fd(3)]);
    let script = script.by(100).dup2(5, 3).by(101).read(3, 10);
    assert_eq!((script.path(), count(&script)), (Some("/a"), 0));
}

#[test]
fn threads_that_end_in_calls_leave_nothing_behind() {
    let script = two_threads().by(101).entered("dup2", &[fd(5), fd(3)]).exited(0).by(100).read(3, 1);
    assert_eq!((script.path(), count(&script)), (Some("/a"), 0));
    let script = script.call("openat", &[CWD, path("/d"), symbols("O_RDONLY")], value(3)).read(3, 1);
    assert_eq!(script.path(), Some("/d"));
}

#[test]
fn what_an_open_made_may_be_closed_and_given_again_before_it_is_told() {
    let open = |name: &'static str| [CWD, path(name), symbols("O_RDONLY")];
    // The kernel gave 8 for /c, it was closed, and given for /d: only then the first open is told to be over.
    let script = two_threads().by(101).entered("openat", &open("/c"));
    let script = script.by(100).close(8).open("/d", 8).by(101).call("openat", &open("/c"), value(8));
    assert_eq!((script.path(), script.last().fd), (Some("/c"), Some(8)));
    assert_eq!(script.read(8, 1).path(), Some("/d"));
    // It was given for /d, closed, and given for /c.
    let script = two_threads().by(101).entered("openat", &open("/c"));
    let script = script.by(100).open("/d", 8).close(8).by(101).call("openat", &open("/c"), value(8));
    assert_eq!(script.read(8, 1).path(), Some("/c"));
    // It was given for /c and closed.
    let script = two_threads().by(101).entered("openat", &open("/c"));
    let script = script.by(100).close(8).by(101).call("openat", &open("/c"), value(8));
    assert_eq!(script.read(8, 1).path(), None);
    // It was given for /c and replaced.
    let script = two_threads().by(101).entered("openat", &open("/c"));
    let script = script.by(100).dup2(5, 8).by(101).call("openat", &open("/c"), value(8));
    assert_eq!(script.read(8, 1).path(), Some("/b"));
}

#[test]
fn a_number_that_was_closed_may_be_given_again_by_an_open_in_flight() {
    let script = two_threads().clone(THREAD, 102).by(102);
    let script = script.entered("openat", &[CWD, path("/c"), symbols("O_RDONLY")]).by(101);
    let script = script.entered("read", &[fd(3)]).by(100).close(3).by(101).read(3, 10);
    assert_eq!((script.path(), count(&script)), (None, 1));
}

#[test]
fn what_is_closed_before_its_open_is_told_is_that() {
    let open = |name: &'static str| [CWD, path(name), symbols("O_RDONLY")];
    let script = two_threads().clone(THREAD, 102).clone(THREAD, 103).by(101).entered("openat", &open("/c"));
    let script = script.by(100).entered("close", &[fd(8)]).by(101).call("openat", &open("/c"), value(8));
    let script = script.by(102).entered("openat", &open("/d")).by(103).entered("read", &[fd(8)]);
    let script = script.by(100).close(8);
    assert_eq!(script.path(), Some("/c"));
    let script = script.by(102).call("openat", &open("/d"), value(8)).by(103).read(8, 1);
    assert_eq!((script.path(), count(&script)), (None, 1));
    assert_eq!(script.read(8, 1).path(), Some("/d"));
}

#[test]
fn a_look_does_not_find_a_position_that_a_call_in_flight_may_move() {
    let reading = read(two_threads().by(101), 3);
    let script = reading.by(100).close(3).open("/c", 3);
    let script = script.stands(3, 0).read(3, 1);
    assert_eq!((script.path(), script.offset()), (Some("/c"), None));
    let script = script.by(101).read(3, 10).by(100).stands(3, 0).read(3, 1);
    assert_eq!((script.path(), script.offset()), (Some("/c"), Some(0)));
}

#[test]
fn a_look_shows_what_a_call_in_flight_closes() {
    let script = two_threads().dup2(3, 7).by(100).entered("close", &[fd(3)]).by(101);
    let script = read(script.looked(3, "/a", 0), 3).by(100).close(3).by(101).read(3, 10);
    assert_eq!(script.path(), Some("/a"));
    let script = script.read(7, 1);
    assert_ne!(script.offset(), Some(0), "what was read by the number that was closed has moved it");
    let script = script.entered("openat", &[CWD, path("/c"), symbols("O_RDONLY")]).by(100).read(3, 1);
    assert_eq!(script.path(), None, "it is not known to be there any more");
}

#[test]
fn what_a_tracer_names_may_be_what_a_call_in_flight_closes() {
    let script = two_threads().dup2(3, 7).by(100).entered("close", &[fd(3)]).by(101);
    let named = [Arg::Fd(3, hint("/a"))];
    let script = script.entered("read", &named).by(100).close(3).by(101).read(3, 10);
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(0)));
    assert_eq!(script.read(7, 1).offset(), Some(10));
}

#[test]
fn what_a_close_found_may_have_been_made_while_it_was_in_flight() {
    let open = |name: &'static str| [CWD, path(name), symbols("O_RDONLY")];
    let script = two_threads().by(101).entered("close", &[fd(3)]).by(100).entered("close", &[fd(3)]);
    let script = script.by(101).close(3).by(100).call("close", &[fd(3)], Return::Failed(b"EBADF"));
    let script = script.entered("close", &[fd(3)]).by(101).entered("openat", &open("/c")).by(100).close(3);
    let script = script.by(101).call("openat", &open("/c"), value(3));
    let script = read(script.by(100), 3).by(101).entered("openat", &open("/d")).by(100).read(3, 1);
    assert_eq!(script.path(), None);
}

#[test]
fn a_child_may_have_what_a_call_in_flight_changes_or_what_came() {
    let script = two_threads().by(101).entered("dup2", &[fd(5), fd(3)]).by(100).fork(200);
    let script = script.by(101).dup2(5, 3).by(200).read(3, 1);
    assert_eq!(script.path(), None);
    let script = two_threads().by(101).entered("close", &[fd(3)]).by(100).fork(200);
    let script = script.by(101).close(3).by(200).read(3, 1);
    assert_eq!(script.path(), Some("/a"), "it was there then");
    let open = [CWD, path("/c"), symbols("O_RDONLY")];
    let script = two_threads().by(101).entered("openat", &open).by(100).fork(200);
    let script = script.by(101).call("openat", &open, value(4)).by(200).read(4, 1);
    assert_eq!(script.path(), None, "nobody can tell whether it had been opened");
}

#[test]
fn what_is_found_behind_a_number_that_another_thread_replaces_is_not_believed() {
    let dup2 = |from: i32, name: &'static str| [Arg::Fd(from, None), Arg::Fd(50, hint(name))];
    let made = |script: Script, from, name: &'static str| {
        script.call("dup2", &dup2(from, name), Return::Value(50, hint(name)))
    };
    // The look at 50 after the call finds what the other one, which is not told to be over yet, put there.
    let script = two_threads().by(101).entered("dup2", &[fd(3), fd(50)]).by(100);
    let script = made(script.entered("dup2", &[fd(5), fd(50)]).behind(50, 10), 5, "/a");
    assert_eq!((script.path(), script.last().file), (Some("/b"), Some(1)));
    // Or what it put there before it was told to be over.
    let script = made(script.by(101).behind(50, 11), 3, "/b");
    assert_eq!((script.path(), script.last().file), (Some("/a"), Some(0)));
    let script = script.dup2(3, 50).read(50, 1);
    assert_eq!((script.path(), script.last().file, script.inodes()), (Some("/a"), Some(0), vec![]));
    let script = script.behind(51, 10).dup2(3, 51);
    assert_eq!(script.inodes(), [("/a", 10)]);
}

#[test]
fn what_is_found_behind_an_open_may_be_of_another_one_after_a_close() {
    let opening = |script: Script, name: &'static str| {
        script.entered("openat", &[CWD, path(name), symbols("O_RDONLY")])
    };
    let open = |script: Script, name: &'static str, named: &'static str| {
        let args = [CWD, path(name), symbols("O_RDONLY")];
        script.call("openat", &args, Return::Value(8, hint(named)))
    };
    let script = opening(opening(two_threads().by(101), "/c").by(100).clone(THREAD, 102).by(102), "/d");
    assert!(script.by(101).is_steady(8), "nobody closes it");
    let script = opening(opening(two_threads().by(101), "/c").by(100).clone(THREAD, 102).by(102), "/d");
    let script = script.by(100).entered("close", &[fd(8)]).by(101);
    assert!(!script.is_steady(8));
    let script = open(script.behind(8, 10), "/c", "/d");
    assert_eq!((script.path(), script.inodes()), (Some("/c"), vec![]));
    // A close of what was there before has freed the number.
    let script =
        opening(opening(two_threads().open("/x", 8).by(101), "/c").by(100).clone(THREAD, 102).by(102), "/d");
    let script = script.by(100).entered("close", &[fd(8)]).by(101);
    assert!(script.is_steady(8));
    let script = open(script.behind(8, 10), "/c", "/e");
    assert_eq!((script.path(), script.inodes()), (Some("/e"), vec![("/e", 10)]));
}

#[test]
fn a_look_at_a_number_that_is_being_replaced_shows_nothing() {
    let any = two_threads().dup2(3, 6).by(101).entered("dup2", &[fd(3), fd(50)]).by(100).dup2(5, 50);
    let any = any.by(101).dup2(3, 50).dup2(50, 51);
    assert_eq!(any.path(), None);
    let script = any.entered("dup2", &[fd(5), fd(50)]).by(100).looked(50, "/b", 0).read(50, 1);
    assert_eq!(script.path(), None);
    let script = script.by(101).dup2(5, 50).read(51, 1);
    assert_eq!((script.path(), script.last().file), (None, None), "it stands for what 50 did before");
    let script = script.looked(51, "/a", 0).read(51, 1);
    assert_eq!(script.path(), Some("/a"));
}

#[test]
fn a_position_found_behind_a_number_that_is_being_replaced_may_be_that_of_another_file() {
    let appended = Script::new().open_with("/a", "O_RDWR|O_APPEND", 3).open("/b", 5).clone(THREAD, 101);
    let script = appended.dup2(3, 7).write(3, 10).by(101).entered("dup2", &[fd(5), fd(3)]).by(100);
    assert!(script.has_lost(7) && !script.has_lost(3));
    let script = script.stands(3, 0).read(7, 1);
    assert_eq!((script.path(), script.offset()), (Some("/a"), None));
}

#[test]
fn a_read_of_what_may_be_a_copy_moves_it_for_another_process_too() {
    let parent = Script::new().open("/a", 3).open("/b", 4).lseek(3, 800).fork(200);
    let script = parent.by(200).clone(THREAD, 201).by(201).entered("dup2", &[fd(4), fd(3)]).by(200);
    let script = script.entered("dup", &[fd(3)]).by(201).dup2(4, 3).by(200);
    let script = script.call("dup", &[fd(3)], value(5)).by(100).read(3, 8);
    assert_eq!(script.offset(), Some(800), "nothing was read yet");
    let script = script.by(200).read(5, 8).by(100).read(3, 8);
    assert_eq!((script.path(), script.offset()), (Some("/a"), None));
    let script = script.by(200).entered("read", &[fd(5)]).by(100);
    assert!(!script.has_lost(3), "a call in flight may move it");
    assert!(script.by(200).read(5, 8).by(100).has_lost(3));
}

#[test]
fn a_read_of_what_may_be_a_copy_moves_nothing_that_its_process_never_had() {
    let parent = Script::new().open("/a", 3).open("/b", 4).fork(200).open("/c", 5).read(5, 7);
    let script = parent.by(200).clone(THREAD, 201).by(201).entered("dup2", &[fd(4), fd(3)]).by(200);
    let script = script.entered("dup", &[fd(3)]).by(201).dup2(4, 3).by(200);
    let script = script.call("dup", &[fd(3)], value(6)).read(6, 8).by(100).read(5, 8);
    assert_eq!((script.path(), script.offset()), (Some("/c"), Some(7)));
}

#[test]
fn who_parts_with_others_may_have_what_a_call_in_flight_changes_or_what_came() {
    let unshare = [symbols("CLONE_FILES")];
    let range = [Arg::Int(900), Arg::Int(901), symbols("CLOSE_RANGE_UNSHARE")];
    for (call, args) in [("unshare", &unshare[..]), ("close_range", &range)] {
        let changing = two_threads().by(101).entered("dup2", &[fd(5), fd(3)]).by(100);
        let parted = changing.call(call, args, value(0)).by(101).dup2(5, 3).by(100);
        assert_eq!(parted.read(3, 1).path(), None, "{call}");
        let parting = two_threads().by(100).entered(call, args).by(101).dup2(5, 3).by(100);
        let parted = parting.call(call, args, value(0)).read(3, 1);
        assert_eq!(parted.path(), None, "{call}");
        assert_eq!(parted.read(5, 1).by(101).read(3, 1).path(), Some("/b"), "{call}");
        let parted = two_threads().by(101).dup2(5, 3).by(100).call(call, args, value(0)).by(101).dup2(5, 6);
        assert_eq!(parted.by(100).read(3, 1).path(), Some("/b"), "{call}");
    }
    let shared = Script::new().open("/a", 3).open("/b", 5).clone("CLONE_FILES", 200);
    let script = shared.entered("dup2", &[fd(5), fd(3)]).by(200).exec("/x", "x").by(100).dup2(5, 3);
    assert_eq!(script.by(200).read(3, 1).path(), None, "exec parts, too");
}

#[test]
fn a_name_at_the_begin_of_a_call_may_be_that_of_what_comes() {
    let socket = |script: Script, number: i64, name: &'static str| {
        script.call("socket", &[symbols("AF_UNIX")], Return::Value(number, hint(name)))
    };
    let sockets = socket(socket(Script::new(), 3, "socket:[7]"), 4, "socket:[8]").dup2(3, 50);
    let script = sockets.clone(THREAD, 101).by(101).entered("dup2", &[fd(4), fd(3)]).by(100);
    let script = script.entered("write", &[Arg::Fd(3, hint("socket:[8]"))]).by(101).dup2(4, 3).by(100);
    let script = script.call("write", &[Arg::Fd(3, hint("socket:[8]"))], value(1));
    assert_eq!(script.write(50, 1).path(), Some("socket:[7]"));
}

#[test]
fn a_message_may_bring_what_takes_the_place_of_what_is_closed() {
    let closing = |kind: &'static str| {
        let socket = [symbols(kind), symbols("SOCK_STREAM"), Arg::Int(0)];
        let threads = two_threads().call("socket", &socket, value(9)).clone(THREAD, 102);
        let script = threads.by(101).entered("close", &[fd(3)]).by(102).entered("recvmsg", &[fd(9)]);
        script.by(100).entered("dup", &[fd(3)]).call("dup", &[fd(3)], value(8))
    };
    assert_eq!(closing("AF_INET").path(), Some("/a"));
    assert_eq!(closing("AF_UNIX").path(), None);
    let received = RawItem::Received { tid: Tid(102), fd: 3, target: hint("/c") };
    let script = closing("AF_UNIX").by(102).item(&received).call("recvmsg", &[fd(9)], value(1));
    assert_eq!(script.by(101).close(3).by(100).read(3, 1).path(), Some("/c"));
    // A recorder finds that it is a copy of what the sender has, and tells that before the call on the number.
    let sender = Script::new().open("/b", 5).fork(200).open("/a", 3);
    let socket = [symbols("AF_UNIX"), symbols("SOCK_STREAM"), Arg::Int(0)];
    let threads = sender.call("socket", &socket, value(9)).clone(THREAD, 101).clone(THREAD, 102);
    let script = threads.by(101).entered("close", &[fd(3)]).by(100).entered("dup", &[fd(3)]);
    let script = script.by(102).entered("recvmsg", &[fd(9)]).by(101).close(3);
    let script = script.by(102).arrived(3, 200, 5).call("recvmsg", &[fd(9)], value(1));
    let script = script.by(100).call("dup", &[fd(3)], value(8));
    assert_eq!(script.path(), None);
    assert_eq!(script.read(3, 1).path(), Some("/b"));
}

/// 50 is a copy of 3 or of 5, and nobody knows of which.
fn either(script: Script) -> Script {
    let script = script.clone(THREAD, 101).by(101).entered("dup2", &[fd(3), fd(50)]).by(100).dup2(5, 50);
    script.by(101).dup2(3, 50)
}

#[test]
fn how_writes_go_to_a_file_may_change_behind_an_unknown_number() {
    let files = || either(Script::new().open_with("/a", "O_RDWR", 3).open_with("/b", "O_RDWR", 5));
    let control = |script: Script, command| {
        script.call("fcntl", &[fd(50), symbols(command), symbols("O_APPEND")], value(0))
    };
    assert_eq!(control(files(), "F_SETOWN").write(3, 10).offset(), Some(0));
    assert_eq!(control(files(), "F_SETFL").write(3, 10).offset(), None);
}

#[test]
fn a_socket_may_get_another_peer_behind_an_unknown_number() {
    let connect = |script: Script, number: i32, port: &str| {
        let address =
            format!(r#"{{sa_family=AF_INET, sin_port=htons({port}), sin_addr=inet_addr("127.0.0.1")}}"#);
        script.call("connect", &[fd(number), Arg::Text(address.as_bytes())], value(0))
    };
    let socket = |script: Script, number| {
        script.call("socket", &[symbols("AF_INET"), symbols("SOCK_DGRAM"), Arg::Int(0)], value(number))
    };
    let sockets = either(connect(socket(socket(Script::new(), 3), 5), 3, "80"));
    assert_eq!(sockets.write(3, 1).path(), Some("UDP:[->127.0.0.1:80]"));
    let sockets = either(connect(socket(socket(Script::new(), 3), 5), 3, "80"));
    let script = connect(sockets, 50, "81").write(3, 1);
    assert_eq!(script.path(), Some("socket"));
    assert_eq!(connect(script, 3, "82").write(3, 1).path(), Some("UDP:[->127.0.0.1:82]"));
}
