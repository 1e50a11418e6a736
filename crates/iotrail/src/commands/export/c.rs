//! `iotrail export c`: a model of a workload as a program.

use crate::commands::workload::{Scaling, read};
use crate::{output, ui::Ui};
use anyhow::{bail, ensure};
use iotrail_export::{c_program, exchanges_in_c};
use iotrail_model::units;
use iotrail_workload::Model;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A model of a workload as a program in C, with MPI or without.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail export c model.toml -o app.c                  # mpicc -o app app.c && mpirun -n 8 ./app DIRECTORY

The ranks of the model are those of MPI, and its barriers are MPI's; with -DSERIAL there is one rank and no MPI. Where the model draws sizes of transfers, the program makes as many of each in the order of their values; places that are drawn are drawn anew.")]
pub(super) struct Args {
    /// The model file; `-` is stdin.
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    knobs: Scaling,

    /// The file to write; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

pub(super) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let model = args.knobs.apply_to_program(&read(&args.model)?)?;
    ensure!(
        !model.has_waits(),
        "ranks of this model wait for sessions of others ({{ after = ... }}), which programs in C cannot do yet; take these steps out, or put barriers in their place"
    );
    if let Some(stuck) =
        model.ranks.filter(|ranks| is_checked(&model, *ranks)).and_then(|ranks| model.stuck(ranks, 0))
    {
        bail!("ranks of this model wait for each other for ever: {stuck}");
    }
    let in_order = model.sessions().filter(|session| session.random > 0 && !exchanges_in_c(session)).count();
    if in_order > 0 {
        ui.warn(&format!(
            "{} of several kinds, sizes or places: their transfers change no places (random) in the program",
            units::counted(in_order as u64, "session", "sessions")
        ));
    }
    output::text(&args.output, c_program(&model))?;
    if args.output != Path::new("-") {
        ui.report_written(std::slice::from_ref(&args.output));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether ranks meet by messages, and not too often to go through.
fn is_checked(model: &Model, ranks: u32) -> bool {
    const MOST: u64 = 10_000_000;
    model.has_messages()
        && model.totals(ranks).is_ok_and(|totals| {
            let meetings = [totals.barriers, totals.messages_sent, totals.messages_received, totals.sessions];
            meetings.into_iter().fold(0, u64::saturating_add) <= MOST
        })
}
