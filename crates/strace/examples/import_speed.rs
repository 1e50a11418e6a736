//! Imports files and prints what it cost: `cargo run --release --example import_speed -- FILE... [--threads N] [--to TRAIL]`.
//!
//! CPU seconds and peak memory come from /proc/self, so one run measures one import.

use iotrail_import::{ImportOptions, Input, Silent, import};
use iotrail_strace::Strace;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut options = ImportOptions::default();
    if let Some(place) = words.iter().position(|word| word == "--threads") {
        options.threads = Some(words.get(place + 1).ok_or("--threads needs a number")?.parse()?);
        words.drain(place..place + 2);
    }
    let directory = tempfile::tempdir()?;
    let mut target = directory.path().join("speed.trail");
    if let Some(place) = words.iter().position(|word| word == "--to") {
        target = words.get(place + 1).ok_or("--to needs a path")?.into();
        words.drain(place..place + 2);
    }
    let inputs: Vec<Input> = words.iter().map(|word| Input::from(OsStr::new(word))).collect();
    let started = Instant::now();
    let summary = import(&[&Strace], &inputs, &options, &target, &Silent)?;
    let wall = started.elapsed().as_secs_f64();
    let cpu = cpu_seconds()?;
    let megabytes = summary.text_bytes as f64 / 1e6;
    let disk = size(&target)?;
    print(&format!(
        "{megabytes:.1} MB, {} lines, {} events, {} processes, {} cases, {} unparsed\n\
         {wall:.2} s wall, {cpu:.2} CPU-s, {:.0} MB/s per core, {} MB peak\n\
         {disk} bytes on disk, {:.2} bytes per event\n",
        summary.coverage.lines.total,
        summary.events,
        summary.processes,
        summary.cases,
        summary.coverage.lines.unparsed,
        megabytes / cpu,
        peak_megabytes()?,
        disk as f64 / summary.events.max(1) as f64,
    ))
}

fn print(text: &str) -> Result<(), Box<dyn Error>> {
    use std::io::Write;
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// User and system time of this process; the kernel counts in hundredths of a second.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("/proc/self/stat has no command")?;
    let ticks: Result<Vec<u64>, _> = fields.split(' ').skip(11).take(2).map(str::parse).collect();
    Ok(ticks?.iter().sum::<u64>() as f64 / 100.0)
}

fn peak_megabytes() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? / 1000)
}

fn size(directory: &std::path::Path) -> Result<u64, Box<dyn Error>> {
    fs::read_dir(directory)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}
