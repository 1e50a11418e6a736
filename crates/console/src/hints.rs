//! What to do about facts, errors, warnings and texts, in words of the command line. Libraries know no options and no commands:
//! they state what is the case as values, and here each value that something can be done about gets its words.

use crate::near::{nearest, trails_in};
use iotrail_compress::CompressError;
use iotrail_dfg::DfgError;
use iotrail_model::Note;
use iotrail_model::text::printable;
use iotrail_query::{MAPPINGS, QueryError, Warning};
use iotrail_stats::StatsError;
use iotrail_terminal::Hint;
use iotrail_trail::TrailError;
use iotrail_workflow::ops::OpError;
use std::error::Error;
use std::io::ErrorKind;
use std::path::Path;

/// A fact of the trail `name`, with what to do about it.
#[must_use]
pub fn of_note(note: &Note, name: &str) -> String {
    match note {
        Note::FilesWithoutDate { .. } => format!("{note}; --date gives the date"),
        Note::Unfinished => format!("{note}; to finish it: iotrail recover {name}"),
        _ => note.to_string(),
    }
}

/// A warning, with the option that it is about or what to do.
#[must_use]
pub fn of_warning(warning: &Warning) -> String {
    match warning {
        Warning::OneLayerOfSeveral { .. } => format!("{warning}, choose with --layer"),
        Warning::NoSuchCall { words, there } => {
            let names = || there.iter().map(String::as_str);
            let meant = words.split(',').find_map(|word| nearest(word, names()));
            format!("--{warning}{}", meant.map(did_you_mean).unwrap_or_default())
        }
        _ if warning.setting().is_some() => format!("--{warning}"),
        _ => warning.to_string(),
    }
}

/// An error with its causes, the option that it is about, and what to do.
#[must_use]
pub fn of_error(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let (plain, worded) = (cause.to_string(), of_cause(cause));
        if text.contains(&plain) {
            text = text.replacen(&plain, &worded, 1);
        } else {
            let separator = if text.is_empty() { "" } else { ": " };
            text = format!("{text}{separator}{worded}");
        }
    }
    let what_to_do = |cause| of_trail(cause).or_else(|| of_mapping(cause)).or_else(|| of_structure(cause));
    text + &error.chain().find_map(what_to_do).unwrap_or_default()
}

fn did_you_mean(word: &str) -> String {
    format!("; did you mean {}?", printable(word))
}

