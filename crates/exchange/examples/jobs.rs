//! Prints the jobs of a trail as JSON: `cargo run -p iotrail-exchange --example jobs -- TRAIL`.
use iotrail_query::Lives;
use iotrail_trail::EventLog;
use iotrail_workflow::jobs::{JobOptions, jobs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<_> = std::env::args_os().skip(1).map(Into::into).collect();
    let log = EventLog::open(&paths)?;
    let lives = Lives::new(log.processes()?);
    let jobs = jobs(&log, &lives, &JobOptions::default())?;
    serde_json::to_writer_pretty(std::io::stdout().lock(), &jobs)?;
    Ok(())
}
