//! What the spool costs per event, page faults and the growth of the file included. A recorder pays it at every stop of
//! the traced program. Two processes work in turns on files of their own: a spool that only remembers the last event
//! would look good without that.

use criterion::{Criterion, Throughput};
use iotrail_model::{CallId, Dictionaries, Event, Nanos, Nullable, PathId, Pid, Tid, Timestamp};
use iotrail_spool::{Header, Spool, SpoolError, SpoolWriter, Visit};
use std::hint::black_box;
use tempfile::TempDir;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("spool");
    group.throughput(Throughput::Elements(1));
    group.bench_function("write a read of a known file", |bencher| {
        let mut recording = Recording::new();
        bencher.iter(|| recording.read());
    });
    group.bench_function("write a call with a new path", |bencher| {
        let mut recording = Recording::new();
        bencher.iter(|| recording.new_path());
    });
    group.throughput(Throughput::Elements(READ));
    group.sample_size(20);
    group.bench_function("check and read a million events", |bencher| {
        let mut recording = Recording::new();
        (0..READ).for_each(|_| recording.read());
        bencher.iter(|| {
            let mut count = Count(0);
            let spool = Spool::open(recording.dir.path());
            let read = spool.map(|spool| spool.reader().read_all(&mut count));
            assert!(matches!(read, Ok(Ok(()))) && count.0 == READ);
        });
    });
    group.finish();
    criterion.final_summary();
}

const READ: u64 = 1_000_000;
/// A spool of this size gives way to a new one, so that a long measurement does not fill the disk.
const MAX_BYTES: u64 = 128 << 20;

struct Count(u64);

impl Visit for Count {
    type Error = SpoolError;

    fn event(&mut self, event: &Event, _names: &Dictionaries) -> Result<(), SpoolError> {
        self.0 += 1;
        black_box(event);
        Ok(())
    }
}

struct Recording {
    dir: TempDir,
    writer: SpoolWriter,
    names: Dictionaries,
    number: u64,
}

fn start() -> (TempDir, SpoolWriter) {
    let started = tempfile::tempdir().and_then(|dir| {
        let writer = SpoolWriter::create(dir.path(), &Header::default()).map_err(std::io::Error::other)?;
        Ok((dir, writer))
    });
    started.unwrap_or_else(|error| panic_with(&error))
}

#[allow(clippy::panic, reason = "a benchmark without a directory cannot go on")]
fn panic_with(error: &dyn std::fmt::Display) -> ! {
    panic!("{error}")
}

impl Recording {
    fn new() -> Self {
        let (dir, writer) = start();
        let mut names = Dictionaries::default();
        names.paths.intern(b"/scratch/data/input-0001");
        names.paths.intern(b"/scratch/data/input-0002");
        Self { dir, writer, names, number: 0 }
    }

    fn event(&mut self) -> Event {
        self.number += 1;
        if self.number.is_multiple_of(1 << 16) && self.writer.written().bytes > MAX_BYTES {
            (self.dir, self.writer) = start();
        }
        let turn = (self.number & 1) as u32;
        Event {
            seq: self.number,
            pid: Pid(4000 + turn),
            tid: Tid(4000 + turn),
            start: Timestamp(1_700_000_000_000_000_000 + self.number as i64 * 21_000),
            dur: Nullable::some(Nanos(5_000 + (self.number % 1021) as i64)),
            ..Event::default()
        }
    }

    fn read(&mut self) {
        let event = self.event();
        let turn = event.pid.0 & 1;
        let event = Event {
            fd: Nullable::some(3 + turn as i32),
            path: Nullable::some(PathId(turn)),
            offset: Nullable::some(self.number as i64 / 2 * 4096),
            requested: Nullable::some(4096),
            size: Nullable::some(4096),
            ret: Nullable::some(4096),
            ..event
        };
        self.append(&event);
    }

    fn new_path(&mut self) {
        let event = self.event();
        if self.names.paths.len() > 1 << 16 {
            self.names = Dictionaries::default();
            self.writer.rotate();
        }
        let path = self.names.paths.intern(format!("/scratch/data/tree/file-{:07}", self.number).as_bytes());
        let event =
            Event { call: CallId(1), path: Nullable::some(PathId(path)), ret: Nullable::some(0), ..event };
        self.append(&event);
    }

    fn append(&mut self, event: &Event) {
        if let Err(error) = self.writer.event(black_box(event), &self.names) {
            panic_with(&error);
        }
    }
}
