//! `iotrail compare`: what changed between runs.

use crate::args::{graph, query};
use crate::commands::compare_phases as phases;
use crate::commands::dfg::{check_formats, is_html, say_choices};
use crate::{output, ui::Ui, usage};
use anyhow::{Context, bail};
use iotrail_dfg::{Comparison, compare};
use iotrail_export::compare_csv::compare_phases_csv;
use iotrail_export::dfg_files;
use iotrail_query::{Query, QuerySpec};
use iotrail_stats::compare::PhaseComparison;
use iotrail_terminal::compare_phases::compare_phases;
use iotrail_terminal::compare_summary::compare_summary;
use iotrail_trail::EventLog;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How many changes the table shows.
const SHOWN: usize = 25;

/// Compare runs: what is new, gone, slower, larger or more frequent, ordered by the time at stake.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail compare before.trail after.trail
  iotrail compare both.trail --by cid
  iotrail compare many.trail --by host --groups node1,node7 -o difference.svg
  iotrail compare before.trail after.trail --json | jq '.changes[0]'
  iotrail compare before.trail after.trail --phases job --csv > phases.csv
  iotrail compare before.trail after.trail --phases none

The first group is the baseline; each other group is compared with it. A permutation test over runs marks (*) what chance rarely
makes; it needs at least four runs in each group.")]
pub(crate) struct Args {
    /// Two trails or more, the baseline first; or one, divided by --by.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    #[command(flatten)]
    query: query::Query,

    /// The groups to compare, the baseline first. Default: all.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    groups: Vec<String>,

    /// Groups of processes whose profiles are compared, too (`exe`, `job`, `host`, `env:NAME`, `cmd~REGEX`, ... as in
    /// `iotrail stats --by`), or `none`.
    #[arg(long, value_name = "GROUP", default_value = "exe")]
    phases: String,

    #[command(flatten)]
    synthesis: graph::Synthesis,

    #[command(flatten)]
    picture: graph::Picture,

    /// Write the combined graph, in the format that the extension names (json: the comparison; html: the report),
    /// `-` for the comparison as JSON on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,

    /// Print the comparison as JSON.
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print the comparison of the profiles as comma-separated values.
    #[arg(long)]
    csv: bool,

    /// Rows of the table.
    #[arg(long, value_name = "N", default_value_t = SHOWN)]
    top: usize,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    check_formats(&args.output)?;
    let log = EventLog::open(&args.trails)?;
    let query = Query::new(spec(args)?, &log)?;
    say_choices(&query, ui);
    let pairs = pairs(args, &query)?;
    let options = args.synthesis.options();
    let comparisons = pairs
        .iter()
        .map(|(a, b)| compare(&log, &query, a, b, &options))
        .collect::<Result<Vec<Comparison>, _>>()?;
    let phases = match args.phases.as_str() {
        "none" => Vec::new(),
        by => phases::compare_profiles(&log, &query, by, &pairs, options.threads)?,
    };
    let mut outputs = output::Files::default();
    for path in &args.output {
        write(args, &log, &query, (&comparisons, &phases), path, &mut outputs)?;
    }
    ui.say_written(&outputs.publish()?);
    if args.json {
        output::stdout(&json(&comparisons, &phases)?)?;
    } else if args.csv {
        output::stdout(compare_phases_csv(&phases).as_bytes())?;
    } else if args.output.is_empty() {
        output::text(Path::new("-"), tables(&comparisons, &phases, args.top, ui))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn spec(args: &Args) -> anyhow::Result<QuerySpec> {
    let mut spec = QuerySpec { groups_first: args.groups.clone(), ..args.query.spec() };
    match (args.trails.len(), args.query.is_grouped()) {
        (1, false) => {
            return Err(usage::wrong(
                "one trail can only be compared with itself: give a second trail, or divide it with --by",
            ));
        }
        (_, false) => spec.group_by = Some("trail".to_owned()),
        _ => {}
    }
    Ok(spec)
}

fn tables(comparisons: &[Comparison], phases: &[PhaseComparison], top: usize, ui: &Ui) -> String {
    let mut tables = Vec::new();
    for (at, comparison) in comparisons.iter().enumerate() {
        tables.push(compare_summary(comparison, top, ui.style()));
        tables.extend(phases.get(at).map(|phases| compare_phases(phases, top, ui.style())));
    }
    tables.join("\n")
}

/// The baseline with each other group.
fn pairs(args: &Args, query: &Query) -> anyhow::Result<Vec<(String, String)>> {
    let groups = if args.groups.is_empty() { query.groups() } else { &args.groups };
    let (baseline, others) = groups.split_first().context("no case belongs to a group")?;
    if others.is_empty() {
        bail!("there is only one group, `{baseline}`: nothing to compare it with");
    }
    Ok(others.iter().map(|other| (baseline.clone(), other.clone())).collect())
}

fn write(
    args: &Args,
    log: &EventLog,
    query: &Query,
    (comparisons, phases): (&[Comparison], &[PhaseComparison]),
    path: &Path,
    outputs: &mut output::Files,
) -> anyhow::Result<()> {
    if is_html(path) {
        return super::report::write(log, query, args.synthesis.options(), path, outputs);
    }
    if path == Path::new("-")
        || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
    {
        return outputs.write(path, &json(comparisons, phases)?);
    }
    let [comparison] = comparisons else {
        bail!("{}: a picture shows two groups; choose them with --groups A,B", path.display());
    };
    for (path, bytes) in dfg_files(&comparison.dfg, &args.picture.view(true), path)? {
        outputs.write(&path, &bytes)?;
    }
    Ok(())
}

/// A comparison, and that of the profiles unless it is not wanted.
#[derive(serde::Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    phases: Option<&'a PhaseComparison>,
}

/// One comparison as itself, several as a list.
fn json(comparisons: &[Comparison], phases: &[PhaseComparison]) -> anyhow::Result<Vec<u8>> {
    let all: Vec<Whole<'_>> = comparisons
        .iter()
        .enumerate()
        .map(|(at, comparison)| Whole { comparison, phases: phases.get(at) })
        .collect();
    match &all[..] {
        [one] => output::json_document(one),
        _ => output::json_document(&all),
    }
}
