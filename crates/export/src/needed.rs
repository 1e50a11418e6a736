//! Files of before that jobs need, and that they or later ones change or take away: who changes something of before is not done where
//! another job cannot be, because what it needs is gone already.

use crate::owned::{above, lasting};
use iotrail_workflow::jobs::{Job, Jobs, Left};
use std::collections::BTreeSet;

/// Names of other jobs that a job is told.
const NAMES: usize = 32;

/// What each job needs as it was before the recording.
#[derive(Debug, Default)]
pub(crate) struct Needed<'a> {
    /// By job.
    read: Vec<BTreeSet<&'a str>>,
    /// By job, what it does not read, and gives another name, or takes away.
    moved: Vec<BTreeSet<&'a str>>,
    /// What jobs find and is away at the end, by their numbers.
    away: Vec<(usize, &'a str)>,
}

impl<'a> Needed<'a> {
    /// Of these jobs. Not what may be something else when a job begins, because an earlier one gave its name, or that of a directory
    /// above, to that: `is_changed_before`. Nothing of before is in a directory that they make where nothing was: `is_new`.
    pub(crate) fn of(
        jobs: &'a Jobs,
        is_changed_before: impl Fn(&str, usize) -> bool,
        is_new: impl Fn(&str) -> bool,
    ) -> Self {
        let mut needed = Self::default();
        let lasting = lasting(jobs);
        for (number, job) in jobs.jobs.iter().enumerate() {
            let is_steady = |path: &&str| {
                !std::iter::once(*path).chain(above(path)).any(|at| is_changed_before(at, number))
            };
            let of_before =
                job.finds.iter().filter(|state| state.left == Left::Input && state.remade.is_empty());
            let paths = of_before.map(|state| &*state.path).filter(|path| !is_shared(path, jobs));
            let uses = |path: &str| job.inputs.iter().find(|file| *file.path == *path);
            let is_old = |path: &&str| !above(path).any(&is_new);
            let paths: BTreeSet<&str> = paths.filter(is_steady).filter(is_old).collect();
            let away = paths.iter().filter(|path| !lasting.contains(**path));
            needed.away.extend(away.map(|path| (number, *path)));
            let (read, others): (BTreeSet<&str>, BTreeSet<&str>) =
                paths.into_iter().partition(|path| uses(path).is_some_and(|file| file.read > 0));
            let moves = |path: &&str| uses(path).is_some() || job.moves.iter().any(|moved| **moved == **path);
            needed.read.push(read);
            needed.moved.push(others.into_iter().filter(moves).collect());
        }
        needed
    }

    /// What a job reads so.
    pub(crate) fn read(&self, number: usize) -> impl Iterator<Item = &'a str> {
        self.read.get(number).into_iter().flatten().copied()
    }

    /// What it does not read, and gives another name, or takes away: a link that leads nowhere will do.
    pub(crate) fn moved(&self, number: usize) -> impl Iterator<Item = &'a str> {
        self.moved.get(number).into_iter().flatten().copied()
    }

    /// Whether others ask if a job has begun, because it finds what is away at the end.
    pub(crate) fn is_asked(&self, number: usize) -> bool {
        self.away.binary_search_by_key(&number, |(other, _)| *other).is_ok()
    }

    /// Some of what other jobs find and is away at the end, with their numbers, those behind the job first: it is there before the job
    /// begins for the first time, unless those have begun. Only for a job that may change something of before.
    pub(crate) fn of_others(&self, number: usize, job: &Job) -> Vec<(usize, &'a str)> {
        let is_new =
            |path: &str| job.made.iter().any(|made| made.free && !made.is_directory && *made.path == *path);
        let changes = job.outputs.iter().any(|file| !is_new(&file.path)) || !job.leaves.is_empty();
        if !changes {
            return Vec::new();
        }
        let first = self.away.partition_point(|(other, _)| *other <= number);
        let others = self.away[first..].iter().chain(&self.away[..first]);
        others.filter(|(other, _)| *other != number).take(NAMES).copied().collect()
    }
}

/// Whether a file of before has several names: it changes by others.
pub(crate) fn is_shared(path: &str, jobs: &Jobs) -> bool {
    jobs.shared.binary_search_by(|shared| (**shared).cmp(path)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workflow::jobs::{JobFile, Made, State};

    #[test]
    fn who_changes_a_file_of_before_asks_for_what_others_need() {
        let finds = |path: &str| State { thing: 0, path: path.into(), left: Left::Input, remade: Vec::new() };
        let output = |path: &str| JobFile { path: path.into(), ..JobFile::default() };
        let copies = Job {
            finds: vec![finds("/w/conf")],
            inputs: vec![output("/w/conf")],
            outputs: vec![output("/w/conf.bak")],
            ..Job::default()
        };
        let moves = Job {
            finds: vec![finds("/w/new"), finds("/w/conf")],
            moves: vec!["/w/new".into()],
            outputs: vec![JobFile { stays: true, ..output("/w/conf") }],
            leaves: vec![0],
            ..Job::default()
        };
        let made = Made { path: "/w/o".into(), free: true, ..Made::default() };
        let makes = Job { outputs: vec![output("/w/o")], made: vec![made], ..Job::default() };
        let jobs = Jobs { jobs: vec![makes, copies, moves], ..Jobs::default() };
        let needed = Needed::of(&jobs, |_, _| false, |_| false);
        assert_eq!(needed.of_others(1, &jobs.jobs[1]), [(2, "/w/new")]);
        assert_eq!(needed.of_others(2, &jobs.jobs[2]), [], "conf is there at the end");
        assert_eq!(needed.of_others(0, &jobs.jobs[0]), [], "it changes nothing of before");
        assert_eq!(
            needed.moved(2).collect::<Vec<_>>(),
            ["/w/new"],
            "the other one is neither read nor moved"
        );
        let needed = Needed::of(&jobs, |path, number| path == "/w/new" && number == 2, |_| false);
        assert_eq!(needed.of_others(1, &jobs.jobs[1]), [], "it may be something else by then");
        let needed = Needed::of(&jobs, |_, _| false, |path| path == "/w");
        assert_eq!(needed.of_others(1, &jobs.jobs[1]), [], "the jobs make the directory");
    }
}
