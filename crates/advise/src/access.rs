//! One access to a file, as far as merging is concerned.

use iotrail_model::{CallId, CaseId, Pid, Tid};

/// An open file description, numbered within a log; [`DescriptionId::NONE`] for what is none, or not known which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DescriptionId(pub u32);

impl DescriptionId {
    /// None, or not known which.
    pub const NONE: Self = Self(u32::MAX);
}

/// Through what a file is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The recorded case.
    pub case: CaseId,
    /// Who accessed it first.
    pub pid: Pid,
    /// Whether each write goes to the end of the file at that moment (`O_APPEND`).
    pub appends: bool,
    /// Whether each write is on storage before it returns (`O_SYNC`, `O_DSYNC`).
    pub syncs: bool,
}

/// What an access does to the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Moves its bytes out of the file.
    Read,
    /// Moves its bytes into the file; or makes what lies there another, as `ftruncate` does.
    Write,
    /// Moves the position of its description to the first of its bytes.
    Seek,
    /// May look at any byte, then or later: a mapping.
    UnknownRead,
    /// May change any byte, then or later: a shared mapping, a write whose place is not known.
    UnknownWrite,
}

impl Kind {
    /// Every kind.
    pub(crate) const ALL: [Self; 5] =
        [Self::Read, Self::Write, Self::Seek, Self::UnknownRead, Self::UnknownWrite];

    /// Whether it may change bytes.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::UnknownWrite)
    }

    /// Whether it is not known which bytes it touches.
    #[must_use]
    pub const fn is_unknown(self) -> bool {
        matches!(self, Self::UnknownRead | Self::UnknownWrite)
    }
}

/// One access to a range of bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// When it began, in ns; so that times of all accesses to a file can be compared.
    pub start: i64,
    /// When it ended, not before it began; `i64::MAX` if it goes on (mappings).
    pub end: i64,
    /// Its first byte.
    pub low: u64,
    /// The byte behind its last one; all bytes from `low` on if it is `u64::MAX`.
    pub high: u64,
    /// Place of the call in its case.
    pub seq: u64,
    /// Open file description that the call used.
    pub description: DescriptionId,
    /// Thread that made the call.
    pub tid: Tid,
    /// Process of that thread.
    pub pid: Pid,
    /// Name of the call.
    pub call: CallId,
    /// What it does.
    pub kind: Kind,
    /// Whether it is a transfer that could be merged: its bytes are known, and the user selected it.
    pub mergeable: bool,
    /// Whether this call is on storage before it returns, however its file was opened (`RWF_SYNC`, `RWF_DSYNC`).
    pub syncs: bool,
    /// Whether `end` is known.
    pub timed: bool,
}

impl Access {
    /// Whether it moves bytes through a known description, mergeable or not.
    #[must_use]
    pub fn is_transfer(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Write | Kind::UnknownWrite)
            && self.low != self.high
            && self.description != DescriptionId::NONE
    }

    /// Bytes between its ends.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.high.saturating_sub(self.low)
    }
}

/// Something that says "what was written before is to be seen by then".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// fsync, fdatasync, sync_file_range, sync.
    Sync,
    /// A descriptor of it was closed.
    Close,
    /// Its length or storage was changed.
    Resize,
    /// The process made, changed or removed a name, whatever had it; or somebody a name of this file.
    Name,
    /// It, or a part of it, was locked or unlocked.
    Lock,
    /// The process sent something to another, or woke it.
    Send,
    /// The process made, became or ended a process.
    Process,
}

impl EdgeKind {
    /// The name that reports and JSON use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Close => "close",
            Self::Resize => "resize",
            Self::Name => "name",
            Self::Lock => "lock",
            Self::Send => "send",
            Self::Process => "process",
        }
    }
}

/// When such a thing happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// When it began.
    pub start: i64,
    /// What it was.
    pub kind: EdgeKind,
    /// Who did it.
    pub pid: Pid,
    /// Name of the call.
    pub call: CallId,
}
