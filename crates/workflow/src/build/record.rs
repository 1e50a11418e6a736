//! What an event means for the graph, in few bytes: many events become one record where nothing can have happened between them.

use crate::graph::Transfer;
use iotrail_model::{FileId, Nanos, PathId, Timestamp};
use iotrail_query::ProcessId;

/// What a process did to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    /// Found it there.
    Exists,
    /// Found that it is not there.
    Missing,
    /// Made a file that is certainly new (`O_EXCL`, `mknod`).
    Make,
    /// Made a file that has no name yet (`O_TMPFILE`).
    MakeNameless,
    /// Made a symbolic link that leads to the second path.
    MakeLink,
    /// Opened it with `O_CREAT`: made it if it was not there.
    MakeOrOpen,
    /// Opened it with `O_CREAT|O_TRUNC`: made it, or emptied what was there.
    MakeOrEmpty,
    /// Emptied it (`O_TRUNC`, `truncate` to 0).
    Empty,
    /// Made a pipe or a pair of sockets of that name, which is new although the name may have been used before.
    Channel,
    /// Wrote, or may have written through a mapping.
    Write,
    /// Read.
    Read,
    /// Executed it, or mapped its instructions.
    Map,
    /// Mapped it without the right to execute: data, unless it is a program or library.
    View,
    /// Gave it the second path instead of the first.
    Rename,
    /// Exchanged the files of the two paths.
    Exchange,
    /// Gave it the second path beside the first.
    Link,
    /// Removed the path.
    Unlink,
}

impl Op {
    /// Whether data come in; that happens when the call ends, everything else when it starts: a blocked read of a pipe
    /// starts before the write that it waits for.
    pub(super) const fn takes_in(self) -> bool {
        matches!(self, Self::Read | Self::Map | Self::View)
    }

    /// Whether a file's contents or names may be others afterwards.
    pub(super) const fn changes(self) -> bool {
        !matches!(self, Self::Exists | Self::Missing | Self::Read | Self::Map | Self::View)
    }
}

/// How far a file is filled, or calls read and write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// End of the last byte of which the place is known.
    pub(super) end: u64,
    /// Bytes of which the place is unknown: they were appended, or copied inside the kernel.
    pub(super) appended: u64,
}

impl Extent {
    /// That of `size` bytes at `offset`.
    pub(super) fn of_transfer(offset: Option<i64>, size: i64) -> Self {
        let size = u64::try_from(size).unwrap_or(0);
        match offset.and_then(|offset| u64::try_from(offset).ok()) {
            Some(offset) => Self { end: offset.saturating_add(size), appended: 0 },
            None => Self { end: 0, appended: size },
        }
    }

    /// Adds another transfer.
    pub(super) fn add(&mut self, other: Self) {
        self.end = self.end.max(other.end);
        self.appended = self.appended.saturating_add(other.appended);
    }

    /// The size of a file that was empty before.
    pub(super) fn size(self) -> Option<i64> {
        i64::try_from(self.end.saturating_add(self.appended)).ok()
    }
}

/// One access, or several of one process to one path between which nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// When it takes effect: end of the first read or copy, start of the first of anything else.
    pub(super) at: Timestamp,
    /// Whether it writes what the same call has read.
    pub(super) copied: bool,
    /// Start of the first call.
    pub(super) first: Timestamp,
    /// End of the last call.
    pub(super) last: Timestamp,
    /// What was moved.
    pub(super) moved: Transfer,
    /// How far it reads or writes.
    pub(super) reach: Extent,
    /// Who did it.
    pub(super) process: ProcessId,
    /// To which path.
    pub(super) path: PathId,
    /// Second path of a rename or link.
    pub(super) path2: PathId,
    /// The file that `path` denoted, as the log numbers it.
    pub(super) file: FileId,
    /// The file that `path2` denoted.
    pub(super) file2: FileId,
    /// What was done.
    pub(super) op: Op,
}

impl Record {
    /// The order in which records take effect; of those at the same instant what is read comes last, and what the same call
    /// writes after that.
    pub(super) fn order(&self) -> (Timestamp, bool, bool) {
        (self.at, self.op.takes_in() || self.copied, self.copied)
    }

    /// Adds a later record of the same process, path and operation.
    pub(super) fn join(&mut self, later: &Self) {
        self.moved.add(&later.moved);
        self.reach.add(later.reach);
        self.first = self.first.min(later.first);
        self.last = self.last.max(later.last);
    }
}

/// The figures of one call.
pub(super) fn one_call(bytes: i64, dur: Option<Nanos>) -> Transfer {
    Transfer { bytes: u64::try_from(bytes).unwrap_or(0), calls: 1, elapsed: dur }
}
