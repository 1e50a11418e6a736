//! Where the time of a graph goes: `cargo run --release -p iotrail-dfg --example graph_speed TRAIL [THREADS [TIMES]]`.

#![allow(clippy::print_stdout, reason = "an example's output")]

use iotrail_dfg::{DfgOptions, synthesize};
use iotrail_query::{Query, QuerySpec};
use iotrail_trail::{Columns, EventLog};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let trail = PathBuf::from(arguments.next().ok_or("say which trail")?);
    let mut number = || arguments.next().and_then(|word| word.parse().ok()).and_then(NonZeroUsize::new);
    let threads = number().unwrap_or(NonZeroUsize::MIN);
    let options = DfgOptions { threads, ..DfgOptions::default() };
    let columns = Columns::CASE | Columns::PID | Columns::CALL | Columns::PATH | Columns::START;
    let columns = columns | Columns::DUR | Columns::FILE | Columns::SIZE | Columns::ERRNO;
    for _ in 0..number().map_or(1, NonZeroUsize::get) {
        let clock = cpu_time();
        let log = EventLog::open(std::slice::from_ref(&trail))?;
        let opened = cpu_time();
        let query = Query::new(QuerySpec { case_by: Some("pid".to_owned()), ..QuerySpec::default() }, &log)?;
        let asked = cpu_time();
        let rows: usize = log.scan(columns, threads, || (), |(), _, batch| batch.len)?.iter().sum();
        let read = cpu_time();
        let dfg = synthesize(&log, &query, &options)?;
        let done = cpu_time();
        let per_event = |time: Duration| time.as_nanos() as f64 / rows.max(1) as f64;
        println!("{rows} events, {} nodes, {} edges; CPU ns per event:", dfg.nodes.len(), dfg.edges.len());
        println!(
            "open {:.1}, query {:.1}, read {:.1}, read and sum up {:.1}",
            per_event(opened - clock),
            per_event(asked - opened),
            per_event(read - asked),
            per_event(done - read)
        );
    }
    Ok(())
}

/// CPU time of all threads so far.
fn cpu_time() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let living = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    let nanos = living.filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    Duration::from_nanos(nanos.sum())
}
