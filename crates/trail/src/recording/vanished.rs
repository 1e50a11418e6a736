//! Recordings of a run that are gone: who joins has a directory of its own before `run.json` names it, and keeps it until `trail.json`
//! lists it.

use crate::error::TrailError;
use crate::meta::{META_FILE, Table};
use crate::recording::run::Run;
use crate::recording::unfinished::directories;
use crate::trail::read_meta;
use iotrail_model::{Case, Coverage, Note, RecordingCoverage};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The cases of the run that are neither part of the trail nor wait for it.
pub(crate) fn vanished(target: &Path, run: &Run) -> Result<Vec<Case>, TrailError> {
    if run.cases.is_empty() {
        return Ok(Vec::new());
    }
    // A recorder that finishes meanwhile is listed before its directory goes.
    let mut names = directories(target)?;
    if target.join(META_FILE).symlink_metadata().is_ok() {
        names.extend(read_meta(target)?.recordings);
    }
    let numbers: BTreeSet<u32> =
        names.iter().filter_map(|name| name.rsplit('-').next()?.parse().ok()).collect();
    let is_gone = |case: &&Case| !numbers.contains(&case.id.0) && !run.abandoned.contains(&case.id);
    Ok(run.cases.iter().filter(is_gone).cloned().collect())
}

/// States that recordings are gone, each once.
pub(crate) fn state(vanished: &[Case], coverage: &mut Coverage) {
    for case in vanished {
        let why = "its directory is gone from `recording`, and trail.json does not list it".to_owned();
        let note = Note::RecordingLeftOut { case: Some(case.name.to_string()), why };
        if coverage.notes.iter().all(|known| *known != note) {
            let missing = RecordingCoverage { recorders: 1, lost_unknown: 1, ..RecordingCoverage::default() };
            coverage.merge(&Coverage::of_recording(missing));
            coverage.note(note);
        }
    }
}

/// Refuses a trail whose finished part nothing lists any more: to finish the rest of it would overwrite that.
pub(crate) fn refuse_unlisted(target: &Path, vanished: &[Case]) -> Result<(), TrailError> {
    if vanished.is_empty() || target.join(META_FILE).symlink_metadata().is_ok() {
        return Ok(());
    }
    let first = Table::Events.file_name(0);
    if fs::symlink_metadata(target.join(&first)).is_err() {
        return Ok(());
    }
    let why = format!(
        "trail.json is missing, which listed {first} and what else was finished; put it back, or rescue the rest with \
         iotrail recover --salvage -o NEW.trail"
    );
    Err(TrailError::NotATrail { path: target.to_owned(), why })
}
