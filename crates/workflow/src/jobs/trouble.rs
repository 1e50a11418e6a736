//! What stands in the way of running jobs again.

use super::JobId;
use iotrail_model::text::printable;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Something that a reader of exported jobs must know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case", tag = "trouble")]
pub enum Trouble {
    /// Jobs that need each other; they are ordered by their starts.
    Cycle {
        /// The jobs, sorted.
        jobs: Vec<JobId>,
    },
    /// Several jobs wrote one file; their order is that of the recording.
    SharedOutput {
        /// The file.
        path: Arc<str>,
        /// The jobs, in the order of their first writing.
        jobs: Vec<JobId>,
    },
    /// The manager itself wrote a file that jobs read: what runs the jobs must provide it.
    ManagerWrote {
        /// The file.
        path: Arc<str>,
    },
    /// A job whose command is not known or cannot be written down.
    CannotRun {
        /// The job.
        job: JobId,
        /// Why not.
        why: String,
    },
    /// A job whose end was not seen.
    NoEnd {
        /// The job.
        job: JobId,
    },
    /// A job that ended with another status than 0, or was killed.
    Failed {
        /// The job.
        job: JobId,
        /// `exit status 1`, `SIGSEGV`.
        how: String,
    },
    /// A job sends data to the manager, or gets data from it, through a pipe.
    PipeToManager {
        /// The job.
        job: JobId,
    },
    /// A job's arguments name the directory of the recording by its absolute path: it uses that directory wherever it runs.
    AbsolutePath {
        /// The job.
        job: JobId,
    },
}

impl Trouble {
    /// In words; jobs are numbered from 1 in the order of [`super::Jobs::jobs`].
    #[must_use]
    pub fn say(&self) -> String {
        self.to_string()
    }
}

/// At most this many jobs are named; the rest is counted.
const NAMED: usize = 8;

fn list(jobs: &[JobId]) -> String {
    let named: Vec<String> = jobs.iter().take(NAMED).map(|job| (job.0 + 1).to_string()).collect();
    let more = jobs.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", named.join(", "))
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle { jobs } => write!(
                f,
                "jobs {} exchange data both ways; they are run in the order of their starts, which may give another result",
                list(jobs)
            ),
            Self::SharedOutput { path, jobs } => write!(
                f,
                "{} is written by jobs {}; they are run in the recorded order",
                printable(path),
                list(jobs)
            ),
            Self::ManagerWrote { path } => write!(
                f,
                "{} was written by the workflow manager itself and must be there before the jobs run",
                printable(path)
            ),
            Self::CannotRun { job, why } => {
                write!(f, "job {} cannot be run: {}", job.0 + 1, printable(why))
            }
            Self::NoEnd { job } => write!(f, "the end of job {} was not recorded", job.0 + 1),
            Self::Failed { job, how } => write!(f, "job {} ended with {}", job.0 + 1, printable(how)),
            Self::PipeToManager { job } => {
                write!(
                    f,
                    "job {} is connected to the workflow manager by a pipe, which is not exported",
                    job.0 + 1
                )
            }
            Self::AbsolutePath { job } => write!(
                f,
                "the arguments of job {} name the recorded working directory: it uses that directory wherever it runs",
                job.0 + 1
            ),
        }
    }
}
