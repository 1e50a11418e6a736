//! The jobs of a workflow: what a workflow manager started, with what each needs and makes, ready to be run again.
//!
//! A job is a process directly below the manager (the first process of the recording: `make`, a script, `snakemake`) with
//! all its descendants: running Montage's `mDiff` apart from the `mDiffFit` that started it would be wrong. Processes of
//! different jobs that talk through a pipe must run together, so they are one job whose command is a pipeline.
//!
//! Jobs are made from the calls and not from the graph of versions, because workflow systems know files by path only:
//! what counts for them is who read, wrote, made and deleted which name, in which order. A shell's redirection is seen as
//! what it is: descriptors 0, 1 and 2 as they stood when the command was executed.

mod command;
mod divide;
mod hidden;
mod history;
mod launch;
mod order;
mod pipeline;
mod select;
mod steps;
#[cfg(test)]
mod tests;
mod trouble;

use iotrail_model::{Nanos, Timestamp};
use iotrail_query::{LifeId, Lives};
use iotrail_trail::{EventLog, TrailError};
use regex::Regex;
use serde::Serialize;
use std::sync::Arc;

pub use trouble::Trouble;

/// A job: an index into [`Jobs::jobs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[repr(transparent)]
pub struct JobId(pub u32);

impl JobId {
    /// The id as an index.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How processes become jobs.
#[derive(Clone, Debug, Default)]
pub struct JobOptions {
    /// Processes whose command line matches, and whose parent is a manager too, are managers: what they start are jobs.
    pub managers: Option<Regex>,
}

impl JobOptions {
    /// Options with a pattern of managers.
    ///
    /// # Errors
    /// If it is no regular expression.
    pub fn with_managers(pattern: Option<&str>) -> Result<Self, regex::Error> {
        Ok(Self { managers: pattern.map(Regex::new).transpose()? })
    }
}

/// Where a command's output goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Output {
    /// The file.
    pub path: Arc<str>,
    /// Whether what is there already stays: `>>`.
    pub append: bool,
}

/// A command as it was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Command {
    /// The process.
    pub life: LifeId,
    /// Path of the executable.
    pub exe: Option<Arc<str>>,
    /// The arguments, the first is the command; bytes because they need not be text.
    #[serde(serialize_with = "command::as_text")]
    pub argv: Vec<Vec<u8>>,
    /// Working directory.
    pub cwd: Option<Arc<str>>,
    /// Recorded environment variables that the manager does not have or has otherwise, `NAME=value`.
    pub env: Vec<String>,
    /// File that standard input was redirected from.
    pub stdin: Option<Arc<str>>,
    /// File that standard output was redirected to.
    pub stdout: Option<Output>,
    /// File that standard error was redirected to; if it is the same as that of standard output: `2>&1`.
    pub stderr: Option<Output>,
    /// Whether standard error goes into the same pipe as standard output.
    pub stderr_to_pipe: bool,
}

/// A file of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobFile {
    /// Its path.
    pub path: Arc<str>,
    /// Size in bytes at the end, if it is known.
    pub size: Option<i64>,
    /// Bytes that the job read from it.
    pub read: u64,
    /// Bytes that the job wrote to it.
    pub written: u64,
    /// Whether this job alone wrote, made or changed it.
    pub only: bool,
    /// Whether it is there at the end of the recording.
    pub stays: bool,
    /// Whether it was there before this job changed it: it was changed in place.
    pub updated: bool,
}

/// A job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Job {
    /// The commands, in the order of the pipeline; empty if it cannot be run again.
    pub commands: Vec<Command>,
    /// Base name of the executable, of a pipeline all of them: `sort|uniq|gzip`; or the name of the group that it stands for.
    pub name: Arc<str>,
    /// Its processes, sorted.
    pub lives: Vec<LifeId>,
    /// Name of the host.
    pub host: Option<Arc<str>>,
    /// Files that it read and did not make: made by other jobs or there before.
    pub inputs: Vec<JobFile>,
    /// Files that it wrote, made or changed and did not delete.
    pub outputs: Vec<JobFile>,
    /// Files that it made and deleted.
    pub temporaries: Vec<Arc<str>>,
    /// Directories that it made and did not delete.
    pub directories: Vec<Arc<str>>,
    /// Jobs that must be over before it starts, sorted.
    pub needs: Vec<JobId>,
    /// First sign of life.
    pub start: Option<Timestamp>,
    /// Its last end; NULL if the end of one of its commands was not seen.
    pub end: Option<Timestamp>,
    /// CPU time of all its processes, as far as known.
    pub cpu: Option<Nanos>,
    /// Largest resident memory of one of its processes, in bytes.
    pub memory: Option<u64>,
    /// Bytes read by system calls.
    pub read: u64,
    /// Bytes written by system calls.
    pub written: u64,
    /// Exit status (of a pipeline: of its last command).
    pub exit_code: Option<i32>,
    /// Name of the signal that killed it.
    pub signal: Option<Arc<str>>,
    /// How many jobs it stands for, if it stands for a group.
    pub members: u32,
}

impl Job {
    /// From its first sign of life to its last end, if both were seen.
    #[must_use]
    pub fn span(&self) -> Option<Nanos> {
        Some(self.end? - self.start?)
    }
}

/// The jobs of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Jobs {
    /// All jobs, in an order in which they can run one after the other: that of their starts where nothing forbids it.
    pub jobs: Vec<Job>,
    /// Command line of the manager, arguments separated by NUL; NULL if the only process is itself the job.
    pub manager: Option<Arc<str>>,
    /// Working directory of the first process: what relative paths are relative to.
    pub base: Option<Arc<str>>,
    /// Directories that managers made.
    pub directories: Vec<Arc<str>>,
    /// What stands in the way of running them again, and what a reader must know.
    pub troubles: Vec<Trouble>,
    /// Whether jobs stand for groups of jobs: a description, nothing that can be run.
    pub aggregated: bool,
    /// First and last sign of life.
    pub span: Option<(Timestamp, Timestamp)>,
}

/// The jobs of what was recorded.
///
/// # Errors
/// If the log cannot be read.
pub fn jobs(log: &EventLog, lives: &Lives, options: &JobOptions) -> Result<Jobs, TrailError> {
    let steps = steps::read(log)?;
    let launches = launch::follow(&steps, lives);
    let division = divide::divide(lives, &launches, options);
    let merged = pipeline::merge(lives, &launches, &division);
    let history = history::write(&steps, log, lives, &launches, &merged);
    Ok(order::assemble(log, lives, &launches, merged, &history))
}
