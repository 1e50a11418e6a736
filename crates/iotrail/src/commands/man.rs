//! `iotrail man`: manual pages.

use crate::{help, output};
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Print manual pages.
///
/// Prints the page of iotrail, or writes the pages of all commands into a directory.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  iotrail man | man -l -
  iotrail man -o ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Directory for the pages `iotrail.1`, `iotrail-dfg.1`, ...
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut root = help::command();
    root.build();
    match &args.output {
        None => output::stdout(&page(&root)?)?,
        Some(directory) => {
            std::fs::create_dir_all(directory)
                .with_context(|| format!("cannot create {}", directory.display()))?;
            let mut pages = output::Files::default();
            pages.write(&directory.join("iotrail.1"), &page(&root)?)?;
            below(&root, "iotrail", directory, &mut pages)?;
            pages.publish()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Pages of the commands below a command.
fn below(
    command: &clap::Command,
    prefix: &str,
    directory: &Path,
    pages: &mut output::Files,
) -> anyhow::Result<()> {
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("{prefix}-{}", command.get_name());
        below(command, &name, directory, pages)?;
        let command = command.clone().name(name.clone()).bin_name(name.clone());
        pages.write(&directory.join(format!("{name}.1")), &page(&command)?)?;
    }
    Ok(())
}

fn page(command: &clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    Ok(text)
}
