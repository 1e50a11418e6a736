//! `iotrail export fio-iolog`: a model of a workload as logs that fio replays.

use super::model::ForRanks;
use crate::{output, ui::Ui};
use anyhow::{Context, ensure};
use iotrail_export::fio_iolog;
use iotrail_generate::planned;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A model of a workload as logs that fio replays, one for each rank.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export fio-iolog model.toml --ranks 8 -o app.fio    # writes app.rank-0.iolog, ... beside it; then: fio app.fio

Each rank has its requests in their order, with places and times (version 3 of fio's logs, fio 3.31 or later). What fio cannot say is lost; it is printed, and stands at the begin of the job file with its shares of the requests, bytes and time.")]
pub(super) struct Args {
    #[command(flatten)]
    of: ForRanks,

    /// Number that draws depend on.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// The job file to write; the logs lie beside it.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    ensure!(args.output != Path::new("-"), "several files are written: name the job file with -o FILE");
    let (model, ranks) = args.of.model()?;
    let stem = args.output.file_stem().context("-o names no file")?.to_string_lossy();
    let replay = fio_iolog(&planned(&model, ranks, args.seed)?, &stem);
    args.of.tell(&replay.losses, ui)?;
    let mut files = output::Files::default();
    files.write(&args.output, replay.job.as_bytes())?;
    for (name, text) in replay.logs {
        let path = args.output.with_file_name(name);
        output::spares_input(&path, &args.of.model)?;
        files.write(&path, text.as_bytes())?;
    }
    ui.report_written(&files.publish()?);
    Ok(ExitCode::SUCCESS)
}
