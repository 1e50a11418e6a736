//! Measures writing and reading: `cargo run --release --example trail_speed -- [million events] [late share in ppm]`.
//!
//! The log resembles an strace import: 30 threads, 200 files read and written in sequence, opens, stats and closes,
//! microsecond times.

use iotrail_model::{
    CallId, Case, CaseId, Coverage, Dictionaries, ErrnoId, Event, FlagsId, Nanos, Nullable, PathId, Pid, Tid,
    Timestamp,
};
use iotrail_trail::{Capture, Columns, CreateOptions, EventLog, TrailWriter};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    /// Microseconds with a long tail, as calls take.
    fn duration(&mut self) -> i64 {
        let magnitude = self.below(8) * self.below(3);
        (4 + self.below(8 << magnitude.min(12)) as i64) * 1000
    }
}

struct Generator {
    names: Dictionaries,
    random: Random,
    calls: [CallId; 6],
    paths: Vec<PathId>,
    enoent: ErrnoId,
    flags: [FlagsId; 3],
    offsets: Vec<i64>,
    now: i64,
    seq: u64,
}

impl Generator {
    fn new() -> Self {
        let mut names = Dictionaries::default();
        let calls = ["read", "write", "openat", "newfstatat", "close", "mmap"]
            .map(|name| CallId(names.calls.intern(name.as_bytes())));
        let paths = (0..200)
            .map(|n| format!("/scratch/project/run{:02}/output/file.{n:05}.dat", n % 7))
            .map(|path| PathId(names.paths.intern(path.as_bytes())))
            .collect();
        let enoent = ErrnoId(names.errnos.intern(b"ENOENT"));
        let flags = ["O_RDONLY|O_CLOEXEC", "O_WRONLY|O_CREAT|O_TRUNC", "O_RDWR"]
            .map(|text| FlagsId(names.flags.intern(text.as_bytes())));
        let random = Random(0x2545_f491_4f6c_dd1d);
        Self {
            names,
            random,
            calls,
            paths,
            enoent,
            flags,
            offsets: vec![0; 200],
            now: 1_700_000_000_000_000_000,
            seq: 0,
        }
    }

    fn next(&mut self) -> Event {
        self.now += (1 + self.random.below(60) as i64) * 1000;
        self.seq += 1;
        let thread = self.random.below(30) as u32;
        let file = self.random.below(200) as usize;
        let mut event = Event {
            case: CaseId(0),
            seq: self.seq,
            pid: Pid(4000 + thread / 5),
            tid: Tid(4000 + thread),
            start: Timestamp(self.now),
            dur: Nullable::some(Nanos(self.random.duration())),
            path: Nullable::some(self.paths[file]),
            fd: Nullable::some(3 + file as i32 % 60),
            ret: Nullable::some(0),
            ..Event::default()
        };
        match self.random.below(100) {
            kind @ 0..40 => self.transfer(&mut event, file, usize::from(kind >= 25)),
            40..60 => {
                event.call = self.calls[2];
                event.flags = Nullable::some(self.flags[self.random.below(3) as usize]);
                event.ret = Nullable::some(3 + file as i64 % 60);
                self.maybe_fail(&mut event);
            }
            60..78 => {
                event.call = self.calls[3];
                event.fd = Nullable::NULL;
                self.maybe_fail(&mut event);
            }
            78..96 => event.call = self.calls[4],
            _ => {
                event.call = self.calls[5];
                event.ret = Nullable::some(0x7f00_0000_0000 + self.random.below(1 << 30) as i64 * 4096);
                (event.path, event.fd) = (Nullable::NULL, Nullable::NULL);
            }
        }
        event
    }

    fn transfer(&mut self, event: &mut Event, file: usize, direction: usize) {
        event.call = self.calls[direction];
        let requested = [4096, 65536, 1 << 20][self.random.below(3) as usize];
        let size = if self.random.below(10) == 0 { self.random.below(4096) as i64 } else { requested };
        event.offset = Nullable::some(self.offsets[file]);
        self.offsets[file] = if size == requested { self.offsets[file] + size } else { 0 };
        event.requested = Nullable::some(requested);
        event.size = Nullable::some(size);
        event.ret = Nullable::some(size);
    }

    fn maybe_fail(&mut self, event: &mut Event) {
        if self.random.below(5) == 0 {
            event.errno = Nullable::some(self.enoent);
            event.ret = Nullable::some(-1);
        }
    }
}

/// CPU time of this process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn peak_kb() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown").to_owned()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<f64>().unwrap_or(0.0));
    let events = (arguments.next().unwrap_or(3.0) * 1e6) as u64;
    let late = arguments.next().unwrap_or(0.0) as u64;
    let directory = std::env::temp_dir().join(format!("trail_speed-{}.trail", std::process::id()));
    let mut report = Vec::new();

    let mut generator = Generator::new();
    let before = cpu();
    let checksum = (0..events).fold(0, |sum, _| sum ^ generator.next().start.0);
    let generation = cpu() - before;

    let mut generator = Generator::new();
    let writer = TrailWriter::create(&directory, CreateOptions { overwrite: true })?;
    let before = cpu();
    let mut part = writer.part()?;
    for _ in 0..events {
        let mut event = generator.next();
        if late > 0 && generator.random.below(1_000_000) < late {
            event.start.0 -= generator.random.below(60_000_000_000) as i64;
        }
        part.push(&event, &generator.names)?;
    }
    let summary = part.finish(&generator.names)?;
    let case = Case { source: "generated".to_owned(), ..Case::default() };
    let capture = Capture { source: "generated".to_owned(), ..Capture::default() };
    writer.finish(&[case], vec![summary], capture, &Coverage::default())?;
    let per_event = |span: Duration| span.as_nanos() as f64 / events as f64;
    report.push(format!("write  {:6.1} ns/event CPU", per_event(cpu() - before) - per_event(generation)));
    report.push(format!("       {}", peak_kb()));

    let log = EventLog::open(std::slice::from_ref(&directory))?;
    report.push(format!("size   {:6.2} bytes/event", log.info()?.disk_bytes as f64 / events as f64));
    let dfg = Columns::CASE | Columns::PID | Columns::TID | Columns::CALL | Columns::PATH | Columns::START;
    let dfg = dfg | Columns::DUR | Columns::SIZE | Columns::ERRNO;
    for (what, columns) in [("dfg", dfg), ("all", Columns::ALL)] {
        let before = Instant::now();
        let cpu_before = cpu();
        let rows: usize = log.scan(columns, NonZeroUsize::MIN, || (), |(), _, batch| batch.len)?.iter().sum();
        let (wall, used) = (per_event(before.elapsed()), per_event(cpu() - cpu_before));
        report.push(format!("read   {used:6.1} ns/event CPU, {wall:.1} wall, {what} columns, {rows} rows"));
    }
    for (number, name) in Columns::NAMES.iter().enumerate() {
        let column = log.column_bytes(name);
        report.push(format!("{number:6} {name:10} {:6.3} bytes/event", column as f64 / events as f64));
    }
    std::fs::remove_dir_all(&directory)?;
    report.push(format!("check  {checksum:x}, {}", peak_kb()));
    use std::io::Write;
    writeln!(std::io::stdout(), "{}", report.join("\n"))?;
    Ok(())
}
