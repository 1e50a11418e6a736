//! Which file is at which path, while time goes on.
//!
//! A file keeps its identity through renames and under all its names; the log's numbers tell it. Where there are none, names
//! do: a path whose file was removed still leads to that file for those who have it open, until another file is made there;
//! a descriptor that is older than that file is then taken for the new one.

use iotrail_model::PathId;
use std::sync::Arc;

/// A file: an index into the list of files of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileId(pub(super) u32);

/// A path and the file that it denoted, as the log numbers it.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) path: PathId,
    pub(super) file: iotrail_model::FileId,
}

/// What is known of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The file that is there, or that was there last.
    file: Option<FileId>,
    /// Whether it is there; `None` if nobody looked.
    exists: Option<bool>,
}

/// All paths of a log.
#[derive(Debug)]
pub(super) struct PathFiles<'a> {
    slots: Vec<Slot>,
    paths: &'a [Arc<str>],
    /// Paths in the order of their texts; made when a directory is renamed for the first time.
    by_text: Vec<PathId>,
}

impl<'a> PathFiles<'a> {
    pub(super) fn new(paths: &'a [Arc<str>]) -> Self {
        Self { slots: vec![Slot::default(); paths.len()], paths, by_text: Vec::new() }
    }

    /// The file at a path, also if it was removed and is still open somewhere.
    pub(super) fn file(&self, path: PathId) -> Option<FileId> {
        self.slots.get(path.index())?.file
    }

    /// Whether something is at a path; `None` if that is unknown.
    pub(super) fn exists(&self, path: PathId) -> Option<bool> {
        self.slots.get(path.index())?.exists
    }

    pub(super) fn found(&mut self, path: PathId, exists: bool) {
        if let Some(slot) = self.slots.get_mut(path.index()) {
            slot.exists = Some(exists);
        }
    }

    /// A file is at a path from now on.
    pub(super) fn bind(&mut self, path: PathId, file: FileId) {
        if let Some(slot) = self.slots.get_mut(path.index()) {
            *slot = Slot { file: Some(file), exists: Some(true) };
        }
    }

    /// What is below directory `from`, and what it is called below `to`: pairs of a path and, if the log names it, the other one.
    pub(super) fn below(&mut self, from: PathId, to: PathId) -> Vec<(PathId, Option<PathId>)> {
        if self.by_text.is_empty() {
            self.by_text = (0..self.paths.len()).map(PathId::from_index).collect();
            self.by_text.sort_unstable_by_key(|path| &self.paths[path.index()]);
        }
        let (Some(old), Some(new)) = (self.paths.get(from.index()), self.paths.get(to.index())) else {
            return Vec::new();
        };
        let prefix = format!("{old}/");
        let first = self.by_text.partition_point(|path| *self.paths[path.index()] < *prefix);
        let below = self.by_text[first..].iter().map_while(|path| {
            let rest = self.paths[path.index()].strip_prefix(&prefix)?;
            let target = format!("{new}/{rest}");
            let place = self.by_text.binary_search_by(|other| (*self.paths[other.index()]).cmp(&target));
            Some((*path, place.ok().map(|place| self.by_text[place])))
        });
        below.filter(|(path, _)| self.exists(*path) == Some(true)).collect()
    }
}
