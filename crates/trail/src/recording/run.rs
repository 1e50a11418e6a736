//! `recording/run.json`: which run a trail is of, and who takes part in it. Changed under the lock only.

use crate::error::TrailError;
use crate::meta::MAX_META_BYTES;
use crate::recording::JoinOptions;
use crate::recording::join::case_row;
use crate::recording::unfinished::case_of;
use crate::seal::{self, Checksum, JSON_MARK, Seal};
use iotrail_model::{Case, CaseId};
use iotrail_spool::{Header, open_regular, sync_later};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The directory of everything that is not, or not yet, Parquet.
pub(crate) const RECORDING: &str = "recording";
/// Its file about the run.
pub(crate) const RUN: &str = "run.json";
/// What is wrong with a document that is not as it was written.
pub(crate) const BROKEN: &str = "its content does not match its checksum";

/// A run, and the recordings that joined it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Run {
    /// What its launcher calls it.
    pub(crate) run: Option<String>,
    /// The recorded command line of the first recording.
    pub(crate) command: Vec<String>,
    /// The number of ranks.
    pub(crate) world: Option<u32>,
    /// The ranks that joined.
    pub(crate) ranks: Vec<u32>,
    /// One case for each recording that joined, by its number.
    pub(crate) cases: Vec<Case>,
    /// Those of them whose command could not be started: they recorded nothing.
    pub(crate) abandoned: Vec<CaseId>,
    /// The checksum of the document itself; older ones lack it.
    pub(crate) checksum: Checksum,
}

/// The ranks of a trail that is not finished which never joined it.
///
/// # Errors
/// What is known of its run cannot be read.
pub fn missing_ranks(trail: &Path) -> Result<Vec<u32>, TrailError> {
    let run = Run::read(trail)?.unwrap_or_default();
    let all = run.world.filter(|_| !run.ranks.is_empty()).unwrap_or(0);
    Ok((0..all).filter(|rank| !run.ranks.contains(rank)).collect())
}

impl Run {
    /// The run that a recording begins.
    pub(crate) fn of(options: &JoinOptions) -> Self {
        Self {
            run: options.run.clone(),
            command: options.command.clone(),
            world: options.world,
            ..Self::default()
        }
    }

