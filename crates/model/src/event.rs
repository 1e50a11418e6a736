//! The event: one record per completed call.

use crate::cell::{Cell, Column, NameKind, Value};
use crate::ids::{CallId, CaseId, ErrnoId, FileId, FlagsId, OpenId, PathId, Pid, SiteId, Tid};
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
    /// Call of the POSIX functions, as Darshan sees it: the wrappers of system calls.
    Posix,
    /// C library call.
    Libc,
    /// MPI-IO call.
    Mpiio,
    /// MPI call.
    Mpi,
}

impl Layer {
    /// Every layer, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Syscall, Self::Posix, Self::Libc, Self::Mpiio, Self::Mpi];

    /// The name in the column `layer`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syscall => "syscall",
            Self::Posix => "posix",
            Self::Libc => "libc",
            Self::Mpiio => "mpiio",
            Self::Mpi => "mpi",
        }
    }

    /// What its calls are, in words.
    #[must_use]
    pub const fn calls(self) -> &'static str {
        match self {
            Self::Syscall => "system calls",
            Self::Posix => "POSIX calls",
            Self::Libc => "C library calls",
            Self::Mpiio => "MPI-IO calls",
            Self::Mpi => "MPI calls",
        }
    }

    /// The layer of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

/// The columns of the table `events`, in their order: hands the macro `$then` a line
/// `#[doc] field: type of a cell, CONSTANT = "name", packing, redaction, code;` for each. The event, batches of events, the
/// schema and the pages of a trail, the records of a spool, CSV, JSON, SQLite and redacted copies are made of this list. A
/// column is added here, at the end, because trails that were written before lack it.
///
/// | word | says |
/// |---|---|
/// | packing | how integers are packed in pages: a variant of `trail::encode::Integers` |
/// | redaction | what a copy without names does with it: `kept` as it is; `known`, if it is a word that everybody knows, replaced if not; `renamed`, as paths are; `numbered`, kept where it is no stand-in for a name |
/// | code | how the spool stores it: `Predicted` from the events before it, by code of its own, or `Plain`, which costs nothing where it is NULL |
#[macro_export]
macro_rules! event_columns {
    ($($then:tt)*) => {
        $($then)*! {
            #[doc = "Row of `cases`."] case: CaseId, CASE = "case_id", DictionaryOrPlain, kept, Predicted;
            #[doc = "Record order within the case."] seq: u64, SEQ = "seq", Delta, kept, Predicted;
            #[doc = "Process (thread group)."] pid: Pid, PID = "pid", DictionaryOrPlain, kept, Predicted;
            #[doc = "Thread."] tid: Tid, TID = "tid", DictionaryOrPlain, kept, Predicted;
            #[doc = "Interface at which the call was seen."] layer: Layer, LAYER = "layer", DictionaryOrPlain, kept, Predicted;
            #[doc = "Canonical call name."] call: CallId, CALL = "call", DictionaryOrPlain, known, Predicted;
            #[doc = "Start of the call."] start: Timestamp, START = "start", Delta, kept, Predicted;
            #[doc = "Time from start to return; NULL if the end was never seen."] dur: Nullable<Nanos>, DUR = "dur", DictionaryOrPlain, kept, Predicted;
            #[doc = "Descriptor that the call acted on (for calls that make one: the new one)."] fd: Nullable<i32>, FD = "fd", DictionaryOrPlain, kept, Predicted;
            #[doc = "Absolute resolved path, or the exact name of what is no file (`pipe:[7]`)."] path: Nullable<PathId>, PATH = "path", DictionaryOrPlain, renamed, Predicted;
            #[doc = "Second path: target of rename, link, symlink; destination of a copy."] path2: Nullable<PathId>, PATH2 = "path2", DictionaryOrPlain, renamed, Predicted;
            #[doc = "File offset in bytes at which the transfer started, where known."] offset: Nullable<i64>, OFFSET = "offset", DictionaryOrPlain, kept, Predicted;
            #[doc = "Bytes asked for (read and write variants only)."] requested: Nullable<i64>, REQUESTED = "requested", DictionaryOrDelta, kept, Predicted;
            #[doc = "Bytes moved (read and write variants only, NULL for failed calls)."] size: Nullable<i64>, SIZE = "size", DictionaryOrDelta, kept, Predicted;
            #[doc = "Return value; -1 for failed calls."] ret: Nullable<i64>, RET = "ret", DictionaryOrPlain, kept, Predicted;
            #[doc = "Symbolic error name of a failed call."] errno: Nullable<ErrnoId>, ERRNO = "errno", DictionaryOrPlain, known, Predicted;
            #[doc = "Open flags, whence, mode, advice, as symbols."] flags: Nullable<FlagsId>, FLAGS = "flags", DictionaryOrPlain, known, Predicted;
            #[doc = "The file that `path` denoted when the call acted on it."] file: Nullable<FileId>, FILE = "file", DictionaryOrPlain, numbered, Predicted;
            #[doc = "The file that `path2` denoted."] file2: Nullable<FileId>, FILE2 = "file2", DictionaryOrPlain, numbered, Predicted;
            #[doc = "The open file description behind `fd`, where it is known."] open: Nullable<OpenId>, OPEN = "open", DictionaryOrPlain, kept, Predicted;
            #[doc = "The open file description of the second descriptor: the destination of a copy."] open2: Nullable<OpenId>, OPEN2 = "open2", DictionaryOrPlain, kept, Predicted;
            #[doc = "The enclosing call: `seq` of the call of a higher layer in which its thread made this one."] parent: Nullable<u64>, PARENT = "parent", DictionaryOrDelta, kept, Plain;
            #[doc = "Communicator of an MPI call: 0 is `MPI_COMM_WORLD`, 1 `MPI_COMM_SELF`."] comm: Nullable<i32>, COMM = "comm", DictionaryOrPlain, kept, Plain;
            #[doc = "Partner of an MPI call, or its root: a rank of the communicator; -1 is any, -2 none."] peer: Nullable<i32>, PEER = "peer", DictionaryOrPlain, kept, Plain;
            #[doc = "Tag of a message; -1 is any."] tag: Nullable<i32>, TAG = "tag", DictionaryOrPlain, kept, Plain;
            #[doc = "Bytes that an MPI call gave to other ranks."] sent: Nullable<i64>, SENT = "sent", DictionaryOrPlain, kept, Plain;
            #[doc = "Bytes that it got from them."] received: Nullable<i64>, RECEIVED = "received", DictionaryOrPlain, kept, Plain;
            #[doc = "The name by which the call opened `path`, where symbolic links lead from one to the other."] via: Nullable<FlagsId>, VIA = "via", DictionaryOrPlain, known, Plain;
            #[doc = "The other arguments of an MPI call: the requests that it is about (`model::requests`)."] args: Nullable<FlagsId>, ARGS = "args", DictionaryOrPlain, known, Plain;
            #[doc = "The call site of an MPI call: a row of `sites`."] site: Nullable<SiteId>, SITE = "site", DictionaryOrPlain, kept, Plain;
        }
    };
}

