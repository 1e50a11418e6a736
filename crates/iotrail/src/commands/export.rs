//! `iotrail export`: the event log as a whole in other formats.

use crate::ui::Ui;
use clap::ValueEnum;
use iotrail_model::units;
use iotrail_trail::EventLog;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the event log in the format of another program.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export sqlite run.trail -o run.db
  sqlite3 run.db 'SELECT call, count(*), sum(size) FROM events GROUP BY call'

sqlite: tables runs, cases, processes, files, event_rows and names; the view events has the columns of the trail
(docs/trail-format.md). Times are integers in ns, unknown is NULL.")]
pub(crate) struct Args {
    /// The format.
    format: Format,

    /// Trails, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A database for SQLite, as ParaTrac's.
    Sqlite,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let log = EventLog::open(&args.trails)?;
    let bar = ui.event_bar("exporting");
    let written = match args.format {
        Format::Sqlite => iotrail_sqlite::export(&log, &args.output, &|done, total| bar.show(done, total)),
    };
    bar.clear();
    ui.say(&format!("{}: {} events", args.output.display(), units::count(written?)));
    Ok(ExitCode::SUCCESS)
}
