//! What an event costs on its way into a structure: of irregular programs, which take most, and of a loop.

use criterion::{Criterion, Throughput};
use iotrail_compress::{CompressOptions, compress};
use iotrail_model::{Case, Event, Nanos, Nullable, Pid, Tid, Timestamp};
use iotrail_structure::Precision;
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;
use std::error::Error;

const PROCESSES: u32 = 500;
const EVENTS_OF_PROCESS: u64 = 60;
const CALLS: [&str; 8] = ["openat", "read", "lseek", "pread64", "fstat", "mmap", "write", "close"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    let time_precision = Precision::new(95)?;
    let options = CompressOptions { time_precision, buckets: Some(16), precision: Precision::EXACT };
    let mut group = criterion.benchmark_group("compress");
    group.throughput(Throughput::Elements(u64::from(PROCESSES) * EVENTS_OF_PROCESS)).sample_size(10);
    for (what, is_irregular) in [("a loop", false), ("irregular processes", true)] {
        let log = log(is_irregular);
        assert!(bytes(&log, &options)? > 0, "a failed run would look fast");
        group.bench_function(what, |bencher| bencher.iter(|| bytes(&log, &options)));
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}

fn bytes(log: &EventLog, options: &CompressOptions) -> Result<usize, Box<dyn Error>> {
    Ok(compress(log, options, &mut |_, _| {})?.to_bytes()?.len())
}

/// Processes that make the same calls in turns, or any calls on any files.
fn log(is_irregular: bool) -> EventLog {
    let mut log = MemoryLog::new(vec![Case::default()]);
    let (mut state, mut now) = (1_u64, 0);
    for seq in 0..u64::from(PROCESSES) * EVENTS_OF_PROCESS {
        let of_process = seq % EVENTS_OF_PROCESS;
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = if is_irregular { state >> 20 } else { of_process };
        let size = 100 * (bits / 64 % 40) as i64;
        let pid = (seq / EVENTS_OF_PROCESS) as u32 + 100;
        now += 1_000 + (state >> 50) as i64;
        let event = Event {
            seq,
            pid: Pid(pid),
            tid: Tid(pid),
            call: log.call(CALLS[(bits % 8) as usize]),
            start: Timestamp(now),
            dur: Nullable::some(Nanos((state >> 55) as i64)),
            fd: Nullable::some((bits / 8 % 8) as i32),
            path: log.path(&format!("/project/source-{:02}/file.{}", bits / 16 % 30, bits / 512 % 50)),
            size: Nullable::some(size),
            ret: Nullable::some(size),
            ..Event::default()
        };
        log.push(event);
    }
    log.build()
}
