//! What is written comes back.

use iotrail_model::{
    CallId, Case, CaseId, Coverage, Dictionaries, Event, Layer, Nanos, Nullable, PathId, Pid, Process, Tid,
    Timestamp,
};
use iotrail_trail::{Capture, Columns, CreateOptions, EventLog, TrailWriter};

fn case(id: u32) -> Case {
    Case { id: CaseId(id), source: format!("{id}.st"), ..Case::default() }
}

#[test]
fn a_small_trail_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("a.trail");
    let writer = TrailWriter::create(&target, CreateOptions::default()).unwrap();
    let mut names = Dictionaries::default();
    let read = CallId(names.calls.intern(b"read"));
    let path = Nullable::some(PathId(names.paths.intern(b"/tmp/\xff")));
    let mut part = writer.part().unwrap();
    let event = Event {
        case: CaseId(0),
        seq: 7,
        pid: Pid(1),
        tid: Tid(2),
        layer: Layer::Syscall,
        call: read,
        start: Timestamp(1000),
        dur: Nullable::some(Nanos(5)),
        path,
        size: Nullable::some(10),
        ..Event::default()
    };
    part.push(&event, &names).unwrap();
    part.push(&Event { start: Timestamp(10), seq: 8, ..event }, &names).unwrap();
    part.push_process(&Process { pid: Pid(1), env: vec!["A=b".to_owned()], ..Process::default() }).unwrap();
    let summary = part.finish(&names).unwrap();
    writer.finish(&[case(0)], vec![summary], Capture::default(), &Coverage::default()).unwrap();

    let log = EventLog::open(&[target]).unwrap();
    let batch = log.read(0, Columns::ALL).unwrap();
    assert_eq!(batch.start, [Timestamp(10), Timestamp(1000)]);
    assert_eq!(batch.seq, [8, 7]);
    assert_eq!(log.names().path(batch.path[0]), Some("/tmp/\\xff"));
    assert_eq!(log.processes().unwrap()[0].env, ["A=b"]);
    assert_eq!(log.info().unwrap().events, 2);
}
