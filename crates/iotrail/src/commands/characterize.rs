//! `iotrail characterize`: what the ranks of a program do to files, as a model that can be changed and generated.

use crate::args::query;
use crate::{output, ui::Ui};
use clap::ValueEnum;
use iotrail_characterize::{Naming, characterize};
use iotrail_console::hints;
use iotrail_model::Layer;
use iotrail_model::threads::one_per_core;
use iotrail_query::{Query, QuerySpec};
use iotrail_terminal::workload_summary::characterization;
use iotrail_trail::EventLog;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make a model of what the ranks of a program do to files.
///
/// Groups of ranks, files by who uses them, sessions, laws of offsets, barriers; what the model has, and what not.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail characterize run.trail
  iotrail characterize run.trail -o run.toml
  iotrail characterize run.trail --path '/scratch/**' --names keep -o run.toml
  iotrail characterize run.trail --json | jq .fit

Without `--names keep`, no word of a path is in the model. Barriers are known if calls of MPI were recorded (`iotrail record --mpi`). docs/workload.md explains the figures and the model file.")]
pub(crate) struct Args {
    /// Trails, read as one log.
    #[arg(required = true, value_name = "TRAIL")]
    trails: Vec<PathBuf>,

    /// Write the model to a file; `-` is stdout, without the figures.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the figures and the model as JSON.
    #[arg(long)]
    json: bool,

    /// What files are called in the model.
    #[arg(long, value_name = "NAMES", value_enum, default_value_t = Names::Anonymous)]
    names: Names,

    #[command(flatten)]
    selection: query::Selection,
}

/// What files are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Names {
    /// By their class and a number: `shared-1`, `private-2.%r`.
    Anonymous,
    /// As they were, beneath the directory that all are in.
    Keep,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let log = EventLog::open(&args.trails)?;
    let mut select = args.selection.spec();
    if select.layer.is_empty() {
        // Calls of MPI are asked for beside them: they are no requests.
        select.layer.push(Layer::Syscall.name().to_owned());
    }
    let query = Query::new(QuerySpec { select, ..QuerySpec::default() }, &log)?;
    query.warnings().iter().for_each(|warning| ui.warn(&hints::of_warning(warning)));
    let naming = match args.names {
        Names::Anonymous => Naming::Anonymous,
        Names::Keep => Naming::Keep,
    };
    let found = characterize(&log, &query, naming, one_per_core())?;
    let to_stdout = args.output.as_deref() == Some(Path::new("-"));
    if let Some(path) = &args.output {
        output::text(path, found.model.to_string())?;
        if !to_stdout {
            ui.report_written(std::slice::from_ref(path));
        }
    }
    match (args.json, to_stdout) {
        (_, true) => {}
        (true, _) => output::json(&found)?,
        (false, _) => output::text(Path::new("-"), characterization(&found, ui.style()))?,
    }
    Ok(ExitCode::SUCCESS)
}
