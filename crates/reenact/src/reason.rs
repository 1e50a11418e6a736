//! Why calls are not issued.

use serde::Serialize;
use std::collections::BTreeMap;

/// Why a call is not issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It is about no file.
    NoFile,
    /// It is about a file of the kernel: `/proc`, `/sys`, `/dev`.
    Kernel,
    /// It is about a pipe, a socket, or something else without a path.
    NoPath,
    /// It maps a file or changes a mapping: accesses through memory are not recorded.
    Mapping,
    /// Replay does not make such calls.
    Unsupported,
    /// It left its work to the kernel: a ring or a control block.
    Asynchronous,
    /// It failed for a reason that files of our own do not have.
    Failed,
    /// A call of MPI that never returned: its thread ended in it, or jumped out of it.
    Unfinished,
    /// Its file, description or size is not known.
    Unknown,
    /// Its path is too long or too deep below the directory.
    Name,
    /// It moves more than 64 MiB at once.
    TooLarge,
    /// It is no system call: the system calls that it made are issued.
    Library,
    /// It is before the end of `MPI_Init` or behind the begin of `MPI_Finalize`, or of a thread that makes no calls of MPI.
    Outside,
    /// A call of MPI made it, and makes it again.
    Within,
    /// A call of MPI that asks something, or is about the process itself.
    Local,
    /// It is about a file, and only messages and time are wanted.
    Unwanted,
    /// A call of MPI on a communicator of which it is not known who is in it, or on a file that was opened with one.
    Communicator,
}

impl Reason {
    /// What to tell people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoFile => "not about a file",
            Self::Kernel => "on /proc, /sys or /dev",
            Self::NoPath => "on pipes, sockets and other files without a path",
            Self::Mapping => "memory mappings",
            Self::Unsupported => "calls that replay does not make",
            Self::Asynchronous => "requests of io_uring and aio",
            Self::Failed => "failed for a reason that is not reproduced",
            Self::Unfinished => "calls of MPI that never returned",
            Self::Unknown => "file, descriptor or size unknown",
            Self::Name => "path too long or too deep",
            Self::TooLarge => "moves more than 64 MiB at once",
            Self::Outside => "outside of MPI_Init and MPI_Finalize, or in threads without MPI",
            Self::Within => "made by calls of MPI, which make them again",
            Self::Local => "calls of MPI that no other rank sees",
            Self::Unwanted => "on files, which are left out",
            Self::Communicator => "on communicators that cannot be made again",
            Self::Library => "calls of libraries: their system calls are made",
        }
    }
}

/// How many calls are not issued, by reason and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<Reason, BTreeMap<String, u64>>);

impl LeftOut {
    /// Counts a call.
    pub fn add(&mut self, reason: Reason, call: &str) {
        let calls = self.0.entry(reason).or_default();
        match calls.get_mut(call) {
            Some(count) => *count += 1,
            None => {
                calls.insert(call.to_owned(), 1);
            }
        }
    }

    /// Calls by reason, and in it by name.
    #[must_use]
    pub const fn by_reason(&self) -> &BTreeMap<Reason, BTreeMap<String, u64>> {
        &self.0
    }

    /// All calls that are not issued.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().flat_map(BTreeMap::values).sum()
    }
}
