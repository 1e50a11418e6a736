//! The tables beside `events`: cases, processes, files.

use crate::clock::{Clock, Resolution};
use crate::file_facts::{FileFacts, FileKind, NamedFile};
use crate::ids::{CaseId, FileId, Pid};
use crate::time::{Nanos, Timestamp};
use crate::usage::Usage;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What identifies a case (paper, section III): the command, the host, the MPI process. Any part may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CaseName {
    /// Identifier of the command.
    pub cid: Option<String>,
    /// Name of the host.
    pub host: Option<String>,
    /// Identifier of the launching process, the MPI rank.
    pub rid: Option<String>,
}

impl std::fmt::Display for CaseName {
    /// `cid/host/rid` without the parts that are unknown, `-` if all are.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<&str> =
            [&self.cid, &self.host, &self.rid].into_iter().flatten().map(String::as_str).collect();
        f.write_str(if parts.is_empty() { "-" } else { "" })?;
        f.write_str(&parts.join("/"))
    }
}

/// Row of the table `cases`: all events of one (cid, host, rid).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The row's number.
    pub id: CaseId,
    /// Command, host, rank.
    #[serde(flatten)]
    pub name: CaseName,
    /// Free text by which runs are told apart.
    pub label: Option<String>,
    /// What the time stamps mean.
    pub clock: Clock,
    /// Name of the trace file or recorder the events came from.
    pub source: String,
    /// Whether two processes of the case made calls in turns, that is, ran at the same time.
    pub interleaved: bool,
    /// The unit of its time stamps.
    #[serde(default)]
    pub resolution: Resolution,
    /// The case that its files and open file descriptions are numbered with, if it is another one: the files of one `strace -ff`
    /// share numbers.
    #[serde(default)]
    pub numbered_with: Option<CaseId>,
}

impl Case {
    /// The case that stands for all those whose files and open file descriptions are numbered with those of this one.
    #[must_use]
    pub fn numbering(&self) -> CaseId {
        self.numbered_with.unwrap_or(self.id)
    }

    /// Whether its time stamps are times. Those of a trace without time stamps are numbers of calls, which tell an order and nothing
    /// else.
    #[must_use]
    pub fn has_times(&self) -> bool {
        self.clock != Clock::Order
    }

    /// Whether its time stamps tell of single calls how far apart they are and which overlap.
    #[must_use]
    pub fn times_calls(&self) -> bool {
        self.has_times() && !self.resolution.is_coarse()
    }

    /// How long it is from one of its time stamps to another, if they tell it.
    #[must_use]
    pub fn time_between(&self, start: Timestamp, end: Timestamp) -> Option<Nanos> {
        self.resolution.known_span(end - start).filter(|_| self.has_times())
    }

    /// The unit of the time stamps of several cases: the coarsest.
    #[must_use]
    pub fn resolution_of(cases: &[Self]) -> Resolution {
        cases.iter().map(|case| case.resolution).max().unwrap_or_default()
    }
}

/// Name of the entry of [`Process::env`] that recorders make: a keyed digest of the variables that are not kept. It is the
/// same in two processes of a recording if these variables are.
pub const ENVIRONMENT_DIGEST: &str = "IOTRAIL_ENVIRONMENT";

/// Row of the table `processes`: one executable image of one process. An exec starts a new row with the same pid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Row of `cases`.
    #[serde(rename = "case_id")]
    pub case: CaseId,
    /// Process.
    pub pid: Pid,
    /// The process that made it.
    pub ppid: Option<Pid>,
    /// First sign of life.
    pub start: Option<Timestamp>,
    /// Exit, death, or the exec that replaced the image; NULL if the end was never seen.
    pub end: Option<Timestamp>,
    /// Exit status; NULL if it was killed, replaced or not seen to end.
    pub exit_code: Option<i32>,
    /// Name of the signal that killed it.
    pub signal: Option<String>,
    /// Path of the executable.
    pub exe: Option<String>,
    /// Command line, arguments separated by NUL. What was cut ends in `...`.
    pub cmdline: Option<String>,
    /// Whether a part of the command line is missing; unknown in trails that were written before this was kept.
    pub cmdline_cut: Option<bool>,
    /// Working directory at the start.
    pub cwd: Option<String>,
    /// Number of threads seen in the image.
    pub threads: u32,
    /// What the image used.
    #[serde(flatten)]
    pub usage: Usage,
    /// Bytes read by read variants.
    pub bytes_read: i64,
    /// Bytes written by write variants.
    pub bytes_written: i64,
    /// Chosen environment variables, `NAME=value`, sorted.
    pub env: Vec<String>,
}

impl Process {
    /// Whether another image took its place: its end was seen, and it neither exited nor was killed.
    #[must_use]
    pub fn is_replaced(&self) -> bool {
        self.end.is_some() && self.exit_code.is_none() && self.signal.is_none()
    }
}

/// Row of the table `files`: one for each distinct pair of a name and a file in `events`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRow {
    /// The path as in `events`; shared, because names are what a log holds most of.
    pub path: Arc<str>,
    /// The path without accidental numbers, see [`crate::canonical`].
    pub canonical: Arc<str>,
    /// What it is, as far as the trace tells: `file`, `directory`, `pipe`, `socket`, `char`, `block`, `anon`.
    pub kind: Option<String>,
    /// Device number.
    pub device: Option<u64>,
    /// Inode number.
    pub inode: Option<u64>,
    /// Size in bytes when last seen.
    pub size: Option<i64>,
    /// The file's number, as in `events`.
    pub file: Option<u32>,
    /// When the file was made, in ns since 1970-01-01 UTC.
    pub birth: Option<i64>,
    /// Whether the file lost the name; unknown if it has no number.
    pub gone: Option<bool>,
    /// The case whose calls numbered the file; of several that share their numbers the first.
    #[serde(skip)]
    pub case: Option<CaseId>,
}

impl FileRow {
    /// What it says of the file behind the name; a kind that nobody knows is unknown.
    #[must_use]
    pub fn named(&self) -> NamedFile {
        let kind = FileKind::ALL.into_iter().find(|kind| self.kind.as_deref() == Some(kind.name()));
        let facts = |(device, inode)| FileFacts { device, inode, size: self.size, kind, birth: self.birth };
        NamedFile {
            file: self.file.map(FileId).into(),
            gone: self.gone.unwrap_or_default(),
            facts: self.device.zip(self.inode).map(facts),
            kind,
        }
    }
}
