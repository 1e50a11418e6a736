//! The event: one record per completed call.

use crate::ids::{CallId, CaseId, ErrnoId, FileId, FlagsId, PathId, Pid, Tid};
use crate::nullable::Nullable;
use crate::time::{Nanos, Timestamp};
use serde::{Deserialize, Serialize};

/// The interface at which a call was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// System call.
    #[default]
    Syscall,
    /// C library call.
    Libc,
    /// MPI-IO call.
    Mpiio,
    /// MPI call.
    Mpi,
}

impl Layer {
    /// Every layer, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Syscall, Self::Libc, Self::Mpiio, Self::Mpi];

    /// The name in the column `layer`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syscall => "syscall",
            Self::Libc => "libc",
            Self::Mpiio => "mpiio",
            Self::Mpi => "mpi",
        }
    }

    /// The layer of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

/// One completed call, resolved: the row of the table `events`. Unknown is NULL, never 0.
///
/// Ids of calls, paths, errors and flags refer to the dictionaries of whoever hands the event over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Row of `cases`.
    pub case: CaseId,
    /// Record order within the case.
    pub seq: u64,
    /// Process (thread group).
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    /// Interface at which the call was seen.
    pub layer: Layer,
    /// Canonical call name.
    pub call: CallId,
    /// Start of the call.
    pub start: Timestamp,
    /// Time from start to return; NULL if the end was never seen.
    pub dur: Nullable<Nanos>,
    /// Descriptor that the call acted on (for calls that make one: the new one).
    pub fd: Nullable<i32>,
    /// Absolute resolved path, or the exact name of what is no file (`pipe:[7]`).
    pub path: Nullable<PathId>,
    /// Second path: target of rename, link, symlink; destination of a copy.
    pub path2: Nullable<PathId>,
    /// File offset in bytes at which the transfer started, where known.
    pub offset: Nullable<i64>,
    /// Bytes asked for (read and write variants only).
    pub requested: Nullable<i64>,
    /// Bytes moved (read and write variants only, NULL for failed calls).
    pub size: Nullable<i64>,
    /// Return value; -1 for failed calls.
    pub ret: Nullable<i64>,
    /// Symbolic error name of a failed call.
    pub errno: Nullable<ErrnoId>,
    /// Open flags, whence, mode, advice, as symbols.
    pub flags: Nullable<FlagsId>,
    /// The file that `path` denoted when the call acted on it.
    pub file: Nullable<FileId>,
    /// The file that `path2` denoted.
    pub file2: Nullable<FileId>,
}

impl Event {
    /// The order of rows within a part of a trail.
    #[must_use]
    pub fn sort_key(&self) -> (CaseId, Timestamp, u64) {
        (self.case, self.start, self.seq)
    }
}
