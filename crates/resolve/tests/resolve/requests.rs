//! Requests to io_uring and Linux AIO, which the kernel serves beside the calls of a thread.

use crate::script::{CWD, Script, fd, path, symbols, value};
use iotrail_model::raw::{Arg, Target};

impl Script {
    fn request(self, name: &str, number: i32, bytes: i64, offset: i64) -> Self {
        let args = [fd(number), Arg::Opaque, Arg::Int(4096), Arg::Int(offset), Arg::Int(0)];
        self.call(name, &args, value(bytes))
    }
}

#[test]
fn requests_with_an_offset_leave_the_cursor_alone() {
    for name in ["io_uring_read", "aio_pread"] {
        let script = Script::new().open("/a", 3).read(3, 10).request(name, 3, 4096, 8192);
        let event = script.last();
        assert_eq!((event.path.as_deref(), event.offset, event.size), (Some("/a"), Some(8192), Some(4096)));
        assert_eq!(event.requested, Some(4096));
        assert_eq!(script.read(3, 1).offset(), Some(10), "{name}");
    }
}

#[test]
fn requests_without_one_move_it() {
    let script = Script::new().open("/a", 3).read(3, 10).request("io_uring_write", 3, 50, -1);
    assert_eq!(script.offset(), Some(10));
    assert_eq!(script.read(3, 1).offset(), Some(60));
}

#[test]
fn requests_in_flight_together_have_no_known_order() {
    let script = Script::new().open("/a", 3).lasting(100).request("io_uring_read", 3, 50, -1);
    let script = script.request("io_uring_read", 3, 50, -1);
    assert_eq!(script.offset(), None);
}

#[test]
fn what_has_no_positions_has_no_offsets() {
    let pair = Arg::FdPair([(3, None), (4, None)]);
    let script = Script::new().call("pipe2", &[pair], value(0)).request("io_uring_read", 3, 50, 0);
    assert_eq!((script.path(), script.offset()), (Some("pipe"), None));
}

#[test]
fn requests_open_and_close() {
    let open = [CWD, path("/a"), symbols("O_RDONLY|O_CLOEXEC"), Arg::Opaque];
    let script = Script::new().call("io_uring_openat", &open, value(5)).read(5, 1);
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(0)));
    let script = script.call("io_uring_close", &[fd(5)], value(0)).read(5, 1);
    assert_eq!(script.path(), None);
    let script = script.call("io_uring_socket", &[symbols("AF_INET"), symbols("SOCK_STREAM")], value(6));
    assert_eq!(script.path(), Some("socket"));
    let script = script.call("io_uring_fixed_fd_install", &[Arg::Int(1), Arg::Int(0)], value(7)).read(7, 1);
    assert_eq!((script.path(), script.offset()), (None, None));
}

#[test]
fn a_request_does_not_end_the_call_that_its_thread_is_in() {
    let thread = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD";
    let script = Script::new().open("/a", 3).clone(thread, 101).by(101).entered("read", &[fd(3)]);
    let script = script.request("aio_fsync", 3, 0, 0).by(100).read(3, 5);
    assert_eq!(script.offset(), None);
    assert_eq!(script.by(101).read(3, 5).offset(), None);
}

#[test]
fn files_that_a_ring_holds_have_a_name_and_no_descriptor() {
    let held = |name| Arg::Fd(-1, Some(Target { name, deleted: false }));
    let read = |file| [file, Arg::Opaque, Arg::Int(100), Arg::Int(64)];
    let script = Script::new().call("io_uring_read", &read(held(b"/a")), value(100));
    assert_eq!((script.path(), script.offset()), (Some("/a"), Some(64)));
    let script = script.call("io_uring_read", &read(held(b"pipe:[7]")), value(100));
    assert_eq!((script.path(), script.offset()), (Some("pipe:[7]"), None));
    let script = script.call("io_uring_read", &read(Arg::Opaque), value(100));
    assert_eq!((script.path(), script.offset()), (None, Some(64)));
}

#[test]
fn what_a_ring_holds_may_share_the_position_of_a_descriptor() {
    let held = Arg::Fd(-1, Some(Target { name: b"/a", deleted: false }));
    let script = Script::new().open("/a", 3).open("/b", 4).read(3, 10).read(4, 10);
    let at_position = [held, Arg::Opaque, Arg::Int(100), Arg::Int(-1)];
    let script = script.call("io_uring_read", &at_position, value(64)).read(4, 1);
    assert_eq!(script.offset(), Some(10), "another file");
    let script = script.read(3, 1);
    assert_eq!(script.offset(), None);
    assert_eq!(script.lseek(3, 100).read(3, 1).offset(), Some(100));
}
