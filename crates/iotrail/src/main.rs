//! The `iotrail` command line: parse arguments into a plan, call one function of a library crate, print. No logic.

mod args;
mod cli;
mod commands;
mod rows;

use clap::Parser;
use iotrail_console::{output, ui};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let ui = ui::Ui::new(cli.colour, cli.quiet);
    match cli.command.run(&ui) {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui.error(&error);
            ExitCode::FAILURE
        }
    }
}
