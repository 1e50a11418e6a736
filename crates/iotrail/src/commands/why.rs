//! `iotrail why`: where the elapsed time went.

use crate::{output, ui::Ui};
use iotrail_model::text::printable;
use iotrail_model::threads::one_per_core;
use iotrail_terminal::Style;
use iotrail_terminal::why_summary::why_summary;
use iotrail_trail::EventLog;
use iotrail_workflow::why::result::Why;
use iotrail_workflow::why::why;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Explain the elapsed time.
///
/// What the run spent its time on, and who waited for whom.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail why run.trail
  iotrail why before.trail after.trail
  iotrail why run.trail --json | jq '.trails[0].runs[0].pieces[:3]'

The pieces add up to the elapsed time exactly. Each trail is explained on its own. There is no selection of events: what a thread waited for is told by the calls of others. docs/why.md defines every piece.")]
pub(crate) struct Args {
    /// Trails, each explained on its own.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Rows of each table.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Print everything as JSON.
    #[arg(long)]
    json: bool,

    /// Write a file; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

/// The explanations of all trails.
#[derive(Serialize)]
struct Document {
    format: u32,
    trails: Vec<Explained>,
}

/// The explanation of a trail.
#[derive(Serialize)]
struct Explained {
    source: String,
    #[serde(flatten)]
    why: Why,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let explain = |path: &PathBuf| -> anyhow::Result<Explained> {
        let log = EventLog::open(std::slice::from_ref(path))?;
        Ok(Explained { source: path.display().to_string(), why: why(&log, one_per_core())? })
    };
    let trails = args.trails.iter().map(explain).collect::<anyhow::Result<Vec<_>>>()?;
    let nothing: Vec<&Explained> = trails.iter().filter(|trail| trail.why.runs.is_empty()).collect();
    for trail in &nothing {
        ui.warn(&format!("{}: no call of it has a time, so there is nothing to explain", trail.source));
    }
    let code = if nothing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if args.json {
        let document = Document { format: iotrail_workflow::why::result::WHY_FORMAT, trails };
        output::write(&args.output, &output::json_document(&document)?)?;
        return Ok(code);
    }
    let style = if args.output == Path::new("-") { ui.style() } else { Style::default() };
    let several = trails.len() > 1;
    let blocks = trails.iter().filter(|trail| !trail.why.runs.is_empty()).map(|trail| {
        let title =
            if several { style.bold(&format!("{}\n", printable(&trail.source))) } else { String::new() };
        title + &why_summary(&trail.why, args.top, style)
    });
    let text = blocks.collect::<Vec<_>>().join("\n");
    output::text(&args.output, text.as_bytes())?;
    Ok(code)
}
