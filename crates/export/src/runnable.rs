//! What formats whose files are run need of the jobs.

use crate::error::ExportError;
use crate::escape::{Base, program_hiding, shell_hiding, single_quoted};
use iotrail_workflow::jobs::{Issue, Job, Jobs};

/// Refuses what cannot be run.
pub(crate) fn check(jobs: &Jobs, format: &'static str) -> Result<(), ExportError> {
    let refuse = |why: String| Err(ExportError::CannotHold { format, why });
    if jobs.aggregated {
        return refuse("it needs the command line of each job, but the graph is aggregated; export it without --aggregate and --cluster".to_owned());
    }
    if jobs.jobs.is_empty() {
        return refuse(
            "no job is in it; take the selection back, or name the managers with --manager".to_owned(),
        );
    }
    let is_unplaced = |issue: &&Issue| matches!(issue, Issue::Unplaced { .. });
    if let Some(issue) = jobs.issues.iter().find(is_unplaced) {
        return refuse(format!(
            "{}; trace with `strace -y`, or record with `iotrail record`; or export a format that only describes: pegasus, dax, wfformat",
            issue.message()
        ));
    }
    let is_decisive = |issue: &&Issue| matches!(issue, Issue::CallsMissing { decisive: true, .. });
    if let Some(issue) = jobs.issues.iter().find(is_decisive) {
        return refuse(format!(
            "{}; or export a format that only describes: pegasus, dax, wfformat",
            issue.message()
        ));
    }
    let why_not = jobs.issues.iter().find(|issue| matches!(issue, Issue::CannotRun { .. }));
    match why_not {
        Some(issue) => refuse(format!(
            "{}; leave that job out by a selection, or export a format that only describes: pegasus, dax, wfformat",
            issue.message()
        )),
        None => Ok(()),
    }
}

/// Refuses jobs that need a longer argument than the kernel takes: such systems start programs with words.
pub(crate) fn check_lengths(jobs: &Jobs, format: &'static str) -> Result<(), ExportError> {
    /// `MAX_ARG_STRLEN` with the zero byte at the end.
    const LONGEST: usize = 128 << 10;
    let is_long = |job: &Job| {
        let words = words(job, jobs, |_| false).unwrap_or_default();
        words.iter().any(|word| word.len() >= LONGEST)
    };
    match jobs.jobs.iter().position(is_long) {
        Some(job) => Err(ExportError::CannotHold {
            format,
            why: format!(
                "the command of job {} is longer than one argument of a program can be (128 KiB); a makefile or a Snakefile can hold it",
                job + 1
            ),
        }),
        None => Ok(()),
    }
}

/// What each command begins with, ended by ` && `: it sees that it is run where it should be, and makes the directories that
/// managers made; empty if there is nothing to do.
pub(crate) fn preparation(jobs: &Jobs) -> String {
    let base = Base::of(jobs);
    let home = jobs.home.as_deref();
    let home = home.map(|home| format!("test -d ./{} && ", single_quoted(&base.relative(home))));
    home.unwrap_or_default() + &directories(jobs)
}

/// What makes the directories that managers made, ended by ` && `; empty if there are none.
fn directories(jobs: &Jobs) -> String {
    let base = Base::of(jobs);
    let names = jobs.directories.iter().map(|path| single_quoted(&base.relative(path)));
    let names: Vec<String> = names.collect();
    if names.is_empty() { String::new() } else { format!("mkdir -p -- {} && ", names.join(" ")) }
}

/// Program and arguments of a job for systems that start programs without a shell; it makes the directories that managers made.
pub(crate) fn words(job: &Job, jobs: &Jobs, hides: fn(&str) -> bool) -> Option<Vec<String>> {
    let directories = directories(jobs);
    if directories.is_empty() {
        return program_hiding(job, jobs, hides);
    }
    let line = format!("{directories}{}", shell_hiding(job, jobs, hides)?);
    Some(vec!["/bin/sh".to_owned(), "-c".to_owned(), line])
}

/// What sets the umask of the recording, ended by `; `; empty if it is the usual one, or unknown.
pub(crate) fn umask(jobs: &Jobs) -> String {
    jobs.umask.map(|umask| format!("umask {umask:03o}; ")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_do_nothing_where_the_directory_of_the_recording_is_missing() {
        let directories = vec!["/w/a b".into(), "/w/-c".into()];
        let mut jobs = Jobs { base: Some("/w".into()), directories, ..Jobs::default() };
        assert_eq!(preparation(&jobs), "mkdir -p -- 'a b' '-c' && ");
        (jobs.home, jobs.directories) = (Some("/w/scripts/it".into()), Vec::new());
        assert_eq!(preparation(&jobs), "test -d ./scripts/it && ");
    }
}
