//! `iotrail compress`: a trail as a structure.

use crate::commands::structured::words;
use crate::{output, ui::Ui};
use iotrail_compress::{CompressOptions, compress};
use iotrail_model::units;
use iotrail_structure::Precision;
use iotrail_trail::EventLog;
use std::path::PathBuf;
use std::process::ExitCode;

/// Make a structure of a trail: loops are kept once.
///
/// What each thread repeats becomes a loop with its count, and what changes in it (descriptors, offsets, sizes, files) a column. Everything
/// comes back with `iotrail expand`, but times: these are kept as distributions.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --time-precision 100 every time is kept and the trail comes back as it was. Otherwise start and duration are drawn from distributions, with the recorded sums, and threads interleave as these times say.

With --precision P below 100, counts, sizes and offsets within (100 - P) % of a common middle may become distributions where that takes less space; numbers of calls, sums, smallest and largest stay exact. --precision 0 has no limit, and keeps partners and tags of messages as tables (docs/structure.md).

Examples:
  iotrail compress run.trail -o loops.structure
  iotrail compress run.trail -o exact.structure --time-precision 100
  iotrail compress run.trail -o rough.structure --precision 80")]
pub(crate) struct Args {
    /// Trails, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// The structure to write, `-` for stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// How exact counts, sizes and offsets are, in percent; 100 keeps every one.
    #[arg(long, value_name = "PERCENT", default_value_t = 100)]
    precision: u64,

    /// How exact times are, in percent; 100 keeps every one.
    #[arg(long, value_name = "PERCENT", default_value_t = 95)]
    time_precision: u64,

    /// Most buckets of a distribution; 0 for no limit.
    #[arg(long, value_name = "N", default_value_t = 16)]
    buckets: u32,

    /// Replace the structure if it exists.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let time_precision = Precision::new(args.time_precision)?;
    let log = EventLog::open(&args.trails)?;
    let precision = Precision::new(args.precision)?;
    let buckets = (args.buckets > 0).then_some(args.buckets);
    let options = CompressOptions { time_precision, buckets, precision };
    let (bar, total) = (ui.event_bar("reading"), log.rows());
    let document = compress(&log, &options, &mut |stage, done| bar.show_stage(words(stage), done, total))?;
    bar.show_stage("writing", total, total);
    let bytes = document.to_bytes()?;
    bar.clear();
    output::structure(&args.output, &bytes, args.force)?;
    let info = log.info()?;
    ui.info(&format!(
        "{}: {} as {} of {} ({} instead of {})",
        args.output.display(),
        units::counted(document.events(), "event", "events"),
        units::counted(document.structure.items().len() as u64, "item", "items"),
        units::counted(document.lines.len() as u64, "thread", "threads"),
        units::bytes(bytes.len() as f64),
        units::bytes(info.disk_bytes as f64),
    ));
    Ok(ExitCode::SUCCESS)
}
