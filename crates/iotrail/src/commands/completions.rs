//! `iotrail completions`: shell completions.

use crate::{help, output};
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};
use iotrail_advise::RULES;
use iotrail_query::MAPPINGS;
use iotrail_report::Part;
use std::process::ExitCode;

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  iotrail completions bash > ~/.local/share/bash-completion/completions/iotrail

They complete commands, options, trails, files and the values of options.")]
pub(crate) struct Args {
    /// The shell.
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut with_values(help::command()), "iotrail", &mut text);
    output::stdout(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A command with what can stand in place of each value of the commands below it.
fn with_values(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| with_values(command).mut_args(with_value))
    })
}

fn with_value(arg: Arg) -> Arg {
    if let Some(words) = words(arg.get_id().as_str()) {
        return arg.value_parser(PossibleValuesParser::new(words));
    }
    let hint = match arg.get_value_names().and_then(<[_]>::first).map(|name| name.as_str()) {
        Some("TRAIL" | "DIR" | "TRAIL... [QUERY]") => ValueHint::DirPath,
        Some("FILE" | "PRESET|FILE" | "FILE|DIR|-") => ValueHint::AnyPath,
        Some("COMMAND") => ValueHint::CommandWithArguments,
        _ => return arg,
    };
    arg.value_hint(hint)
}

/// The usual values of an option, by its id.
fn words(option: &str) -> Option<Vec<&'static str>> {
    let words: &[&str] = match option {
        "map" => &MAPPINGS,
        "by" => &["cid", "host", "rid", "label", "trail"],
        "phases" => &["exe", "job", "host", "cid", "rank", "label", "user"],
        "case" => &["rank", "pid", "tid", "exec"],
        "layer" => &["syscall", "posix", "libc", "mpiio", "mpi", "all"],
        "max_concurrency" => &["exact", "paper"],
        "color_by" => &["duration", "bytes", "count", "data-rate", "max-concurrency", "groups"],
        "scale" => &["linear", "log"],
        "edge_label" => &["count", "cases", "gap"],
        "direction" => &["down", "right"],
        "theme" => &["auto", "light", "dark"],
        "files_by" => &["template", "dir", "ext", "file", "map"],
        "table" => &TABLES,
        "plot" => &["ecdf", "histogram", "box", "bytes", "calls", "heat"],
        "calls" => &["io", "file", "desc", "all", "data", "metadata", "socket", "wait"],
        "placement" => &["auto", "same", "free"],
        "wait" => &["all", "main"],
        "view" => &["version", "file"],
        "weight" => &["time", "bytes", "rate", "calls"],
        "explain" => return Some(RULES.iter().map(|rule| rule.id).chain(["list"]).collect()),
        "without" => return Some(Part::ALL.map(Part::name).to_vec()),
        _ => return None,
    };
    Some(words.to_vec())
}

/// The tables of `iotrail stats`.
const TABLES: [&str; 8] =
    ["phases", "calls", "group-calls", "distributions", "files", "processes", "throughput", "all"];

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;

    #[test]
    fn every_value_that_is_offered_is_accepted() {
        let root = help::command();
        let mut offered = 0;
        for command in root.get_subcommands().filter(|command| command.get_name() != "record") {
            for arg in command.get_arguments().filter(|arg| arg.get_long().is_some()) {
                for word in words(arg.get_id().as_str()).unwrap_or_default() {
                    offered += 1;
                    let option = format!("--{}", arg.get_long().unwrap_or_default());
                    let line = ["iotrail", command.get_name(), "x.trail", &option, word];
                    let kind = help::command().try_get_matches_from(line).err().map(|error| error.kind());
                    let is_wrong = |kind: ErrorKind| {
                        matches!(
                            kind,
                            ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::UnknownArgument
                        )
                    };
                    assert!(!kind.is_some_and(is_wrong), "{line:?}: {kind:?}");
                }
            }
        }
        assert!(offered > 100, "{offered}");
    }
}
