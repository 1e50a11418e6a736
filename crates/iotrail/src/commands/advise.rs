//! `iotrail advise`: what could be done with fewer calls.

use crate::args::query;
use crate::{output, ui::Ui};
use anyhow::Context;
use clap::ValueEnum;
use iotrail_advise::{AdviseOptions, Baseline, RULES, Rules, Severity, advise, explain};
use iotrail_dfg::{DfgOptions, synthesize};
use iotrail_export::sarif::sarif;
use iotrail_model::quantity;
use iotrail_model::threads::one_per_core;
use iotrail_query::{Query, QuerySpec};
use iotrail_terminal::Style;
use iotrail_terminal::advice_summary::advice_summary;
use iotrail_trail::EventLog;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Find calls that could be fewer.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail advise run.trail
  iotrail advise run.trail --path '/scratch/**' --top 3
  iotrail advise --explain reopen
  iotrail advise run.trail --fail-on high
  iotrail advise run.trail --write-baseline accepted.json
  iotrail advise run.trail --baseline accepted.json --fail-on medium -o advice.sarif
  iotrail advise run.trail --json | jq '.findings[] | {file, calls, calls_after, saved_ns}'

Advised are runs of accesses that can be one without any byte read or written being another one. The selection says on which accesses to advise; all others still count as being in the way. docs/advise.md has the definitions.")]
pub(crate) struct Args {
    /// Trails, read as one log.
    #[arg(required_unless_present = "explain", value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Print the page of a rule: when it fires, what to change, what it assumes; `list` prints all names.
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,

    /// Exit with 1 if a finding is at least that severe: high is a tenth of the elapsed time, medium a hundredth.
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<Grade>,

    /// Classify pairs by the libiotrace article's own table, which keeps some pairs apart that could be merged.
    #[arg(long)]
    strict_article: bool,

    /// Let syncs, closes, locks, changes of names, messages and new processes not keep writes in their order.
    #[arg(long)]
    any_order: bool,

    /// How much the clocks of two hosts may differ.
    #[arg(long, value_name = "SPAN", default_value = "1s", value_parser = quantity::span)]
    clock_skew: i64,

    /// Findings to print.
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Leave out the findings that this file accepts; they are counted.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Write a baseline that accepts all findings, those of `--baseline` too.
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,

    /// Print everything as JSON.
    #[arg(long)]
    json: bool,

    /// Form of the output: `sarif` is SARIF 2.1.0, for CI systems; by the extension of the output file if not given.
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<OutputFormat>,

    /// Write a file; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,

    #[command(flatten)]
    selection: query::Selection,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    Text,
    Json,
    Sarif,
}

/// How severe a finding is.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Grade {
    Low,
    Medium,
    High,
}

impl From<Grade> for Severity {
    fn from(grade: Grade) -> Self {
        match grade {
            Grade::Low => Self::Low,
            Grade::Medium => Self::Medium,
            Grade::High => Self::High,
        }
    }
}

/// The page of a rule, or the list of all.
fn page(rule: &str) -> anyhow::Result<String> {
    let names = || RULES.iter().map(|rule| rule.id).collect::<Vec<_>>().join(", ");
    if rule == "list" {
        let width = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
        return Ok(RULES.iter().map(|rule| format!("{:width$}  {}\n", rule.id, rule.title)).collect());
    }
    let found =
        explain(rule).with_context(|| format!("--explain {rule}: not a rule; there are {}", names()))?;
    Ok(found.page.to_owned())
}

impl Args {
    fn format(&self) -> OutputFormat {
        let has =
            |name| self.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name));
        match self.format {
            Some(format) => format,
            None if self.json || has("json") => OutputFormat::Json,
            None if has("sarif") => OutputFormat::Sarif,
            None => OutputFormat::Text,
        }
    }
}

fn baseline(source: &Path) -> anyhow::Result<Baseline> {
    let text = std::fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
    Baseline::parse(&text).with_context(|| source.display().to_string())
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    if let Some(rule) = &args.explain {
        output::text(&args.output, page(rule)?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let log = EventLog::open(&args.trails)?;
    let query = Query::new(QuerySpec { select: args.selection.spec(), ..QuerySpec::default() }, &log)?;
    let options = AdviseOptions {
        rules: if args.strict_article { Rules::Article } else { Rules::Corrected },
        ordered: !args.any_order,
        skew: args.clock_skew,
        threads: one_per_core(),
    };
    let mut advice = advise(&log, &query, &options)?;
    if let Some(target) = &args.write_baseline {
        output::write(target, &output::json_document(&Baseline::of(&advice))?)?;
    }
    if let Some(source) = &args.baseline {
        baseline(source)?.apply(&mut advice);
    }
    if advice.looked.transfers == 0 {
        ui.warn("the trail holds no transfers from or to files");
    } else if advice.looked.mergeable == 0 && !query.selects_everything() {
        query.check_selected(synthesize(&log, &query, &DfgOptions::default())?.events.total, &log)?;
    }
    match args.format() {
        OutputFormat::Json => output::write(&args.output, &output::json_document(&advice)?)?,
        OutputFormat::Sarif => {
            let log = sarif(&advice, env!("CARGO_PKG_VERSION"));
            output::write(&args.output, &output::json_document(&log)?)?;
        }
        OutputFormat::Text => {
            let style = if args.output == Path::new("-") { ui.style() } else { Style::default() };
            output::text(&args.output, advice_summary(&advice, args.top, style).as_bytes())?;
        }
    }
    let severe = args.fail_on.is_some_and(|grade| advice.severest() >= Some(grade.into()));
    Ok(if severe { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
