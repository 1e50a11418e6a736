//! Arbitrary records for tests.

use iotrail_model::{
    CallId, CaseId, ErrnoId, Event, FileFacts, FileId, FileKind, FlagsId, Layer, NamedFile, Nanos, Nullable,
    OpenId, PathId, Pid, Process, SiteId, Tid, Timestamp, Usage,
};
use proptest::prelude::*;

/// Numbers near the borders as well as common ones.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(0),
        Just(4096),
        Just(i64::MAX),
        Just(i64::MIN + 1),
        -2_i64..100,
        any::<i64>().prop_filter("NULL", |number| *number != i64::MIN),
    ]
}

fn nullable() -> impl Strategy<Value = Nullable<i64>> {
    prop::option::of(number()).prop_map(Nullable::from)
}

fn open() -> impl Strategy<Value = Nullable<OpenId>> {
    let open = prop_oneof![0_u32..4, any::<u32>()];
    prop::option::of(open.prop_map(OpenId)).prop_map(Nullable::from)
}

/// Events whose names are among the first few of their dictionaries.
pub(crate) fn event() -> impl Strategy<Value = Event> {
    let who = (0_u32..3, 0_u64..5, prop_oneof![Just((7, 7)), Just((7, 8)), any::<(u32, u32)>()], 0_usize..4);
    let when = (0_u32..6, prop_oneof![0_i64..1000, any::<i64>()], nullable());
    let what = (
        prop::option::of(prop_oneof![0_i32..5, (i32::MIN + 1)..]),
        prop::option::of(0_u32..6),
        prop::option::of(0_u32..6),
        nullable(),
        nullable(),
        nullable(),
    );
    let result = (nullable(), prop::option::of(0_u32..3), prop::option::of(0_u32..4), any::<u8>());
    let parent = prop::option::of(prop_oneof![0_u64..5, 0..u64::MAX]).prop_map(Nullable::from);
    let opens = (open(), open(), parent);
    (who, when, what, result, (file(), file()), opens).prop_map(|(who, when, what, result, files, opens)| {
        let mut event = Event {
            case: CaseId(who.0 / 2),
            seq: who.1,
            pid: Pid(who.2.0),
            tid: Tid(who.2.1),
            layer: Layer::ALL[who.3 / 3],
            call: CallId(when.0),
            start: Timestamp(when.1),
            dur: when.2.get().map(Nanos).into(),
            fd: what.0.into(),
            path: what.1.map(PathId).into(),
            path2: what.2.map(PathId).into(),
            offset: what.3,
            requested: what.4,
            size: what.5,
            ret: result.0,
            errno: result.1.map(ErrnoId).into(),
            flags: result.2.map(FlagsId).into(),
            file: files.0,
            file2: files.1,
            open: opens.0,
            open2: opens.1,
            parent: opens.2,
            comm: what.0.into(),
            peer: what.1.map(|rank| rank as i32 - 2).into(),
            tag: what.0.map(|tag| tag / 2).into(),
            sent: what.3,
            received: result.0,
            via: result.2.map(FlagsId).into(),
            args: result.2.map(FlagsId).into(),
            site: what.2.map(SiteId).into(),
        };
        // What real events look like.
        if result.3 & 1 == 1 {
            event.size = event.requested;
        }
        match result.3 >> 1 & 3 {
            1 => event.ret = event.size,
            2 => event.ret = event.fd.get().map(i64::from).into(),
            _ => {}
        }
        event
    })
}

fn facts() -> impl Strategy<Value = FileFacts> {
    let device = prop_oneof![Just(5), any::<u64>()];
    let birth = prop::option::of(any::<i64>());
    (device, any::<u64>(), prop::option::of(any::<i64>()), prop::option::of(0_usize..7), birth).prop_map(
        |(device, inode, size, kind, birth)| FileFacts {
            device,
            inode,
            size,
            kind: kind.map(|kind| FileKind::ALL[kind]),
            birth,
        },
    )
}

pub(crate) fn named() -> impl Strategy<Value = NamedFile> {
    let kind = prop::option::of(prop::sample::select(&FileKind::ALL[..]));
    (file(), any::<bool>(), prop::option::of(facts()), kind).prop_map(|(file, gone, facts, kind)| NamedFile {
        file,
        gone,
        facts,
        kind: kind.filter(|_| facts.is_none()),
    })
}

fn file() -> impl Strategy<Value = Nullable<FileId>> {
    let number = prop_oneof![0_u32..5, any::<u32>()];
    prop::option::of(number).prop_map(|number| number.map(FileId).into())
}

fn text() -> impl Strategy<Value = Option<String>> {
    prop::option::of("[a-zé\0/]{0,12}")
}

fn usage() -> impl Strategy<Value = Usage> {
    let span = || prop::option::of(any::<i64>().prop_map(Nanos));
    let count = || prop::option::of(any::<u64>());
    let counts = (count(), count(), count(), count(), count(), count(), count());
    (span(), span(), span(), counts).prop_map(|(user, system, io_delay, counts)| Usage {
        user,
        system,
        io_delay,
        minor_faults: counts.0,
        major_faults: counts.1,
        max_memory: counts.2,
        storage_read: counts.3,
        storage_written: counts.4,
        voluntary_switches: counts.5,
        involuntary_switches: counts.6,
    })
}

pub(crate) fn process() -> impl Strategy<Value = Process> {
    let ids = (any::<u32>(), any::<u32>(), prop::option::of(any::<u32>()), any::<u32>());
    let times =
        (prop::option::of(any::<i64>()), prop::option::of(any::<i64>()), prop::option::of(any::<i32>()));
    let texts = (text(), text(), text(), text(), prop::collection::vec("[A-Z]=[a-z]{0,5}", 0..4));
    (ids, times, texts, usage(), any::<(i64, i64, Option<bool>)>()).prop_map(
        |(ids, times, texts, usage, bytes)| Process {
            case: CaseId(ids.0),
            pid: Pid(ids.1),
            ppid: ids.2.map(Pid),
            start: times.0.map(Timestamp),
            end: times.1.map(Timestamp),
            exit_code: times.2,
            signal: texts.0,
            exe: texts.1,
            cmdline: texts.2,
            cmdline_cut: bytes.2,
            cwd: texts.3,
            threads: ids.3,
            usage,
            bytes_read: bytes.0,
            bytes_written: bytes.1,
            env: texts.4,
        },
    )
}
