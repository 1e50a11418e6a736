//! `iotrail characterize`: what the ranks of a program do to files, as a model that can be changed and generated.

use crate::args::query;
use crate::{logs, output, ui::Ui};
use clap::ValueEnum;
use iotrail_characterize::{Classing, Disagreement, Level, Naming, Options, Ranking, characterize, confirm};
use iotrail_console::hints;
use iotrail_model::threads::one_per_core;
use iotrail_model::units;
use iotrail_query::{Query, QuerySpec, Warning};
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
  iotrail characterize run.trail --level paper -o drawn.toml
  iotrail characterize run.trail --json | jq .fit
  iotrail characterize a.trail b.trail

Further trails confirm the model or not: those of as many ranks are repetitions, those of others show whether offsets follow their laws. Without `--names keep`, no word of a path is in the model. Barriers are known if calls of MPI were recorded (`iotrail record --mpi`). docs/workload.md explains the figures and the model file.")]
pub(crate) struct Args {
    /// Trails or structures of one program: the model is of the first one, the others are compared with it.
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

    /// How much of the order is in the model.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LevelWord::Auto)]
    level: LevelWord,

    /// Classes of files: as fine as they are, or those of the paper (root, shared, private).
    #[arg(long, value_name = "CLASSES", value_enum, default_value_t = Classes::Fine)]
    classes: Classes,

    /// What a rank is.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = RanksWord::Auto)]
    ranks: RanksWord,

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
    /// The same with a number in place of each part, which follows from it: whoever guesses a name can test the guess.
    Hash,
}

/// How much of the order is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LevelWord {
    /// The first of the others that comes near enough: figures within 5 %, shares within 1 %, offsets that follow laws exactly.
    Auto,
    /// None: distributions of the figures, from which `generate` draws a path (PIONEER's algorithm 1).
    Paper,
    /// How often each session occurs between barriers.
    Joint,
    /// All of it.
    Program,
}

/// Classes of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Classes {
    /// Of the root, of all ranks, of each rank, of one other rank, of some ranks.
    Fine,
    /// Of the root, shared, private.
    Paper,
}

/// What a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RanksWord {
    /// A recorded rank, else a process.
    Auto,
    /// A thread that a process started, as in recordings of `iotrail generate`.
    Thread,
}

impl Args {
    fn options(&self) -> Options {
        Options {
            naming: match self.names {
                Names::Anonymous => Naming::Anonymous,
                Names::Keep => Naming::Keep,
                Names::Hash => Naming::Hash,
            },
            classing: match self.classes {
                Classes::Fine => Classing::Fine,
                Classes::Paper => Classing::Paper,
            },
            level: match self.level {
                LevelWord::Auto => Level::Auto,
                LevelWord::Paper => Level::Paper,
                LevelWord::Joint => Level::Joint,
                LevelWord::Program => Level::Program,
            },
            ranking: match self.ranks {
                RanksWord::Auto => Ranking::Auto,
                RanksWord::Thread => Ranking::Threads,
            },
        }
    }

    /// A trail, and what is selected of it.
    fn opened(&self, trail: &Path, ui: &Ui) -> anyhow::Result<(EventLog, Query)> {
        let log = logs::open(&[trail.to_owned()], ui)?;
        let select = self.selection.spec();
        let query = Query::new(QuerySpec { select, ..QuerySpec::default() }, &log)?;
        // Which layers count is known here: system calls that no call of MPI-IO makes, and these.
        let known = |warning: &&Warning| matches!(warning, Warning::OneLayerOfSeveral { .. });
        query
            .warnings()
            .iter()
            .filter(|warning| !known(warning))
            .for_each(|warning| ui.warn(&hints::of_warning(warning)));
        Ok((log, query))
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let options = args.options();
    let (log, query) = args.opened(&args.trails[0], ui)?;
    let mut found = characterize(&log, &query, options, one_per_core())?;
    if let Some(Disagreement { ns, early, late, barriers }) = found.tokens.clocks {
        ui.warn(&format!(
            "clocks disagree: by its own, rank {early} was through a barrier {} before rank {late} came to it by its ({} of {} are contradicted); \
             times between ranks are wrong: set the clocks of the hosts, and record again",
            units::duration(ns as f64),
            units::count(barriers),
            units::counted(found.tokens.barriers, "barrier", "barriers")
        ));
    }
    for trail in &args.trails[1..] {
        let (log, query) = args.opened(trail, ui)?;
        found.confirmations.push(confirm(&found.model, &log, &query, options, one_per_core())?);
    }
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
