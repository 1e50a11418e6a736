//! Directories that the jobs made and that a job lists, or removes with what is in them: what lies there must be of the jobs, and of
//! their last run.
//!
//! A program chooses some names while it runs (`split`): a later run may make others than the recording has, or fewer. So a job that
//! makes files in such a directory keeps a list of what it made there, in `.iotrail`, and removes that before it runs again. What
//! no job made is never removed: the job is refused then.

use crate::escape::Base;
use crate::needed::Needed;
use crate::untouched::Untouched;
use iotrail_model::text::text_to_path;
use iotrail_workflow::jobs::{Command, Job, Jobs, Left, Redirect, Script, Target};
use std::collections::{BTreeMap, BTreeSet};

/// Names in a directory that each job can be told; a directory with more is none of these.
const MOST_NAMES: usize = 1000;
/// Names that all jobs together can be told.
const MOST_TOLD: usize = 20_000;

/// What a job sees to in such directories.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Filling<'a> {
    /// The directories that it fills, none below another one.
    pub(crate) directories: Vec<&'a str>,
    /// Those of them that a job lists or removes: nothing else may be there.
    pub(crate) listed: Vec<&'a str>,
    /// What it made there in the recording.
    pub(crate) own: BTreeSet<&'a str>,
    /// What the others have there.
    pub(crate) others: BTreeSet<&'a str>,
    /// Directories that it removes with what is in them, none below another one.
    pub(crate) cleared: Vec<&'a str>,
    /// What the jobs have there.
    pub(crate) known: BTreeSet<&'a str>,
    /// Whether it may make more names or fewer: not all are given by its commands.
    pub(crate) open: bool,
    /// Whether it is open and all that it made stays: it must run if one of the names of its last run is missing.
    pub(crate) stays: bool,
}

/// What a job lists, and makes nothing in.
#[derive(Debug, Default)]
pub(crate) struct Listing<'a> {
    /// The directories: nothing else may be there.
    pub(crate) directories: Vec<&'a str>,
    /// What the jobs have there.
    pub(crate) names: Vec<&'a str>,
}

/// The directories, and what each job does there.
#[derive(Debug, Default)]
pub(crate) struct Owned<'a> {
    directories: BTreeSet<&'a str>,
    /// By job, directories that nobody lists and that it alone fills with names that its commands do not say.
    unlisted: BTreeMap<usize, BTreeSet<&'a str>>,
    /// By name, the first job that gives it to something, or takes it away.
    changed: BTreeMap<&'a str, usize>,
    /// By job.
    pub(crate) fillings: Vec<Filling<'a>>,
    /// By job, for formats in which a job may be refused for what it lists.
    pub(crate) listings: Vec<Listing<'a>>,
    /// What tells that the workflow ran already.
    pub(crate) untouched: Untouched<'a>,
    /// What jobs need of before.
    pub(crate) needed: Needed<'a>,
    /// By job, those that run again whenever it does.
    pub(crate) followers: Vec<Vec<usize>>,
    /// What jobs make that may make more names or fewer.
    open: BTreeSet<&'a str>,
    /// What jobs make that fill one.
    of_fillers: BTreeSet<&'a str>,
}

/// The directory that a name is in.
pub(crate) fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}

/// The directories that a name is in, the nearest first.
pub(crate) fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(path), |path| parent(path))
}

/// Whether the path is that of something in the directory, or below.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether the path is that of the place itself, or of something in it or below.
pub(crate) fn is_at(path: &str, place: &str) -> bool {
    path == place || is_below(path, place)
}

/// All names that a job leaves or uses for a time.
pub(crate) fn names(job: &Job) -> impl Iterator<Item = &str> {
    let made = job.made.iter().map(|made| &*made.path);
    let written = job.outputs.iter().map(|file| &*file.path);
    let directories = job.directories.iter().map(|path| &**path);
    made.chain(written).chain(directories).chain(job.temporaries.iter().map(|path| &**path))
}

