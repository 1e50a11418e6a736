//! `iotrail dfg`: the Directly-Follows Graph.

use crate::args::{graph, query};
use crate::{logs, output, ui::Ui, usage};
use iotrail_console::hints;
use iotrail_dfg::{Dfg, synthesize};
use iotrail_export::{Format, Subject, dfg_files, names, write_dfg};
use iotrail_query::{CaseBy, Query};
use iotrail_terminal::dfg_summary::{Limits, summary};
use iotrail_terminal::incomplete;
use iotrail_trail::EventLog;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Paths that `--map-explain` lists for each activity.
const EXPLAINED_PATHS: usize = 5;

/// Show the call graph: what follows what.
///
/// The Directly-Follows Graph: what is done to which files, in which order, at which cost.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail dfg run.trail
  iotrail dfg run.trail -o graph.svg -o graph.json -o graph.csv
  iotrail dfg run.trail --path '/scratch/**' --map file --color-by bytes -o scratch.svg
  iotrail dfg run.trail --by cid --var SCRATCH=/p/scratch/me -o groups.pdf
  iotrail dfg run.trail --map rules.toml --map-explain
  iotrail dfg run.trail --json | jq '.nodes[0]'

The extension names the format: json, csv (two files: nodes, edges), dot, svg, png, pdf, graphml, mmd, html (the report). Without -o a summary is printed.")]
pub(crate) struct Args {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Write a file in the format that its extension names; may be given several times. `-` is stdout, see --format.
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,

    #[arg(long, value_name = "FORMAT", help = format!("The format for stdout: {}", names(Subject::Dfg)))]
    format: Option<String>,

    /// Print the whole result as JSON (the same as --format json).
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// List each activity with the paths behind it, and what matches no activity, instead of the graph.
    #[arg(long)]
    map_explain: bool,

    /// Rows of each table of the summary.
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    #[command(flatten)]
    query: query::Query,

    #[command(flatten)]
    synthesis: graph::Synthesis,

    #[command(flatten)]
    picture: graph::Picture,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let stdout_format = stdout_format(args)?;
    check_formats(&args.output)?;
    let log = logs::open(&args.trails, ui)?;
    let query = Query::new(args.query.spec(), &log)?;
    report_choices(&query, ui);
    if args.map_explain {
        return explain(args, &log, &query);
    }
    let dfg = synthesize(&log, &query, &args.synthesis.options())?;
    query.check_selected(dfg.events.total, &log)?;
    report_emptiness(&dfg, ui);
    let view = args.picture.view(!dfg.groups.is_empty());
    let mut outputs = output::Files::default();
    for path in args.output.iter().filter(|path| *path != Path::new("-")) {
        if is_html(path) {
            super::report::write(&log, &query, (args.synthesis.options(), None), path, &mut outputs)?;
            continue;
        }
        for (path, bytes) in dfg_files(&dfg, &view, path)? {
            outputs.write(&path, &bytes)?;
        }
    }
    ui.report_written(&outputs.publish()?);
    match stdout_format {
        Some(format) => output::stdout(&write_dfg(&dfg, &view, format)?)?,
        None if args.output.is_empty() => {
            let text = summary(&dfg, limits(args.top), ui.style());
            output::text(Path::new("-"), incomplete(&dfg.limitations, ui.style()) + &text)?
        }
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Names every output whose extension is no format, before any work is done.
pub(crate) fn check_formats(outputs: &[PathBuf]) -> anyhow::Result<()> {
    let files = outputs.iter().filter(|path| *path != Path::new("-") && !is_html(path));
    for path in files {
        Format::from_path(path, Subject::Dfg)
            .map_err(|error| usage::wrong(format!("{error}; .html writes the report")))?;
    }
    Ok(())
}

/// What goes to stdout, if not the summary.
fn stdout_format(args: &Args) -> anyhow::Result<Option<Format>> {
    let to_stdout = args.output.iter().any(|path| path == Path::new("-"));
    match (&args.format, args.json, to_stdout) {
        (Some(word), ..) => Ok(Some(Format::from_name(word, Subject::Dfg)?)),
        (None, true, _) | (None, false, true) => Ok(Some(Format::Json)),
        (None, false, false) => Ok(None),
    }
}

/// Shows choices that were made for the user.
pub(crate) fn report_choices(query: &Query, ui: &Ui) {
    if query.case_by() != CaseBy::Rank {
        ui.info(&format!("grouping by {} ({}); change with --case", query.case_by(), query.case_by_reason()));
    }
    for warning in query.warnings() {
        ui.warn(&hints::of_warning(warning));
    }
    match query.cases_without_group() {
        0 => {}
        1 => ui.warn("1 recorded case belongs to no group"),
        cases => ui.warn(&format!("{cases} recorded cases belong to no group")),
    }
}

fn report_emptiness(dfg: &Dfg, ui: &Ui) {
    if dfg.events.total == 0 {
        ui.warn("the trail holds no events");
    } else if dfg.events.mapped == 0 {
        ui.warn("no event matches an activity; --map-explain shows what is left out");
    }
}

fn explain(args: &Args, log: &EventLog, query: &Query) -> anyhow::Result<ExitCode> {
    let limit = args.top.unwrap_or(EXPLAINED_PATHS);
    let explanation = query.explain(log, args.synthesis.options().threads, limit)?;
    if args.json {
        output::json(&explanation)?;
    } else {
        output::stdout(explanation.to_string().as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn limits(top: Option<usize>) -> Limits {
    top.map_or_else(Limits::default, |top| Limits { activities: top, transitions: top, variants: top })
}

pub(crate) fn is_html(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm")
    })
}
