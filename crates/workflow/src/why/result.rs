//! What the explanation says (`schema/why.schema.json`).

use iotrail_model::{CaseId, Layer};
pub use iotrail_model::{Limitation, LimitationKind};
use serde::{Deserialize, Serialize};

/// The version of the form.
pub const WHY_FORMAT: u32 = 1;

/// Where the elapsed time of a trail went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Why {
    /// One for each run: several where processes are not related, as ranks that were recorded one by one. The slowest first.
    pub runs: Vec<Run>,
    /// Calls that threads were in when their process was killed, or when the trail ends: those of the highest layer first, of
    /// these the longest.
    pub never_returned: Vec<NeverReturned>,
    /// Calls whose duration is known, by class, without requests that the kernel serves beside the thread.
    pub classes: Vec<ClassRow>,
    /// What could not be told, and why.
    pub limitations: Vec<Limitation>,
    /// The working directory of the first process.
    pub directory: Option<String>,
}

/// The elapsed time of related processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Its cases, joined by commas.
    pub name: String,
    /// The first of them.
    #[serde(skip)]
    pub case: CaseId,
    /// First call or process start, in ns since the epoch.
    pub start_ns: i64,
    /// From there to the last end.
    pub elapsed_ns: i64,
    /// Number of processes.
    pub processes: u64,
    /// What the time was used for, largest first; the sum is the elapsed time.
    pub pieces: Vec<Piece>,
    /// Who waited for whom.
    pub waits: Vec<WaitRow>,
}

/// A part of the elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Time of the piece on the path, ns.
    pub time_ns: i64,
    /// What it was used for.
    pub kind: PieceKind,
    /// The program whose time it is.
    pub program: String,
    /// The call that most of it was in; none if there was no call.
    pub call: Option<String>,
    /// Whether nearly all of it was in that call.
    pub only_call: bool,
    /// How often that call was made.
    pub call_count: u64,
    /// The file, or the directory that its files are below, or what was waited for.
    pub path: Option<String>,
    /// How many files are joined under `path`, which is a directory then.
    pub files: Option<u64>,
    /// Calls.
    pub calls: u64,
    /// The thread that most of it is of.
    pub owner: Owner,
    /// Threads that it is of.
    pub threads: u64,
    /// Processes that it is of.
    pub processes: u64,
}

/// The thread that a piece of the path belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Owner {
    /// Process of the thread.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Where it ran.
    pub host: Option<String>,
}

/// What time was used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PieceKind {
    /// Moving bytes from or to files.
    Data,
    /// Forcing data to storage.
    Sync,
    /// Asking or changing something about files and names.
    Metadata,
    /// Mapping memory.
    Memory,
    /// Making, replacing and ending processes.
    Process,
    /// On the CPU between calls.
    Computing,
    /// Between calls; how much of it on the CPU is not known.
    #[default]
    BetweenCalls,
    /// Neither in a call nor on the CPU.
    OffCpu,
    /// Waiting by the clock.
    Sleep,
    /// Waiting for what the trail does not tell.
    Waiting,
    /// From what ended a wait to its end.
    HandOver,
    /// Waits that were over at once.
    Transfer,
    /// Beginning or ending MPI, whatever its library did there.
    Mpi,
    /// Calls of no class.
    Other,
    /// Before the first call.
    Start,
    /// What the recorder added.
    Tracing,
}

impl Piece {
    /// The call that it is named after, and how many calls it tells: where nearly all of its time is of one call, only those count.
    #[must_use]
    pub fn told(&self) -> (Option<&str>, u64) {
        let several_files = self.files.is_some_and(|files| (1..files).contains(&self.call_count));
        match self.call.as_deref().filter(|_| self.only_call && !several_files) {
            Some(call) => (Some(call), self.call_count),
            None => (None, self.calls),
        }
    }
}

