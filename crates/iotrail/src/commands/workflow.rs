//! `iotrail workflow`: the graph of processes and files.

use crate::args::{operations::Operations, query};
use crate::rows;
use crate::{logs, output, ui::Ui, usage};
use anyhow::Context;
use iotrail_draw::Theme;
use iotrail_draw::picture;
use iotrail_draw::workflow_picture::workflow_picture;
use iotrail_export::{Format, Subject, WriteOptions, write_recorded};
use iotrail_query::{ProcessTable, Query, QuerySpec};
use iotrail_terminal::incomplete;
use iotrail_terminal::workflow_summary::{workflow_summary, workflow_table};
use iotrail_trail::EventLog;
use iotrail_workflow::build::{BuildOptions, build};
use iotrail_workflow::jobs::JobOptions;
use iotrail_workflow::ops::{Outcome, run as operate};
use iotrail_workflow::{Document, FileView};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Rows of a table on the terminal.
const SHOWN: usize = 25;

/// Remarks about an export on the terminal; the export has more.
const REMARKS: usize = 12;

/// Show the graph of processes and files.
///
/// Which process started, read and wrote what, what waited for what, and what is slow.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail workflow run.trail
  iotrail workflow run.trail --critical-path
  iotrail workflow run.trail --aggregate process=exe,file=template -o run.svg
  iotrail workflow run.trail --ancestors '/data/mosaic.fits' --cluster
  iotrail workflow run.trail --window 50%.. --hide 'bytes<1MB' --weight rate -o slow.svg
  iotrail workflow run.trail --phases job --phase mDiffFit --bottlenecks --json
  iotrail workflow run.trail --select 'path~\\.fits$' --paths --csv
  iotrail workflow run.trail -o run.graphml -o run.dot

Each operation works on what the one before left. Vertices are processes and files; an edge leads from a process to what it made or wrote, and from a file to the process that read it. docs/workflow.md defines everything.")]
pub(crate) struct Args {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    #[command(flatten)]
    phases: query::Phases,

    /// `version`: files split at each hand-over of the writer, no cycles; `file`: whole files, cycles are reported.
    #[arg(long, value_name = "VIEW", default_value = "version", value_parser = view)]
    view: FileView,

    /// Show files of the system too: shared libraries, /proc, /sys, /dev, locale.
    #[arg(long)]
    show_system: bool,

    /// Show what was mapped too: executables and libraries.
    #[arg(long)]
    show_maps: bool,

    /// Write the graph in the format that --format or the extension names; may be given several times. `-` is stdout.
    /// Pictures: svg, png, pdf; json; else a format of another program, see --format.
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,

    #[arg(long, value_name = "FORMAT", value_parser = format_named, help = formats())]
    format: Option<Format>,

    /// Job formats: processes whose command line matches, below another manager or the first process, are workflow managers; what they
    /// start are the jobs. Default: the first process is the manager.
    #[arg(long, value_name = "REGEX")]
    manager: Option<String>,

    /// Print the tables that were asked for, else the graph, as JSON.
    #[arg(long, conflicts_with_all = ["format", "csv"])]
    json: bool,

    /// Print the table that was asked for as comma-separated values.
    #[arg(long, conflicts_with = "format")]
    csv: bool,

    /// Rows of each table on the terminal.
    #[arg(long, value_name = "N", default_value_t = SHOWN)]
    top: usize,

    #[command(flatten)]
    operations: Operations,

    #[command(flatten)]
    selection: query::Selection,
}

/// The help of `--format`.
fn formats() -> String {
    let names = |of_jobs: bool| {
        let formats = Format::all(Subject::Workflow).filter(|format| format.is_of_jobs() == of_jobs);
        formats.map(Format::name).collect::<Vec<_>>().join(", ")
    };
    format!("The format of -o, or of stdout: {}; of the jobs: {}", names(false), names(true))
}

fn format_named(word: &str) -> Result<Format, iotrail_export::ExportError> {
    Format::from_name(word, Subject::Workflow)
}

