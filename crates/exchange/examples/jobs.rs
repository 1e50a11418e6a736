//! Writes the jobs of a trail in a format, or as JSON: `cargo run -p iotrail-exchange --example jobs -- FORMAT|json TRAIL`.
use iotrail_exchange::{Format, WriteOptions, write_jobs};
use iotrail_query::Lives;
use iotrail_trail::EventLog;
use iotrail_workflow::jobs::{JobOptions, jobs};
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let format = arguments.next().ok_or("which format?")?;
    let log = EventLog::open(&arguments.map(Into::into).collect::<Vec<_>>())?;
    let lives = Lives::new(log.processes()?);
    let jobs = jobs(&log, &lives, &JobOptions::default())?;
    let bytes = match format.as_str() {
        "json" => serde_json::to_vec_pretty(&jobs)?,
        name => write_jobs(
            &jobs,
            Format::from_name(name)?,
            &WriteOptions { title: None, sources: vec!["trail".to_owned()] },
        )?,
    };
    std::io::stdout().write_all(&bytes)?;
    Ok(())
}