impl PieceKind {
    /// The name that tables and JSON use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Sync => "sync",
            Self::Metadata => "metadata",
            Self::Memory => "memory",
            Self::Process => "process",
            Self::Computing => "computing",
            Self::BetweenCalls => "between calls",
            Self::OffCpu => "off CPU",
            Self::Sleep => "sleep",
            Self::Waiting => "waiting",
            Self::HandOver => "hand-over",
            Self::Transfer => "transfer",
            Self::Mpi => "mpi",
            Self::Other => "other calls",
            Self::Start => "start",
            Self::Tracing => "tracing",
        }
    }
}

/// Who waited for whom, through what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WaitRow {
    /// The program that waited.
    pub waiter: String,
    /// What ended the waits.
    pub cause: WaitCause,
    /// The program that ended them.
    pub by: Option<String>,
    /// A lock's file; what was waited for without a known cause.
    pub path: Option<String>,
    /// On the path.
    pub on_path: WaitTime,
    /// In all, each wait alone.
    pub in_all: WaitTime,
}

/// Waits and their time, from the start of each to its cause; to its end if the cause is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WaitTime {
    /// Number of waits.
    pub number: u64,
    /// Time of the waits, ns.
    pub time_ns: i64,
}

/// Through what somebody ended a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitCause {
    /// A child ended.
    Child,
    /// A child executed another program, and gave the memory of its maker back (`vfork`).
    Exec,
    /// Data or the end of it, or room for it, in a pipe.
    Pipe,
    /// The same in a socket, or a connection.
    Socket,
    /// A lock was let go of.
    Lock,
    /// A word in memory was woken, or a thread ended.
    Futex,
    /// The last rank made a collective call of MPI.
    Mpi,
    /// A file was made that had been looked for in vain.
    File,
    /// A signal killed the process.
    Signal,
    /// A timer or the time that the call was given.
    Sleep,
    /// The cause is not known.
    #[default]
    Unknown,
}

impl WaitCause {
    /// The name that tables and JSON use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Child => "child",
            Self::Exec => "exec",
            Self::Pipe => "pipe",
            Self::Socket => "socket",
            Self::Lock => "lock",
            Self::Futex => "futex",
            Self::Mpi => "mpi",
            Self::File => "file",
            Self::Signal => "signal",
            Self::Sleep => "sleep",
            Self::Unknown => "unknown",
        }
    }
}

/// A call that did not return before its process was killed, or before the trail ends. Threads in equal calls are one row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NeverReturned {
    /// From its start to the end of its process, else of the run, ns: of the thread that was in it longest.
    pub time_ns: Option<i64>,
    /// The program that called it.
    pub program: String,
    /// The interface that it belongs to; the outermost, if calls of several were under way.
    pub layer: Layer,
    /// Its name.
    pub call: String,
    /// The file that it is on.
    pub path: Option<String>,
    /// Communicator of a call of MPI: 0 is `MPI_COMM_WORLD`.
    pub comm: Option<i32>,
    /// Its partner or root, a rank of the communicator; -1 is any.
    pub peer: Option<i32>,
    /// Tag of a message; -1 is any.
    pub tag: Option<i32>,
    /// The ranks that were in it, if it is no system call.
    pub ranks: Vec<String>,
    /// Processes that were in it.
    pub processes: u64,
    /// Threads that were in it.
    pub threads: u64,
    /// The thread that was in it longest.
    pub owner: Owner,
}

/// All calls of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClassRow {
    /// The class; `wait` are all waits, whether their cause is known or not.
    pub class: String,
    /// Number of calls.
    pub calls: u64,
    /// Their time in all threads.
    pub time_ns: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_named_after_a_call_that_was_made_on_each_of_its_files() {
        let piece = |files, call_count| Piece {
            call: Some("mkdir".to_owned()),
            only_call: true,
            call_count,
            calls: 776,
            files,
            ..Piece::default()
        };
        assert_eq!(piece(None, 72).told(), (Some("mkdir"), 72));
        assert_eq!(piece(Some(72), 72).told(), (Some("mkdir"), 72));
        assert_eq!(piece(Some(153), 72).told(), (None, 776));
        assert_eq!(Piece { only_call: false, ..piece(None, 72) }.told(), (None, 776));
    }
}
