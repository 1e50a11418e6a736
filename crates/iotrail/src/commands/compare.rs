//! `iotrail compare`: what changed between runs.

use crate::args::{graph, query};
use crate::commands::compare_phases as phases;
use crate::commands::dfg::{check_formats, is_html, report_choices};
use crate::{logs, output, ui::Ui, usage};
use anyhow::{Context, bail};
use iotrail_dfg::{Comparison, Contrast};
use iotrail_export::compare_csv::{Compared, compare_csv};
use iotrail_export::dfg_files;
use iotrail_model::Limitation;
use iotrail_query::{GroupId, Groups, Query, QuerySpec, scan};
use iotrail_stats::compare::PhaseComparison;
use iotrail_terminal::compare_phases::compare_phases;
use iotrail_terminal::compare_summary::{Changes, compare_summary};
use iotrail_terminal::compare_verdict::{failure_line, verdict_line};
use iotrail_terminal::incomplete;
use iotrail_trail::EventLog;
use iotrail_workflow::change::{ElapsedChange, FailOn, Measured, Verdict};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How many rows tables have.
const SHOWN: usize = 10;

/// Show what changed between runs.
///
/// How much faster or slower, why, and which I/O differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail compare before.trail after.trail
  iotrail compare before-*.trail -- after-*.trail
  iotrail compare all.trail --by cid --groups before,after
  iotrail compare main.trail branch.trail --fail-on 'elapsed>+10%' --fail-on 'calls>+1000'
  iotrail compare before.trail after.trail -o difference.svg
  iotrail compare before.trail after.trail --json | jq '.elapsed.causes[:3]'
  iotrail compare before.trail after.trail --csv > figures.csv

The first trail, or the trails before `--`, are the baseline. Trails are runs: figures are totals of a run, means of several. With four runs or more on each side a permutation test tells changes from noise (*). docs/compare.md explains every line.")]
pub(crate) struct Args {
    /// Two trails or more, the baseline first; or one, divided by --by.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Trails of the other side, if the trails before `--` are several runs of the baseline. Options go before `--`.
    #[arg(last = true, value_name = "TRAIL", conflicts_with_all = ["by", "groups"])]
    others: Vec<PathBuf>,

    /// The groups to compare, the baseline first. Default: all.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    groups: Vec<String>,

    /// Exit with status 1 if this holds: a figure (elapsed, calls, processes, bytes, read, written, io, waiting), `>` or `<`, and
    /// a change (`+10%`, `-2s`, `+100`) or a value (`2s`, `4MiB`). May be given several times.
    #[arg(long, value_name = "CONDITION")]
    fail_on: Vec<FailOn>,

    /// Compare groups of processes as well (`exe`, `job`, `host`, `env:NAME`, `cmd~REGEX`, ... as in `iotrail stats --phases`).
    #[arg(long, value_name = "GROUP", default_value = "none")]
    phases: String,

    /// Write the combined graph, in the format that the extension names (json: the comparison; html: the report),
    /// `-` for the comparison as JSON on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,

    /// Print the comparison as JSON.
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print all figures as comma-separated values.
    #[arg(long)]
    csv: bool,

    /// Rows of each table.
    #[arg(long, value_name = "N", default_value_t = SHOWN)]
    top: usize,

    #[command(flatten)]
    query: query::Query,

    #[command(flatten)]
    synthesis: graph::Synthesis,

    #[command(flatten)]
    picture: graph::Picture,
}

/// Everything that is said about two sides.
#[derive(Debug, serde::Serialize)]
struct Whole {
    verdict: Verdict,
    limitations: Vec<Limitation>,
    elapsed: Option<ElapsedChange>,
    #[serde(flatten)]
    comparison: Comparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    phases: Option<PhaseComparison>,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    check_formats(&args.output)?;
    let log = logs::open(&[&args.trails[..], &args.others].concat(), ui)?;
    let query = Query::new(spec(args, &log)?, &log)?;
    report_choices(&query, ui);
    let all = compared(args, &log, &query)?;
    let mut outputs = output::Files::default();
    for path in &args.output {
        write(args, &log, &query, &all, path, &mut outputs)?;
    }
    ui.report_written(&outputs.publish()?);
    if args.json {
        output::stdout(&json(&all)?)?;
    } else if args.csv {
        output::stdout(csv(&all).as_bytes())?;
    } else if args.output.is_empty() {
        output::text(Path::new("-"), tables(&all, args.top, ui))?;
    }
    Ok(verdict_on(args, &all, ui))
}

