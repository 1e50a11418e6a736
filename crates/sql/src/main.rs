//! The `iotrail-sql` command line: `iotrail sql` calls it. Parse arguments into a plan, call the library, print. No logic.

mod cli;
mod memory;
mod prompt;
mod run;

use clap::Parser;
use iotrail_console::{output, ui::Ui};
use iotrail_sql::SqlError;
use std::process::ExitCode;

/// What shells answer for a program that the user interrupted.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let args = cli::Args::parse();
    let ui = Ui::new(args.colour, args.quiet);
    match run::run(&args, &ui) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            ui.error(&error);
            match error.downcast_ref::<SqlError>() {
                Some(SqlError::Interrupted) => ExitCode::from(INTERRUPTED),
                _ => ExitCode::FAILURE,
            }
        }
    }
}
