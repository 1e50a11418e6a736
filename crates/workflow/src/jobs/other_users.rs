//! Jobs that start programs whose commands run as another user.
//!
//! A trail does not tell as whom a process ran. A program that somebody runs to become another user is in the job that the export
//! writes down, so the job becomes that user again, if it may.

use super::{Issue, Job, JobId};
use iotrail_query::ProcessTable;
use std::sync::Arc;

/// Programs that run a command as another user or group.
const PROGRAMS: [&str; 14] = [
    "sudo",
    "sudo-rs",
    "su",
    "doas",
    "pkexec",
    "runuser",
    "setpriv",
    "gosu",
    "su-exec",
    "setuidgid",
    "chpst",
    "capsh",
    "newgrp",
    "sg",
];

/// What a reader must know of them.
pub(crate) fn other_users(jobs: &[Job], processes: &ProcessTable) -> Option<Issue> {
    let program = |job: &Job| -> Option<Arc<str>> {
        let images = job.processes.iter().flat_map(|process| processes.images(*process));
        let names = images.filter_map(|image| image.exe.as_deref()?.rsplit('/').next());
        PROGRAMS.into_iter().find(|known| names.clone().any(|name| name == *known)).map(Arc::from)
    };
    let found: Vec<(JobId, Arc<str>)> = jobs
        .iter()
        .enumerate()
        .filter_map(|(number, job)| Some((JobId(number as u32), program(job)?)))
        .collect();
    let (_, program) = found.first()?.clone();
    Some(Issue::OtherUser { jobs: found.into_iter().map(|(job, _)| job).collect(), program })
}
