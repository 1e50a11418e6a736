//! Traces that no kernel wrote: nothing panics, and every call is an event in the end.

use crate::script::{CWD, Script, fd, path, symbols, value};
use iotrail_model::raw::{Arg, Image, RawItem};
use iotrail_model::{FileKind, Tid, Timestamp, Usage};
use proptest::prelude::*;

fn arg() -> impl Strategy<Value = Arg<'static>> {
    prop_oneof![
        Just(Arg::Opaque),
        Just(Arg::Null),
        Just(CWD),
        (-2_i64..6).prop_map(Arg::Int),
        (-2..6).prop_map(fd),
        Just(path("/a")),
        Just(path("")),
        Just(symbols("CLONE_THREAD|CLONE_FILES|O_APPEND|F_DUPFD")),
        Just(Arg::Text(b"{flags=CLONE_VM")),
        Just(Arg::FdPair([(3, None), (4, None)])),
        (0_i64..8).prop_map(|page| Arg::Int(page * 4096)),
        Just(path("/proc/self/fd/3")),
        Just(Arg::Text(b"{sa_family=AF_INET, sin_port=htons(1), sin_addr=inet_addr(\"::\")}")),
        Just(Arg::Text(b"{sa_family=AF_UNIX, sun_path=\"a\\")),
        Just(Arg::Text(b"{l_type=F_WRLCK, l_whence=SEEK_CUR, l_start=9223372036854775807}")),
    ]
}

const CALLS: [&str; 29] = [
    "clone",
    "fork",
    "clone3",
    "execve",
    "wait4",
    "exit_group",
    "openat",
    "close",
    "dup2",
    "fcntl",
    "read",
    "lseek",
    "sendfile",
    "pipe2",
    "unshare",
    "chdir",
    "close_range",
    "symlink",
    "accept",
    "socket",
    "bind",
    "connect",
    "mmap",
    "munmap",
    "mremap",
    "msync",
    "vfork",
    "pwritev2",
    "unheard_of",
];

proptest! {
    #[test]
    fn nothing_panics_and_no_call_is_lost(
        items in prop::collection::vec((0_u8..16, 1_u32..6, 0..CALLS.len(), prop::collection::vec(arg(), 0..6), -1_i64..6), 1..150)
    ) {
        let (mut script, mut calls) = (Script::new(), 0);
        for (kind, tid, call, args, ret) in items {
            let at = Timestamp(calls);
            script = script.by(tid);
            script = match kind {
                0 => script.exited(0),
                1 => script.item(&RawItem::Superseded { tid: Tid(tid), by: Tid(ret.unsigned_abs() as u32), at }),
                2 => script.item(&RawItem::Killed { tid: Tid(tid), at, signal: b"SIGSEGV" }),
                3 | 4 => script.entered(CALLS[call], &args),
                5 => script.created(ret.unsigned_abs() as u32),
                6 => script.found(ret.unsigned_abs() as u32),
                7 => script.looked(ret as i32, "/a", ret).copies(ret as i32, call as i32),
                8 => script.image(Image::default()).used(Usage::ZERO).working_directory("/w"),
                9 => script.file(ret as i32, call as u64, FileKind::ALL[call % FileKind::ALL.len()]),
                _ => {
                    calls += 1;
                    script.call(CALLS[call], &args, value(ret))
                }
            };
            if call == 0 {
                script = script.rotate();
            }
        }
        prop_assert_eq!(script.finish().events().len() as i64, calls);
    }
}
