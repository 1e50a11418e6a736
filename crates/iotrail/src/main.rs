//! The `iotrail` command line: parse arguments into a plan, call one function of a library crate, print. No logic.

mod args;
mod cli;
mod commands;
mod free_name;
mod help;
mod inputs;
mod mpi_library;
mod offers;
mod rows;
mod suggest;
mod usage;

use iotrail_console::{logs, output, signals, ui};
use std::process::ExitCode;

/// Exit status of wrong usage, as of the parser's own errors.
const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    // A file that may not be written is an error that is reported, not a death by SIGXFSZ that leaves half of it behind.
    iotrail_record::survive_file_limit();
    let (cli, command, inputs_are_spared) = match suggest::parsed() {
        Ok(parsed) => parsed,
        Err(said) => return suggest::told(&said),
    };
    let ui = ui::Ui::new(cli.colour, cli.quiet);
    let ran = inputs_are_spared.and_then(|()| cli.command.run(&ui));
    signals::let_end();
    match ran {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui.error(&error);
            if !usage::is_wrong(&error) {
                return ExitCode::FAILURE;
            }
            ui.usage(&usage::of(&command));
            ExitCode::from(WRONG_USAGE)
        }
    }
}
