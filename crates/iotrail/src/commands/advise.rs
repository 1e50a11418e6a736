//! `iotrail advise`: what could be done with fewer calls.

use crate::args::query;
use crate::{logs, output, signals, ui::Ui, usage};
use anyhow::Context;
use clap::ValueEnum;
use iotrail_advise::{Advice, AdviseOptions, Baseline, Keep, RULES, Rules, Severity, advise, explain};
use iotrail_dfg::{DfgOptions, synthesize};
use iotrail_export::sarif::sarif;
use iotrail_model::text::printable;
use iotrail_model::threads::one_per_core;
use iotrail_model::{PathId, quantity};
use iotrail_query::{Query, QuerySpec};
use iotrail_replay::{Cache, Sandbox};
use iotrail_terminal::access_table::access_table;
use iotrail_terminal::advice_summary::advice_summary;
use iotrail_terminal::{Style, incomplete};
use iotrail_trail::EventLog;
use iotrail_verify::{Merge, Options, verify};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// How many findings are printed, and how many accesses of a file.
const FINDINGS: usize = 10;
const ACCESSES: usize = 100;

/// Find calls that could be fewer.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("scratch").args(["verify", "clean"])))]
#[command(after_help = "Examples:
  iotrail advise run.trail
  iotrail advise run.trail --path '/scratch/**' --top 3
  iotrail advise run.trail --accesses /scratch/in.fits
  iotrail advise --explain reopen
  iotrail advise run.trail --fail-on high
  iotrail advise run.trail --verify
  iotrail advise run.trail --verify --vectored
  iotrail advise run.trail --verify --direct
  iotrail advise run.trail --verify --think keep
  iotrail advise run.trail --write-baseline accepted.json
  iotrail advise run.trail --baseline accepted.json --fail-on medium -o advice.sarif
  iotrail advise run.trail --json | jq '.findings[] | {file, calls, calls_after, saved_ns}'

Advised are runs of accesses that can be one without any byte read or written being another one. The selection says on which accesses to advise; all others still count as being in the way. docs/advise.md has the definitions.")]
pub(crate) struct Args {
    /// Trails or structures, read as one log.
    #[arg(required_unless_present = "explain", value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Print the page of a rule: when it fires, what to change, what it assumes; `list` prints all names.
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,

    /// Show the accesses to the files of that name, in place of findings: their runs, the categories of their pairs, and which call keeps two of them apart.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["explain", "verify", "clean", "format"])]
    accesses: Option<String>,

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

    /// Findings to print [default: 10], or accesses of each file [default: 100].
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Leave out the findings that this file accepts; they are counted.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Write a baseline that accepts all findings, those of `--baseline` too.
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,

    /// Measure the findings with these numbers, or all that are printed: issue their calls as recorded and as advised, in turns, on scratch files. Keeps the results in TRAIL.verified.json.
    #[arg(long, value_name = "FINDING", num_args = 0.., conflicts_with = "explain")]
    verify: Option<Vec<usize>>,

    /// Directory for scratch files: empty, or to be made and removed again [default: TRAIL.scratch].
    #[arg(long, value_name = "DIR", requires = "scratch")]
    dir: Option<PathBuf>,

    /// How often each form is measured, at least 5.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(5..=1000), requires = "verify")]
    runs: usize,

    /// Page cache before each measurement: cold drops the scratch files from it, as far as the file system lets it.
    #[arg(long, value_name = "STATE", default_value = "cold", requires = "verify")]
    cache: CacheState,

    /// Merge accesses into vectored calls (readv, writev) with a buffer for each call, not into calls with one larger buffer.
    #[arg(long, requires = "verify")]
    vectored: bool,

    /// Open the scratch files with O_DIRECT: past the page cache. Needs calls and offsets that are multiples of 4 KiB.
    #[arg(long, requires = "verify")]
    direct: bool,

    /// Time between the calls of a thread: keep it as recorded, or drop it.
    #[arg(long, value_name = "WHAT", default_value = "drop", requires = "verify")]
    think: ThinkTime,

    /// Remove the scratch files that a killed `--verify` left, and print no advice.
    #[arg(long, conflicts_with_all = ["explain", "verify"])]
    clean: bool,

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

/// What is done about the page cache.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum CacheState {
    Cold,
    Warm,
}

/// What is done about the time between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ThinkTime {
    Keep,
    Drop,
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
    let unknown = || usage::wrong(format!("--explain {rule}: not a rule; there are {}", names()));
    let found = explain(rule).ok_or_else(unknown)?;
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

impl Args {
    fn findings(&self) -> usize {
        self.top.unwrap_or(FINDINGS)
    }

