//! The jobs of a workflow: what a workflow manager started, with what each needs and makes, ready to be run again.
//!
//! A job is a program that the manager executed (the first program of the recording: `make`, a script, `snakemake`) with
//! all its descendants: running Montage's `mDiff` apart from the `mDiffFit` that started it would be wrong. Commands
//! that talk through a pipe, or go on where another left an open file, are one job, written as the shell was asked to do
//! it. Where a manager did work itself (a shell's `echo >file`), its commands alone would give another result: then the
//! manager as a whole is the job.
//!
//! Jobs are made from the calls and not from the graph of versions, because workflow systems know files by path only:
//! what counts for them is who read, wrote, made and deleted which name, in which order. A shell's redirection is seen as
//! what it is: the descriptors as they stood when the command was executed.

mod attributes;
mod base;
mod called;
mod changed_names;
mod command;
mod commands;
mod divide;
mod early;
mod environment;
mod find;
mod group;
mod hidden;
mod history;
mod issue;
mod labels;
mod launch;
mod link_counts;
mod listings;
mod missing_calls;
mod new_directories;
mod old_links;
mod order;
mod other_users;
mod own_actions;
mod programs;
mod reach;
mod redo;
mod script;
mod select;
mod stages;
mod steps;
#[cfg(test)]
mod tests;
mod times;
mod turns;
mod watched;

use iotrail_model::{Case, Nanos, Timestamp};
use iotrail_query::{ProcessId, ProcessTable};
use iotrail_trail::{EventLog, TrailError};
use regex::Regex;
use serde::Serialize;
use std::sync::Arc;

pub use command::Program;
pub use issue::Issue;

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

/// What a descriptor of a command is led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// `<`
    Read(Arc<str>),
    /// `>`
    Write(Arc<str>),
    /// `>>`
    Append(Arc<str>),
    /// `<>`
    ReadWrite(Arc<str>),
    /// `>&` and a number: what that descriptor is.
    Same(i32),
    /// `/dev/null`: what was connected to the manager.
    Null,
    /// `>&-`
    Closed,
}

impl Target {
    /// The file, if it is one.
    #[must_use]
    pub const fn path(&self) -> Option<&Arc<str>> {
        match self {
            Self::Read(path) | Self::Write(path) | Self::Append(path) | Self::ReadWrite(path) => Some(path),
            Self::Same(_) | Self::Null | Self::Closed => None,
        }
    }
}

/// A redirection of one descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Redirect {
    /// Number of the redirected descriptor.
    pub fd: i32,
    /// What it is led to.
    pub target: Target,
}

/// A command as it was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Command {
    /// Process that ran the command.
    pub process: ProcessId,
    /// Path of the executable.
    pub exe: Option<Arc<str>>,
    /// The arguments, the first is the command; bytes because they need not be text.
    #[serde(serialize_with = "command::as_text")]
    pub argv: Vec<Vec<u8>>,
    /// Working directory.
    pub cwd: Option<Arc<str>>,
    /// Recorded environment variables that the first program does not have or has otherwise, `NAME=value`.
    pub env: Vec<String>,
    /// Names of those that the first program has and this one has not.
    pub unset: Vec<String>,
    /// Redirections, in the order in which they are written.
    pub redirects: Vec<Redirect>,
}

/// What a shell is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Script {
    /// One command.
    Command(Command),
    /// One after the other, whatever their exit statuses are.
    Sequence(Vec<Script>),
    /// Each with its standard output led to the standard input of the next.
    Pipeline(Vec<Script>),
    /// Under another umask than that of the recording.
    Masked {
        /// The umask under which it runs.
        umask: u32,
        /// What runs under it.
        body: Box<Script>,
    },
    /// With files that all of it shares.
    Redirected {
        /// What shares them.
        body: Box<Script>,
        /// Redirections around the commands.
        redirects: Vec<Redirect>,
    },
}

impl Script {
    /// The commands, from left to right.
    #[must_use]
    pub fn commands(&self) -> Vec<&Command> {
        match self {
            Self::Command(command) => vec![command],
            Self::Sequence(parts) | Self::Pipeline(parts) => parts.iter().flat_map(Self::commands).collect(),
            Self::Redirected { body, .. } | Self::Masked { body, .. } => body.commands(),
        }
    }

