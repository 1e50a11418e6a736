//! The model of a workload: what is written in a model file.

mod error;
mod knobs;
mod names;
mod quantity;
mod read;
mod synthesis;
mod totals;
mod write;

pub use error::ModelError;
pub use knobs::{Knob, KnobError, Knobs};
pub use synthesis::{Action, Synthetic, synthesise};
pub use totals::{TooMuch, Totals};

use std::collections::BTreeMap;

/// Version of model files that is read and written.
pub const VERSION: i64 = 1;

/// What the ranks of a program do to files, at any number of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Sets of ranks.
    pub groups: Vec<RankGroup>,
    /// Files.
    pub files: Vec<ModelFile>,
    /// What all ranks do, in order.
    pub steps: Vec<ProgramStep>,
}

/// Ranks that synchronise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankGroup {
    /// Its name.
    pub name: String,
    /// The first rank.
    pub first: u32,
    /// The last one; NULL for that of the run.
    pub last: Option<u32>,
}

impl RankGroup {
    /// Whether a rank is in it.
    #[must_use]
    pub fn contains(&self, rank: u32) -> bool {
        rank >= self.first && self.last.is_none_or(|last| rank <= last)
    }

    /// How many of so many ranks are in it.
    #[must_use]
    pub fn size(&self, ranks: u32) -> u32 {
        let behind = self.last.map_or(ranks, |last| last.saturating_add(1).min(ranks));
        behind.saturating_sub(self.first)
    }
}

/// Who uses a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Rank 0 alone.
    Root,
    /// All ranks.
    Shared,
    /// Each rank its own one.
    Private,
}

/// A file, or one of each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    /// Its name beneath the directory of a run; `%r` stands for the rank, `%i` for the number of the file, from 0.
    pub name: String,
    /// So many files of this name, that differ in `%i`: the k-th execution of a session is on file k modulo this.
    pub count: u64,
    /// Who uses it.
    pub class: Sharing,
    /// Bytes that it holds before the run; 0 if it is not there.
    pub size: u64,
    /// What is done through one open.
    pub sessions: Vec<ModelSession>,
}

impl ModelFile {
    /// The name of the file of a rank and a number.
    #[must_use]
    pub fn instance(&self, rank: u32, number: u64) -> String {
        self.name.replace("%r", &rank.to_string()).replace("%i", &number.to_string())
    }
}

/// What is done from an open to its close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSession {
    /// Its name, unique in the file.
    pub name: String,
    /// How the file is opened.
    pub mode: Mode,
    /// Requests between open and close, spread evenly among each other; at least one, no count is 0.
    pub requests: BTreeMap<RequestKind, u64>,
    /// Bytes of transfers, with weights; not empty where there are transfers.
    pub sizes: BTreeMap<u64, u64>,
    /// Those of writes, where reads have other ones; else empty.
    pub write_sizes: BTreeMap<u64, u64>,
    /// The same in the order of the transfers, as runs of size and number, where it is not drawn; their sum is the number of
    /// transfers, which are all reads or all writes.
    pub runs: Vec<(u64, u64)>,
    /// Where transfers begin.
    pub offset: OffsetLaw,
    /// Time before each request, in ns.
    pub slack: u64,
}

impl ModelSession {
    /// Sizes of transfers of that kind, with weights.
    #[must_use]
    pub fn sizes_of(&self, kind: RequestKind) -> &BTreeMap<u64, u64> {
        if kind == RequestKind::Write && !self.write_sizes.is_empty() {
            &self.write_sizes
        } else {
            &self.sizes
        }
    }
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// It may be read.
    pub read: bool,
    /// It may be written.
    pub write: bool,
    /// It is made if it is not there.
    pub create: bool,
    /// It is emptied.
    pub truncate: bool,
    /// Writes go to its end.
    pub append: bool,
}

/// A request through a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// Moves bytes into the process.
    Read,
    /// Moves bytes out of it.
    Write,
    /// Forces data and metadata to storage.
    Fsync,
    /// Forces data to storage.
    Fdatasync,
}

/// All kinds of requests with their words.
const REQUESTS: [(&str, RequestKind); 4] = [
    ("read", RequestKind::Read),
    ("write", RequestKind::Write),
    ("fsync", RequestKind::Fsync),
    ("fdatasync", RequestKind::Fdatasync),
];

impl RequestKind {
    /// The word for it in model files.
    #[must_use]
    pub fn word(self) -> &'static str {
        REQUESTS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    /// Whether it moves data.
    #[must_use]
    pub fn is_transfer(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

/// Where transfers of a session begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetLaw {
    /// Where the one before ended; the first at 0.
    Sequential,
    /// At `start + rank · r + step · (i mod every) + jump · ⌊i / every⌋ + again · k` for transfer i of execution k, both from 0, of rank r,
    /// in bytes.
    Affine {
        /// Of the first transfer of rank 0.
        start: u64,
        /// From rank to rank.
        rank: u64,
        /// From transfer to transfer.
        step: Stride,
        /// From execution to execution of the session.
        again: Stride,
        /// After so many transfers the next ones begin elsewhere; 0 for never.
        every: u64,
        /// From the first transfer of so many to the first of the next ones.
        jump: Stride,
    },
}

/// A distance between places in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stride {
    /// In bytes; of each rank if `by_ranks`.
    pub bytes: u64,
    /// Whether it is that of all ranks together: interleaved places are further apart the more ranks there are.
    pub by_ranks: bool,
}

impl Stride {
    /// So many bytes, at any number of ranks.
    #[must_use]
    pub const fn fixed(bytes: u64) -> Self {
        Self { bytes, by_ranks: false }
    }

    /// Bytes at so many ranks.
    #[must_use]
    pub const fn at(self, ranks: u32) -> u64 {
        if self.by_ranks { self.bytes.saturating_mul(ranks as u64) } else { self.bytes }
    }
}

/// A step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramStep {
    /// The steps, so many times.
    Repeat(u64, Vec<ProgramStep>),
    /// The session of that index of the file of that index.
    Session {
        /// Index of the file.
        file: usize,
        /// Index of the session in the file.
        session: usize,
        /// Index of the group of ranks that does it; NULL for all that use the file.
        ranks: Option<usize>,
    },
    /// All ranks of the group of that index wait for each other.
    Barrier(usize),
}
