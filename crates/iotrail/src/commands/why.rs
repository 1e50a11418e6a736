//! `iotrail why`: where the elapsed time went.

use crate::{logs, output, ui::Ui};
use iotrail_advise::{Advice, AdviseOptions, Item, Severity, explain_and_advise};
use iotrail_model::text::printable;
use iotrail_model::threads::one_per_core;
use iotrail_query::{Query, QuerySpec};
use iotrail_terminal::Style;
use iotrail_terminal::why_summary::why_summary;
use iotrail_workflow::why::result::Why;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Explain the elapsed time.
///
/// What the run spent its time on, what to change, and who waited for whom.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail why run.trail
  iotrail why before.trail after.trail
  iotrail why run.trail --json | jq '.trails[0].runs[0].pieces[:3]'

The pieces add up to the elapsed time exactly. What to change are up to three findings of `iotrail advise` with a hundredth of the elapsed time at stake or more. Each trail is explained on its own. There is no selection of events: what a thread waited for is told by the calls of others. docs/why.md defines every piece.")]
pub(crate) struct Args {
    /// Trails or structures, each explained on its own.
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
struct Document<'a> {
    format: u32,
    trails: Vec<Answer<'a>>,
}

/// The explanation of a trail.
#[derive(Serialize)]
struct Answer<'a> {
    source: &'a str,
    #[serde(flatten)]
    why: &'a Why,
    /// What to change, most at stake first.
    advice: Vec<Change<'a>>,
}

/// A piece of advice.
#[derive(Serialize)]
struct Change<'a> {
    rule: &'static str,
    title: String,
    at_stake_ns: Option<u64>,
    share: Option<f64>,
    severity: Severity,
    fix: &'a str,
}

impl<'a> From<Item<'a>> for Change<'a> {
    fn from(item: Item<'a>) -> Self {
        Self {
            rule: item.rule(),
            title: item.title(),
            at_stake_ns: item.at_stake_ns(),
            share: item.share(),
            severity: item.severity(),
            fix: item.fix(),
        }
    }
}

/// What is known of a trail.
struct Explained {
    source: String,
    why: Why,
    advice: Advice,
}

fn explain(path: &PathBuf, ui: &Ui) -> anyhow::Result<Explained> {
    let log = logs::open(std::slice::from_ref(path), ui)?;
    let query = Query::new(QuerySpec::default(), &log)?;
    let (why, advice) = explain_and_advise(&log, &query, &AdviseOptions::new(one_per_core()))?;
    Ok(Explained { source: path.display().to_string(), why, advice })
}

impl Explained {
    fn answer(&self) -> Answer<'_> {
        let advice = self.advice.foremost().map(Change::from).collect();
        Answer { source: &self.source, why: &self.why, advice }
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let trails = args.trails.iter().map(|path| explain(path, ui)).collect::<anyhow::Result<Vec<_>>>()?;
    let nothing: Vec<&Explained> = trails.iter().filter(|trail| trail.why.runs.is_empty()).collect();
    for trail in &nothing {
        ui.warn(&format!("{}: no call of it has a time, so there is nothing to explain", trail.source));
    }
    let code = if nothing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if args.json {
        let trails = trails.iter().map(Explained::answer).collect();
        let document = Document { format: iotrail_workflow::why::result::WHY_FORMAT, trails };
        output::write(&args.output, &output::json_document(&document)?)?;
        return Ok(code);
    }
    let style = if args.output == Path::new("-") { ui.style() } else { Style::default() };
    let several = trails.len() > 1;
    let blocks = trails.iter().filter(|trail| !trail.why.runs.is_empty()).map(|trail| {
        let title =
            if several { style.bold(&format!("{}\n", printable(&trail.source))) } else { String::new() };
        title + &why_summary(&trail.why, trail.advice.foremost(), args.top, style)
    });
    let text = blocks.collect::<Vec<_>>().join("\n");
    output::text(&args.output, text.as_bytes())?;
    Ok(code)
}
