//! Events per second into a trail and out of it, files and all. Sizes, memory and each column by itself:
//! `examples/trail_speed.rs`.

use criterion::{Criterion, Throughput};
use iotrail_model::{
    CallId, Case, CaseId, Coverage, Dictionaries, Event, Nanos, Nullable, PathId, Pid, Tid, Timestamp,
};
use iotrail_trail::{Capture, Columns, CreateOptions, EventLog, TrailError, TrailWriter};
use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;

const EVENTS: u64 = 300_000;
const FILES: u64 = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    let directory = tempfile::tempdir()?;
    let target = directory.path().join("bench.trail");
    let (names, events) = events();
    write(&target, &names, &events)?;
    let log = EventLog::open(std::slice::from_ref(&target))?;
    let dfg = Columns::CASE | Columns::PID | Columns::TID | Columns::CALL | Columns::PATH | Columns::START;
    let dfg = dfg | Columns::DUR | Columns::SIZE | Columns::ERRNO;

    let mut group = criterion.benchmark_group("trail");
    group.throughput(Throughput::Elements(EVENTS)).sample_size(10);
    for (what, columns) in [("read the graph's columns", dfg), ("read all columns", Columns::ALL)] {
        assert_eq!(read(&log, columns)?, EVENTS as usize, "a failed read would look fast");
        group.bench_function(what, |bencher| bencher.iter(|| read(&log, columns)));
    }
    let again = directory.path().join("again.trail");
    group.bench_function("write", |bencher| bencher.iter(|| write(&again, &names, &events)));
    group.finish();
    criterion.final_summary();
    Ok(())
}

fn write(target: &Path, names: &Dictionaries, events: &[Event]) -> Result<(), TrailError> {
    let writer = TrailWriter::create(target, CreateOptions { overwrite: true })?;
    let mut part = writer.part()?;
    for event in events {
        part.push(event, names)?;
    }
    let summary = part.finish(names)?;
    writer.finish(&[Case::default()], vec![summary], Capture::default(), &Coverage::default())?;
    Ok(())
}

fn read(log: &EventLog, columns: Columns) -> Result<usize, TrailError> {
    Ok(log.scan(columns, NonZeroUsize::MIN, || (), |(), _, batch| batch.len)?.iter().sum())
}

/// 30 threads of 6 processes read and write 200 files in sequence.
fn events() -> (Dictionaries, Vec<Event>) {
    let mut names = Dictionaries::default();
    let calls = ["read", "write"].map(|name| CallId(names.calls.intern(name.as_bytes())));
    let paths: Vec<PathId> = (0..FILES)
        .map(|n| format!("/scratch/project/run{:02}/output/file.{n:05}.dat", n % 7))
        .map(|path| PathId(names.paths.intern(path.as_bytes())))
        .collect();
    let mut offsets = vec![0; paths.len()];
    let (mut state, mut now) = (1_u64, 1_700_000_000_000_000_000);
    let events = (1..=EVENTS).map(|seq| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = state >> 20;
        let (thread, file) = ((bits % 30) as u32, (bits / 32 % FILES) as usize);
        let size = if bits / 8192 % 4 == 0 { (bits / 32_768 % 4096) as i64 } else { 4096 };
        now += (1 + bits / 65_536 % 60) as i64 * 1000;
        offsets[file] += size;
        Event {
            case: CaseId(0),
            seq,
            pid: Pid(4000 + thread / 5),
            tid: Tid(4000 + thread),
            call: calls[file % 2],
            start: Timestamp(now),
            dur: Nullable::some(Nanos((4 + bits / 1024 % 500) as i64 * 1000)),
            path: Nullable::some(paths[file]),
            fd: Nullable::some(3 + file as i32 % 60),
            ret: Nullable::some(size),
            size: Nullable::some(size),
            requested: Nullable::some(4096),
            offset: Nullable::some(offsets[file] - size),
            ..Event::default()
        }
    });
    let events = events.collect();
    (names, events)
}
