//! Vertices while the graph is made.

use super::path_files::FileId;
use super::record::Extent;
use iotrail_model::{PathId, Timestamp};
use iotrail_query::ProcessId;

#[derive(Clone, Debug)]
pub(super) struct Node {
    /// What it stands for.
    pub(super) what: What,
    /// First sign of it.
    pub(super) first: Option<Timestamp>,
    /// Last sign of it; of a part of a process that is not the last: when the next began.
    pub(super) last: Option<Timestamp>,
}

/// The two kinds of vertices.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// A process, or from 2 a part of it.
    Part(ProcessId, u32),
    /// A file, or a version of it.
    Version(Version),
}

/// A version of a file.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) file: FileId,
    /// The name by which it was begun, or the one that it was given since.
    pub(super) path: PathId,
    /// Its other names.
    pub(super) names: Vec<PathId>,
    /// Somebody of the log made or wrote it.
    pub(super) made: bool,
    /// It may hold data.
    pub(super) filled: bool,
    /// Somebody read it.
    pub(super) read: bool,
    /// How far it is filled, if it was empty at some time of the log.
    pub(super) extent: Option<Extent>,
    /// Bytes that were written to it.
    pub(super) written: u64,
    /// What it continues.
    pub(super) before: Before,
}

/// What a version holds beside what its writers wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    /// What was there before the log.
    Unseen,
    /// What may be in this version.
    Version(u32),
}

impl Version {
    /// Whether data may be in it: what nobody of the log made was there before.
    pub(super) fn may_hold_data(&self) -> bool {
        self.filled || !self.made
    }

    /// Whether it was made, holds nothing, and nobody knows it: the first to write to it writes this version.
    pub(super) fn is_blank(&self) -> bool {
        self.made && !self.filled && !self.read
    }
}

impl Node {
    /// Takes note of a sign of it.
    pub(super) fn seen(&mut self, first: Timestamp, last: Timestamp) {
        self.first = Some(self.first.map_or(first, |known| known.min(first)));
        self.last = Some(self.last.map_or(last, |known| known.max(last)));
    }
}
