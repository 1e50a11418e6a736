//! `iotrail structure`: the loops of a program.

use crate::commands::structured::words;
use crate::{output, ui::Ui};
use anyhow::bail;
use iotrail_compress::{Outline, OutlineOptions, load, smaller};
use iotrail_model::units;
use iotrail_query::named_layers;
use iotrail_structure::Precision;
use iotrail_structure_file::Document;
use iotrail_terminal::outline;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Show the loops of a program: counts, calls, files, time.
///
/// Each line is a loop or a call with its number (#), its count, its files and its share of the time.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A loop is a count and a body in brackets. A count of 5-6 differs from one execution to the next; 0-1 is a call that is sometimes left out. What is marked ~ is drawn from distributions (`--precision`); sums are exact.

Examples:
  iotrail structure run.structure
  iotrail structure run.structure --rank 0
  iotrail structure run.structure --loop 2
  iotrail structure run.structure --layer mpi,mpiio
  iotrail structure run.structure --json | jq '.body[].count'
  iotrail structure run.structure --precision 80 -o small.structure"
)]
pub(crate) struct Args {
    /// The structure; `iotrail compress` makes one.
    #[arg(value_name = "STRUCTURE")]
    structure: PathBuf,

    /// Show one rank; where there are no ranks, processes are numbered by their start.
    #[arg(long, value_name = "R")]
    rank: Option<u32>,

    /// Show the calls of these interfaces, comma-separated: `syscall`, `posix`, `libc`, `mpiio`, `mpi`; all by default.
    #[arg(long, value_name = "LAYER")]
    layer: Vec<String>,

    /// Show the loop with this number.
    #[arg(long = "loop", value_name = "L")]
    item: Option<u32>,

    /// Print JSON with exact values.
    #[arg(long)]
    json: bool,

    /// Make a structure that is less exact and smaller; the percentage is that of `iotrail compress`.
    #[arg(long, value_name = "PERCENT", requires = "output", conflicts_with_all = ["rank", "layer", "item", "json"])]
    precision: Option<u64>,

    /// The structure to write with --precision, `-` for stdout.
    #[arg(short, long, value_name = "FILE", requires = "precision")]
    output: Option<PathBuf>,

    /// Replace the structure if it exists.
    #[arg(long, requires = "output")]
    force: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let document = load(&args.structure)?;
    if let (Some(percent), Some(output)) = (args.precision, &args.output) {
        return coarser(document, Precision::new(percent)?, (output, args.force), ui);
    }
    let items = document.structure.items().len();
    if let Some(item) = args.item.filter(|item| *item as usize >= items) {
        bail!("there is no loop {item}: {} has {items} items", args.structure.display());
    }
    if let Some(rank) = args.rank.filter(|rank| document.lines.iter().all(|line| line.rank != *rank)) {
        bail!("there is no rank {rank} in {}", args.structure.display());
    }
    let outline_options = OutlineOptions { rank: args.rank, item: args.item };
    let mut outlined = Outline::of(&document, outline_options)?;
    if !args.layer.is_empty() {
        let layers = named_layers(&args.layer)?;
        outlined.select(&|layer| layers.iter().any(|named| named.name() == layer));
    }
    if args.json {
        output::json(&outlined)?;
    } else {
        output::text(Path::new("-"), outline::outline(&outlined, ui.style()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the structure at another precision.
fn coarser(
    document: Document,
    precision: Precision,
    (output, replace): (&Path, bool),
    ui: &Ui,
) -> anyhow::Result<ExitCode> {
    let before = document.to_bytes()?.len();
    let (bar, total) = (ui.event_bar("making distributions"), document.events());
    let step = &mut |stage, done| bar.show_stage(words(stage), done, total);
    let coarse = smaller(document, precision, step)?;
    bar.show_stage("writing", total, total);
    let bytes = coarse.to_bytes()?;
    bar.clear();
    output::structure(output, &bytes, replace)?;
    ui.info(&format!(
        "{}: {} instead of {}",
        output.display(),
        units::bytes(bytes.len() as f64),
        units::bytes(before as f64),
    ));
    Ok(ExitCode::SUCCESS)
}
