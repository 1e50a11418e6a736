//! `iotrail export`: the event log as a whole in other formats.

use crate::{output, ui::Ui};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use iotrail_export::LogFormat;
use iotrail_model::units;
use iotrail_query::Lives;
use iotrail_trail::{EventLog, outside_of_trails};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write the event log in the format of another program.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export sqlite run.trail -o run.db
  sqlite3 run.db 'SELECT call, count(*), sum(size) FROM events GROUP BY call'
  iotrail export perfetto run.trail -o run.pftrace      # open it in ui.perfetto.dev

sqlite: tables runs, cases, processes, files, event_rows and names; the view events has the columns of the trail (docs/trail-format.md). Times are integers in ns, unknown is NULL. Only in builds with SQLite (`make build FEATURES=sqlite`; `make install` has it).

perfetto: a track for each process with its programs, a track for each thread with its calls; path, offset, size and error of a call are its arguments. Calls of one thread that overlap stand on further tracks.")]
pub(crate) struct Args {
    /// The format.
    #[arg(value_parser = formats())]
    format: LogFormat,

    /// Trails, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// The file to write; `-` for stdout, of formats that are streams.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Print what was written as JSON.
    #[arg(long)]
    json: bool,
}

/// The names of the formats, with what they are.
fn formats() -> impl TypedValueParser<Value = LogFormat> {
    let names = LogFormat::all().map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(names).try_map(|name| LogFormat::from_name(&name).ok_or("not a format"))
}

/// What was written.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Written {
    Rows { events: u64 },
    Tracks(iotrail_export::perfetto::Written),
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    if args.output != Path::new("-") {
        outside_of_trails(&args.output)?;
    }
    let log = EventLog::open(&args.trails)?;
    let bar = ui.event_bar("exporting");
    let written = match args.format {
        LogFormat::Sqlite => {
            let events = database(&log, &args.output, &|done, total| bar.show(done, total))?;
            Written::Rows { events }
        }
        LogFormat::Perfetto => {
            let (lives, total) = (Lives::of_log(&log)?, log.rows());
            let tracks = output::stream(&args.output, |out| {
                let written =
                    iotrail_export::perfetto::write(&log, &lives, out, |done| bar.show(done, total));
                // A reader that has seen enough is told from a full disk by the error of the system itself.
                written.map_err(|error| match error {
                    iotrail_export::ExportError::Output(error) => error.into(),
                    error => error.into(),
                })
            })?;
            Written::Tracks(tracks)
        }
    };
    bar.clear();
    ui.say(&format!("{}: {}", args.output.display(), describe(&written)));
    if args.json {
        output::json(&written)?;
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

fn describe(written: &Written) -> String {
    match written {
        Written::Rows { events } => units::counted(*events, "event", "events"),
        Written::Tracks(tracks) => format!(
            "{} of {} of {}",
            units::counted(tracks.events, "event", "events"),
            units::counted(tracks.threads, "thread", "threads"),
            units::counted(tracks.processes, "process", "processes")
        ),
    }
}