impl<'a> Owned<'a> {
    /// Those of the jobs.
    pub(crate) fn of(jobs: &'a Jobs) -> Self {
        let (directories, changed) = (directories(jobs), changed(jobs));
        let mut owned = Self { directories, changed, untouched: Untouched::of(jobs), ..Self::default() };
        let is_new = |path: &str| {
            let first = owned.changed.get(path).map(|first| &jobs.jobs[*first]);
            first.is_some_and(|job| job.made.iter().any(|made| made.free && &*made.path == path))
        };
        owned.needed = Needed::of(jobs, |path, number| owned.is_changed_before(path, number), is_new);
        let few = |directory: &&str| {
            let inside = |job: &&Job| names(job).any(|path| is_below(path, directory));
            let fillers = jobs.jobs.iter().filter(inside).count();
            let all: BTreeSet<&str> =
                jobs.jobs.iter().flat_map(names).filter(|path| is_below(path, directory)).collect();
            all.len() <= MOST_NAMES && all.len() * fillers <= MOST_TOLD
        };
        owned.directories.retain(few);
        owned.unlisted = unlisted(jobs, &owned.directories, few);
        let stays: BTreeSet<&str> = lasting(jobs);
        let by_managers: Vec<&str> = jobs.directories.iter().map(|path| &**path).collect();
        let everything: BTreeSet<&str> = jobs.jobs.iter().flat_map(names).chain(by_managers).collect();
        for (number, job) in jobs.jobs.iter().enumerate() {
            let filling = owned.filling((number, job), &everything, &stays);
            owned.open.extend(filling.own.iter().filter(|_| filling.stays));
            let outputs = job.outputs.iter().filter(|_| !filling.directories.is_empty());
            owned.of_fillers.extend(outputs.map(|file| &*file.path));
            owned.fillings.push(filling);
        }
        owned.listings = owned.listings(jobs, &everything);
        owned
    }

    fn filling(
        &self,
        (number, job): (usize, &'a Job),
        everything: &BTreeSet<&'a str>,
        stays: &BTreeSet<&str>,
    ) -> Filling<'a> {
        let is_filled = |directory: &&&str| names(job).any(|path| is_below(path, directory));
        let listed: Vec<&str> = self.directories.iter().filter(is_filled).copied().collect();
        let unlisted = self.unlisted.get(&number).into_iter().flatten();
        let directories: Vec<&str> = listed.iter().chain(unlisted).copied().collect();
        let inside = |path: &str| directories.iter().any(|directory| is_below(path, directory));
        let own: BTreeSet<&str> =
            job.made.iter().map(|made| &*made.path).filter(|path| inside(path)).collect();
        let others = everything.iter().filter(|path| inside(path) && !own.contains(*path)).copied().collect();
        let open = !directories.is_empty() && !own.iter().all(|path| is_given(job, path));
        let stays = open && own.iter().all(|path| stays.contains(path));
        let cleared: Vec<&str> =
            job.clears.iter().map(|path| &**path).filter(|path| self.is_directory(path)).collect();
        let cleared: Vec<&str> = topmost(&cleared);
        let known =
            everything.iter().filter(|path| cleared.iter().any(|directory| is_below(path, directory)));
        let known = known.copied().collect();
        Filling { directories, listed, own, others, cleared, known, open, stays }
    }

    /// By job, what it lists; nothing if that would be too many names.
    fn listings(&self, jobs: &'a Jobs, everything: &BTreeSet<&'a str>) -> Vec<Listing<'a>> {
        let of_job = |job: &Job| {
            let lists = |directory: &&&str| {
                let is_filled = || names(job).any(|path| is_below(path, directory));
                job.listed.iter().any(|listed| is_at(listed, directory)) && !is_filled()
            };
            let directories: Vec<&str> = self.directories.iter().filter(lists).copied().collect();
            if directories.is_empty() {
                return Listing::default();
            }
            let inside = |path: &&&str| directories.iter().any(|directory| is_below(path, directory));
            Listing { names: everything.iter().filter(inside).copied().collect(), directories }
        };
        let listings: Vec<Listing<'_>> = jobs.jobs.iter().map(of_job).collect();
        let told: usize = listings.iter().map(|listing| listing.names.len()).sum();
        if told > MOST_TOLD { Vec::new() } else { listings }
    }

    /// Whether a job before this one gives the name to something, or takes it away.
    pub(crate) fn is_changed_before(&self, path: &str, number: usize) -> bool {
        self.changed.get(path).is_some_and(|first| *first < number)
    }

    /// Whether it is one of the directories.
    pub(crate) fn is_directory(&self, path: &str) -> bool {
        self.directories.iter().any(|directory| path == *directory || is_below(path, directory))
    }

    /// Whether a job makes it that may make it no more.
    pub(crate) fn is_open(&self, path: &str) -> bool {
        self.open.contains(path)
    }

    /// Whether a job makes it that fills one.
    pub(crate) fn is_of_filler(&self, path: &str) -> bool {
        self.of_fillers.contains(path)
    }

    /// By job, an earlier one that may also make more names in one of its directories: one at a time, so that it is known whose they are.
    pub(crate) fn turns(&self) -> Vec<BTreeSet<usize>> {
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        let mut turns = vec![BTreeSet::new(); self.fillings.len()];
        for (number, filling) in self.fillings.iter().enumerate().filter(|(_, filling)| filling.open) {
            for directory in &filling.directories {
                turns[number].extend(last.insert(directory, number));
            }
        }
        turns
    }

    /// Whether any job fills one, or lists one in which nothing else may be.
    pub(crate) fn any(&self) -> bool {
        self.fillings.iter().any(|filling| !filling.directories.is_empty() || !filling.cleared.is_empty())
            || self.listings.iter().any(|listing| !listing.directories.is_empty())
    }
}

