//! What may be removed to make room for a new trail: a trail, finished or not, and nothing else.

use crate::error::TrailError;
use crate::meta::{META_FILE, Table};
use crate::recording::{Liveness, RECORDING, RUN, unfinished};
use std::fs;
use std::path::Path;

/// Whether what is at `path` is a trail, finished or not, or empty; and nobody loses a file or the ground under their feet if
/// it goes.
pub(crate) fn check_replaceable(path: &Path) -> Result<(), TrailError> {
    let not_replaceable =
        |why: &str| Err(TrailError::NotReplaceable { path: path.to_owned(), why: why.to_owned() });
    if path.is_symlink() || !path.is_dir() {
        return not_replaceable("it is not a directory");
    }
    let names = names(path)?;
    if !names.is_empty() && !path.join(META_FILE).is_file() && !path.join(RECORDING).is_dir() {
        return not_replaceable("it has no trail.json");
    }
    let below = |name: String| format!("{RECORDING}/{name}");
    let in_recording = match path.join(RECORDING).is_dir() {
        true => self::names(&path.join(RECORDING))?,
        false => Vec::new(),
    };
    let foreign = names.into_iter().filter(|name| !is_of_trail(path, name));
    let foreign = foreign.chain(
        in_recording.into_iter().filter(|name| !is_of_recording(&path.join(RECORDING), name)).map(below),
    );
    if let Some(name) = foreign.min() {
        return Err(TrailError::HoldsOthers { path: path.to_owned(), name });
    }
    let recorded = unfinished(path).unwrap_or_default();
    if let Some(alive) = recorded.iter().find(|recording| recording.recorder == Liveness::Alive) {
        return not_replaceable(&format!("process {} is recording into it", alive.pid));
    }
    if is_current_directory_within(path) {
        return Err(TrailError::StandsWithin { path: path.to_owned() });
    }
    Ok(())
}

/// Names in a directory. Those of files that a network file system keeps because they are open are left out.
fn names(directory: &Path) -> Result<Vec<String>, TrailError> {
    let reading = || TrailError::io("read", directory);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(reading())? {
        let name = entry.map_err(reading())?.file_name().to_string_lossy().into_owned();
        names.extend((!name.starts_with(".nfs")).then_some(name));
    }
    Ok(names)
}

/// `trail.json`, `events-0000.parquet`, what a writer that was killed leaves under a temporary name, and the directory of
/// recordings.
fn is_of_trail(directory: &Path, name: &str) -> bool {
    let found = directory.join(name).symlink_metadata();
    if found.as_ref().is_ok_and(|found| !found.is_file()) {
        return name == RECORDING && found.is_ok_and(|found| found.is_dir());
    }
    let is_part = |table: &Table| {
        let number = name.strip_prefix(table.name()).and_then(|rest| rest.strip_prefix('-'));
        number.and_then(|rest| rest.strip_suffix(".parquet")).is_some_and(is_number)
    };
    [META_FILE, "trail.json.new", "cases.parquet", "cases.new"].contains(&name)
        || [Table::Events, Table::Processes, Table::Files, Table::Sites].iter().any(is_part)
}

/// The description of the run, and the directory of a recorder: `HOST-PID-CASE` with its spool, or still empty.
pub(crate) fn is_of_recording(directory: &Path, name: &str) -> bool {
    let numbered = |name: &str| {
        let mut parts = name.rsplitn(3, '-');
        parts.next().is_some_and(is_number) && parts.next().is_some_and(is_number) && parts.next().is_some()
    };
    name.strip_prefix(RUN).is_some_and(|rest| matches!(rest, "" | ".new"))
        || numbered(name) && directory.join(name).is_dir()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether programs that are started here would run in a directory that is removed.
fn is_current_directory_within(path: &Path) -> bool {
    match (std::env::current_dir(), path.canonicalize()) {
        (Ok(current), Ok(path)) => current.starts_with(path),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::small_trail;

    fn refusal(path: &Path) -> String {
        check_replaceable(path).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_trail_is_replaceable_and_one_with_files_of_others_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("t.trail");
        small_trail(&target).unwrap();
        fs::create_dir_all(target.join("recording/host-12-0")).unwrap();
        for name in
            ["trail.json.new", "cases.new", "recording/run.json", "recording/run.json.new", ".nfs0001"]
        {
            fs::write(target.join(name), "").unwrap();
        }
        assert_eq!(refusal(&target), "");
        for name in [
            "notes.txt",
            "events-x.parquet",
            "recording/notes.txt",
            "recording/host-12",
            ".hidden",
            "events-1",
        ] {
            fs::write(target.join(name), "mine").unwrap();
            let said = refusal(&target);
            assert!(said.contains(&format!(" {name},")) && said.contains("move it"), "{name}: {said}");
            fs::remove_file(target.join(name)).unwrap();
        }
        assert_eq!(refusal(&target), "");
    }
}
