//! The command line of this run, or what was probably meant by a wrong one.

use crate::cli::Cli;
use crate::{help, inputs, offers};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, FromArgMatches};
use iotrail_console::near::nearest;
use iotrail_console::output;
use iotrail_console::ui::{Colour, Ui};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The command line, the name of its command, and whether no output of it replaces what it reads.
///
/// # Errors
/// At wrong words: what clap says of them, with the command that was meant, and with the usage of the command that was named. Also where
/// help or the version is asked for.
pub(crate) fn parsed() -> Result<(Cli, String, anyhow::Result<()>), clap::Error> {
    let words = as_options(std::env::args_os().collect());
    let parse = || {
        let matches = help::command().try_get_matches_from(&words)?;
        let name = matches.subcommand_name().unwrap_or_default().to_owned();
        Ok((Cli::from_arg_matches(&matches)?, name, inputs::spared(&matches)))
    };
    parse().map_err(|error: clap::Error| explained(error, &words))
}

/// Prints help, the version or what is wrong, and how the program ends then.
pub(crate) fn told(said: &clap::Error) -> ExitCode {
    let printed = said.print().and_then(|()| std::io::stdout().flush());
    if said.use_stderr() {
        return ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(u8::MAX));
    }
    let failed = printed.map_err(|error| anyhow::Error::from(error).context("cannot write to stdout")).err();
    let Some(error) = failed.filter(|error| !output::is_closed_pipe(error)) else { return ExitCode::SUCCESS };
    Ui::new(Colour::default(), false).error(&error);
    ExitCode::FAILURE
}

/// `help`, `help COMMAND` and `version`, as many programs have them, are what `--help` and `--version` are.
fn as_options(mut words: Vec<OsString>) -> Vec<OsString> {
    match words.get(1).and_then(|word| word.to_str()) {
        Some("help") => {
            words.remove(1);
            words.truncate(2);
            words.push("--help".into());
        }
        Some("version") => words[1] = "--version".into(),
        _ => {}
    }
    words
}

/// The error with what helps.
fn explained(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        return error;
    }
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand).cloned() {
        let rest: Vec<String> = words
            .iter()
            .skip_while(|other| other.as_os_str() != &*word)
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let offered = |offer: String| clap::Error::raw(ErrorKind::InvalidSubcommand, offer);
        if let Some(offer) = offers::for_file(Path::new(&word), &rest) {
            return offered(offer);
        }
        // clap measures how alike words are by letters in nearly the same place: `dgf` is nothing like `dfg` to it.
        let root = help::command();
        let meant = nearest(&word, root.get_subcommands().map(Command::get_name)).map(str::to_owned);
        if let Some(meant) = meant {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![meant]));
            return error;
        }
        return offers::for_program(&rest).map_or(error, offered);
    }
    let named = words.iter().skip(1).find_map(|word| help::subcommand(word.to_str()?));
    let Some(mut command) = named else { return error };
    if error.context().next().is_none() {
        return error.format(&mut command);
    }
    if error.get(ContextKind::Usage).is_none() {
        error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    }
    error
}
