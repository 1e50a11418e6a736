//! `iotrail sessions`: open file descriptions, and what was done through each.

use crate::args::query;
use crate::logs;
use crate::rows::{COLUMNS_OF_USE, TableArgs};
use crate::ui::Ui;
use clap::ValueEnum;
use iotrail_console::hints;
use iotrail_model::threads::one_per_core;
use iotrail_query::{ProcessTable, Query, QuerySpec};
use iotrail_stats::{Session, sessions};
use iotrail_terminal::session_table::session_table;
use std::cmp::Reverse;
use std::process::ExitCode;

/// How many sessions are shown.
const SHOWN: usize = 20;

/// Show each open file from opening to closing.
///
/// One row for each open file description: who opened it, how long it was open, who shared it, what was read and written where.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail sessions run.trail
  iotrail sessions run.trail --path '/scratch/**' --sort open
  iotrail sessions run.trail --json | jq -r 'select(.processes > 1) | .path'

docs/sessions.md explains the columns.")]
pub(crate) struct Args {
    #[command(flatten)]
    table: TableArgs,

    /// What comes first.
    #[arg(long, value_name = "COLUMN", value_enum, default_value_t = Sort::Time)]
    sort: Sort,

    /// Rows to print. Default: 20 in the table, all of them as JSON and CSV.
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    #[command(flatten)]
    selection: query::Selection,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// Most I/O time.
    Time,
    /// Most bytes read and written.
    Bytes,
    /// Most bytes read.
    Read,
    /// Most bytes written.
    Written,
    /// Most calls.
    Calls,
    /// Longest open.
    Open,
    /// Most processes.
    Processes,
    /// First used.
    First,
    /// By path.
    Path,
}

/// The columns of CSV: those of JSON without errors, histograms, ranges and lists.
const COLUMNS: [&[&str]; 3] = [
    &[
        "case",
        "open",
        "path",
        "kind",
        "file",
        "pid",
        "program",
        "flags",
        "opened_ns",
        "closed_ns",
        "low",
        "high",
    ],
    &COLUMNS_OF_USE,
    &["first_ns", "last_ns"],
];

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let log = logs::open(&args.table.trails, ui)?;
    let query = Query::new(QuerySpec { select: args.selection.spec(), ..QuerySpec::default() }, &log)?;
    query.warnings().iter().for_each(|warning| ui.warn(&hints::of_warning(warning)));
    let mut rows = sessions(&log, &query, &ProcessTable::of_log(&log)?, one_per_core())?;
    sort(&mut rows, args.sort);
    query.check_selected(rows.len() as u64, &log)?;
    let top = args.top.unwrap_or(usize::MAX);
    let text = || session_table(&rows, args.top.unwrap_or(SHOWN), ui.style());
    args.table.print_text(&COLUMNS.concat(), rows.iter().take(top), text, (&log, ui))
}

/// Sorts rows; equal ones stay in the order of case and number.
fn sort(rows: &mut [Session], by: Sort) {
    let most =
        |rows: &mut [Session], figure: fn(&Session) -> u64| rows.sort_by_key(|row| Reverse(figure(row)));
    match by {
        Sort::Time => most(rows, |row| row.used.weight_ns()),
        Sort::Bytes => most(rows, |row| row.used.bytes()),
        Sort::Read => most(rows, |row| row.used.bytes_read),
        Sort::Written => most(rows, |row| row.used.bytes_written),
        Sort::Calls => most(rows, |row| row.used.calls),
        Sort::Open => most(rows, |row| row.open_ns().unwrap_or_default()),
        Sort::Processes => most(rows, |row| row.used.processes),
        Sort::First => rows.sort_by_key(|row| row.used.first_ns),
        Sort::Path => rows.sort_by(|a, b| a.path.cmp(&b.path)),
    }
}
