//! `iotrail report`: the self-contained HTML page.

mod clone;

use crate::args::{graph, query};
use crate::commands::dfg::report_choices;
use crate::free_name::free_name;
use crate::{logs, output, ui::Ui};
use iotrail_advise::Proof;
use iotrail_compress::is_structure_file;
use iotrail_dfg::DfgOptions;
use iotrail_export::escape::argument;
use iotrail_model::threads::one_per_core;
use iotrail_query::{Query, QuerySpec};
use iotrail_report::loops::Structured;
use iotrail_report::{Part, ReportOptions, page_data, report};
use iotrail_trail::EventLog;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write a self-contained HTML page.
///
/// One HTML file that starts with a summary and needs no network.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail report run.trail -o report.html
  iotrail report run.trail --by cid --var SCRATCH=/p/scratch/me -o report.html
  iotrail report before.trail after.trail --by trail -o comparison.html
  iotrail report run.trail --phases job --without distributions
  iotrail report run.trail --workload model.toml -o likeness.html    # the program beside the clone of a model

With --workload the page has a section that shows how like the program the model's clone is: the verdict, groups of ranks, sessions over the path, distributions, curves over time. Several trails are repetitions: what they differ among themselves is drawn as a band.")]
pub(crate) struct Args {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// The file to write, `-` for stdout. Default: `NAME.html` after the trail, in the current directory, with a number if that
    /// exists; `report.html` for several trails.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Title of the page. Default: the names of the trails.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    #[command(flatten)]
    phases: query::Phases,

    /// Leave a part out: phases, processes, workflow, distributions. May be given several times.
    #[arg(long, value_name = "PART", value_parser = part)]
    without: Vec<Part>,

    /// A model of the program: show the clone that it makes beside the program.
    #[arg(long, value_name = "MODEL")]
    workload: Option<PathBuf>,

    /// Recordings of the clone (`iotrail generate -o`). Default: what the model plans, with the times that it has; nothing is run.
    #[arg(long, value_name = "TRAIL", num_args = 1.., requires = "workload")]
    clone: Vec<PathBuf>,

    /// Print the data of the page as JSON instead of writing the page.
    #[arg(long, conflicts_with = "output")]
    json: bool,

    #[command(flatten)]
    query: query::Query,

    #[command(flatten)]
    synthesis: graph::Synthesis,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let log = logs::open(&args.trails, ui)?;
    let query = Query::new(args.query.spec(), &log)?;
    report_choices(&query, ui);
    let beside = |model: &PathBuf| clone::beside(&args.trails, &args.query.spec().select, model, &args.clone);
    let options = ReportOptions {
        likeness: args.workload.as_ref().map(beside).transpose()?,
        title: args.title.clone(),
        phases_by: args.phases.phases.clone(),
        without: args.without.clone(),
        proofs: proofs(&args.trails, ui),
        structured: Structured::of(&logs::structures(&args.trails)?, &log, one_per_core())?,
        ..options(args.synthesis.options())
    };
    if args.json {
        output::json(&page_data(&log, &query, &options)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let page = args.output.clone().unwrap_or_else(|| default_name(&args.trails));
    output::write(&page, report(&log, &query, &options)?.as_bytes())?;
    report_written(&page, ui);
    Ok(ExitCode::SUCCESS)
}

/// What was measured of the advice on a trail; of several as one log nothing was.
fn proofs(trails: &[PathBuf], ui: &Ui) -> Vec<Proof> {
    let [trail] = trails else { return Vec::new() };
    if is_structure_file(trail) {
        return Vec::new();
    }
    iotrail_verify::read(trail).unwrap_or_else(|error| {
        ui.warn(&error.to_string());
        Vec::new()
    })
}

fn default_name(trails: &[PathBuf]) -> PathBuf {
    let stem = match trails {
        [trail] => trail.file_stem().unwrap_or(OsStr::new("report")),
        _ => OsStr::new("report"),
    };
    free_name(Path::new(stem), "html", false)
}

fn part(word: &str) -> Result<Part, String> {
    let found = Part::ALL.into_iter().find(|part| part.name() == word);
    found.ok_or_else(|| format!("is not one of {}", Part::ALL.map(Part::name).join(", ")))
}

/// Writes the report of a trail to `page`, with everything as it is by default.
pub(crate) fn write_plain(trail: &Path, page: &Path, ui: &Ui) -> anyhow::Result<()> {
    let log = logs::open(&[trail.to_owned()], ui)?;
    let query = Query::new(QuerySpec::default(), &log)?;
    output::write(page, report(&log, &query, &options(DfgOptions::default()))?.as_bytes())?;
    report_written(page, ui);
    Ok(())
}

fn report_written(page: &Path, ui: &Ui) {
    if page != Path::new("-") {
        ui.info(&format!("wrote {} (open it in a browser)", page.display()));
    }
}

/// Writes the report of a query as the file `path` of `outputs`; of a comparison with what it comes to.
pub(crate) fn write(
    log: &EventLog,
    query: &Query,
    (graph, verdict): (DfgOptions, Option<String>),
    path: &Path,
    outputs: &mut output::Files,
) -> anyhow::Result<()> {
    let options = ReportOptions { verdict, ..options(graph) };
    outputs.write(path, report(log, query, &options)?.as_bytes())
}

fn options(graph: DfgOptions) -> ReportOptions {
    ReportOptions {
        command: command_line(),
        concurrency: graph.max_concurrency,
        threads: graph.threads,
        ..ReportOptions::default()
    }
}

/// The command line of this run, for the page's footer; the program by its name, wherever it lies.
fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| argument(&word.to_string_lossy()));
    std::iter::once("iotrail".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