/// Says which conditions hold; the status says whether any does.
fn verdict_on(args: &Args, all: &[Whole], ui: &Ui) -> ExitCode {
    let of_pair = |whole: &Whole| -> Vec<String> {
        let failed = |condition: &FailOn| Some((condition.to_string(), condition.check(&whole.verdict)?));
        args.fail_on.iter().filter_map(failed).map(|(text, failed)| failure_line(&text, &failed)).collect()
    };
    let lines: Vec<String> = all.iter().flat_map(of_pair).collect();
    lines.iter().for_each(|line| ui.error(&anyhow::anyhow!("{line}")));
    if lines.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn compared(args: &Args, log: &EventLog, query: &Query) -> anyhow::Result<Vec<Whole>> {
    let pairs = pairs(args, query)?;
    let options = args.synthesis.options();
    let measured = Measured::new(log, query, options.threads)?;
    let mut phases = match args.phases.as_str() {
        "none" => Vec::new(),
        by => phases::compare_profiles(log, query, by, &pairs, options.threads)?,
    }
    .into_iter();
    let compare = |(a, b): &(String, String)| -> anyhow::Result<Whole> {
        let contrast =
            Contrast::new(log, query, a, b, options)?.with_elapsed(measured.elapsed_of_cases().to_vec());
        let comparison = scan(log, Some(query), options.threads, &contrast)?;
        query.check_selected(comparison.dfg.events.total, log)?;
        let (verdict, elapsed) = measured.compare(group(query, a), group(query, b));
        Ok(Whole { verdict, limitations: log.limitations(), elapsed, comparison, phases: phases.next() })
    };
    pairs.iter().map(compare).collect()
}

fn group(query: &Query, name: &str) -> GroupId {
    GroupId(query.groups().iter().position(|known| known == name).unwrap_or_default() as u32)
}

fn spec(args: &Args, log: &EventLog) -> anyhow::Result<QuerySpec> {
    let mut spec = QuerySpec { groups_first: args.groups.clone(), ..args.query.spec() };
    if !args.others.is_empty() {
        spec.groups = Some(Groups::sides(log, args.trails.len()));
        return Ok(spec);
    }
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

fn tables(all: &[Whole], top: usize, ui: &Ui) -> String {
    let missing = all.first().map(|whole| incomplete(&whole.limitations, ui.style()));
    let mut tables = Vec::new();
    for whole in all {
        let changes = Changes {
            verdict: &whole.verdict,
            elapsed: whole.elapsed.as_ref(),
            comparison: &whole.comparison,
        };
        tables.push(compare_summary(&changes, top, ui.style()));
        tables.extend(whole.phases.as_ref().map(|phases| compare_phases(phases, top, ui.style())));
    }
    missing.unwrap_or_default() + &tables.join("\n")
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
    all: &[Whole],
    path: &Path,
    outputs: &mut output::Files,
) -> anyhow::Result<()> {
    if is_html(path) {
        let verdict = match all {
            [whole] => Some(verdict_line(&whole.verdict, &whole.comparison)),
            _ => None,
        };
        return super::report::write(log, query, (args.synthesis.options(), verdict), path, outputs);
    }
    if path == Path::new("-")
        || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
    {
        return outputs.write(path, &json(all)?);
    }
    let [whole] = all else {
        bail!("{}: a picture shows two groups; choose them with --groups A,B", path.display());
    };
    let mut view = args.picture.view(true);
    view.title.get_or_insert_with(|| verdict_line(&whole.verdict, &whole.comparison));
    for (path, bytes) in dfg_files(&whole.comparison.dfg, &view, path)? {
        outputs.write(&path, &bytes)?;
    }
    Ok(())
}

fn csv(all: &[Whole]) -> String {
    let compared: Vec<Compared<'_>> = all
        .iter()
        .map(|whole| Compared {
            verdict: &whole.verdict,
            elapsed: whole.elapsed.as_ref(),
            comparison: &whole.comparison,
            phases: whole.phases.as_ref(),
        })
        .collect();
    compare_csv(&compared)
}

/// One comparison as itself, several as a list.
fn json(all: &[Whole]) -> anyhow::Result<Vec<u8>> {
    match all {
        [one] => output::json_document(one),
        _ => output::json_document(&all),
    }
}