    /// Reads the run of the trail `target`; `None` if it has none.
    pub(crate) fn read(target: &Path) -> Result<Option<Self>, TrailError> {
        let path = path(target);
        match read_document(&path) {
            Ok(json) if seal::examine(&json, JSON_MARK) == Seal::Broken => {
                Err(TrailError::damaged(&path, None, BROKEN))
            }
            Ok(json) => {
                serde_json::from_slice(&json).map(Some).map_err(|source| TrailError::Json { path, source })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(TrailError::io("read", &path)(error)),
        }
    }

    pub(crate) fn write(&self, target: &Path) -> Result<(), TrailError> {
        let path = path(target);
        write_json(&path, self)?;
        sync_later(&[&path]);
        Ok(())
    }

    /// Removes the run of the trail `target`, if it has one.
    pub(crate) fn remove(target: &Path) -> Result<(), TrailError> {
        let path = path(target);
        for path in [new_name(&path), path] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(TrailError::io("remove", &path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a recording with these options is part of this run. Launchers that name their runs decide by name; with
    /// others, the same program on as many ranks is the same run. A rank that comes again is of another run in any case: a
    /// batch job may run several programs one after the other.
    pub(crate) fn takes(&self, options: &JoinOptions) -> bool {
        let is_new = options.rank.is_none_or(|rank| !self.ranks.contains(&rank));
        match (&self.run, &options.run) {
            (Some(own), Some(other)) => own == other && is_new,
            (None, None) => {
                let same = self.command == options.command && self.world == options.world;
                same && options.rank.is_some() && is_new
            }
            _ => false,
        }
    }

    /// Whether it is the run of a recording that begins like this, as far as it tells of that.
    pub(crate) fn is_of(&self, header: &Header) -> bool {
        let id = case_of(header).unwrap_or(CaseId(0));
        let own = self.cases.get(id.index());
        own.is_none_or(|own| Case { interleaved: false, ..own.clone() } == case_row(header, id))
    }

    /// Whether recordings may still join.
    pub(crate) fn is_open(&self) -> bool {
        let all = |world: u32| (0..world).all(|rank| self.ranks.contains(&rank));
        (self.run.is_some() || !self.ranks.is_empty()) && !self.world.is_some_and(all)
    }

    /// The run in words.
    pub(crate) fn describe(&self) -> String {
        let name = self.run.clone().unwrap_or_else(|| self.command.join(" "));
        iotrail_model::text::printable(&name).into_owned()
    }
}

fn path(target: &Path) -> PathBuf {
    target.join(RECORDING).join(RUN)
}

/// Writes a value as JSON under a temporary name, waits until it is on storage and gives it its own.
pub(crate) fn replace_json(path: &Path, value: &impl Serialize) -> Result<(), TrailError> {
    let (new, file) = new_json(path, value)?;
    file.sync_all().map_err(TrailError::io("write", path))?;
    fs::rename(&new, path).map_err(TrailError::io("write", path))
}

/// The same without waiting.
/// Reads a document, which is small and regular.
fn read_document(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut json = Vec::new();
    open_regular(path)?.take(MAX_META_BYTES).read_to_end(&mut json)?;
    Ok(json)
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), TrailError> {
    let (new, _) = new_json(path, value)?;
    fs::rename(&new, path).map_err(TrailError::io("write", path))
}

/// What a document is called until it is whole.
fn new_name(path: &Path) -> PathBuf {
    path.with_extension("json.new")
}

fn new_json(path: &Path, value: &impl Serialize) -> Result<(PathBuf, fs::File), TrailError> {
    let mut json = serde_json::to_vec_pretty(value)
        .map_err(|source| TrailError::Json { path: path.to_owned(), source })?;
    seal::seal(&mut json, JSON_MARK);
    let new = new_name(path);
    let writing = || TrailError::io("write", path);
    // Left by one who was killed here.
    let _ = fs::remove_file(&new);
    let mut file = fs::File::create_new(&new).map_err(writing())?;
    std::io::Write::write_all(&mut file, &json).map_err(writing())?;
    Ok((new, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(rank: u32) -> JoinOptions {
        JoinOptions {
            rank: Some(rank),
            world: Some(2),
            command: vec!["app".to_owned()],
            ..JoinOptions::default()
        }
    }

    fn joined(options: &JoinOptions) -> Run {
        Run { ranks: options.rank.into_iter().collect(), ..Run::of(options) }
    }

    #[test]
    fn a_named_run_takes_its_own() {
        let first = JoinOptions { run: Some("job.1".into()), ..rank(0) };
        let run = joined(&first);
        assert!(run.takes(&JoinOptions { run: Some("job.1".into()), ..rank(1) }));
        assert!(!run.takes(&JoinOptions { run: Some("job.2".into()), ..rank(1) }));
        assert!(!run.takes(&rank(1)));
        assert!(!run.takes(&first), "the next program of the same job");
    }

    #[test]
    fn without_a_name_ranks_of_one_command_are_a_run_until_one_comes_twice() {
        let run = joined(&rank(0));
        assert!(run.takes(&rank(1)));
        assert!(!run.takes(&rank(0)), "the second run of the same command");
        assert!(!run.takes(&JoinOptions { world: Some(3), ..rank(1) }));
        assert!(!run.takes(&JoinOptions { command: vec!["other".into()], ..rank(1) }));
        assert!(!joined(&JoinOptions::default()).takes(&JoinOptions::default()), "programs without ranks");
    }

    #[test]
    fn a_run_is_complete_when_each_rank_has_joined() {
        assert!(joined(&rank(0)).is_open());
        assert!(!Run { ranks: vec![1, 0], ..Run::of(&rank(0)) }.is_open());
        assert!(!Run::default().is_open());
    }
}
