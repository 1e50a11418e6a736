//! The words of the command line.

use crate::commands::{
    advise, check, compare, completions, dfg, events, export, files, import, info, man, processes, record,
    recover, redact, report, sql, stats, tree, why, workflow,
};
use crate::ui::{Colour, Ui};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

const AFTER_HELP: &str = "\
Exit status: 0 all went well; 1 something failed or a check found problems; 2 wrong usage.
Data goes to stdout, talk and progress to stderr. NO_COLOR is honoured.

Start here:
  iotrail record -o ls.trail -- ls -l
  iotrail dfg ls.trail
  iotrail report ls.trail -o ls.html";

/// Shows what a program does to its files.
#[derive(Debug, Parser)]
#[command(name = "iotrail", version, after_help = AFTER_HELP, max_term_width = 110, propagate_version = true)]
pub(crate) struct Cli {
    /// When to use colours.
    #[arg(long = "color", alias = "colour", value_enum, default_value_t, global = true, value_name = "WHEN")]
    pub(crate) colour: Colour,

    /// Say nothing but errors on stderr.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// One thing to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Record(Box<record::Args>),
    Import(import::Args),
    Recover(recover::Args),
    Info(info::Args),
    Check(check::Args),
    Events(Box<events::Args>),
    Processes(processes::Args),
    Files(files::Args),
    Why(why::Args),
    Advise(advise::Args),
    Dfg(Box<dfg::Args>),
    Compare(Box<compare::Args>),
    Stats(Box<stats::Args>),
    Report(Box<report::Args>),
    Export(export::Args),
    Sql(sql::Args),
    Workflow(Box<workflow::Args>),
    Redact(redact::Args),
    Tree(tree::Args),
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
            Self::Why(args) => why::run(args, ui),
            Self::Advise(args) => advise::run(args, ui),
            Self::Dfg(args) => dfg::run(args, ui),
            Self::Compare(args) => compare::run(args, ui),
            Self::Stats(args) => stats::run(args, ui),
            Self::Report(args) => report::run(args, ui),
            Self::Export(args) => export::run(args, ui),
            Self::Sql(args) => sql::run(args, ui),
            Self::Workflow(args) => workflow::run(args, ui),
            Self::Redact(args) => redact::run(args, ui),
            Self::Tree(args) => tree::run(args, ui),
            Self::Completions(args) => completions::run(args),
            Self::Man(args) => man::run(args),
        }
    }
}