    /// Which accesses are to be looked at.
    fn keep(&self, log: &EventLog) -> anyhow::Result<Keep> {
        let Some(name) = &self.accesses else { return Ok(Keep::Nothing) };
        // As it is, or as tables print it.
        let paths = &log.names().paths;
        let is_named = |path: &Arc<str>| **path == **name || printable(path) == **name;
        let path = paths.iter().position(is_named).with_context(|| {
            let near = paths.iter().find(|path| path.ends_with(&format!("/{name}")));
            let near = near.map_or_else(String::new, |path| format!("did you mean {}? ", printable(path)));
            format!("--accesses {name}: no call names this file; {near}`iotrail files` lists the names")
        })?;
        Ok(Keep::Named(PathId(path as u32)))
    }

    /// The table of findings, or of accesses.
    fn text(&self, advice: &Advice, style: Style) -> String {
        match &self.accesses {
            Some(_) => access_table(&advice.accesses, self.top.unwrap_or(ACCESSES), style),
            None => advice_summary(advice, self.findings(), style),
        }
    }

    /// Where scratch files of a trail are made.
    fn scratch(&self, trail: &Path) -> PathBuf {
        self.dir.clone().unwrap_or_else(|| {
            let mut name = trail.components().as_path().as_os_str().to_owned();
            name.push(".scratch");
            name.into()
        })
    }
}

fn clean(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    for trail in &args.trails {
        let directory = args.scratch(trail);
        let text = if Sandbox::clean(&directory)? { "removed scratch files" } else { "no scratch files" };
        ui.info(&format!("{}: {text}", directory.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures what was asked for, and adds what was measured before.
fn measurements(args: &Args, log: &EventLog, advice: &mut Advice, ui: &Ui) -> anyhow::Result<()> {
    let [trail] = args.trails.as_slice() else { return Ok(()) };
    let known = iotrail_verify::read(trail).unwrap_or_else(|error| {
        ui.warn(&error.to_string());
        Vec::new()
    });
    let Some(numbers) = &args.verify else {
        let proofs = known.into_iter();
        advice.verified =
            proofs.filter(|proof| advice.items().iter().any(|item| proof.is_of(*item))).collect();
        return Ok(());
    };
    let items = advice.items();
    let all: Vec<usize> = (1..=items.len().min(args.findings())).collect();
    let numbers = if numbers.is_empty() { &all } else { numbers };
    let mut chosen = Vec::new();
    for number in numbers {
        let item = number.checked_sub(1).and_then(|index| items.get(index));
        let item = item.with_context(|| {
            format!("--verify {number}: no such finding; there are {}, numbered from 1", items.len())
        })?;
        chosen.push(*item);
    }
    let options = Options {
        directory: args.scratch(trail),
        runs: args.runs,
        cache: match args.cache {
            CacheState::Cold => Cache::Cold,
            CacheState::Warm => Cache::Warm,
        },
        merge: if args.vectored { Merge::Vectored } else { Merge::OneBuffer },
        direct: args.direct,
        keep_think: args.think == ThinkTime::Keep,
    };
    let proofs = verify(log, &chosen, &options, &*signals::cancelled_by_signal()?)?;
    let kept: Vec<_> = known
        .iter()
        .filter(|old| items.iter().any(|item| old.is_of(*item) && proofs.iter().all(|new| !new.is_of(*item))))
        .cloned()
        .collect();
    let document = output::json_document(&iotrail_verify::add(known, &proofs))?;
    // A measurement takes long, and whose trail it is need not be who measures.
    if let Err(error) = output::write(&iotrail_verify::proofs_path(trail), &document) {
        ui.warn(&format!("what was measured is not kept: {error:#}"));
    }
    advice.verified = proofs.into_iter().chain(kept).collect();
    Ok(())
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    if let Some(rule) = &args.explain {
        output::text(&args.output, page(rule)?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.clean {
        return clean(args, ui);
    }
    if args.verify.is_some() && args.trails.len() != 1 {
        anyhow::bail!("--verify measures the advice on one trail, found {}; name one", args.trails.len());
    }
    let log = logs::open(&args.trails, ui)?;
    let query = Query::new(QuerySpec { select: args.selection.spec(), ..QuerySpec::default() }, &log)?;
    let options = AdviseOptions {
        rules: if args.strict_article { Rules::Article } else { Rules::Corrected },
        ordered: !args.any_order,
        skew: args.clock_skew,
        keep_calls: args.verify.is_some(),
        keep: args.keep(&log)?,
        threads: one_per_core(),
    };
    let mut advice = advise(&log, &query, &options)?;
    if let Some(target) = &args.write_baseline {
        output::write(target, &output::json_document(&Baseline::of(&advice))?)?;
    }
    if let Some(source) = &args.baseline {
        baseline(source)?.apply(&mut advice);
    }
    measurements(args, &log, &mut advice, ui)?;
    if let (Some(name), []) = (&args.accesses, advice.accesses.as_slice()) {
        ui.warn(&format!("{name}: no access to it that could be merged with another one"));
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
            let text = incomplete(&advice.limitations, style) + &args.text(&advice, style);
            output::text(&args.output, text.as_bytes())?;
        }
    }
    let severe = args.fail_on.is_some_and(|grade| advice.severest() >= Some(grade.into()));
    Ok(if severe { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
