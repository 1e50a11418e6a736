//! Why a recording could not begin, or broke off.

use iotrail_ptrace::{FilterError, SpawnError, Stage};
use std::io;
use std::path::PathBuf;

/// A recording could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The command line is empty.
    #[error("there is no command to record: name one, or a process with -p")]
    NoCommand,
    /// No executable of that name.
    #[error("{}: no such command (looked in {looked})", name.display())]
    NotFound {
        /// What was asked for.
        name: PathBuf,
        /// Where it was looked for.
        looked: String,
    },
    /// It may not be executed.
    #[error("{}: cannot be executed ({why})", path.display())]
    NotExecutable {
        /// Path of the program.
        path: PathBuf,
        /// Why it cannot be executed.
        why: String,
    },
    /// The kernel refused to execute it.
    #[error("{}: cannot be executed: {error}", path.display())]
    Exec {
        /// Path of the program.
        path: PathBuf,
        /// What the kernel said.
        error: io::Error,
    },
    /// A command line holds a NUL byte.
    #[error("the command line holds a NUL byte, which no argument can")]
    Nul,
    /// Programs cannot be told where to tell of their MPI calls.
    #[error("MPI calls cannot be recorded: no directory for what programs tell of them: {0}")]
    Mpi(io::Error),
    /// It could not be started under trace.
    #[error("the program cannot be traced: {0}")]
    Spawn(SpawnError),
    /// A running process cannot be attached to.
    #[error("process {pid} cannot be traced: {error}{}", attach_hint(error))]
    Attach {
        /// Process id that was to be attached to.
        pid: u32,
        /// What the kernel said.
        error: io::Error,
    },
    /// The set of calls makes no filter.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Signals cannot be received.
    #[error("signals cannot be received: {0}")]
    Signals(io::Error),
    /// The kernel does not describe stops.
    #[error(
        "this kernel does not tell which call a stopped thread is in (PTRACE_GET_SYSCALL_INFO): Linux 5.3 or newer is needed"
    )]
    KernelTooOld,
    /// The core to share cannot be chosen.
    #[error("program and recorder cannot be bound to one core: {0}")]
    Affinity(io::Error),
    /// The kernel refused to go on.
    #[error("tracing broke off: {0}")]
    Tracing(#[from] io::Error),
}

impl RecordError {
    /// The status that a shell reports in this case: 127 if there is no such command, 126 if it cannot be executed, and as
    /// `env` and `timeout` do 125 for everything else.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::NotFound { .. } => 127,
            Self::Exec { error, .. } if error.kind() == io::ErrorKind::NotFound => 127,
            Self::NotExecutable { .. } | Self::Exec { .. } => 126,
            _ => 125,
        }
    }

    /// What a launch reported, of the program at `path`.
    pub(crate) fn of_launch(error: SpawnError, path: PathBuf) -> Self {
        match error.stage {
            Stage::Exec => Self::Exec { path, error: error.error },
            _ => Self::Spawn(error),
        }
    }
}

fn attach_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            " (it is another user's, traced already, or /proc/sys/kernel/yama/ptrace_scope forbids it: try as root)"
        }
        _ => "",
    }
}
