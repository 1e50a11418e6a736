//! What stands in the way of running jobs again.

use super::JobId;
use iotrail_model::text::printable;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Something that a reader of exported jobs must know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case", tag = "trouble")]
pub enum Issue {
    /// Jobs that need each other; they are ordered by their starts.
    Cycle {
        /// The jobs, sorted.
        jobs: Vec<JobId>,
    },
    /// Several jobs wrote one file; their order is that of the recording.
    SharedOutput {
        /// Path of the shared file.
        path: Arc<str>,
        /// The jobs, in the order of their first writing.
        jobs: Vec<JobId>,
    },
    /// The manager itself wrote a file that jobs read: what runs the jobs must provide it.
    ManagerWrote {
        /// Path of the file that the manager wrote.
        path: Arc<str>,
    },
    /// The manager itself made directories, which may be gone at the end, with permissions that are not in the trail.
    ManagerMade {
        /// The directories, sorted.
        paths: Vec<Arc<str>>,
    },
    /// A job whose command is not known or cannot be written down.
    CannotRun {
        /// The job that cannot be run again.
        job: JobId,
        /// What stands in the way, as a clause.
        why: String,
    },
    /// A job whose end was not seen.
    NoEnd {
        /// The job whose end was not seen.
        job: JobId,
    },
    /// A job that ended with another status than 0, or was killed.
    Failed {
        /// The job that failed.
        job: JobId,
        /// `exit status 1`, `SIGSEGV`.
        how: String,
    },
    /// A job sends data to the manager, or gets data from it, through a pipe.
    PipeToManager {
        /// The job at the other end of the pipe.
        job: JobId,
    },
    /// A manager is one job, because its commands alone would give another result.
    Whole {
        /// The job that is the whole program.
        job: JobId,
        /// What it did.
        why: String,
    },
    /// A job read what was open before the recording began, its standard input.
    ReadsOutside {
        /// The job that reads.
        job: JobId,
    },
    /// The recording wrote to a file that was open before it began, its standard output.
    WroteOutside {
        /// Path of the file outside.
        path: Arc<str>,
    },
    /// It matters to jobs what the times of the inputs are, or when the other jobs ran.
    Times {
        /// The jobs, sorted.
        jobs: Vec<JobId>,
    },
    /// The recording began with these variables, which its commands had from it and which cannot be written down.
    Environment {
        /// `NAME=value`, as far as they were kept.
        variables: Vec<String>,
    },
    /// The trail is of another tool's trace, which does not hold the variables that commands had.
    UnknownEnvironment,
    /// Calls that the trail does not hold, because they were not recorded or not traced.
    CallsMissing {
        /// What they do, each behind "calls that".
        what: Vec<Arc<str>>,
        /// Whether nobody can tell without them what the jobs need and make.
        decisive: bool,
        /// Whether it is a trace, which does not say which calls were left out.
        traced: bool,
    },
    /// Jobs start programs that run commands as another user.
    OtherUser {
        /// The jobs, sorted.
        jobs: Vec<JobId>,
        /// Name of the first of these programs.
        program: Arc<str>,
    },
    /// Jobs listed the directory of the recording, in which a workflow system keeps files of its own.
    ListsBase {
        /// The jobs, sorted.
        jobs: Vec<JobId>,
    },
    /// Jobs listed the directory in which the trail lay while it was recorded.
    ListsTrail {
        /// The jobs, sorted.
        jobs: Vec<JobId>,
        /// Its name there.
        trail: Arc<str>,
    },
    /// Scripts asked about files that other jobs made, and may have looked at their times.
    MayUseTimes {
        /// The jobs, sorted.
        jobs: Vec<JobId>,
    },
    /// Jobs exchanged directories that had, or got, other names: what is in them is not followed through that.
    Exchanges {
        /// The jobs, sorted.
        jobs: Vec<JobId>,
    },
    /// Jobs use what is beside the directory where the recording began.
    Above {
        /// The directory that the paths are relative to.
        home: Arc<str>,
        /// The one above it that holds all.
        base: Arc<str>,
    },
    /// Jobs write what has nothing to do with the directory of the recording.
    Outside {
        /// One of the files.
        path: Arc<str>,
        /// How many others there are.
        more: u64,
    },
    /// A manager whose jobs are told apart did something that is not exported.
    NotExported {
        /// What it did.
        why: String,
    },
    /// Files were opened by relative names, and it is not known in which directory: what was open behind a descriptor then is
    /// not known either.
    Unplaced {
        /// One of the names.
        path: Arc<str>,
        /// How many others there are.
        more: u64,
    },
}

impl Issue {
    /// In words; jobs are numbered from 1 in the order of [`super::Jobs::jobs`].
    #[must_use]
    pub fn message(&self) -> String {
        self.to_string()
    }
}

/// At most this many jobs are named; the rest is counted.
const NAMED: usize = 8;

/// That one job does something, or several do.
fn do_what(jobs: &[JobId], one: &str, several: &str) -> String {
    match jobs.len() {
        1 => format!("job {} {one}", list(jobs)),
        _ => format!("jobs {} {several}", list(jobs)),
    }
}

