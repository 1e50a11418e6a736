//! What to record: checked once, before anything is started.

use crate::proc::EnvSelection;
use iotrail_decode::CallSet;
use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;

/// A recording to be made.
#[derive(Clone, Debug)]
pub struct RecordPlan {
    /// The program to start, or the processes to attach to.
    pub target: Target,
    /// The calls to be recorded.
    pub calls: CallSet,
    /// When the recording is over.
    pub wait: Wait,
    /// Which cores program and recorder run on.
    pub placement: Placement,
    /// Which variables of each process's environment are kept.
    pub env: EnvSelection,
    /// What is left out, and counted.
    pub limits: Limits,
    /// How MPI calls are recorded, if they are.
    pub mpi: Option<MpiPlan>,
}

/// How MPI calls are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpiPlan {
    /// The library that programs load to tell of them.
    pub library: PathBuf,
    /// Frames that are kept of the stack of each call; 0: no call sites.
    pub stack: usize,
}

/// The program to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A command with its arguments, to be started.
    Command(Vec<OsString>),
    /// Running processes.
    Attach(Vec<u32>),
}

/// When the recording of a command is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// When its last process has ended.
    #[default]
    All,
    /// When the command itself has ended; what is left runs on unseen. A filter cannot be taken back, so there is none
    /// and every call stops, wanted or not.
    Main,
}

/// Which cores program and recorder run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// On one as long as that is best, which is found out while recording.
    #[default]
    Auto,
    /// On one.
    Same,
    /// Wherever they may.
    Free,
}

impl FromStr for Placement {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "auto" => Ok(Self::Auto),
            "same" => Ok(Self::Same),
            "free" => Ok(Self::Free),
            _ => Err("expected `auto`, `same` or `free`".to_owned()),
        }
    }
}

impl FromStr for Wait {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "all" => Ok(Self::All),
            "main" => Ok(Self::Main),
            _ => Err("expected `all` or `main`".to_owned()),
        }
    }
}

/// What is left out because the user wished so. All of it is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// So many events at most.
    pub max_events: Option<u64>,
    /// So many bytes of events at most.
    pub max_size: Option<u64>,
    /// One of so many transfers of data, and every other call.
    pub sample: Option<NonZeroU64>,
}