fn view(word: &str) -> Result<FileView, String> {
    match word {
        "version" => Ok(FileView::Version),
        "file" => Ok(FileView::File),
        _ => Err("write version or file".to_owned()),
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let formats = args.output.iter().map(|path| format(args, path)).collect::<anyhow::Result<Vec<_>>>()?;
    let log = logs::open(&args.trails, ui)?;
    let processes = ProcessTable::of_log(&log)?;
    let groups = args.phases.parse()?.divide(&log, &processes);
    let mut select = args.selection.spec();
    if select.layer.is_empty() {
        // The graph is made of system calls and says how many others there are.
        select.layer.push("all".to_owned());
    }
    let spec = QuerySpec { select, ..QuerySpec::default() };
    let query = Query::new(spec, &log)?;
    let selects = !query.selects_everything();
    let options = BuildOptions {
        view: args.view,
        maps: args.show_maps,
        system: args.show_system,
        query: selects.then_some(&query),
        ..BuildOptions::default()
    };
    let graph = build(&log, &processes, &groups, &options)?;
    query.check_selected(graph.vertices.len() as u64, &log)?;
    let outcome = operate(graph, &args.operations.0)?;
    if outcome.graph.vertices.is_empty() {
        ui.warn("the graph is empty; `iotrail workflow` without operations shows all of it");
    }
    let mut outputs = output::Files::default();
    for (path, format) in args.output.iter().zip(formats) {
        write(args, &log, &processes, &outcome, (path, format), &mut outputs, ui)?;
    }
    ui.report_written(&outputs.publish()?);
    if args.output.is_empty() {
        print(args, &log, &processes, &outcome, ui)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn format(args: &Args, path: &Path) -> anyhow::Result<Format> {
    match args.format {
        Some(format) => Ok(format),
        None if path == Path::new("-") => Ok(Format::Json),
        None => Format::from_path(path, Subject::Workflow)
            .context("the name of the file does not say its format; --format does"),
    }
}

fn sources(args: &Args) -> Vec<String> {
    args.trails.iter().map(|trail| trail.display().to_string()).collect()
}

fn write(
    args: &Args,
    log: &EventLog,
    processes: &ProcessTable,
    outcome: &Outcome,
    (path, format): (&Path, Format),
    outputs: &mut output::Files,
    ui: &Ui,
) -> anyhow::Result<()> {
    let sources = sources(args);
    if format == Format::Json {
        return outputs
            .stream(path, |out| json(&Document::new(sources, log.missing_events(), &outcome.graph), out));
    }
    if let Some(pictures) = format.picture() {
        let title = format!("Workflow of {}", sources.join(", "));
        let drawn = workflow_picture(&outcome.graph, outcome.weight, &title)?;
        if let Some(joined) = &drawn.joined {
            ui.info(joined);
        }
        return outputs.write(path, &picture(&drawn.scene, Theme::Auto, pictures)?);
    }
    let options = WriteOptions { title: None, sources };
    let managers = JobOptions::with_managers(args.manager.as_deref())?;
    let (bytes, remarks) = write_recorded(log, processes, &outcome.graph, format, &options, &managers)?;
    outputs.write(path, &bytes)?;
    for remark in remarks.iter().take(REMARKS) {
        ui.warn(remark);
    }
    if let Some(more) = remarks.len().checked_sub(REMARKS).filter(|more| *more > 0) {
        ui.warn(&format!("{more} more remarks are in the export"));
    }
    Ok(())
}

/// What goes to stdout where no file was named.
fn print(
    args: &Args,
    log: &EventLog,
    processes: &ProcessTable,
    outcome: &Outcome,
    ui: &Ui,
) -> anyhow::Result<()> {
    let stdout = Path::new("-");
    let mut outputs = output::Files::default();
    if let Some(format) = args.format {
        return write(args, log, processes, outcome, (stdout, format), &mut outputs, ui);
    }
    if args.csv {
        let [table] = outcome.tables.as_slice() else {
            return Err(usage::wrong(format!(
                "--csv prints one table, and {} were asked for; write one of --slack, --bottlenecks, --degrees, --clusters, --paths, or use --json",
                outcome.tables.len()
            )));
        };
        let rows = serde_json::to_value(&table.rows)?;
        let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
        return output::stream(stdout, |out| rows::csv_lines(table.rows.columns(), rows.iter(), out));
    }
    if args.json {
        return match outcome.tables.is_empty() {
            true => write(args, log, processes, outcome, (stdout, Format::Json), &mut outputs, ui),
            false => output::stream(stdout, |out| json(&outcome.tables, out)),
        };
    }
    let text = match outcome.tables.as_slice() {
        [] => workflow_summary(&outcome.graph, outcome.weight, ui.style()),
        tables => {
            let tables: Vec<String> =
                tables.iter().map(|table| workflow_table(table, args.top, ui.style())).collect();
            tables.join("\n")
        }
    };
    output::text(stdout, incomplete(&log.missing_events(), ui.style()) + &text)
}

fn json(value: &impl serde::Serialize, out: &mut dyn Write) -> anyhow::Result<()> {
    // As the system's error: that the reader went away shows only there.
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}