fn list(jobs: &[JobId]) -> String {
    let named: Vec<String> = jobs.iter().take(NAMED).map(|job| (job.0 + 1).to_string()).collect();
    let more = jobs.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", named.join(", "))
}

impl fmt::Display for Issue {
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
            Self::ManagerMade { paths } => write!(
                f,
                "{} made by the workflow manager itself, with permissions that are not in the trail: the export makes them with the usual ones",
                match paths.as_slice() {
                    [path] => format!("the directory {} was", printable(path)),
                    [path, ..] => format!("{} directories ({}, ...) were", paths.len(), printable(path)),
                    [] => "no directories were".to_owned(),
                }
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
            Self::Whole { job, why } => write!(
                f,
                "job {} is a workflow manager as a whole, because {}; --manager tells its commands apart nevertheless",
                job.0 + 1,
                printable(why)
            ),
            Self::ReadsOutside { job } => write!(
                f,
                "job {} read the standard input of the recording, which is not exported: give it the same",
                job.0 + 1
            ),
            Self::WroteOutside { path } => write!(
                f,
                "{} was open before the recording began; what is written to it is not exported: redirect the output of the export to it",
                printable(path)
            ),
            Self::Times { jobs } => write!(
                f,
                "{} {} on the times of files: copy the inputs with their times (`cp -p`); times that are shown or stored, and the order of what ran at the same time, are those of the new run",
                if jobs.len() == 1 { "the result of job" } else { "the results of jobs" },
                if jobs.len() == 1 {
                    format!("{} depends", list(jobs))
                } else {
                    format!("{} depend", list(jobs))
                },
            ),
            Self::Environment { variables } => write!(
                f,
                "the recording had {}: give the jobs the same",
                variables.iter().map(|variable| printable(variable)).collect::<Vec<_>>().join(", ")
            ),
            Self::UnknownEnvironment => f.write_str(
                "the trace does not hold the variables of the environment: commands have those of whoever runs them",
            ),
            Self::CallsMissing { what, traced: false, .. } => write!(
                f,
                "calls that {} were not recorded: what the jobs did by them is not exported, and the result may differ; record with all calls",
                what.join(", ")
            ),
            Self::CallsMissing { what, .. } => write!(
                f,
                "the trace is of chosen calls and has none that {}: if they were not traced (`strace -e`), what the jobs did by them is not exported, and the result may differ",
                what.join(", ")
            ),
            Self::OtherUser { jobs, program } => write!(
                f,
                "{} {}, which may run commands as another user: whoever runs the export needs the same right, and commands that were another user's without such a program run as the one who runs the export",
                do_what(jobs, "starts", "start"),
                printable(program)
            ),
            Self::MayUseTimes { jobs } => write!(
                f,
                "{}, which {} asked about and did not read: if times of files decide what is written, or are written, they are those of the new run; where those of inputs decide, jobs do not notice what others do otherwise after a change: run \"clean\" then",
                do_what(
                    jobs,
                    "may look at the times of files of other jobs",
                    "may look at the times of files of other jobs"
                ),
                if jobs.len() == 1 { "it" } else { "they" },
            ),
            Self::Exchanges { jobs } => write!(
                f,
                "{} directories that are renamed or exchanged before or after, too: what is in them is right the first time, and may be left in other places when the jobs run again",
                do_what(jobs, "exchanges", "exchange"),
            ),
            Self::ListsTrail { jobs, trail } => write!(
                f,
                "{} the directory in which {} lay while it was recorded, and found it there: record with -o ELSEWHERE, and keep this export elsewhere, too",
                do_what(jobs, "lists", "list"),
                printable(trail)
            ),
            Self::ListsBase { jobs } if jobs.len() == 1 => write!(
                f,
                "job {} lists the directory in which the jobs run: if it counts hidden names, it finds those of the workflow system too",
                list(jobs)
            ),
            Self::ListsBase { jobs } => write!(
                f,
                "jobs {} list the directory in which the jobs run: if they count hidden names, they find those of the workflow system too",
                list(jobs)
            ),
            Self::Above { home, base } => write!(
                f,
                "the recording began in {}, and jobs use files beside it: run them in a directory laid out like {}",
                printable(home),
                printable(base)
            ),
            Self::Outside { path, more } => {
                let others = if *more > 0 { format!(" and {more} others") } else { String::new() };
                write!(
                    f,
                    "{}{others} is outside of the directory in which the jobs run: it is written where it was",
                    printable(path)
                )
            }
            Self::NotExported { why } => {
                write!(f, "about the workflow manager: {}; this is not exported", printable(why))
            }
            Self::Unplaced { path, more } => {
                let path = printable(path);
                let others = if *more > 0 { format!(" and {more} others") } else { String::new() };
                write!(
                    f,
                    "names of opened files are relative, and their directory is not in the trace: `{path}`{others}"
                )
            }
        }
    }
}
