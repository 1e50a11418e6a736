//! `iotrail export fio`: a model of a workload as a job file of fio.

use super::model::ForRanks;
use crate::{output, ui::Ui};
use iotrail_export::fio_job;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A model of a workload as a job file of fio.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export fio model.toml --ranks 8 -o app.fio    # its first lines tell how to run it

A section for each session, one after the other, each rank a process. What fio cannot say is lost; it is printed, and stands at the begin of the file with its shares of the requests, bytes and time.")]
pub(super) struct Args {
    #[command(flatten)]
    of: ForRanks,

    /// The file to write; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (model, ranks) = args.of.program()?;
    let job = fio_job(&model, ranks);
    args.of.tell(&job.losses, ui)?;
    output::text(&args.output, job.text)?;
    if args.output != Path::new("-") {
        ui.report_written(std::slice::from_ref(&args.output));
    }
    Ok(ExitCode::SUCCESS)
}
