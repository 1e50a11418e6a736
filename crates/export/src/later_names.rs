//! What was there before the recording has other names when jobs renamed it, or a directory above it: its name at the end is the one by
//! which a change of it is noticed.

use crate::owned::is_at;
use iotrail_workflow::jobs::{Job, JobFile, Jobs};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Of jobs that rename more of what was there before nothing is followed.
const MOST: usize = 1_000;

/// The names that jobs gave to what was there before.
#[derive(Debug, Default)]
pub(crate) struct LaterNames<'a> {
    /// Number of the job, the name that it took away, and the one that it gave instead, in the order of time.
    renames: Vec<(usize, &'a [Arc<str>; 2])>,
    /// What jobs made or wrote.
    made: BTreeSet<&'a str>,
    /// Names of directories that nothing had before.
    free: BTreeSet<&'a str>,
}

impl<'a> LaterNames<'a> {
    /// Those that these jobs gave.
    pub(crate) fn of(jobs: &'a Jobs) -> Self {
        let anew = jobs.jobs.iter().flat_map(|job| &job.made).filter(|made| !made.moved);
        let free = anew.clone().filter(|made| made.free).map(|made| &*made.path).collect();
        let written = jobs.jobs.iter().flat_map(|job| &job.outputs).filter(|file| file.written > 0);
        let made = anew.map(|made| &*made.path).chain(written.map(|file| &*file.path)).collect();
        let renames = renames(jobs);
        if renames.len() > MOST { Self::default() } else { Self { renames, made, free } }
    }

    /// The name at the end of a file of before that the job finds under this one, if jobs gave it that or another one.
    pub(crate) fn of_file(&self, number: usize, path: &Arc<str>) -> Option<Arc<str>> {
        let last = self.last(number, path)?;
        (!self.made.contains(&*last) && !self.made.contains(&*self.first(&last))).then_some(last)
    }

    /// The same of a directory.
    pub(crate) fn of_directory(&self, number: usize, path: &Arc<str>) -> Option<Arc<str>> {
        self.last(number, path).filter(|last| !self.free.contains(&*self.first(last)))
    }

    /// Names of files that jobs read, and those that these have at the end.
    pub(crate) fn of_contents(&self, jobs: &Jobs) -> BTreeSet<Arc<str>> {
        let of_job = |(number, job): (usize, &Job)| {
            let read = job.inputs.iter().filter(|file| file.read > 0).map(|file| &file.path);
            let names = read.flat_map(|path| self.of_file(number, path).into_iter().chain([path.clone()]));
            names.collect::<Vec<_>>()
        };
        jobs.jobs.iter().enumerate().flat_map(of_job).collect()
    }

    /// Whether what has this name at the end had it before the recording.
    pub(crate) fn is_first(&self, path: &Arc<str>) -> bool {
        self.first(path) == *path
    }

    /// Whether nobody renames what has this name.
    pub(crate) fn stays(&self, path: &str) -> bool {
        !self.renames.iter().any(|(_, [from, _])| is_at(path, from))
    }

    /// The first job that renames what has this name, or a directory above it.
    pub(crate) fn first_mover(&self, path: &str) -> usize {
        let mut movers = self.renames.iter().filter(|(_, [from, _])| is_at(path, from));
        movers.next().map_or(usize::MAX, |(job, _)| *job)
    }

    fn last(&self, number: usize, path: &Arc<str>) -> Option<Arc<str>> {
        let later = self.renames.iter().filter(|(job, _)| *job >= number);
        let last = later.fold(path.clone(), |path, (_, [from, to])| renamed(path, from, to));
        self.renames.iter().any(|(_, [_, to])| is_at(&last, to)).then_some(last)
    }

    fn first(&self, path: &Arc<str>) -> Arc<str> {
        self.renames.iter().rev().fold(path.clone(), |path, (_, [from, to])| renamed(path, to, from))
    }
}

/// Of what was there before: number of the job, the name that it took away, and the one that it gave instead.
fn renames(jobs: &Jobs) -> Vec<(usize, &[Arc<str>; 2])> {
    let mut found: Vec<(usize, &[Arc<str>; 2])> = Vec::new();
    let mut made: BTreeSet<&Arc<str>> = BTreeSet::new();
    for (number, job) in jobs.jobs.iter().enumerate() {
        if found.len() > MOST {
            break;
        }
        let own = job.made.iter().filter(|made| made.free).map(|made| &made.path);
        made.extend(own.chain(&job.temporaries));
        for names @ [from, _] in &job.renames {
            let came = |(_, [_, to]): &(usize, &[Arc<str>; 2])| is_at(from, to) || is_at(to, from);
            if !made.contains(from) || found.iter().any(came) {
                found.push((number, names));
            }
        }
        made.extend(job.outputs.iter().map(|file| &file.path).chain(job.made.iter().map(|made| &made.path)));
    }
    found
}

/// A path after something got another name.
fn renamed(path: Arc<str>, from: &str, to: &str) -> Arc<str> {
    match path.strip_prefix(from) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{to}{rest}").into(),
        _ => path,
    }
}

/// By job, the names at the end of the files of before that it finds.
pub(crate) fn of_files(jobs: &Jobs, later: &LaterNames<'_>) -> Vec<BTreeSet<Arc<str>>> {
    let of_job = |(number, job): (usize, &Job)| {
        let (read, others): (Vec<&JobFile>, Vec<&JobFile>) =
            job.inputs.iter().partition(|file| file.read > 0);
        let others = others.into_iter().map(|file| &file.path).chain(&job.found).chain(&job.met);
        // It only renames them.
        let others = others.filter(|path| !job.renames.iter().any(|[from, _]| is_at(path, from)));
        let found = read.into_iter().map(|file| &file.path).chain(others);
        found.filter_map(|path| later.of_file(number, path)).filter(|path| jobs.is_own(path)).collect()
    };
    jobs.jobs.iter().enumerate().map(of_job).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workflow::jobs::Made;

    #[test]
    fn what_is_moved_away_and_back_has_its_name_at_the_end() {
        let moves = |from: &str, to: &str| Job { renames: vec![[from.into(), to.into()]], ..Job::default() };
        let reads = |path: &str| Job {
            inputs: vec![JobFile { path: path.into(), read: 1, ..JobFile::default() }],
            ..Job::default()
        };
        let named = |all: &[Job]| {
            let jobs = Jobs { jobs: all.to_vec(), ..Jobs::default() };
            let later = LaterNames::of(&jobs);
            let of_jobs = of_files(&jobs, &later);
            of_jobs
                .into_iter()
                .flatten()
                .map(|path| (path.to_string(), later.is_first(&path)))
                .collect::<Vec<_>>()
        };
        let back = [moves("/w/d", "/w/e"), reads("/w/e/x"), moves("/w/e", "/w/d")];
        assert_eq!(named(&back), [("/w/d/x".to_owned(), true)]);
        assert_eq!(named(&back[..2]), [("/w/e/x".to_owned(), false)], "it stays there");
        let made = Made { path: "/w/t".into(), free: true, ..Made::default() };
        let makes = Job { made: vec![made], ..Job::default() };
        assert_eq!(named(&[makes, moves("/w/t", "/w/o"), reads("/w/o")]), [], "a job made it");
    }
}
