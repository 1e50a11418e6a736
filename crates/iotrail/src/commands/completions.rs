//! `iotrail completions`: shell completions.

use crate::{cli::Cli, output};
use clap::CommandFactory;
use std::process::ExitCode;

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  iotrail completions bash > ~/.local/share/bash-completion/completions/iotrail")]
pub(crate) struct Args {
    /// The shell.
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "iotrail", &mut text);
    output::stdout(&text)?;
    Ok(ExitCode::SUCCESS)
}