/// By name, the first job that gives it to something, or takes it away.
fn changed(jobs: &Jobs) -> BTreeMap<&str, usize> {
    let mut changed = BTreeMap::new();
    for (number, job) in jobs.jobs.iter().enumerate() {
        let taken = job.clears.iter().chain(&job.moves).map(|path| &**path);
        for path in names(job).chain(taken) {
            changed.entry(path).or_insert(number);
        }
    }
    changed
}

/// Whether the commands of the job say that name, or one below it.
pub(crate) fn is_given(job: &Job, path: &str) -> bool {
    let said = |word: &[u8]| {
        let path = text_to_path(path);
        word.strip_prefix(&*path).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    let in_arguments = |command: &&Command| {
        let cwd = text_to_path(command.cwd.as_deref().unwrap_or_default());
        command.argv.iter().any(|word| {
            let inside = word.strip_prefix(b"./".as_slice()).unwrap_or(word);
            said(word) || said(&[&*cwd, b"/", inside].concat())
        })
    };
    let is_redirected = |redirect: &&Redirect| match &redirect.target {
        Target::Write(to) | Target::Append(to) | Target::ReadWrite(to) => &**to == path,
        Target::Read(_) | Target::Same(_) | Target::Null | Target::Closed => false,
    };
    job.commands().iter().any(in_arguments)
        || job.script.iter().flat_map(Script::redirects).any(|redirect| is_redirected(&redirect))
}

/// What is there at the end.
pub(crate) fn lasting(jobs: &Jobs) -> BTreeSet<&str> {
    let files = jobs.jobs.iter().flat_map(|job| &job.outputs).filter(|file| file.stays);
    let directories = jobs.jobs.iter().flat_map(|job| &job.directories).chain(&jobs.directories);
    files.map(|file| &*file.path).chain(directories.map(|path| &**path)).collect()
}

/// Directories that the jobs made and that a job lists or clears, and in which nothing is of before.
fn directories(jobs: &Jobs) -> BTreeSet<&str> {
    let cleared = jobs.jobs.iter().flat_map(|job| &job.clears);
    let listed = jobs.jobs.iter().flat_map(|job| &job.listed).chain(cleared);
    let listed: BTreeSet<&str> = listed.map(|path| &**path).collect();
    let all: Vec<&str> = all_made(jobs).into_iter().filter(|path| listed.contains(path)).collect();
    topmost(&all).into_iter().collect()
}

/// Directories in the place of the jobs that the jobs made, and in which nothing is of before.
fn all_made(jobs: &Jobs) -> BTreeSet<&str> {
    let base = Base::of(jobs);
    let cleared = jobs.jobs.iter().flat_map(|job| &job.clears);
    let made = jobs.jobs.iter().flat_map(|job| &job.directories).chain(&jobs.directories).chain(cleared);
    let moved = || jobs.jobs.iter().flat_map(|job| &job.made).filter(|made| made.moved);
    let found = || {
        let states = jobs.jobs.iter().flat_map(|job| &job.finds);
        states.filter(|state| matches!(state.left, Left::Input | Left::Perhaps))
    };
    let is_old = |directory: &str| {
        moved().any(|made| is_at(&made.path, directory))
            || jobs.kept.iter().any(|path| is_at(path, directory))
            || found().any(|state| is_below(&state.path, directory))
    };
    let is_inside = |path: &str| {
        let relative = base.relative(path);
        !relative.starts_with('/') && relative != "." && !relative.starts_with("..")
    };
    made.map(|path| &**path).filter(|path| is_inside(path) && !is_old(path)).collect()
}

/// By job, such directories that are none of the `listed` and that it alone fills with names that its commands do not say: what it
/// makes there later is its own. `few` knows those with few names.
fn unlisted<'a>(
    jobs: &'a Jobs,
    listed: &BTreeSet<&str>,
    few: impl Fn(&&'a str) -> bool,
) -> BTreeMap<usize, BTreeSet<&'a str>> {
    let apart = |path: &&str| !listed.iter().any(|other| is_at(path, other) || is_below(other, path));
    let all: Vec<&str> = all_made(jobs).into_iter().filter(apart).collect();
    let mut unlisted: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for directory in topmost(&all).into_iter().filter(few) {
        let chooses = |job: &Job| {
            let mut inside = job.made.iter().filter(|made| is_below(&made.path, directory));
            inside.any(|made| !is_given(job, &made.path))
        };
        let mut who = (0..jobs.jobs.len()).filter(|number| chooses(&jobs.jobs[*number]));
        if let (Some(only), None) = (who.next(), who.next()) {
            unlisted.entry(only).or_default().insert(directory);
        }
    }
    unlisted
}

