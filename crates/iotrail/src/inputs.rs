//! Files that a command line names to be read, none of which an output may replace.

use anyhow::bail;
use clap::ArgMatches;
use clap::parser::ValueSource;
use std::ffi::OsStr;
use std::path::Path;

/// Arguments that name what is written.
const OUTPUTS: [&str; 3] = ["output", "report", "json"];
/// Arguments that are words of other programs.
const WORDS: [&str; 2] = ["command", "app"];
/// Commands that see to it themselves: a model is changed in its own place, and a trail replaces nothing but a trail.
const CAREFUL: [&str; 5] = ["workload", "import", "expand", "redact", "recover"];

/// Whether no output of a command has the place of a file that another argument names.
///
/// # Errors
/// One has: it would be lost.
pub(crate) fn spared(matches: &ArgMatches) -> anyhow::Result<()> {
    let Some((_, command)) = matches.subcommand().filter(|(name, _)| !CAREFUL.contains(name)) else {
        return Ok(());
    };
    if command.subcommand().is_some() {
        return spared(command);
    }
    let given = |id: &str| command.value_source(id) == Some(ValueSource::CommandLine);
    let ids: Vec<&str> = command.ids().map(clap::Id::as_str).filter(|id| given(id)).collect();
    let (outputs, others): (Vec<&str>, Vec<&str>) = ids.into_iter().partition(|id| OUTPUTS.contains(id));
    let read = others.into_iter().filter(|id| !WORDS.contains(id));
    let read: Vec<&OsStr> = read.flat_map(|id| values(command, id)).collect();
    for output in outputs.into_iter().flat_map(|id| values(command, id)).map(Path::new) {
        let Some(place) = output.canonicalize().ok().filter(|place| place.is_file()) else { continue };
        if read.iter().any(|input| Path::new(input).canonicalize().ok().as_ref() == Some(&place)) {
            bail!(
                "{}: it is read by this command, and would be lost: write to another name",
                output.display()
            );
        }
    }
    Ok(())
}

/// The words that were given for an argument.
fn values<'a>(command: &'a ArgMatches, id: &str) -> impl Iterator<Item = &'a OsStr> {
    command.try_get_raw(id).ok().flatten().into_iter().flatten()
}
