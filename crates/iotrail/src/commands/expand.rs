//! `iotrail expand`: a structure as a trail again.

use crate::ui::Ui;
use iotrail_compress::{expand, load};
use iotrail_model::units;
use iotrail_trail::CreateOptions;
use std::path::PathBuf;
use std::process::ExitCode;

/// Make a trail of a structure.
///
/// Every call comes back with all that was recorded of it. Times are those recorded if the structure keeps them
/// (`iotrail compress --time-precision 100`), and drawn from its distributions if not. So are counts, sizes and offsets of a structure with
/// `--precision` below 100: their numbers, sums, smallest and largest are those recorded.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail expand run.structure -o run2.trail
  iotrail expand run.structure -o run2.trail --force
  iotrail expand run.structure -o run3.trail --seed 1")]
pub(crate) struct Args {
    /// The structure.
    #[arg(value_name = "STRUCTURE")]
    structure: PathBuf,

    /// The trail to write.
    #[arg(short, long, value_name = "TRAIL")]
    output: PathBuf,

    /// Number that draws of times, counts, sizes and offsets depend on.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Replace the trail if it exists.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let document = load(&args.structure)?;
    let bar = ui.event_bar("expanding");
    let total = document.events();
    let options = CreateOptions { overwrite: args.force };
    let totals = expand(&document, &args.output, options, args.seed, |done| bar.show(done, total))?;
    bar.clear();
    ui.info(&format!("{}: {}", args.output.display(), units::counted(totals.events, "event", "events")));
    Ok(ExitCode::SUCCESS)
}