    /// All redirections, of what shares them before those of its commands.
    #[must_use]
    pub fn redirects(&self) -> Vec<&Redirect> {
        match self {
            Self::Command(command) => command.redirects.iter().collect(),
            Self::Sequence(parts) | Self::Pipeline(parts) => parts.iter().flat_map(Self::redirects).collect(),
            Self::Masked { body, .. } => body.redirects(),
            Self::Redirected { body, redirects } => redirects.iter().chain(body.redirects()).collect(),
        }
    }

    /// What a person calls it: `sort|uniq`, `head;cat`.
    #[must_use]
    pub fn name(&self) -> String {
        /// Names of a sequence that are written; others are left out.
        const SHOWN: usize = 4;
        let joined = |parts: &[Self], sign: &str| {
            let mut names: Vec<String> = parts.iter().map(Self::name).collect();
            names.dedup();
            if names.len() > SHOWN {
                names.truncate(SHOWN);
                names.push("...".to_owned());
            }
            names.join(sign)
        };
        match self {
            Self::Command(command) => command.name(),
            Self::Sequence(parts) => joined(parts, ";"),
            Self::Pipeline(parts) => joined(parts, "|"),
            Self::Redirected { body, .. } | Self::Masked { body, .. } => body.name(),
        }
    }
}

/// A file of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobFile {
    /// Path of the file.
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
    /// Whether it was there before this job changed it: it was changed in place, or replaced.
    pub updated: bool,
    /// Whether an older file of that name was there before the recording, found by a job or emptied, or perhaps a link through
    /// which the job went: who deletes it before the job runs takes its permissions and what the job found.
    pub older: bool,
    /// Whether it is a symbolic link that was made in the recording.
    pub link: bool,
    /// Whether its time matters: a job set it, compared it, or made another name of the file.
    pub timed: bool,
}

/// Who left a name as a job found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Left {
    /// The job that leaves it there.
    ByJob(JobId),
    /// It was there before the recording.
    Input,
    /// Nobody; whether anything was there before the recording is not known.
    Perhaps,
    /// Nobody: nothing had the name.
    Free,
    /// Nobody: there was nothing that would have to be restored, be it that something has the name.
    Nothing,
}

/// What a job must find if it is to do again what it did: a name in a state that a job ends, itself or a later one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct State {
    /// A number of the name among all that are found in several states.
    pub thing: u32,
    /// Path whose state it is.
    pub path: Arc<str>,
    /// Who left it so.
    pub left: Left,
    /// Where there was nothing: the jobs that make it later and run again whenever the job does, if these are all that change it. What
    /// they made may be taken away.
    pub remade: Vec<JobId>,
}

/// What a job made where nothing was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Made {
    /// Path of the file that was made.
    pub path: Arc<str>,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether it matters to the job that nothing is there.
    pub clear: bool,
    /// Whether it holds what was there before the recording under another name: nothing may remove it.
    pub moved: bool,
    /// Whether it is known that nothing had the name before the recording.
    pub free: bool,
}

/// A job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Job {
    /// What runs it again; `None` if nothing can.
    pub script: Option<Script>,
    /// Name of the program or of the script that it ran, of a pipeline all of them: `sort|uniq|gzip`; or the name of the
    /// group that it stands for.
    pub name: Arc<str>,
    /// Its processes, sorted.
    pub processes: Vec<ProcessId>,
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
    /// Names that it must find as it did, because a job changes them.
    pub finds: Vec<State>,
    /// Numbers of the names that it leaves in another state than it found, sorted.
    pub leaves: Vec<u32>,
    /// What it made where nothing was, and did not delete, sorted.
    pub made: Vec<Made>,
    /// Files of before that it found and nobody changed but in their permissions, sorted; perhaps without reading them.
    pub found: Vec<Arc<str>>,
    /// Files that jobs made or changed and that it found, perhaps without reading them.
    pub met: Vec<Arc<str>>,
    /// Directories that it listed.
    pub listed: Vec<Arc<str>>,
    /// Directories made in the recording that it removes with all that is in them, or would if they were there: it looked for them
    /// in vain. Sorted.
    pub clears: Vec<Arc<str>>,
    /// Names that no job makes, sorted: those that it looked for in vain, or could not use because of what was there, and arguments that
    /// may be symbolic links.
    pub watched: Vec<Arc<str>>,
    /// Names that it renames, or of whose files it makes further names.
    #[serde(skip)]
    pub moves: Vec<Arc<str>>,
    /// Names that it takes away, with those that it gives instead, in the order of time.
    #[serde(skip)]
    pub renames: Vec<[Arc<str>; 2]>,
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

    /// Its commands, from left to right; none if it cannot be run again.
    #[must_use]
    pub fn commands(&self) -> Vec<&Command> {
        self.script.as_ref().map(Script::commands).unwrap_or_default()
    }
}