/// Those that are below none of the others.
fn topmost<'a>(all: &[&'a str]) -> Vec<&'a str> {
    all.iter().copied().filter(|path| !all.iter().any(|other| is_below(path, other))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workflow::jobs::{JobFile, Made};
    use std::sync::Arc;

    fn output(path: &str) -> JobFile {
        JobFile { path: path.into(), written: 1, only: true, stays: true, ..JobFile::default() }
    }

    /// A job that makes files of these names.
    fn maker(paths: &[&str]) -> Job {
        Job {
            made: paths.iter().map(|path| Made { path: Arc::from(*path), ..Made::default() }).collect(),
            outputs: paths.iter().map(|path| output(path)).collect(),
            ..Job::default()
        }
    }

    fn jobs(all: &[Job]) -> Jobs {
        Jobs {
            jobs: all.to_vec(),
            base: Some("/w".into()),
            directories: vec!["/w/d".into(), "/w/d/e".into()],
            ..Jobs::default()
        }
    }

    #[test]
    fn a_job_owns_what_it_makes_where_others_list() {
        let lister = Job { listed: vec!["/w/d".into(), "/w".into(), "/w/d/e".into()], ..Job::default() };
        let all = jobs(&[maker(&["/w/d/1", "/w/d/2", "/w/x"]), maker(&["/w/d/e/3"]), lister]);
        let owned = Owned::of(&all);
        let [first, second, third] = &owned.fillings[..] else { panic!() };
        assert_eq!((&first.directories[..], first.open), (&["/w/d"][..], true), "it is inside the other");
        assert_eq!(first.own, BTreeSet::from(["/w/d/1", "/w/d/2"]));
        assert_eq!(first.others, BTreeSet::from(["/w/d/e", "/w/d/e/3"]));
        assert!(second.open && third.directories.is_empty());
        assert_eq!(owned.turns()[1], BTreeSet::from([0]), "one at a time");
        assert!(owned.is_open("/w/d/1") && owned.is_open("/w/d/e/3") && !owned.is_open("/w/x"));
        assert!(owned.is_directory("/w/d/e") && !owned.is_directory("/w"));
    }

    #[test]
    fn names_that_the_commands_say_are_always_made() {
        let argv = ["cp", "x", "./d/1"].map(|word| word.as_bytes().to_vec()).to_vec();
        let redirects = vec![Redirect { fd: 1, target: Target::Write("/w/d/2".into()) }];
        let command = Command { argv, redirects, cwd: Some("/w".into()), ..Command::default() };
        let script = Some(Script::Pipeline(vec![Script::Command(command)]));
        let lister = Job { listed: vec!["/w/d".into()], ..Job::default() };
        let open = |paths: &[&str]| {
            let all = jobs(&[Job { script: script.clone(), ..maker(paths) }, lister.clone()]);
            Owned::of(&all).fillings[0].open
        };
        assert!(!open(&["/w/d/1", "/w/d/2"]));
        assert!(open(&["/w/d/1", "/w/d/3"]) && open(&["/w/d/11"]));
    }

    #[test]
    fn no_directory_is_owned_that_holds_what_was_there_before() {
        let lister = Job { listed: vec!["/w/d".into()], ..Job::default() };
        assert!(Owned::of(&jobs(&[maker(&["/w/d/1"]), lister.clone()])).any());
        let mut mover = maker(&["/w/d/1"]);
        mover.made[0].moved = true;
        assert!(!Owned::of(&jobs(&[mover.clone()])).any());
        assert!(!Owned::of(&jobs(&[mover, lister])).any());
    }

    #[test]
    fn where_nobody_lists_a_job_owns_what_it_alone_chooses_the_names_of() {
        let all = jobs(&[maker(&["/w/d/1"])]);
        let owned = Owned::of(&all);
        assert_eq!(owned.fillings[0].directories, ["/w/d"]);
        assert!(owned.fillings[0].open && owned.fillings[0].listed.is_empty());
        assert!(
            !Owned::of(&jobs(&[maker(&["/w/d/1"]), maker(&["/w/d/2"])])).any(),
            "nobody knows whose is whose"
        );
    }
}
