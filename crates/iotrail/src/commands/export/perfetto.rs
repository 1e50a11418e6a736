//! `iotrail export perfetto`: the event log as tracks.

use super::ToFile;
use crate::{logs, output as out, ui::Ui};
use iotrail_export::{ExportError, perfetto};
use iotrail_model::units;
use iotrail_query::ProcessTable;
use std::path::Path;
use std::process::ExitCode;

/// Tracks of processes, threads and calls for Perfetto.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export perfetto run.trail -o run.pftrace      # open it in ui.perfetto.dev

A track for each process with its programs, a track for each thread with its calls; path, offset, size and error of a call are its arguments. Calls of one thread that overlap stand on further tracks.")]
pub(super) struct Args {
    #[command(flatten)]
    files: ToFile,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let ToFile { trails, output, json } = &args.files;
    if output != Path::new("-") {
        out::spares_recordings(output)?;
    }
    let log = logs::open(trails, ui)?;
    let bar = ui.event_bar("exporting");
    let (processes, total) = (ProcessTable::of_log(&log)?, log.rows());
    let written = out::stream(output, |file| {
        perfetto::write(&log, &processes, file, |done| bar.show(done, total)).map_err(plain)
    })?;
    bar.clear();
    ui.info(&format!(
        "{}: {} of {} of {}",
        output.display(),
        units::counted(written.events, "event", "events"),
        units::counted(written.threads, "thread", "threads"),
        units::counted(written.processes, "process", "processes")
    ));
    if *json {
        out::json(&written)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A reader that has seen enough is told from a full disk by the error of the system itself.
fn plain(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Output(error) => error.into(),
        error => error.into(),
    }
}
