//! `iotrail export sqlite`: the event log as a database.

use super::ToFile;
use crate::{logs, output as out, ui::Ui};
use iotrail_model::units;
use iotrail_trail::EventLog;
use std::path::Path;
use std::process::ExitCode;

/// A database for SQLite, as ParaTrac's.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export sqlite run.trail -o run.db
  sqlite3 run.db 'SELECT call, count(*), sum(size) FROM events GROUP BY call'

Tables: runs, cases, processes, files, event_rows and names; the view events has the columns of the trail (docs/trail-format.md). Times are integers in ns, unknown is NULL. Only in builds with SQLite (`make build FEATURES=sqlite`; `make install` has it).")]
pub(super) struct Args {
    #[command(flatten)]
    files: ToFile,
}

/// What was written.
#[derive(serde::Serialize)]
struct Written {
    events: u64,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let ToFile { trails, output, json } = &args.files;
    out::spares_recordings(output)?;
    let log = logs::open(trails, ui)?;
    let bar = ui.event_bar("exporting");
    let events = database(&log, output, &|done, total| bar.show(done, total))?;
    bar.clear();
    ui.info(&format!("{}: {}", output.display(), units::counted(events, "event", "events")));
    if *json {
        out::json(&Written { events })?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "sqlite")]
fn database(log: &EventLog, output: &Path, progress: &dyn Fn(u64, u64)) -> anyhow::Result<u64> {
    Ok(iotrail_sqlite::export(log, output, progress)?)
}

#[cfg(not(feature = "sqlite"))]
fn database(_: &EventLog, _: &Path, _: &dyn Fn(u64, u64)) -> anyhow::Result<u64> {
    anyhow::bail!("this iotrail was built without SQLite; `make build FEATURES=sqlite` builds one with it")
}
