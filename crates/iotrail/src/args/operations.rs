//! Operations on workflow graphs: options whose order on the command line counts.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, error::ErrorKind};
use iotrail_workflow::ops::Operation;

const HEADING: &str = "Operations, applied in the order given";

/// Options that take a value: name, what the value is called, help.
const VALUED: [(&str, &str, &str); 9] = [
    (
        "select",
        "EXPR",
        "Keep what matches an expression: `kind=process & exe=mAdd`, `path~^/data | bytes>1MB`",
    ),
    (
        "hide",
        "EXPR",
        "Leave out what matches an expression; `system`: files of the system, see --show-system",
    ),
    (
        "ancestors",
        "V",
        "Keep V and what leads to it. V: a key, a label, a path or a glob of paths, or an expression",
    ),
    ("descendants", "V", "Keep V and what it leads to"),
    ("neighbours", "V", "Keep V and what an edge links it with"),
    ("window", "T1..T2", "Keep what happened from T1 until T2: RFC 3339, time of day, `+1.5s`, `50%`"),
    ("phase", "G", "Keep the processes of a group and the files that they accessed"),
    (
        "aggregate",
        "KEYS",
        "Join vertices: `process=exe|cmd|host|cid|env:NAME|phase|cluster`, `file=dir|ext|template|all`, or one of each with a comma",
    ),
    ("weight", "WEIGHT", "Weight used by later operations and pictures: `time`, `bytes`, `rate` or `calls`"),
];

/// Options without a value.
const FLAGS: [(&str, &str); 7] = [
    ("cluster", "Join processes that behave alike, and files by template"),
    ("critical-path", "Print the critical path as executed, and the heaviest path by the weight"),
    ("slack", "Print how much heavier each vertex could be before the heaviest path is"),
    ("bottlenecks", "Print edges whose rate is far below the median of their kind"),
    ("degrees", "Print degrees, betweenness and reach of each vertex"),
    ("clusters", "Print the groups of processes that behave alike"),
    ("paths", "Print every name of each file: hard links, names before a rename"),
];

/// The operations in the order of the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations(pub(crate) Vec<Operation>);

impl clap::Args for Operations {
    fn augment_args(command: Command) -> Command {
        let valued = VALUED.iter().map(|(name, value, help)| {
            let arg = Arg::new(*name).long(*name).value_name(*value).help(*help).help_heading(HEADING);
            let arg = if *name == "neighbours" { arg.visible_alias("neighbors") } else { arg };
            arg.action(ArgAction::Append).allow_hyphen_values(*name == "window")
        });
        let flags = FLAGS.iter().map(|(name, help)| {
            Arg::new(*name).long(*name).help(*help).help_heading(HEADING).action(ArgAction::Count)
        });
        command.args(valued).args(flags)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Operations {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut found: Vec<(usize, &str, &str)> = Vec::new();
        for (name, ..) in VALUED {
            let values = matches.get_many::<String>(name).into_iter().flatten();
            let indices = matches.indices_of(name).into_iter().flatten();
            found.extend(indices.zip(values).map(|(index, value)| (index, name, value.as_str())));
        }
        for (name, _) in FLAGS {
            if matches.value_source(name) == Some(ValueSource::CommandLine) {
                found.extend(matches.indices_of(name).into_iter().flatten().map(|index| (index, name, "")));
            }
        }
        found.sort_unstable();
        let parse = |(_, name, word): (usize, &str, &str)| Operation::parse(name, word);
        let operations = found.into_iter().map(parse).collect::<Result<Vec<_>, _>>();
        operations
            .map(Self)
            .map_err(|error| clap::Error::raw(ErrorKind::ValueValidation, format!("--{error}\n")))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