macro_rules! event {
    ($(#[$doc:meta] $field:ident: $cell:ty, $constant:ident = $name:literal, $packing:ident, $redaction:ident, $code:ident;)*) => {
        /// One completed call, resolved: the row of the table `events`. Unknown is NULL, never 0.
        ///
        /// Ids of calls, paths, errors and flags refer to the dictionaries of whoever hands the event over.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Event {
            $(#[$doc] pub $field: $cell,)*
        }

        impl Event {
            /// The columns, in the order of the table.
            pub const COLUMNS: &'static [Column] = &[$(Column {
                name: $name,
                nullable: <$cell as Cell>::NULLABLE,
                kind: <$cell as Cell>::KIND,
            }),*];

            /// What each column shows, in the order of the table.
            #[must_use]
            pub fn values(&self) -> [Value; Self::COLUMNS.len()] {
                [$(self.$field.value()),*]
            }

            /// Each column as a number, in the order of the table.
            #[must_use]
            pub fn numbers(&self) -> [Option<i64>; Self::COLUMNS.len()] {
                [$(self.$field.number()),*]
            }

            /// The event of such numbers; NULL if one is none of its column.
            #[must_use]
            pub fn of_numbers(numbers: &[Option<i64>; Self::COLUMNS.len()]) -> Option<Self> {
                let mut numbers = numbers.iter().copied();
                Some(Self { $($field: Cell::of_number(numbers.next()?)?,)* })
            }

            /// The event with the ids that `id` answers for those of its names; `u32::MAX` is NULL where that may be.
            ///
            /// # Errors
            /// The first error of `id`.
            #[inline]
            pub fn with_names<E>(
                mut self,
                mut id: impl FnMut(NameKind, u32) -> Result<u32, E>,
            ) -> Result<Self, E> {
                $(self.$field = self.$field.with_names(&mut id)?;)*
                Ok(self)
            }
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

    /// Whether the end of the call was not seen.
    #[must_use]
    pub fn never_returned(&self) -> bool {
        self.dur.is_null() && self.ret.is_null() && self.errno.is_null()
    }
}
