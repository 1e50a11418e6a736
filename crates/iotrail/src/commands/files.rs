//! `iotrail files`: the files, pipes, sockets and devices of a trail, and what was done to each.

use crate::args::query;
use crate::logs;
use crate::rows::{COLUMNS_OF_USE, TableArgs};
use crate::ui::Ui;
use clap::ValueEnum;
use iotrail_console::hints;
use iotrail_model::threads::one_per_core;
use iotrail_query::{ProcessTable, Query, QuerySpec};
use iotrail_stats::{RowBy, UsedFile, file_uses};
use iotrail_terminal::file_table::file_table;
use std::collections::HashSet;
use std::process::ExitCode;

/// How many files are shown.
const SHOWN: usize = 20;

/// Show what was done to each file.
///
/// Time, bytes, sizes of requests, order, opens, failures, processes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail files run.trail
  iotrail files run.trail --sort written --top 5
  iotrail files run.trail --path '/scratch/**' --failed
  iotrail files run.trail --json | jq -r 'select(.kind == \"pipe\") | .path'

docs/files.md explains the columns.")]
pub(crate) struct Args {
    #[command(flatten)]
    table: TableArgs,

    /// One row for each file, also of those that had the same name one after the other.
    #[arg(long, conflicts_with = "paths")]
    each: bool,

    /// One row for each name of each file; `gone` are those that it lost.
    #[arg(long)]
    paths: bool,

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
    /// Most time spent waiting.
    Waiting,
    /// Most bytes read and written.
    Bytes,
    /// Most bytes read.
    Read,
    /// Most bytes written.
    Written,
    /// Most bytes read or written again.
    Again,
    /// Most calls.
    Calls,
    /// Most opens.
    Opens,
    /// Most failed calls.
    Failed,
    /// Most processes.
    Processes,
    /// First touched.
    First,
    /// By path.
    Path,
}

/// The columns of CSV: those of JSON without errors, histograms and ranges.
const COLUMNS: [&[&str]; 3] = [
    &["path", "canonical", "kind", "device", "inode", "size", "file", "birth", "gone", "files"],
    &COLUMNS_OF_USE,
    &["first_ns", "last_ns"],
];

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let log = logs::open(&args.table.trails, ui)?;
    let query = Query::new(QuerySpec { select: args.selection.spec(), ..QuerySpec::default() }, &log)?;
    query.warnings().iter().for_each(|warning| ui.warn(&hints::of_warning(warning)));
    let by = match (args.paths, args.each) {
        (true, _) => RowBy::Name,
        (_, true) => RowBy::File,
        _ => RowBy::Path,
    };
    let mut files = file_uses(&log, &query, &ProcessTable::of_log(&log)?, by, one_per_core())?;
    let rows = &mut files.rows;
    // Texts of symbolic links and addresses of sockets are names of files that nobody has to have touched.
    if !args.paths || !query.selection().is_empty() {
        // Each name of a file that is used; an exchange gives it one that no call is on.
        let is_used = |row: &&UsedFile| row.used.calls > 0;
        let named = |row: &UsedFile| row.file.file.filter(|_| args.paths);
        let used: HashSet<u32> = rows.iter().filter(is_used).filter_map(named).collect();
        rows.retain(|row| row.used.calls > 0 || named(row).is_some_and(|file| used.contains(&file)));
    }
    sort(rows, args.sort);
    query.check_selected(rows.len() as u64, &log)?;
    let top = args.top.unwrap_or(usize::MAX);
    let text = || file_table(&files, args.top.unwrap_or(SHOWN), ui.style());
    args.table.print_text(&COLUMNS.concat(), files.rows.iter().take(top), text, (&log, ui))
}

/// Sorts rows, equal ones by path.
fn sort(rows: &mut [UsedFile], by: Sort) {
    let key = |row: &UsedFile| {
        let used = &row.used;
        match by {
            Sort::Time => used.weight_ns(),
            Sort::Waiting => used.wait_ns.unwrap_or_default(),
            Sort::Bytes => used.bytes(),
            Sort::Read => used.bytes_read,
            Sort::Written => used.bytes_written,
            Sort::Again => used.again().unwrap_or_default(),
            Sort::Calls => used.calls,
            Sort::Opens => used.opens,
            Sort::Failed => used.failures,
            Sort::Processes => used.processes,
            Sort::First => used.first_ns.map_or(0, |start| u64::MAX - (start.cast_unsigned() ^ (1 << 63))),
            Sort::Path => 0,
        }
    };
    rows.sort_by_cached_key(|row| row.sort_key(key(row)));
}
