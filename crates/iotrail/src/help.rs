//! The command line as clap sees it, with a first screen that lists the commands in groups.

use crate::cli::Cli;
use clap::{Command, CommandFactory};
use std::fmt::Write;

/// The commands by what they are for, in the order of the first screen.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Record", &["record", "import"]),
    (
        "Look",
        &[
            "why",
            "files",
            "sessions",
            "advise",
            "report",
            "dfg",
            "stats",
            "workflow",
            "structure",
            "loops",
            "matrix",
            "tree",
            "processes",
            "events",
        ],
    ),
    ("Compare", &["compare"]),
    ("Model", &["characterize", "workload", "generate", "validate", "replay"]),
    ("Exchange", &["compress", "expand", "export", "sql", "redact"]),
    ("Manage", &["info", "check", "recover", "completions", "man"]),
];

/// The whole command line.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let template = first_screen(&command);
    command.help_template(template)
}

/// The command called `name`, or an alias of it, knowing its full name.
pub(crate) fn subcommand(name: &str) -> Option<Command> {
    let mut root = command();
    root.build();
    root.find_subcommand(name).cloned()
}

/// The template of the program's own help.
fn first_screen(command: &Command) -> String {
    let heading = command.get_styles().get_header();
    let name_style = command.get_styles().get_literal();
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (group, names) in GROUPS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{heading}{group}:{heading:#}");
        for command in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name_style}{:<11}{name_style:#}  {about}", command.get_name());
        }
    }
    let _ = write!(text, "\n{heading}Options:{heading:#}\n{{options}}{{after-help}}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_described_in_one_line() {
        let command = command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(grouped, names, "the order of the first screen is that of the enumeration");
        grouped.sort_unstable();
        grouped.dedup();
        assert_eq!(grouped.len(), names.len());
        for command in command.get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!((10..=64).contains(&about.len()), "{}: {about}", command.get_name());
        }
    }

    /// Lines of a paragraph would be wrapped twice: by us, and by clap at the width of the terminal.
    #[test]
    fn paragraphs_of_help_are_lines_that_clap_wraps() {
        let root = command();
        for command in root.get_subcommands().chain([&root]) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = help.lines().collect();
            for pair in lines.windows(2) {
                let broken = !pair[0].is_empty() && !pair[0].starts_with("  ") && !pair[0].ends_with(':');
                assert!(!pair[0].starts_with("  ") || pair[0].len() <= 110, "{}", pair[0]);
                let goes_on = pair[1].chars().next().is_some_and(char::is_lowercase);
                assert!(!(broken && goes_on), "{}: {}", command.get_name(), pair[1]);
            }
        }
    }
}
