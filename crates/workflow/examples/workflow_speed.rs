//! How fast a large workflow becomes a graph: `cargo run --release -p iotrail-workflow --example workflow_speed -- [TRAIL]`.
//!
//! Without a trail it writes one of 100,000 processes, each forked by an earlier one, that reads 6 files and makes 3: 400,000
//! vertices and 1,000,000 edges. It prints CPU seconds of this process and the peak of its memory.

#![allow(clippy::print_stdout, reason = "an example's results")]

use iotrail_model::{
    CallId, Case, CaseId, CaseName, Coverage, Dictionaries, Event, FlagsId, Nanos, Nullable, PathId, Pid,
    Process, Tid, Timestamp,
};
use iotrail_query::{ProcessGroupBy, ProcessTable};
use iotrail_trail::{Capture, CreateOptions, EventLog, TrailWriter};
use iotrail_workflow::{BuildOptions, build};
use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

const PROCESSES: u32 = 100_000;
const MADE: u32 = 3;
const READ: u32 = 6;
/// Ticks of `/proc/PID/stat` in a second.
const TICKS: f64 = 100.0;

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let trail = match std::env::args().nth(1) {
        Some(path) => PathBuf::from(path),
        None => {
            let path = scratch.path().join("large.trail");
            write(&path)?;
            path
        }
    };
    // The peak of the memory counts from here.
    fs::write("/proc/self/clear_refs", "5")?;
    for threads in [1, 2] {
        let (cpu, clock) = (cpu_seconds()?, Instant::now());
        let log = EventLog::open(std::slice::from_ref(&trail))?;
        let processes = ProcessTable::of_log(&log)?;
        let groups = ProcessGroupBy::Exe.divide(&log, &processes);
        let opened = cpu_seconds()? - cpu;
        let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
        let graph = build(&log, &processes, &groups, &BuildOptions { threads, ..BuildOptions::default() })?;
        println!(
            "{threads} threads: {} events, {} vertices, {} edges in {:.2} CPU s ({opened:.2} of them to open the log), {:.2} s, peak {}",
            log.rows(),
            graph.vertices.len(),
            graph.edges.len(),
            cpu_seconds()? - cpu,
            clock.elapsed().as_secs_f64(),
            peak()?,
        );
        for note in &graph.notes {
            println!("  {note}");
        }
    }
    Ok(())
}

fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>).sum::<Result<f64, _>>()?;
    Ok(ticks / TICKS)
}

fn peak() -> Result<String, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.unwrap_or("unknown").trim().to_owned())
}

struct Words {
    open: CallId,
    read: CallId,
    write: CallId,
    for_reading: FlagsId,
    for_writing: FlagsId,
}

fn write(target: &Path) -> Result<(), Box<dyn Error>> {
    let writer = TrailWriter::create(target, CreateOptions::default())?;
    let mut names = Dictionaries::default();
    let mut call = |name: &str| CallId(names.calls.intern(name.as_bytes()));
    let (open, read, write) = (call("openat"), call("read"), call("write"));
    let mut flags = |text: &str| FlagsId(names.flags.intern(text.as_bytes()));
    let (for_reading, for_writing) = (flags("O_RDONLY"), flags("O_WRONLY|O_CREAT|O_TRUNC"));
    let words = Words { open, read, write, for_reading, for_writing };
    let paths: Vec<PathId> = (0..PROCESSES * MADE)
        .map(|file| {
            PathId(names.paths.intern(format!("/scratch/run/{}/part_{file}.fits", file % 100).as_bytes()))
        })
        .collect();
    let mut part = writer.part()?;
    let mut seq = 0;
    for process in 0..PROCESSES {
        let start = i64::from(process) * 1_000;
        let exe = Some(format!("/usr/bin/step{}", process % 10));
        part.push_process(&Process {
            pid: Pid(process + 1),
            ppid: (process > 0).then_some(Pid(process / 2 + 1)),
            start: Some(Timestamp(start)),
            end: Some(Timestamp(start + 900)),
            exit_code: Some(0),
            cmdline: exe.as_ref().map(|exe| format!("{exe}\0{process}\0")),
            exe,
            threads: 1,
            ..Process::default()
        })?;
        let mut at = start;
        let mut push = |call, file: u32, flags: Option<FlagsId>, size: Option<i64>| {
            at += 20;
            seq += 1;
            let event = Event {
                case: CaseId(0),
                seq,
                pid: Pid(process + 1),
                tid: Tid(process + 1),
                call,
                start: Timestamp(at),
                dur: Nullable::some(Nanos(10)),
                path: paths.get(file as usize).copied().into(),
                flags: flags.into(),
                size: size.into(),
                ret: Nullable::some(size.unwrap_or(3)),
                ..Event::default()
            };
            part.push(&event, &names)
        };
        for input in 0..READ {
            // Files of the last thousand processes, and of the first some that nobody made.
            let file = (process * MADE).saturating_sub(1 + input * 499) % (PROCESSES * MADE);
            push(words.open, file, Some(words.for_reading), None)?;
            push(words.read, file, None, Some(4096))?;
        }
        for output in 0..MADE {
            let file = process * MADE + output;
            push(words.open, file, Some(words.for_writing), None)?;
            push(words.write, file, None, Some(4096))?;
        }
    }
    let summary = part.finish(&names)?;
    let case = Case {
        id: CaseId(0),
        name: CaseName { cid: Some("large".to_owned()), ..CaseName::default() },
        source: "workflow_speed".to_owned(),
        ..Case::default()
    };
    let capture = Capture { source: "example".to_owned(), ..Capture::default() };
    writer.finish(&[case], vec![summary], capture, &Coverage::default())?;
    Ok(())
}
