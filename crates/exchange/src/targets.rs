//! Which files stand for a job where a job is known by what it makes: make and Snakemake.
//!
//! A file is a target of its job if that job alone makes it, nobody read it before, it stays, it is no symbolic link, its
//! time does not matter, and its name can be written in the format. For Snakemake, which deletes targets before a job runs, no older
//! file may have been there. A job with any other output, or none, is known by its
//! stamp `.iotrail/job-N` alone. Every job leaves its stamp: one that has none here was never run here, and is run however
//! old the files are that lie there.

use crate::escape::{Base, shell};
use iotrail_workflow::jobs::{Job, JobId, Jobs};
use std::collections::BTreeSet;

/// What a job is known by.
#[derive(Debug)]
pub(crate) enum Targets {
    /// Files, as they are written.
    Files(Vec<String>),
    /// Its stamp.
    Stamp(String),
}

impl Targets {
    /// All of them.
    pub(crate) fn all(&self) -> &[String] {
        match self {
            Self::Files(files) => files,
            Self::Stamp(stamp) => std::slice::from_ref(stamp),
        }
    }

    /// The first of them.
    pub(crate) fn first(&self) -> &str {
        match self {
            Self::Files(files) => files.first().map_or("", String::as_str),
            Self::Stamp(stamp) => stamp,
        }
    }
}

/// A job and its place in the rules of a format.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) targets: Targets,
    /// Its stamp, a target or not.
    pub(crate) stamp: String,
    /// Files that it reads: those of other jobs, stamps, and those that nobody makes.
    pub(crate) inputs: Vec<String>,
    /// Jobs that it waits for without reading what they are known by: the first target of each.
    pub(crate) after: Vec<String>,
}

/// What happens to targets before a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// They stay.
    Kept,
    /// They are deleted.
    Deleted,
}

/// The rules of all jobs; `name` writes a path if the format can.
pub(crate) fn rules(jobs: &Jobs, before: Before, name: impl Fn(&str) -> Option<String>) -> Vec<Rule> {
    let base = Base::of(jobs);
    let name = |path: &str| name(&base.relative(path));
    let stamps: Vec<String> =
        jobs.jobs.iter().enumerate().map(|(number, job)| stamp(JobId(number as u32), job, jobs)).collect();
    let targets: Vec<Targets> =
        jobs.jobs.iter().zip(&stamps).map(|(job, stamp)| targets(job, stamp, before, &name)).collect();
    // Who wants what lies in a directory that a job makes waits for that job; make cannot know of the file before.
    let made: Vec<&str> =
        jobs.jobs.iter().flat_map(|job| &job.directories).map(|directory| &**directory).collect();
    let in_made = |path: &str| {
        made.iter().any(|made| path.strip_prefix(made).is_some_and(|rest| rest.starts_with('/')))
    };
    let changed: BTreeSet<&str> =
        jobs.jobs.iter().flat_map(|job| &job.outputs).map(|file| &*file.path).collect();
    let inputs: Vec<(Vec<String>, Vec<String>)> = jobs
        .jobs
        .iter()
        .map(|job| {
            let mut after = Vec::new();
            let mut inputs: BTreeSet<String> = job
                .inputs
                .iter()
                .filter(|file| !changed.contains(&*file.path) && file.stays && !in_made(&file.path))
                .filter(|file| jobs.is_own(&file.path))
                .filter_map(|file| name(&file.path))
                .collect();
            let read: BTreeSet<String> = job.inputs.iter().filter_map(|file| name(&file.path)).collect();
            for needed in &job.needs {
                match &targets[needed.index()] {
                    Targets::Stamp(stamp) => drop(inputs.insert(stamp.clone())),
                    Targets::Files(files) => {
                        let of_it: Vec<&String> = files.iter().filter(|file| read.contains(*file)).collect();
                        if of_it.is_empty() {
                            after.push(targets[needed.index()].first().to_owned());
                        }
                        inputs.extend(of_it.into_iter().cloned());
                    }
                }
            }
            (inputs.into_iter().collect(), after)
        })
        .collect();
    targets
        .into_iter()
        .zip(inputs)
        .zip(stamps)
        .map(|((targets, (inputs, after)), stamp)| Rule { targets, stamp, inputs, after })
        .collect()
}

fn targets(job: &Job, stamp: &str, before: Before, name: &impl Fn(&str) -> Option<String>) -> Targets {
    let in_own_directory = |path: &str| {
        job.directories
            .iter()
            .any(|directory| path.strip_prefix(&**directory).is_some_and(|rest| rest.starts_with('/')))
    };
    let files: Option<Vec<String>> = job
        .outputs
        .iter()
        .map(|file| {
            let is_made = file.only && file.stays && !file.updated && !file.link;
            let may_go = before == Before::Kept || !file.older;
            let is_target = is_made && may_go && !file.timed && !in_own_directory(&file.path);
            is_target.then(|| name(&file.path)).flatten()
        })
        .collect();
    match files {
        Some(files) if !files.is_empty() => Targets::Files(files),
        _ => Targets::Stamp(stamp.to_owned()),
    }
}

/// The stamp of a job: its number and a sum of its command, so that no other export that ran in the same directory left it.
fn stamp(id: JobId, job: &Job, jobs: &Jobs) -> String {
    let line = shell(job, jobs).unwrap_or_default();
    format!(".iotrail/job-{:04}-{:08x}", id.0 + 1, crc32fast::hash(line.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workflow::jobs::JobFile;

    #[test]
    fn what_was_there_before_is_a_target_only_of_who_lets_it_be() {
        let output = JobFile {
            path: "out".into(),
            size: None,
            read: 0,
            written: 1,
            only: true,
            stays: true,
            updated: false,
            older: true,
            link: false,
            timed: false,
        };
        let job = Job { outputs: vec![output], ..Job::default() };
        let names = |path: &str| Some(path.to_owned());
        let is_known_by = |before| match targets(&job, "stamp", before, &names) {
            Targets::Files(files) => files,
            Targets::Stamp(stamp) => vec![stamp],
        };
        assert_eq!(is_known_by(Before::Kept), ["out"]);
        assert_eq!(is_known_by(Before::Deleted), ["stamp"]);
    }
}
