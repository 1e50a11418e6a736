//! Whether the workflow ran already where it is started: a script was recorded there, or jobs of another export ran there. Files of before
//! are not as they were then, and what jobs would do to them a second time may destroy what is left of them.

use iotrail_workflow::jobs::{Job, JobId, Jobs, Left};
use std::collections::{BTreeMap, BTreeSet};

/// Names by which it is told, since all of them are there then.
const NAMES: usize = 8;

/// What tells it.
#[derive(Debug, Default)]
pub(crate) struct Untouched<'a> {
    /// What a job makes where nothing was before any other job writes it, and that is there at the end, by that job.
    results: Vec<(usize, &'a str)>,
    /// Those who make one of these, which others write later: once they have begun, it tells no more.
    first_of_several: BTreeSet<usize>,
    /// All that jobs make.
    made: BTreeSet<&'a str>,
}

impl<'a> Untouched<'a> {
    /// What tells it of these jobs.
    pub(crate) fn of(jobs: &'a Jobs) -> Self {
        let mut writers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, job) in jobs.jobs.iter().enumerate() {
            let outputs: BTreeSet<&str> = job.outputs.iter().map(|file| &*file.path).collect();
            outputs.into_iter().for_each(|path| writers.entry(path).or_default().push(number));
        }
        let is_first = |number: usize, path: &str| {
            let mut others = writers.get(path).into_iter().flatten().filter(|other| **other != number);
            others.all(|other| *other > number && jobs.waits(JobId(*other as u32), JobId(number as u32)))
        };
        let of_job = |(number, job): (usize, &'a Job)| {
            let is_kept = |path: &str| jobs.kept.iter().any(|kept| **kept == *path);
            let stays = |path: &str| {
                job.outputs.iter().any(|file| file.stays && *file.path == *path) || is_kept(path)
            };
            let made = job.made.iter().filter(|made| made.free && (made.moved || !made.is_directory));
            let made = made.map(|made| &*made.path).filter(|path| stays(path) && is_first(number, path));
            made.take(NAMES).map(|path| (number, path)).collect::<Vec<_>>()
        };
        let made = jobs.jobs.iter().flat_map(|job| &job.made).map(|made| &*made.path).collect();
        let results: Vec<(usize, &str)> = jobs.jobs.iter().enumerate().flat_map(of_job).collect();
        let of_several = results.iter().filter(|(_, path)| writers.get(path).is_some_and(|of| of.len() > 1));
        let mut untouched =
            Self { first_of_several: of_several.map(|(number, _)| *number).collect(), results, made };
        if !jobs.jobs.iter().any(|job| untouched.needs_before(job)) {
            untouched.first_of_several.clear();
        }
        untouched
    }

    /// Some of these results, with the numbers of their jobs, those of the job and of jobs behind it first: nothing of it is there before
    /// the job begins for the first time, but for what these made. Only for a job that changes files of before, or needs them as
    /// they were before later ones change them; and for one whose result would tell others no more.
    pub(crate) fn results(&self, number: usize, job: &Job) -> Vec<(usize, &'a str)> {
        if !self.needs_before(job) && !self.first_of_several.contains(&number) {
            return Vec::new();
        }
        let first = self.results.partition_point(|(maker, _)| *maker < number);
        self.results[first..].iter().chain(&self.results[..first]).take(NAMES).copied().collect()
    }

    fn needs_before(&self, job: &Job) -> bool {
        let finds = job.finds.iter().any(|state| matches!(state.left, Left::Input | Left::Perhaps));
        let changes = job.outputs.iter().any(|file| file.older);
        let moves = job.moves.iter().any(|path| !self.made.contains(&**path));
        finds || changes || moves || job.made.iter().any(|made| made.moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workflow::jobs::{JobFile, Made};

    fn maker(path: &str) -> Job {
        Job {
            made: vec![Made { path: path.into(), free: true, ..Made::default() }],
            outputs: vec![JobFile { path: path.into(), stays: true, ..JobFile::default() }],
            ..Job::default()
        }
    }

    #[test]
    fn who_changes_a_file_of_before_asks_for_what_the_jobs_make() {
        let old = JobFile { path: "/w/old".into(), older: true, stays: true, ..JobFile::default() };
        let changer = Job { outputs: vec![old], ..Job::default() };
        let (mut unsure, mut passing) = (maker("/w/unsure"), maker("/w/passing"));
        unsure.made[0].free = false;
        passing.outputs[0].stays = false;
        let all = [
            maker("/w/first"),
            changer,
            unsure,
            passing,
            maker("/w/twice"),
            maker("/w/last"),
            maker("/w/twice"),
            Job { moves: vec!["/w/last".into()], ..Job::default() },
            Job { made: Vec::new(), needs: vec![JobId(5)], ..maker("/w/last") },
        ];
        let jobs = Jobs { jobs: all.to_vec(), ..Jobs::default() };
        let untouched = Untouched::of(&jobs);
        assert_eq!(untouched.results(1, &jobs.jobs[1]), [(5, "/w/last"), (0, "/w/first")]);
        assert_eq!(untouched.results(0, &jobs.jobs[0]), [], "it changes nothing of before");
        assert_eq!(untouched.results(7, &jobs.jobs[7]), [], "it renames what a job made");
    }
}
