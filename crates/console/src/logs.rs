//! The one door to event logs. A structure is read as the trail that it expands to, which is gone when the log is.

use crate::hints;
use crate::signals;
use crate::ui::Ui;
use anyhow::Context;
use iotrail_compress::{CompressError, expand_into, is_structure_file, load};
use iotrail_model::text::printable;
use iotrail_model::{Coverage, Note, units};
use iotrail_structure_file::Document;
use iotrail_trail::{CreateOptions, EventLog, Trail, TrailWriter};
use std::path::{Path, PathBuf};

/// Opens trails and structures as one event log, in the order given, and warns of events that are missing.
///
/// # Errors
/// If one of them cannot be opened, or a structure not expanded.
pub fn open(paths: &[PathBuf], ui: &Ui) -> anyhow::Result<EventLog> {
    let trails = paths.iter().map(|path| trail(path, ui)).collect::<anyhow::Result<Vec<_>>>()?;
    for (path, trail) in paths.iter().zip(&trails) {
        missing(path, trail.coverage()).iter().for_each(|text| ui.warn(text));
    }
    Ok(EventLog::of_trails(trails)?)
}

/// What a trail does not hold that was seen: a sentence for each reason.
#[must_use]
pub fn missing(path: &Path, coverage: &Coverage) -> Vec<String> {
    let name = printable(&path.to_string_lossy()).into_owned();
    let is_missing = |note: &&Note| matches!(note, Note::Unfinished | Note::RecordingLeftOut { .. });
    let notes = coverage.notes.iter().filter(is_missing);
    let mut missing: Vec<String> =
        notes.map(|note| format!("{name}: {}", hints::of_note(note, &name))).collect();
    let lost = coverage.recording.iter().flat_map(|recording| &recording.lost);
    missing.extend(lost.filter(|(_, events)| **events > 0).map(|(reason, events)| {
        let events = units::counted(*events, "event is", "events are");
        format!("{name}: {events} lost ({})", printable(reason))
    }));
    missing
}

/// The structures among these, by the name of their file.
///
/// # Errors
/// If one of them cannot be read.
pub fn structures(paths: &[PathBuf]) -> anyhow::Result<Vec<(String, Document)>> {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let structures = paths.iter().filter(|path| is_structure_file(path));
    structures.map(|path| Ok((name(path), load(path)?))).collect()
}

fn trail(path: &Path, ui: &Ui) -> anyhow::Result<Trail> {
    if is_structure_file(path) { expanded(path, ui) } else { Ok(Trail::open(path)?) }
}

/// The structure at `path` as a trail that is called like it.
fn expanded(path: &Path, ui: &Ui) -> anyhow::Result<Trail> {
    let document = load(path)?;
    let (bar, total) = (ui.event_bar("expanding"), document.events());
    // From before the directory is made: it is not there for a moment without being named.
    let end = signals::postpone().context("cannot watch for signals")?;
    let made = Trail::in_place_of(path, |target| {
        end.remove_at_end(target.parent().unwrap_or(target));
        let writer = TrailWriter::create(target, CreateOptions::default())?.not_durable();
        expand_into(&document, writer, 0, |done| bar.show(done, total)).map(drop)
    });
    bar.clear();
    let name = path.display();
    made.map_err(|error| match error {
        CompressError::Trail(error) => {
            let there = std::env::temp_dir();
            let why = format!("cannot expand {name} in {} (TMPDIR names another directory)", there.display());
            anyhow::Error::from(error).context(why)
        }
        error => anyhow::Error::from(error).context(name.to_string()),
    })
}
