//! `iotrail loops`: a profile of the loops of a program.

use crate::{output, ui::Ui};
use anyhow::bail;
use iotrail_compress::{Loops, load};
use iotrail_terminal::loop_tables::loop_tables;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Rows of the table.
const SHOWN: usize = 12;

/// Show where loops spend time: iterations, calls, bytes, imbalance.
///
/// One row for each loop, those with most time first, and the slowest iterations of the first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The time of a loop is from the begin of its first call to the end of its last, on all threads; that of loops around it includes it. Imbalance is the largest time of a thread by the mean, less 1. Times of iterations are known of structures that `iotrail compress --time-precision 100` made. docs/structure.md explains the columns.

Examples:
  iotrail loops run.structure
  iotrail loops run.structure --top 3
  iotrail loops run.structure --json | jq '.loops[] | {item, iterations, time_ns}'")]
pub(crate) struct Args {
    /// The structure; `iotrail compress` makes one.
    #[arg(value_name = "STRUCTURE")]
    structure: PathBuf,

    /// Show the loop with this number and its slowest iterations.
    #[arg(long = "loop", value_name = "L")]
    item: Option<u32>,

    /// Rows to print. Default: 12 in the table, all as JSON.
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Print JSON with exact values.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let mut loops = Loops::of(&load(&args.structure)?)?;
    if let Some(item) = args.item.filter(|item| loops.loops.iter().all(|row| row.item != *item)) {
        bail!("there is no loop {item} in {}", args.structure.display());
    }
    if args.json {
        loops.loops.retain(|row| args.item.is_none_or(|item| row.item == item));
        loops.loops.truncate(args.top.unwrap_or(usize::MAX));
        output::json(&loops)?;
    } else {
        let text = loop_tables(&loops, args.item, args.top.unwrap_or(SHOWN), ui.style());
        output::text(Path::new("-"), text)?;
    }
    Ok(ExitCode::SUCCESS)
}
