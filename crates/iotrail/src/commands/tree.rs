//! `iotrail tree`: which process started which.

use crate::args::query;
use crate::usage;
use iotrail_console::{logs, output, ui::Ui};
use iotrail_draw::gantt::{self, timeline};
use iotrail_draw::{PictureFormat, Theme, picture_file};
use iotrail_query::ProcessTable;
use iotrail_terminal::process_tree::process_tree;
use iotrail_terminal::{Style, incomplete};
use iotrail_workflow::tree;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Show the process tree.
///
/// Which process started which, for how long each ran, what it moved, how it ended.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail tree run.trail
  iotrail tree run.trail --all
  iotrail tree run.trail --phases job -o timeline.svg
  iotrail tree run.trail --json | jq -r '.nodes[] | select(.exit_code != 0) | .cmdline'

Siblings whose subtrees have the same shape are one line with their number; --all gives each process its own. The extension of -o names the format: svg, png and pdf draw the processes over time, json holds everything, txt is the text.")]
pub(crate) struct Args {
    /// Trails or structures, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    #[command(flatten)]
    phases: query::Phases,

    /// A line for each process.
    #[arg(long)]
    all: bool,

    /// Print everything as JSON.
    #[arg(long)]
    json: bool,

    /// Write a file in the format that its extension names; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TreeFormat {
    Text,
    Json,
    Picture,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let format = format(args)?;
    let by = args.phases.parse()?;
    let log = logs::open(&args.trails, ui)?;
    let processes = ProcessTable::of_log(&log)?;
    let tree = tree(&processes, &by.divide(&log, &processes), log.cases());
    let style = if args.output == Path::new("-") { ui.style() } else { Style::default() };
    let bytes = match format {
        TreeFormat::Text => {
            (incomplete(&log.missing_events(), style) + &process_tree(&tree, args.all, style)).into_bytes()
        }
        TreeFormat::Json => output::json_document(&tree)?,
        TreeFormat::Picture => {
            picture_file(&gantt::scene(&timeline(&tree, &title(&args.trails))), Theme::Auto, &args.output)?
        }
    };
    match format {
        TreeFormat::Text => output::text(&args.output, &bytes)?,
        _ => output::write(&args.output, &bytes)?,
    }
    if args.output != Path::new("-") {
        ui.info(&format!("wrote {}", args.output.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn format(args: &Args) -> anyhow::Result<TreeFormat> {
    let extension = args.output.extension().and_then(|extension| extension.to_str());
    match extension {
        _ if PictureFormat::from_path(&args.output).is_some() && !args.json => Ok(TreeFormat::Picture),
        _ if args.json || extension == Some("json") => Ok(TreeFormat::Json),
        Some("txt") => Ok(TreeFormat::Text),
        _ if args.output == Path::new("-") => Ok(TreeFormat::Text),
        _ => Err(usage::wrong(format!(
            "{}: unknown format; use one of .svg, .png, .pdf, .json, .txt",
            args.output.display()
        ))),
    }
}

fn title(trails: &[PathBuf]) -> String {
    let names: Vec<String> =
        trails.iter().filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    format!("Processes of {}", names.join(", "))
}
