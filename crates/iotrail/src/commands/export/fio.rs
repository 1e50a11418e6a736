//! `iotrail export fio`: a model of a workload as a job file of fio.

use crate::commands::workload::{Scaling, read};
use crate::{output, ui::Ui};
use anyhow::ensure;
use iotrail_export::fio_job;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A model of a workload as a job file of fio.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export fio model.toml --ranks 8 -o app.fio    # fio --create_only=1 app.fio && fio app.fio

A section for each session, one after the other, each rank a process. What fio cannot say is lost; it is printed, and stands at the begin of the file with its share of the transfers.")]
pub(super) struct Args {
    /// The model file; `-` is stdin.
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Ranks. Default: those of the model.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: Option<u32>,

    /// Refuse to lose anything.
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    knobs: Scaling,

    /// The file to write; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let model = args.knobs.apply(&read(&args.model)?)?;
    let job = fio_job(&model, args.ranks.or(model.ranks).unwrap_or(4));
    ensure!(!args.strict || job.losses.is_empty(), "a job of fio loses {}", job.losses.join("; "));
    output::text(&args.output, job.text)?;
    job.losses.iter().for_each(|loss| ui.warn(&format!("lost: {loss}")));
    if args.output != Path::new("-") {
        ui.report_written(std::slice::from_ref(&args.output));
    }
    Ok(ExitCode::SUCCESS)
}
