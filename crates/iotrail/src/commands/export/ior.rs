//! `iotrail export ior`: a model of a workload as runs of IOR.

use super::model::ForRanks;
use crate::{output, ui::Ui};
use iotrail_export::ior_runs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A model of a workload as runs of IOR, if it is one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export ior model.toml --ranks 4
  iotrail export ior model.toml --ranks 64 -o run.sh && sh run.sh

One group of ranks, one size of transfers, one file or one for each rank, at places that are IOR's blocks in segments; else the reason is told and nothing is written. What is lost is printed, and stands at the begin of the file with its shares of the requests, bytes and time.")]
pub(super) struct Args {
    #[command(flatten)]
    of: ForRanks,

    /// The file to write; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (model, ranks) = args.of.program()?;
    let runs = ior_runs(&model, ranks)?;
    args.of.tell(&runs.losses, ui)?;
    output::text(&args.output, runs.text)?;
    if args.output != Path::new("-") {
        ui.report_written(std::slice::from_ref(&args.output));
    }
    Ok(ExitCode::SUCCESS)
}
