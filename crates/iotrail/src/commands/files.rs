//! `iotrail files`: the files, pipes, sockets and devices that a trail names.

use crate::rows::TableArgs;
use crate::ui::Ui;
use iotrail_model::{FileRow, units};
use iotrail_terminal::table::{Align, Table};
use iotrail_trail::EventLog;
use std::process::ExitCode;

/// Print the files of a trail: one row for each, whatever its names.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail files run.trail
  iotrail files run.trail --json | jq -r 'select(.kind == \"pipe\") | .path'

Columns are those of the table `files` (docs/trail-format.md).")]
pub(crate) struct Args {
    #[command(flatten)]
    table: TableArgs,

    /// One row for each name of a file; `gone` are those that it lost.
    #[arg(long)]
    paths: bool,
}

const COLUMNS: [&str; 9] = ["path", "canonical", "kind", "device", "inode", "size", "file", "birth", "gone"];

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let log = EventLog::open(&args.table.trails)?;
    let mut names = log.file_names();
    if !args.paths {
        // The name to call a file by comes first.
        names.dedup_by_key(|name| name.file);
    }
    let mut files: Vec<&FileRow> = names.iter().collect();
    files.sort_by_key(|file| (&file.path, file.file));
    args.table.print(&COLUMNS, files.iter(), || table(&files), ui)
}

fn table(files: &[&FileRow]) -> Table {
    let mut table = Table::new()
        .names("kind")
        .figures("size", Align::Right)
        .figures("device", Align::Right)
        .figures("inode", Align::Right)
        .names("path");
    let unknown = || "–".to_owned();
    for file in files {
        table.row([
            file.kind.clone().unwrap_or_else(unknown),
            file.size.map_or_else(unknown, |size| units::bytes(size as f64)),
            file.device.map_or_else(unknown, |device| {
                format!("{}:{}", device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xf_ff00)
            }),
            file.inode.map_or_else(unknown, |inode| inode.to_string()),
            file.path.to_string(),
        ]);
    }
    table
}