/// One cause, with the option that it is about.
fn of_cause(cause: &(dyn Error + 'static)) -> String {
    let is_of_option = matches!(cause.downcast_ref(), Some(QueryError::Word { .. }))
        || matches!(cause.downcast_ref(), Some(OpError::Word { .. }))
        || matches!(cause.downcast_ref(), Some(StatsError::Table(_)));
    let hint = match (cause.downcast_ref(), cause.downcast_ref()) {
        (Some(OpError::Cyclic { .. } | OpError::Aggregated { .. }), _) => {
            " (--critical-path before --aggregate and --cluster)"
        }
        (_, Some(DfgError::UnknownGroup { known, .. })) if known.is_empty() => " (--by label)",
        _ => "",
    };
    format!("{}{cause}{hint}", if is_of_option { "--" } else { "" })
}

/// The mapping that was meant by the name of a file that does not exist.
fn of_mapping(cause: &(dyn Error + 'static)) -> Option<String> {
    match cause.downcast_ref()? {
        QueryError::Read { file, source } if source.kind() == ErrorKind::NotFound => {
            nearest(file, MAPPINGS).map(did_you_mean)
        }
        _ => None,
    }
}

/// How a trail becomes the structure that was meant.
fn of_structure(cause: &(dyn Error + 'static)) -> Option<String> {
    match cause.downcast_ref()? {
        CompressError::IsTrail(path) => {
            let structure = shown(&path.with_extension("structure"));
            Some(format!("; to make one of it: iotrail compress -o {structure} {}", shown(path)))
        }
        _ => None,
    }
}

/// How many trails are named in place of one that does not exist.
const NAMED: usize = 5;

/// The trails that may have been meant by one that does not exist.
fn instead_of(missing: &Path) -> Option<String> {
    let directory = missing.parent()?;
    if iotrail_trail::is_trail(directory) {
        return None;
    }
    let trails: Vec<String> = trails_in(directory).iter().map(|path| shown(path)).collect();
    let without_ending = shown(missing) + ".trail";
    if trails.contains(&without_ending) {
        return Some(did_you_mean(&without_ending));
    }
    if let Some(meant) = nearest(&shown(missing), trails.iter().map(String::as_str)) {
        return Some(did_you_mean(meant));
    }
    let and_others = if trails.len() > NAMED { " and others" } else { "" };
    let trails: Vec<String> = trails.into_iter().take(NAMED).collect();
    (!trails.is_empty()).then(|| format!("; trails there: {}{and_others}", trails.join(", ")))
}

/// What to do with a file or directory that is not a trail.
fn with_other(path: &Path) -> Option<String> {
    let trails: Vec<String> = trails_in(path).iter().take(NAMED).map(|path| shown(path)).collect();
    if !trails.is_empty() {
        return Some(format!("; there are trails in it: {}", trails.join(", ")));
    }
    let trail = path.with_extension("trail");
    let command = match path.extension().is_some_and(|ending| ending == "structure") {
        true => "to make one of a structure: iotrail expand",
        false => "to import traces: iotrail import",
    };
    (path.exists() && trail != path).then(|| format!("; {command} -o {} {}", shown(&trail), shown(path)))
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// What to do about an error of a trail, as the end of its sentence.
fn of_trail(cause: &(dyn Error + 'static)) -> Option<String> {
    match cause.downcast_ref()? {
        TrailError::Io { action: "open", path, source } if source.kind() == ErrorKind::NotFound => {
            instead_of(path)
        }
        TrailError::Io { action: "create", path, source } => match source.kind() {
            ErrorKind::NotFound => {
                let directory = path.parent().filter(|directory| !directory.exists())?;
                Some(format!("; there is no directory {}", shown(directory)))
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Some("; write it elsewhere with -o".to_owned())
            }
            _ => None,
        },
        TrailError::NotATrail { path, .. } => with_other(path),
        TrailError::Exists { .. } | TrailError::OtherRun { .. } => {
            Some(", or replace it with --force".to_owned())
        }
        TrailError::NotReplaceable { .. } => Some("; choose another name".to_owned()),
        TrailError::Locked { .. } => Some("; iotrail recover finishes it".to_owned()),
        TrailError::NotConverted { path, .. } => Some(format!(
            "; `iotrail recover {}` finishes the trail there, or elsewhere with -o",
            shown(path)
        )),
        TrailError::Moved { to, .. } => Some(format!("; `iotrail recover {}` finishes the trail", shown(to))),
        TrailError::DamagedSpool { target, .. } => {
            Some(format!("; to take what can be read: iotrail recover --salvage {}", shown(target)))
        }
        _ => None,
    }
}

/// The words for what a text on the terminal leaves to the program.
pub(crate) const fn words(hint: Hint) -> &'static str {
    match hint {
        Hint::MoreRows => "--top N shows more, --json and --csv all",
        Hint::MoreInJson => "--top N shows more, --json all",
        Hint::MorePieces => "--top",
        Hint::AllRows => "--json has all",
        Hint::WholeGraph => {
            "Everything: -o FILE.json or FILE.csv. A picture: -o FILE.svg. A page to explore: iotrail report."
        }
        Hint::ExplainMapping => "`--map-explain` shows what the mapping does.",
        Hint::WholeTables => {
            "Whole tables: --critical-path, --slack, --bottlenecks, --degrees, --clusters, --paths. A picture: -o FILE.svg."
        }
        Hint::MapPaths => "--map FILE, docs/mapping.md",
        Hint::CommonPhases => "Is --phases what they have in common?",
        Hint::ExplainRule => "iotrail advise --explain",
        Hint::RecordWaits => "--calls io,wait",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_trail_names_the_command_that_finishes_it() {
        let text = of_note(&Note::Unfinished, "a.trail");
        assert_eq!(text, "this trail is not finished; to finish it: iotrail recover a.trail");
        assert_eq!(of_note(&Note::Redacted, "a.trail"), Note::Redacted.to_string());
    }

    fn word() -> QueryError {
        let (word, problem, allowed) = ("x".to_owned(), "not a layer".to_owned(), "write mpi".to_owned());
        QueryError::Word { setting: "layer", word, problem, allowed }
    }

    #[test]
    fn an_error_names_its_option_however_deep_it_is() {
        let expected = "--layer `x`: not a layer; write mpi";
        assert_eq!(of_error(&word().into()), expected);
        let deep = anyhow::Error::from(word()).context("cannot draw");
        assert_eq!(of_error(&deep), format!("cannot draw: {expected}"));
    }

    #[test]
    fn an_error_of_a_trail_says_what_to_do_once() {
        let exists = || TrailError::Exists { path: "a.trail".into() };
        let expected = "a.trail exists already: choose another name, or replace it with --force";
        assert_eq!(of_error(&exists().into()), expected);
        assert_eq!(of_error(&StatsError::from(exists()).into()), expected);
    }

    #[test]
    fn a_trail_in_place_of_a_structure_names_the_command_that_makes_one() {
        let error = CompressError::IsTrail("a.trail".into());
        let expected =
            "a.trail is a trail, not a structure; to make one of it: iotrail compress -o a.structure a.trail";
        assert_eq!(of_error(&error.into()), expected);
    }

    #[test]
    fn a_warning_names_its_option() {
        assert_eq!(of_warning(&Warning::NoGroups), "--by: no case belongs to any group");
    }
}
