//! The event: one record per completed call.

use crate::ids::{CallId, CaseId, ErrnoId, FileId, FlagsId, OpenId, PathId, Pid, Tid};
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

/// The columns of the table `events`, in their order: hands the macro `$then` a line
/// `#[doc] field: type of a cell, CONSTANT = "name", how integers are packed;` for each. The event, batches of events, the
/// schema and the pages of a trail are made of this list; a column is added here, at the end, because trails that were
/// written before lack it.
#[macro_export]
macro_rules! event_columns {
    ($($then:tt)*) => {
        $($then)*! {
            #[doc = "Row of `cases`."] case: CaseId, CASE = "case_id", DictionaryOrPlain;
            #[doc = "Record order within the case."] seq: u64, SEQ = "seq", Delta;
            #[doc = "Process (thread group)."] pid: Pid, PID = "pid", DictionaryOrPlain;
            #[doc = "Thread."] tid: Tid, TID = "tid", DictionaryOrPlain;
            #[doc = "Interface at which the call was seen."] layer: Layer, LAYER = "layer", DictionaryOrPlain;
            #[doc = "Canonical call name."] call: CallId, CALL = "call", DictionaryOrPlain;
            #[doc = "Start of the call."] start: Timestamp, START = "start", Delta;
            #[doc = "Time from start to return; NULL if the end was never seen."] dur: Nullable<Nanos>, DUR = "dur", DictionaryOrPlain;
            #[doc = "Descriptor that the call acted on (for calls that make one: the new one)."] fd: Nullable<i32>, FD = "fd", DictionaryOrPlain;
            #[doc = "Absolute resolved path, or the exact name of what is no file (`pipe:[7]`)."] path: Nullable<PathId>, PATH = "path", DictionaryOrPlain;
            #[doc = "Second path: target of rename, link, symlink; destination of a copy."] path2: Nullable<PathId>, PATH2 = "path2", DictionaryOrPlain;
            #[doc = "File offset in bytes at which the transfer started, where known."] offset: Nullable<i64>, OFFSET = "offset", DictionaryOrPlain;
            #[doc = "Bytes asked for (read and write variants only)."] requested: Nullable<i64>, REQUESTED = "requested", DictionaryOrDelta;
            #[doc = "Bytes moved (read and write variants only, NULL for failed calls)."] size: Nullable<i64>, SIZE = "size", DictionaryOrDelta;
            #[doc = "Return value; -1 for failed calls."] ret: Nullable<i64>, RET = "ret", DictionaryOrPlain;
            #[doc = "Symbolic error name of a failed call."] errno: Nullable<ErrnoId>, ERRNO = "errno", DictionaryOrPlain;
            #[doc = "Open flags, whence, mode, advice, as symbols."] flags: Nullable<FlagsId>, FLAGS = "flags", DictionaryOrPlain;
            #[doc = "The file that `path` denoted when the call acted on it."] file: Nullable<FileId>, FILE = "file", DictionaryOrPlain;
            #[doc = "The file that `path2` denoted."] file2: Nullable<FileId>, FILE2 = "file2", DictionaryOrPlain;
            #[doc = "The open file description behind `fd`, where it is known."] open: Nullable<OpenId>, OPEN = "open", DictionaryOrPlain;
            #[doc = "The open file description of the second descriptor: the destination of a copy."] open2: Nullable<OpenId>, OPEN2 = "open2", DictionaryOrPlain;
        }
    };
}

macro_rules! event {
    ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident;)*) => {
        /// One completed call, resolved: the row of the table `events`. Unknown is NULL, never 0.
        ///
        /// Ids of calls, paths, errors and flags refer to the dictionaries of whoever hands the event over.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Event {
            $(#[$doc] pub $field: $cell,)*
        }
    };
}

event_columns!(event);

impl Event {
    /// The order of rows within a part of a trail.
    #[must_use]
    pub fn sort_key(&self) -> (CaseId, Timestamp, u64) {
        (self.case, self.start, self.seq)
    }
}
