//! `iotrail processes`: what ran, for how long, and what it used.

use crate::logs;
use crate::rows::TableArgs;
use crate::ui::Ui;
use iotrail_model::{Case, Process, units};
use iotrail_terminal::table::{Align, Table};
use serde::Serialize;
use std::process::ExitCode;

/// List processes: programs, times, CPU, memory.
///
/// One row for each program that a process executed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail processes run.trail
  iotrail processes run.trail --csv > processes.csv
  iotrail processes run.trail --json | jq -r 'select(.exit_code > 0 or .signal) | .cmdline'

Columns are those of the table `processes` (docs/trail-format.md), and the case's cid, host, rid and label. Times are in ns.")]
pub(crate) struct Args {
    #[command(flatten)]
    table: TableArgs,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let log = logs::open(&args.table.trails, ui)?;
    let mut processes = log.processes()?;
    for process in processes.iter_mut().filter(|process| !log.cases()[process.case.index()].has_times()) {
        (process.start, process.end) = (None, None);
    }
    let records = processes.iter().map(|process| Record::new(process, &log.cases()[process.case.index()]));
    args.table.print(&Record::COLUMNS, records, || table(&processes, log.cases()), (&log, ui))
}

#[derive(Serialize)]
struct Record<'a> {
    cid: Option<&'a str>,
    host: Option<&'a str>,
    rid: Option<&'a str>,
    label: Option<&'a str>,
    #[serde(flatten)]
    process: &'a Process,
}

impl<'a> Record<'a> {
    const COLUMNS: [&'static str; 28] = [
        "case_id",
        "cid",
        "host",
        "rid",
        "label",
        "pid",
        "ppid",
        "start",
        "end",
        "exit_code",
        "signal",
        "exe",
        "cmdline",
        "cwd",
        "threads",
        "user",
        "system",
        "minor_faults",
        "major_faults",
        "max_memory",
        "storage_read",
        "storage_written",
        "voluntary_switches",
        "involuntary_switches",
        "io_delay",
        "bytes_read",
        "bytes_written",
        "env",
    ];

    fn new(process: &'a Process, case: &'a Case) -> Self {
        let name = &case.name;
        Self {
            cid: name.cid.as_deref(),
            host: name.host.as_deref(),
            rid: name.rid.as_deref(),
            label: case.label.as_deref(),
            process,
        }
    }
}

fn table(processes: &[Process], cases: &[Case]) -> Table {
    let mut table = Table::new()
        .figures("pid", Align::Right)
        .figures("ppid", Align::Right)
        .figures("life", Align::Right)
        .figures("CPU", Align::Right)
        .figures("memory", Align::Right)
        .figures("read", Align::Right)
        .figures("written", Align::Right)
        .names("end")
        .names("command");
    for process in processes {
        table.row(cells(process, &cases[process.case.index()]));
    }
    table
}

fn cells(process: &Process, case: &Case) -> [String; 9] {
    let unknown = || "–".to_owned();
    let lifetime = process.start.zip(process.end).and_then(|(start, end)| case.time_between(start, end));
    let cpu = process.usage.user.zip(process.usage.system).map(|(user, system)| user.0 + system.0);
    let bytes = |value: i64| units::bytes(value as f64);
    [
        process.pid.to_string(),
        process.ppid.map_or_else(unknown, |ppid| ppid.to_string()),
        lifetime.map_or_else(unknown, |span| units::duration(span.0 as f64)),
        cpu.map_or_else(unknown, |span| units::duration(span as f64)),
        process.usage.max_memory.map_or_else(unknown, |size| units::bytes(size as f64)),
        bytes(process.bytes_read),
        bytes(process.bytes_written),
        ending(process),
        command(process),
    ]
}

fn ending(process: &Process) -> String {
    match (&process.signal, process.exit_code, process.end) {
        (Some(signal), ..) => signal.clone(),
        (None, Some(code), _) => format!("exit {code}"),
        (None, None, Some(_)) => "exec".to_owned(),
        (None, None, None) => "–".to_owned(),
    }
}

fn command(process: &Process) -> String {
    let words = process.cmdline.as_deref().map(|line| line.trim_end_matches('\0').replace('\0', " "));
    words.or_else(|| process.exe.clone()).unwrap_or_else(|| "–".to_owned())
}