/// The jobs of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Jobs {
    /// All jobs, in an order in which they can run one after the other: that of their starts where nothing forbids it.
    pub jobs: Vec<Job>,
    /// Command line of the manager, arguments separated by NUL; NULL if the only process is itself the job.
    pub manager: Option<Arc<str>>,
    /// The directory that an export stands for, what relative paths are relative to: the working directory of the first
    /// process, or one above it.
    pub base: Option<Arc<str>>,
    /// The working directory of the first process, where that is below it.
    pub home: Option<Arc<str>>,
    /// Other names of directories in it, through symbolic links (the `PWD` of a shell), with their own.
    pub aliases: Vec<(Arc<str>, Arc<str>)>,
    /// Directories that managers made.
    pub directories: Vec<Arc<str>>,
    /// Names of files of before that have several names and that jobs change by one of them, sorted.
    pub shared: Vec<Arc<str>>,
    /// Names that jobs gave, be it in the place of something else, to what was there before the recording, and that it has at the end.
    #[serde(skip)]
    pub kept: Vec<Arc<str>>,
    /// Numbers of the names of which what was there before is emptied, removed or replaced, sorted.
    #[serde(skip)]
    pub lost: Vec<u32>,
    /// Files of before that jobs change in no order that is known.
    #[serde(skip)]
    pub unordered: Vec<Arc<str>>,
    /// Files that only managers read, sorted: no job needs them.
    pub of_managers: Vec<Arc<str>>,
    /// Variables that the recording began with and that may change results, as far as they were kept: `NAME=value`, without
    /// any sign that means something to a shell or to make. Jobs have them unless they say otherwise.
    pub environment: Vec<String>,
    /// The umask under which the recording began, if it is known and not the usual 022.
    pub umask: Option<u32>,
    /// What stands in the way of running them again, and what a reader must know.
    pub issues: Vec<Issue>,
    /// Whether jobs stand for groups of jobs: a description, nothing that can be run.
    pub aggregated: bool,
    /// First and last sign of life.
    pub span: Option<(Timestamp, Timestamp)>,
}

impl Jobs {
    /// Whether a file has its place in the directory that an export stands for: not what programs keep for themselves or where they
    /// are installed, beside the directory where the recording began (`~/.cache/x` of a recording in `~/project`).
    #[must_use]
    pub fn is_own(&self, path: &str) -> bool {
        let Some(home) = &self.home else { return true };
        let below = path.strip_prefix(&**home).is_some_and(|rest| rest.starts_with('/'));
        below || path != "/" && !base::is_private(home, path)
    }

    /// Whether a job runs after the other one, because it waits for it or for one that does; as far as a short search tells.
    #[must_use]
    pub fn waits(&self, job: JobId, other: JobId) -> bool {
        /// Jobs that are looked at.
        const SEARCHED: usize = 1_000;
        let needs = |job: u32| self.jobs[job as usize].needs.iter().map(|need| need.0);
        reach::reaches(needs, job.0, other.0, SEARCHED)
    }
}

/// The jobs of what was recorded.
///
/// # Errors
/// If the log cannot be read.
pub fn jobs(log: &EventLog, processes: &ProcessTable, options: &JobOptions) -> Result<Jobs, TrailError> {
    let steps = steps::read(log)?;
    let mut programs = programs::follow(&steps, processes, log.names());
    let hidden = hidden::Hidden::new(log, processes, &steps);
    programs.initial_umask = programs.initial_umask.or_else(|| environment::initial_umask(log));
    programs.aside = launch::launchers(&steps, processes, &programs, &hidden);
    redo::redo(&steps, log.names(), processes, &hidden, options, &mut programs);
    let sockets = steps::sockets(log, &steps);
    let mut jobs = find::Finder {
        log,
        processes,
        options,
        steps: &steps,
        programs: &programs,
        hidden: &hidden,
        sockets: &sockets,
    }
    .find();
    jobs.issues.extend(missing_calls::missing_calls(log)?);
    jobs.issues.sort();
    if !log.cases().is_empty() && !log.cases().iter().any(Case::has_times) {
        // Without time stamps, times number calls: they have told the order, and are no times.
        jobs.span = None;
        jobs.jobs.iter_mut().for_each(|job| (job.start, job.end) = (None, None));
    }
    Ok(jobs)
}
