//! Calls of libraries above the system calls that they make.
#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use crate::script::{CWD, ENOENT, Script, Seen, fd, path, symbols, value};
use iotrail_model::Layer;
use iotrail_model::raw::{Arg, RawItem};

/// A call of a library at that interface, with the system calls in it.
fn around(script: Script, layer: Layer, name: &str, args: &[Arg<'_>], inner: fn(Script) -> Script) -> Script {
    let script = script.seen_at(layer).entered(name, args);
    let start = script.now();
    inner(script.seen_at(Layer::Syscall))
        .seen_at(layer)
        .returned(start, name, args, value(0))
        .seen_at(Layer::Syscall)
}

fn event<'a>(script: &'a Script, call: &str) -> &'a Seen {
    script.events().iter().find(|event| event.call == call).unwrap()
}

#[test]
fn a_system_call_has_the_call_of_the_library_that_made_it_as_parent() {
    let script = Script::new().open("/a", 3);
    let script = around(script, Layer::Mpiio, "MPI_File_write_at", &[], |script| {
        around(script, Layer::Libc, "pwrite", &[fd(3)], |script| script.pread(3, 10, 0))
    });
    let script = script.read(3, 1);
    let (outer, middle, inner) =
        (event(&script, "MPI_File_write_at"), event(&script, "pwrite"), event(&script, "pread64"));
    assert_eq!((outer.layer, middle.layer, inner.layer), (Layer::Mpiio, Layer::Libc, Layer::Syscall));
    assert_eq!((outer.parent, middle.parent, inner.parent), (None, Some(outer.seq), Some(middle.seq)));
    assert!(outer.seq < middle.seq && middle.seq < inner.seq, "in the order in which they began");
    assert_eq!((event(&script, "openat").parent, script.last().parent), (None, None));
}

#[test]
fn a_call_of_a_library_changes_nothing_that_its_system_calls_do_not_change() {
    let args = [fd(3), Arg::Opaque, Arg::Int(100)];
    let script = Script::new().open("/a", 3).seen_at(Layer::Libc).entered("read", &args);
    let start = script.now();
    let script = script.seen_at(Layer::Syscall).read(3, 100).seen_at(Layer::Libc).returned(
        start,
        "read",
        &args,
        value(100),
    );
    let library = script.last().clone();
    assert_eq!((library.layer, library.path.as_deref(), library.offset), (Layer::Libc, Some("/a"), None));
    assert_eq!((library.requested, library.size), (Some(100), Some(100)));
    let open = library.open;
    assert!(open.is_some());
    let script = script.call("close", &[fd(3)], value(0)).seen_at(Layer::Syscall).read(3, 5);
    assert_eq!((script.offset(), script.last().open), (Some(100), open), "read once, and not closed");
}

#[test]
fn what_is_closed_in_a_call_is_still_what_the_call_was_about() {
    let script = Script::new().open("/a", 3);
    let open = script.last().open;
    let script = around(script, Layer::Libc, "close", &[fd(3)], |script| script.close(3).open("/b", 3));
    assert_eq!((script.last().open, script.last().path.as_deref()), (open, None));
}

#[test]
fn nothing_stays_enclosed_in_a_call_that_was_left_otherwise() {
    // longjmp out of it into the next call of that layer.
    let script = Script::new().seen_at(Layer::Libc).entered("fread", &[]).entered("fwrite", &[]);
    let start = script.now();
    let script = script.seen_at(Layer::Syscall).getpid();
    let parent = script.last().parent;
    let script = script.seen_at(Layer::Libc).returned(start, "fwrite", &[], value(0));
    assert_eq!(parent, Some(script.last().seq));
    let script = script.seen_at(Layer::Syscall).getpid();
    assert_eq!(script.last().parent, None, "the call before it is over as well");
    // exec ends all of them, a failed one none; so does what could not be read.
    let exec = [path("/bin/x"), Arg::Null, Arg::Null];
    let script = script.seen_at(Layer::Libc).entered("execv", &[]).seen_at(Layer::Syscall);
    let script = script.call("execve", &exec, ENOENT).getpid();
    assert!(script.last().parent.is_some());
    let script = script.call("execve", &exec, value(0));
    assert!(script.last().parent.is_some());
    let script = script.getpid();
    assert_eq!(script.last().parent, None);
    let script = script.seen_at(Layer::Mpi).entered("MPI_Init", &[]).seen_at(Layer::Syscall);
    let lost = RawItem::Lost { tid: iotrail_model::Tid(100), call: None };
    assert_eq!(script.item(&lost).getpid().last().parent, None);
}

#[test]
fn another_thread_is_in_no_call_of_this_one_and_a_request_in_none() {
    let script = Script::new().open("/a", 3).seen_at(Layer::Mpiio).entered("MPI_File_read", &[]);
    let script = script.seen_at(Layer::Syscall).by(101).call(
        "openat",
        &[CWD, path("/b"), symbols("O_RDONLY")],
        value(4),
    );
    assert_eq!(script.last().parent, None);
    let request = [fd(3), Arg::Opaque, Arg::Int(4096), Arg::Int(0), Arg::Int(0)];
    assert_eq!(script.by(100).call("io_uring_read", &request, value(10)).last().parent, None);
}
