//! The words of the command line.

use crate::commands::{
    advise, characterize, check, compare, completions, compress, dfg, events, expand, export, files,
    generate, import, info, loops, man, matrix, processes, record, recover, redact, replay, report, sessions,
    sql, stats, structure, tree, validate, why, workflow, workload,
};
use crate::ui::{Colour, Ui};
use clap::{ArgAction, Parser, Subcommand};
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Start here:
  iotrail record --report -o ls.trail -- ls -l
  iotrail why ls.trail
  iotrail COMMAND --help

Data goes to stdout, messages and progress to stderr. Exit status: 0 success; 1 failure, nothing selected, or a check that found problems; 2 wrong usage.";

/// Heading of the options that every command has.
const GLOBAL: &str = "Global options";

/// Shows what a program does to its files.
#[derive(Debug, Parser)]
#[command(
    name = "iotrail",
    version,
    after_help = AFTER_HELP,
    max_term_width = 110,
    propagate_version = true,
    disable_help_flag = true,
    disable_version_flag = true,
    disable_help_subcommand = true,
)]
pub(crate) struct Cli {
    /// When to use colours: `auto` (on a terminal, unless NO_COLOR is set), `always` or `never`.
    #[arg(
        long = "color",
        alias = "colour",
        value_enum,
        default_value_t,
        hide_default_value = true,
        hide_possible_values = true,
        global = true,
        value_name = "WHEN",
        help_heading = GLOBAL
    )]
    pub(crate) colour: Colour,

    /// Print errors only.
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,

    /// Print help; `-h` is shorter.
    #[arg(short, long, global = true, action = ArgAction::Help, help_heading = GLOBAL)]
    help: Option<bool>,

    /// Print the version.
    #[arg(short = 'V', long, global = true, action = ArgAction::Version, help_heading = GLOBAL)]
    version: Option<bool>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One thing to do. The order is that of the first screen.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Record(Box<record::Args>),
    Import(import::Args),
    Why(why::Args),
    Files(files::Args),
    Sessions(sessions::Args),
    Advise(advise::Args),
    Report(Box<report::Args>),
    #[command(visible_alias = "graph")]
    Dfg(Box<dfg::Args>),
    Stats(Box<stats::Args>),
    Workflow(Box<workflow::Args>),
    Structure(structure::Args),
    Loops(loops::Args),
    Matrix(matrix::Args),
    Tree(tree::Args),
    Processes(processes::Args),
    Events(Box<events::Args>),
    Compare(Box<compare::Args>),
    Characterize(Box<characterize::Args>),
    Workload(workload::Args),
    Generate(generate::Args),
    Validate(Box<validate::Args>),
    Replay(Box<replay::Args>),
    Compress(compress::Args),
    Expand(expand::Args),
    Export(export::Args),
    Sql(sql::Args),
    Redact(redact::Args),
    Info(info::Args),
    Check(check::Args),
    Recover(recover::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    pub(crate) fn run(&self, ui: &Ui) -> anyhow::Result<ExitCode> {
        match self {
            Self::Record(args) => record::run(args, ui),
            Self::Import(args) => import::run(args, ui),
            Self::Recover(args) => recover::run(args, ui),
            Self::Info(args) => info::run(args, ui),
            Self::Check(args) => check::run(args, ui),
            Self::Events(args) => events::run(args, ui),
            Self::Processes(args) => processes::run(args, ui),
            Self::Files(args) => files::run(args, ui),
            Self::Sessions(args) => sessions::run(args, ui),
            Self::Why(args) => why::run(args, ui),
            Self::Advise(args) => advise::run(args, ui),
            Self::Dfg(args) => dfg::run(args, ui),
            Self::Compare(args) => compare::run(args, ui),
            Self::Characterize(args) => characterize::run(args, ui),
            Self::Workload(args) => workload::run(args, ui),
            Self::Generate(args) => generate::run(args, ui),
            Self::Validate(args) => validate::run(args, ui),
            Self::Replay(args) => replay::run(args, ui),
            Self::Stats(args) => stats::run(args, ui),
            Self::Report(args) => report::run(args, ui),
            Self::Export(args) => export::run(args, ui),
            Self::Sql(args) => sql::run(args, ui),
            Self::Workflow(args) => workflow::run(args, ui),
            Self::Redact(args) => redact::run(args, ui),
            Self::Compress(args) => compress::run(args, ui),
            Self::Expand(args) => expand::run(args, ui),
            Self::Structure(args) => structure::run(args, ui),
            Self::Loops(args) => loops::run(args, ui),
            Self::Matrix(args) => matrix::run(args, ui),
            Self::Tree(args) => tree::run(args, ui),
            Self::Completions(args) => completions::run(args),
            Self::Man(args) => man::run(args),
        }
    }
}
