//! Which files stand for a job where a job is known by what it makes: make and Snakemake.
//!
//! A file is a target of its job if that job alone makes it, nobody read it before, it stays, it is no symbolic link, its
//! time does not matter, and its name can be written in the format. For Snakemake, which deletes targets before a job runs, no older
//! file may have been there, and the job must not be one that may be refused. A job with any other output, or none, is known by its
//! stamp `.iotrail/job-N` alone. Every job leaves its stamp: one that has none here was never run here, and is run however
//! old the files are that lie there.

use crate::again::sum;
use crate::escape::{Base, shell};
use crate::later_names::{LaterNames, of_files};
use crate::owned::{Owned, above, is_below, names};
use crate::watched::{self, Watched};
use iotrail_model::text::printable;
use iotrail_workflow::jobs::{Job, JobFile, JobId, Jobs, Left, Made, State};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// What a job is known by.
#[derive(Debug)]
pub(crate) enum Targets {
    /// Files, as they are written.
    Files(Vec<String>),
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
    /// Those that nobody makes and that it never read, only asked about or gave other names: they may be links that lead nowhere, which no
    /// format can wait for.
    pub(crate) asked: BTreeSet<String>,
    /// Of its inputs and of what it changes in place, names that jobs give to what was there before, if nobody reads it by any name: where that
    /// is a link or a directory, its time is no reason.
    pub(crate) renamed: BTreeSet<String>,
    /// Jobs that it waits for without reading what they are known by: the first target of each.
    pub(crate) after: Vec<String>,
    /// Files that it alone makes, be it known by them or not.
    pub(crate) made: Vec<String>,
    /// Files that are missing if it must run: those that it makes, and those of jobs that need what it makes and a later job
    /// changes.
    pub(crate) present: Vec<String>,
    /// Files that it and nobody after it changes in place: inputs, if they are there.
    pub(crate) changed: Vec<String>,
    /// Paths of what it read, or jobs that it wakes, and no job makes or changes: it runs again when they look otherwise.
    pub(crate) looks: Vec<String>,
    /// Such paths whose permissions jobs set, which therefore are no reason.
    pub(crate) permitted: Vec<String>,
    /// Paths of what it and nobody after it changes in place.
    pub(crate) leaves: Vec<String>,
    /// The same of those whose permissions jobs set.
    pub(crate) leaves_permitted: Vec<String>,
    /// Paths of what was there before and the job takes away: it runs again when something is there.
    pub(crate) away: Vec<String>,
    /// Jobs that have lists of what they made: it runs when something of these is missing, being one of them or woken by them.
    pub(crate) lists: BTreeSet<usize>,
    /// Paths of what it alone makes and the format cannot express: it runs again when one of these is missing.
    pub(crate) odd: Vec<String>,
    /// Jobs that have such paths: it runs when one of these is missing, being one of them or woken by them.
    pub(crate) odd_lists: BTreeSet<usize>,
    /// Whether more would make it run than is written for it: it does not run with the jobs that need what it made and a later one
    /// changes.
    pub(crate) unwoken: bool,
}

/// How a format writes names.
#[derive(Debug)]
pub(crate) struct Names<T, I> {
    /// Of what is made, if it can.
    pub(crate) target: T,
    /// Of what nobody makes, if it can.
    pub(crate) input: I,
}

/// As many names that make a job run are written for it, however many jobs there are.
const MOST_WAKING: usize = 40;
/// No more are, however few jobs there are.
const MOST_WAKING_FEW: usize = 400;
/// In between, as many are written for all jobs together.
const MOST_WAKING_ALL: usize = 40_000;

/// No more names that make a job run are written for it, where there are as many jobs.
fn most_waking(jobs: usize) -> usize {
    (MOST_WAKING_ALL / jobs.max(1)).clamp(MOST_WAKING, MOST_WAKING_FEW)
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
pub(crate) fn rules<T, I>(jobs: &Jobs, owned: &Owned<'_>, before: Before, names: &Names<T, I>) -> Vec<Rule>
where
    T: Fn(&str) -> Option<String>,
    I: Fn(&str) -> Option<String>,
{
    let base = Base::of(jobs);
    let files = files(jobs);
    let stands =
        |path: &str| stands(path, before, owned) && !(before == Before::Deleted && is_within(path, &files));
    let name = |path: &str| stands(path).then(|| (names.target)(&base.relative(path))).flatten();
    let input_name = |path: &str| (names.input)(&base.relative(path));
    // Another export may have a job of that number with that command, and jobs behind it that changed what it made.
    let sum = sum(jobs);
    let stamps: Vec<String> = jobs
        .jobs
        .iter()
        .enumerate()
        .map(|(number, job)| stamp(JobId(number as u32), job, jobs, &sum))
        .collect();
    let targets: Vec<Targets> =
        jobs.jobs.iter().zip(&stamps).map(|(job, stamp)| targets(job, stamp, before, &name)).collect();
    // Who wants what lies in a directory that a job makes waits for that job; make cannot know of the file before.
    let made: Vec<&str> =
        jobs.jobs.iter().flat_map(|job| &job.directories).map(|directory| &**directory).collect();
    let in_made = |path: &str| {
        made.iter().any(|made| path.strip_prefix(made).is_some_and(|rest| rest.starts_with('/')))
    };
    // What lay in a directory of before that a job renames has that name only then.
    let carried = carried(jobs);
    let is_carried = |path: &str| carried.iter().any(|directory| is_below(path, directory));
    let later_names = LaterNames::of(jobs);
    let later = of_files(jobs, &later_names);
    let contents = later_names.of_contents(jobs);
    let changed: BTreeSet<&str> =
        jobs.jobs.iter().flat_map(|job| &job.outputs).map(|file| &*file.path).collect();
    let lasting = lasting(jobs);
    // Their times change by other names.
    let is_shared = |path: &Arc<str>| jobs.shared.binary_search(path).is_ok();
    // Who changes a thing last, of those that were there before.
    let last_change: BTreeMap<u32, usize> = jobs
        .jobs
        .iter()
        .enumerate()
        .flat_map(|(number, job)| job.leaves.iter().map(move |thing| (*thing, number)))
        .collect();
    // What stands for its job is not waited for, what is made where nothing was may not be there by then, and the time of a
    // directory changes with what is in it.
    let anew = jobs.jobs.iter().flat_map(|job| {
        let files = job.outputs.iter().filter(|file| target(job, file, before, &name).is_some());
        let made = job.made.iter().map(|made| &*made.path);
        files.map(|file| &*file.path).chain(made).chain(job.directories.iter().map(|path| &**path))
    });
    let anew: BTreeSet<&str> = anew.collect();
    let places = places(jobs);
    let mut in_place: Vec<BTreeSet<&Arc<str>>> = vec![BTreeSet::new(); jobs.jobs.len()];
    let of_before = jobs.jobs.iter().flat_map(|job| &job.finds).filter(|state| state.left == Left::Input);
    for state in of_before.filter(|state| !places.contains(&*state.path)) {
        if let Some(last) =
            last_change.get(&state.thing).filter(|_| !is_shared(&state.path) && !anew.contains(&*state.path))
        {
            in_place[*last].insert(&state.path);
        }
    }
    let outside = |path: &str| base.relative(path).starts_with('/');
    let mut all: Vec<Rule> = Vec::with_capacity(jobs.jobs.len());
    let mut outer: Vec<BTreeSet<String>> = Vec::with_capacity(jobs.jobs.len());
    let mut looks: Vec<BTreeSet<String>> = Vec::with_capacity(jobs.jobs.len());
    // By name in a rule, the path, and the last job that begins when it is as it was before.
    let mut paths: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for ((number, job), turns) in jobs.jobs.iter().enumerate().zip(owned.turns()) {
        let read = job.inputs.iter().filter(|file| !changed.contains(&*file.path) && file.stays);
        let read = read.map(|file| &file.path).filter(|path| jobs.is_own(path));
        let asked = job.found.iter().filter(|path| !outside(path) && jobs.is_own(path));
        let known: BTreeSet<&Arc<str>> =
            read.chain(asked).filter(|path| !in_made(path) && !is_shared(path)).collect();
        let (late, early): (Vec<&Arc<str>>, Vec<&Arc<str>>) =
            known.into_iter().partition(|path| is_carried(path));
        let is_moved = |file: &&JobFile| file.read == 0 && job.moves.contains(&file.path);
        let own_inputs: HashSet<&str> =
            job.inputs.iter().filter(|file| !is_moved(file)).map(|file| &*file.path).collect();
        let asked =
            early.iter().filter(|path| !changed.contains(&****path) && !own_inputs.contains(&****path));
        let asked: BTreeSet<String> = asked.filter_map(|path| input_name(path)).collect();
        // Also what links among the names lead to, wherever that is now.
        let links = watched::of_job(job, jobs).take(MOST_WAKING);
        let kept = early.iter().map(|path| base.relative(path));
        let links = links.map(|path| base.relative(path)).filter(|path| !path.starts_with('/'));
        looks.push(kept.chain(links).filter(|path| is_kept(path) && path != ".").collect());
        let named = early.into_iter().filter_map(|path| Some((input_name(path)?, base.relative(path))));
        let named = named.map(|(name, path)| (name, (path, usize::MAX)));
        let mut named: BTreeMap<String, (String, usize)> = named.collect();
        let late = late.into_iter().chain(&later[number]).filter(|path| !outside(path) && !is_shared(path));
        let late: BTreeSet<&Arc<str>> = late.filter(|_| before == Before::Kept).collect();
        let renamed = late.iter().filter(|path| !contents.contains(**path));
        let renamed = renamed.filter_map(|path| input_name(path)).collect();
        let back = late.iter().filter(|path| later_names.is_first(path));
        named.extend(back.filter_map(|path| {
            Some((input_name(path)?, (base.relative(path), later_names.first_mover(path))))
        }));
        let own: BTreeSet<String> = named.keys().cloned().collect();
        paths.extend(named);
        let used = used(job, &name);
        let (mut inputs, mut after) = (own.clone(), Vec::new());
        for needed in &job.needs {
            match &targets[needed.index()] {
                Targets::Stamp(stamp) => drop(inputs.insert(stamp.clone())),
                Targets::Files(files) => {
                    let of_it: Vec<&String> = files.iter().filter(|file| used.contains(*file)).collect();
                    let first = || targets[needed.index()].first().to_owned();
                    match of_it.is_empty() {
                        true if goes_on(job, &jobs.jobs[needed.index()]) => drop(inputs.insert(first())),
                        true => after.push(first()),
                        false => inputs.extend(of_it.into_iter().cloned()),
                    }
                }
            }
        }
        // With these it must not run at a time.
        let needed = |other: &usize| job.needs.iter().any(|needed| needed.index() == *other);
        let turns = turns.into_iter().filter(|other| !needed(other));
        after.extend(turns.map(|other| targets[other].first().to_owned()));
        let made = job.outputs.iter().filter_map(|file| target(job, file, before, &name)).collect();
        let anew = job.made.iter().map(|made| &made.path).filter(|path| lasting.contains(&***path));
        let over = job.outputs.iter().filter(|file| file.only && file.stays && !file.updated && !file.link);
        let present: BTreeSet<&Arc<str>> = anew.chain(over.map(|file| &file.path)).collect();
        let is_odd = |path: &&Arc<str>| name(path).is_none() && !owned.is_open(path) && !outside(path);
        let odd = present.iter().copied().filter(is_odd).map(|path| base.relative(path));
        let odd: Vec<String> = odd.filter(|path| is_kept(path)).collect();
        let present = present.into_iter().filter_map(|path| name(path)).take(MOST_WAKING).collect();
        // Snakemake wants each to be there.
        let there = |path: &Arc<str>| {
            before == Before::Kept || job.inputs.iter().any(|file| file.stays && file.path == *path)
        };
        // A link looks as what it leads to, which others may change.
        let links: HashSet<&str> =
            job.outputs.iter().filter(|file| file.link).map(|file| &*file.path).collect();
        let replaced: Vec<&Arc<str>> =
            in_place[number].iter().copied().filter(|path| !links.contains(&***path)).collect();
        let leaves = replaced.iter().map(|path| base.relative(path));
        let leaves = leaves.filter(|path| is_kept(path)).collect();
        let outputs: HashSet<&str> = job.outputs.iter().map(|file| &*file.path).collect();
        let away = replaced.iter().filter(|path| !outputs.contains(&****path));
        let away = away.map(|path| base.relative(path)).filter(|path| is_kept(path)).collect();
        let changed = replaced.into_iter().filter(|path| there(path)).chain(late);
        let changed = changed.filter_map(|path| input_name(path)).collect();
        outer.push(own);
        let inputs = inputs.into_iter().collect();
        all.push(Rule {
            targets: Targets::Stamp(String::new()),
            stamp: String::new(),
            inputs,
            asked,
            renamed,
            after,
            made,
            present,
            changed,
            looks: Vec::new(),
            permitted: Vec::new(),
            leaves,
            leaves_permitted: Vec::new(),
            away,
            lists: owned.fillings[number].stays.then_some(number).into_iter().collect(),
            odd_lists: (!odd.is_empty()).then_some(number).into_iter().collect(),
            odd,
            unwoken: false,
        });
    }
    wake(jobs, &mut all, &outer, &followed(jobs, before, &targets, &name));
    let set: HashSet<String> = changed.iter().map(|path| base.relative(path)).collect();
    for ((number, rule), mut looks) in all.iter_mut().enumerate().zip(looks) {
        let known = rule.inputs.iter().filter_map(|name| paths.get(name));
        looks.extend(known.filter(|(_, last)| number <= *last).map(|(path, _)| path.clone()));
        (rule.permitted, rule.looks) = looks.into_iter().partition(|path| set.contains(path));
        let leaves = std::mem::take(&mut rule.leaves).into_iter();
        (rule.leaves_permitted, rule.leaves) = leaves.partition(|path| set.contains(path));
    }
    for ((rule, targets), stamp) in all.iter_mut().zip(targets).zip(stamps) {
        (rule.targets, rule.stamp) = (targets, stamp);
    }
    all
}

/// Whether it can be kept how a name looks: names are lines, and told apart from what is kept by two slashes; a backslash
/// may stand for a byte that is no text.
fn is_kept(path: &str) -> bool {
    !path.chars().any(|c| c.is_control() || c == '\\') && !path.contains("//")
}

/// Directories that jobs list, or in which they use or make anything.
fn places(jobs: &Jobs) -> HashSet<&str> {
    let listed = jobs.jobs.iter().flat_map(|job| &job.listed).map(|path| &**path);
    let used = jobs.jobs.iter().flat_map(|job| job.inputs.iter().chain(&job.outputs));
    let around = used.filter_map(|file| file.path.rsplit_once('/')).map(|(place, _)| place);
    listed.chain(around).collect()
}

/// Names of what is a file at some time.
fn files(jobs: &Jobs) -> HashSet<&str> {
    let used = jobs.jobs.iter().flat_map(|job| job.inputs.iter().chain(&job.outputs));
    used.filter(|file| !file.link).map(|file| &*file.path).collect()
}

/// Whether what has one of these names must be a directory for this one to be there. Snakemake looks for outputs before anything
/// runs, and ends where a directory is a file still.
fn is_within(path: &str, files: &HashSet<&str>) -> bool {
    above(path).any(|place| files.contains(place))
}

/// Names that jobs give to files and directories of before.
fn carried(jobs: &Jobs) -> BTreeSet<&str> {
    jobs.jobs.iter().flat_map(|job| &job.made).filter(|made| made.moved).map(|made| &*made.path).collect()
}

/// Whether a file may stand for its job: not one that the job may make no more, nor, where it would be deleted before it runs, one of a
/// job that may be refused for what is in a directory.
fn stands(path: &str, before: Before, owned: &Owned<'_>) -> bool {
    !owned.is_open(path) && (before == Before::Kept || !owned.is_of_filler(path))
}

/// Names of what a job reads or finds.
fn used(job: &Job, name: &impl Fn(&str) -> Option<String>) -> BTreeSet<String> {
    job.inputs.iter().map(|file| &file.path).chain(&job.met).filter_map(|path| name(path)).collect()
}

/// Whether a job changes a name that another one before it had changed, or fills a directory that this one makes where nothing may be: that
/// one undoes it when it runs again.
fn goes_on(job: &Job, before: &Job) -> bool {
    let mut directories = before.made.iter().filter(|made| made.is_directory && made.clear);
    job.leaves.iter().any(|thing| before.leaves.binary_search(thing).is_ok())
        || directories.any(|made| job.made.iter().any(|inside| is_below(&inside.path, &made.path)))
}

/// By job, those that run again whenever it does.
pub(crate) fn followers<T, I>(
    jobs: &Jobs,
    owned: &Owned<'_>,
    before: Before,
    names: &Names<T, I>,
) -> Vec<Vec<usize>>
where
    T: Fn(&str) -> Option<String>,
{
    let base = Base::of(jobs);
    let name =
        |path: &str| stands(path, before, owned).then(|| (names.target)(&base.relative(path))).flatten();
    let targets: Vec<Targets> = jobs.jobs.iter().map(|job| targets(job, "", before, &name)).collect();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); jobs.jobs.len()];
    for (number, followed) in followed(jobs, before, &targets, &name).iter().enumerate() {
        followed.iter().for_each(|other| followers[*other].push(number));
    }
    followers
}

/// By job, those after which it runs again whenever they do: it does not only wait for them.
fn followed(
    jobs: &Jobs,
    before: Before,
    targets: &[Targets],
    name: &impl Fn(&str) -> Option<String>,
) -> Vec<Vec<usize>> {
    let of_job = |job: &Job| {
        let used = used(job, name);
        let follows = |other: &usize| match &targets[*other] {
            Targets::Stamp(_) => true,
            Targets::Files(files) => {
                before == Before::Deleted
                    || files.iter().any(|file| used.contains(file))
                    || goes_on(job, &jobs.jobs[*other])
            }
        };
        job.needs.iter().map(|needed| needed.index()).filter(follows).collect()
    };
    jobs.jobs.iter().map(of_job).collect()
}

/// The jobs, each of which also looks at what those find that run again whenever it does and that no job may have changed: who is
/// refused then is refused before anything is changed.
pub(crate) fn looking_ahead<T, I>(jobs: &Jobs, owned: &Owned<'_>, before: Before, names: &Names<T, I>) -> Jobs
where
    T: Fn(&str) -> Option<String>,
{
    /// A job that would look at more of others only looks at its own.
    const MOST: usize = 40;
    let followers = followers(jobs, owned, before, names);
    let mut ahead: Vec<BTreeMap<u32, State>> = vec![BTreeMap::new(); jobs.jobs.len()];
    for number in (0..jobs.jobs.len()).rev() {
        let mut all: BTreeMap<u32, State> = BTreeMap::new();
        for follower in &followers[number] {
            let lasting =
                jobs.jobs[*follower].finds.iter().filter(|state| !matches!(state.left, Left::ByJob(_)));
            let found = ahead[*follower].iter().map(|(thing, state)| (*thing, state.clone()));
            let found = found.chain(lasting.map(|state| (state.thing, state.clone())));
            let found: BTreeMap<u32, State> = found.collect();
            all.extend(found.into_iter().take(MOST + 1));
        }
        ahead[number] = all;
    }
    let mut jobs = jobs.clone();
    for (job, ahead) in jobs.jobs.iter_mut().zip(ahead).filter(|(_, ahead)| ahead.len() <= MOST) {
        let own: BTreeSet<u32> = job.finds.iter().map(|state| state.thing).collect();
        job.finds.extend(ahead.into_values().filter(|state| !own.contains(&state.thing)));
    }
    remade(&mut jobs, &followers);
    jobs
}

/// Tells states in which there was nothing who makes something there later and runs again with the job: by job its `followers`.
fn remade(jobs: &mut Jobs, followers: &[Vec<usize>]) {
    let mut writers: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (number, job) in jobs.jobs.iter().enumerate() {
        job.leaves.iter().for_each(|thing| writers.entry(*thing).or_default().push(number));
    }
    let is_made = |path: &Arc<str>, writers: &[usize]| {
        let makes = |made: &Made| made.path == *path && !made.moved;
        writers.iter().any(|writer| jobs.jobs[*writer].made.iter().any(makes))
    };
    let things: BTreeSet<&str> =
        jobs.jobs.iter().flat_map(|job| &job.finds).map(|state| &*state.path).collect();
    // What is removed with a directory is made again by all who made it, and matters to nobody by itself.
    let is_theirs = |directory: &str, after: &BTreeSet<usize>| {
        let inside = |job: &Job| names(job).any(|path| is_below(path, directory));
        let others = jobs.jobs.iter().enumerate().filter(|(number, _)| !after.contains(number));
        !things.iter().any(|path| is_below(path, directory)) && !others.map(|(_, job)| job).any(inside)
    };
    let mut found: Vec<(usize, usize, Vec<JobId>)> = Vec::new();
    for (number, job) in jobs.jobs.iter().enumerate() {
        let nothing = job
            .finds
            .iter()
            .enumerate()
            .filter(|(_, state)| matches!(state.left, Left::Free | Left::Nothing));
        let mut after: Option<BTreeSet<usize>> = None;
        for (at, state) in nothing {
            let Some(writers) = writers.get(&state.thing).filter(|writers| is_made(&state.path, writers))
            else {
                continue;
            };
            let after = after.get_or_insert_with(|| all_after(number, followers));
            if writers.iter().all(|writer| after.contains(writer)) && is_theirs(&state.path, after) {
                found.push((number, at, writers.iter().map(|writer| JobId(*writer as u32)).collect()));
            }
        }
    }
    for (number, at, writers) in found {
        jobs.jobs[number].finds[at].remade = writers;
    }
}

/// All jobs that run again when a job does, by the followers of each.
pub(crate) fn all_after(number: usize, followers: &[Vec<usize>]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let of = |number: usize| followers.get(number).into_iter().flatten().copied();
    let mut open: Vec<usize> = of(number).collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(of(next));
        }
    }
    found
}

/// What makes a job run, as far as it is little.
#[derive(Clone)]
struct Waking {
    /// Inputs that change.
    inputs: BTreeSet<String>,
    /// Outputs that are missing.
    present: BTreeSet<String>,
    /// Jobs with lists of what they made, something of which is missing.
    lists: BTreeSet<usize>,
    /// Jobs with names that the format cannot express, one of which is missing.
    odd_lists: BTreeSet<usize>,
}

impl Waking {
    fn len(&self) -> usize {
        self.inputs.len() + self.present.len() + self.lists.len() + self.odd_lists.len()
    }
}

/// A job whose results a later one changes runs again whenever a job does that needs them as they were.
fn wake(jobs: &Jobs, rules: &mut [Rule], outer: &[BTreeSet<String>], needs: &[Vec<usize>]) {
    /// Passes until nothing changes; jobs that are not woken are refused.
    const PASSES: usize = 8;
    let needed = |job: &Job| -> Vec<usize> {
        let left = job.finds.iter().filter_map(|state| match state.left {
            Left::ByJob(other) => Some(other.index()),
            _ => None,
        });
        left.collect()
    };
    if !jobs.jobs.iter().any(|job| !needed(job).is_empty()) {
        return;
    }
    let own = |number: usize| -> Waking {
        let Rule { present, lists, odd_lists, .. } = &rules[number];
        let present = present.iter().cloned().collect();
        Waking { inputs: outer[number].clone(), present, lists: lists.clone(), odd_lists: odd_lists.clone() }
    };
    let mut waking: Vec<Option<Waking>> = (0..rules.len()).map(|number| Some(own(number))).collect();
    for _ in 0..PASSES {
        let mut changes = false;
        for (number, others) in needs.iter().enumerate() {
            for other in others {
                changes |= join(&mut waking, number, *other);
            }
        }
        for number in (0..rules.len()).rev() {
            for other in needed(&jobs.jobs[number]) {
                changes |= join(&mut waking, other, number);
            }
        }
        if !changes {
            break;
        }
    }
    let woken: BTreeSet<usize> = jobs.jobs.iter().flat_map(needed).collect();
    for number in woken {
        let rule = &mut rules[number];
        let Some(Waking { inputs, present, lists, odd_lists }) = waking[number].take() else {
            rule.unwoken = true;
            continue;
        };
        let inputs: BTreeSet<String> = rule.inputs.drain(..).chain(inputs).collect();
        rule.inputs = inputs.into_iter().collect();
        rule.present = present.into_iter().collect();
        (rule.lists, rule.odd_lists) = (lists, odd_lists);
    }
}

/// What makes the second job run makes the first one run; whether that is new.
fn join(waking: &mut [Option<Waking>], first: usize, second: usize) -> bool {
    let most = most_waking(waking.len());
    let Some(Waking { inputs, present, lists, odd_lists }) = waking[second].clone() else {
        return waking[first].take().is_some();
    };
    let Some(known) = &mut waking[first] else { return false };
    let before = known.len();
    known.inputs.extend(inputs);
    known.present.extend(present);
    known.lists.extend(lists);
    known.odd_lists.extend(odd_lists);
    let after = known.len();
    if after > most {
        waking[first] = None;
    }
    after > before
}

/// What is there at the end.
fn lasting(jobs: &Jobs) -> BTreeSet<&str> {
    let files =
        jobs.jobs.iter().flat_map(|job| &job.outputs).filter(|file| file.stays).map(|file| &*file.path);
    files.chain(jobs.jobs.iter().flat_map(|job| &job.directories).map(|path| &**path)).collect()
}

/// Inputs that jobs change and whose changes by others make no job run.
fn unwatched<T, I>(jobs: &Jobs, rules: &[Rule], names: &Names<T, I>) -> BTreeSet<String>
where
    I: Fn(&str) -> Option<String>,
{
    let base = Base::of(jobs);
    let watched: BTreeSet<&String> =
        rules.iter().flat_map(|rule| rule.inputs.iter().chain(&rule.changed)).collect();
    let states = jobs.jobs.iter().flat_map(|job| &job.finds).filter(|state| state.left == Left::Input);
    let is_file = |path: &str| {
        !jobs.jobs.iter().any(|job| job.made.iter().any(|made| made.is_directory && &*made.path == path))
    };
    let paths = states.map(|state| &*state.path).filter(|path| is_file(path)).map(|path| base.relative(path));
    let is_unwatched = |path: &String| (names.input)(path).is_none_or(|name| !watched.contains(&name));
    paths.filter(|path| !path.starts_with('/')).filter(is_unwatched).collect()
}

/// Files of before that jobs change, and that stand in no rule.
fn unheeded_inputs<'a, T, I>(
    jobs: &'a Jobs,
    rules: &[Rule],
    names: &'a Names<T, I>,
) -> impl Iterator<Item = String> + 'a
where
    T: Fn(&str) -> Option<String>,
    I: Fn(&str) -> Option<String>,
{
    let base = Base::of(jobs);
    let heeded: BTreeSet<String> =
        rules.iter().flat_map(|rule| rule.inputs.iter().chain(&rule.changed)).cloned().collect();
    let changed = jobs.jobs.iter().flat_map(|job| &job.outputs).filter(|file| file.older && file.updated);
    let paths = changed.map(move |file| base.relative(&file.path)).filter(|path| !path.starts_with('/'));
    paths.filter(move |path| (names.input)(path).is_none_or(|name| !heeded.contains(&name)))
}

/// What a reader must know of changes that are not noticed.
pub(crate) fn unnoticed<T, I>(
    jobs: &Jobs,
    owned: &Owned<'_>,
    before: Before,
    rules: &[Rule],
    watched: &Watched,
    names: &Names<T, I>,
) -> Option<String>
where
    T: Fn(&str) -> Option<String>,
    I: Fn(&str) -> Option<String>,
{
    let base = Base::of(jobs);
    let made: BTreeSet<&str> =
        jobs.jobs.iter().flat_map(|job| &job.outputs).map(|file| &*file.path).collect();
    let read = jobs.jobs.iter().flat_map(|job| &job.inputs).map(|file| &file.path);
    let found = jobs.jobs.iter().flat_map(|job| &job.found);
    let known: BTreeSet<&str> =
        read.clone().chain(found.clone()).chain(&jobs.shared).map(|path| &**path).collect();
    let is_file = |path: &Arc<str>| known.contains(&**path);
    let anew: BTreeSet<&str> = jobs.jobs.iter().flat_map(|job| &job.made).map(|made| &*made.path).collect();
    let is_made = |path: &Arc<str>| anew.contains(&**path);
    let shared = jobs.shared.iter().map(|path| base.relative(path)).filter(|path| !path.starts_with('/'));
    let carried = carried(jobs);
    let is_carried = |path: &&Arc<str>| carried.iter().any(|directory| is_below(path, directory));
    let late = read.clone().chain(found.clone()).filter(is_carried);
    let later_names = LaterNames::of(jobs);
    let later = of_files(jobs, &later_names);
    let late = late.chain(later.iter().flatten()).map(|path| base.relative(path));
    let late: BTreeSet<String> = late.collect();
    let heeded: BTreeSet<&str> = rules.iter().flat_map(|rule| &rule.inputs).map(String::as_str).collect();
    let is_heeded = |path: &String| (names.input)(path).is_some_and(|name| heeded.contains(&*name));
    let looked: BTreeSet<&String> =
        rules.iter().flat_map(|rule| rule.looks.iter().chain(&rule.permitted)).collect();
    let files: BTreeSet<String> = read
        .chain(found)
        .filter(|path| !made.contains(&***path))
        .map(|path| base.relative(path))
        .filter(|path| !looked.contains(path))
        .filter(|path| !path.starts_with('/') && (names.input)(path).is_none())
        .chain(late.iter().filter(|_| before == Before::Deleted).cloned())
        .chain(shared)
        .chain(unwatched(jobs, rules, names))
        .chain(unheeded_inputs(jobs, rules, names))
        .collect();
    let name =
        |path: &str| stands(path, before, owned).then(|| (names.target)(&base.relative(path))).flatten();
    let listed: BTreeSet<&str> = jobs
        .jobs
        .iter()
        .flat_map(|job| job.outputs.iter().filter(|file| target(job, file, before, &name).is_some()))
        .map(|file| &*file.path)
        .collect();
    let noticed: BTreeSet<&String> =
        rules.iter().flat_map(|rule| rule.targets.all().iter().chain(&rule.present)).collect();
    let odd: BTreeSet<&String> = rules.iter().flat_map(|rule| &rule.odd).collect();
    let is_missed = |path: &&str| match before {
        Before::Kept => {
            let name = (names.target)(&base.relative(path));
            name.is_none_or(|name| !noticed.contains(&name))
                && !owned.is_open(path)
                && !odd.contains(&base.relative(path))
        }
        Before::Deleted => !listed.contains(*path),
    };
    let several = jobs.shared.iter().map(|path| &**path);
    let removed = lasting(jobs)
        .into_iter()
        .filter(is_missed)
        .chain(several)
        .chain(carried.iter().copied().filter(|path| later_names.stays(path)))
        .map(|path| base.relative(path))
        .chain(late)
        .filter(|path| !is_heeded(path));
    let removed: BTreeSet<String> = removed.filter(|path| !path.starts_with('/')).collect();
    let listed_later: BTreeSet<Arc<str>> = jobs
        .jobs
        .iter()
        .enumerate()
        .flat_map(|(number, job)| job.listed.iter().map(move |path| (number, path)))
        .filter_map(|(number, path)| later_names.of_directory(number, path))
        .collect();
    let places: BTreeSet<String> = jobs
        .jobs
        .iter()
        .flat_map(|job| &job.listed)
        .filter(|path| !is_file(path) && !is_made(path))
        .chain(listed_later.iter())
        .map(|path| base.relative(path))
        .filter(|path| !path.starts_with('/'))
        .collect();
    let mut parts = Vec::new();
    if !files.is_empty() {
        parts.push(format!("changes of {}", shown(&files)));
    }
    if !removed.is_empty() {
        parts.push(format!("that these are removed: {}", shown(&removed)));
    }
    if !places.is_empty() {
        parts.push(format!("new and removed files in {}", shown(&places)));
    }
    if !watched.left_out.is_empty() {
        parts.push(format!("that these appear or lead elsewhere: {}", shown(&watched.left_out)));
    }
    (!parts.is_empty()).then(|| format!("not noticed when it runs again: {}", parts.join("; ")))
}

/// What a reader must know of jobs that do not run again with others.
pub(crate) fn unwoken(rules: &[Rule]) -> Option<String> {
    let jobs = rules.iter().enumerate().filter(|(_, rule)| rule.unwoken);
    let jobs: Vec<String> = jobs.map(|(number, _)| (number + 1).to_string()).collect();
    let most = most_waking(rules.len());
    (!jobs.is_empty()).then(|| {
        format!(
            "Not run again with the jobs that need what they made and a later one changes or removes, because more than {most} files would be the reason; \
             until \"clean\" a build is refused in which such a job must run again: jobs {}",
            several(&jobs)
        )
    })
}

/// What is noticed in no workflow.
pub(crate) const NEVER_NOTICED: &str = "Never noticed: a symbolic link that leads elsewhere, but for those that arguments of jobs name and, in a recording, redirections and \"cd\" of \
shells (of the trace of another tool these go where the links led); a link that leads nowhere until a job makes what it leads to; \
results that were changed by hand; files that appear outside of this directory \
where a job looked for them in vain; what a pattern such as * would match, $(...) or <(...) would give, and if or case would choose now: the commands and their arguments are those of the recording; \
that a job does other things than in the recording: other jobs run too early or not again for what it reads, changes or makes besides, and that stays when the job makes it no more. A job that runs again sees permissions \
that later jobs have set. Every command runs as whoever runs the workflow, also what the recording ran as another user. Files that the workflow manager itself made, to be written by a job, have the usual permissions, whatever it gave them. \
Not carried over: signals that the workflow manager ignored for its commands (trap \"\" of a shell; Python ignores SIGPIPE, and os.system hands that on), and OLDPWD. \
Run \"clean\" after such a change; after one of what a pattern matches, record again.";

/// Names in one line, if they are many some of them.
fn shown(names: &BTreeSet<String>) -> String {
    let names: Vec<String> = names.iter().map(|name| printable(name).into_owned()).collect();
    several(&names)
}

/// Words in one line, if they are many some of them.
fn several(words: &[String]) -> String {
    /// So many are told.
    const SHOWN: usize = 8;
    let more = words.len().saturating_sub(SHOWN);
    let named = &words[..words.len() - more];
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
}

/// What a reader must know of files that make no job run, and of files that stay.
pub(crate) fn unheeded(jobs: &Jobs, owned: &Owned<'_>) -> Vec<String> {
    let base = Base::of(jobs);
    let within = |paths: BTreeSet<&Arc<str>>| -> BTreeSet<String> {
        paths.into_iter().map(|path| base.relative(path)).filter(|path| !path.starts_with('/')).collect()
    };
    let found: BTreeSet<&Arc<str>> =
        jobs.jobs.iter().flat_map(|job| job.found.iter().chain(&job.met)).collect();
    let read = within(jobs.of_managers.iter().filter(|path| !found.contains(path)).collect());
    let listed: BTreeSet<&Arc<str>> = jobs.jobs.iter().flat_map(|job| &job.listed).collect();
    let grows = |directory: &&Arc<str>| {
        let fills = |job: &Job| {
            let in_it =
                |made: &Made| made.path.strip_prefix(&***directory).is_some_and(|rest| rest.starts_with('/'));
            job.made.iter().any(in_it) && !job.made.iter().any(|made| made.path == **directory)
        };
        listed.contains(*directory) && !owned.is_directory(directory) && jobs.jobs.iter().any(fills)
    };
    let lasting = jobs.jobs.iter().flat_map(|job| &job.directories).chain(&jobs.directories);
    let growing = within(lasting.filter(grows).collect());
    let mut all = Vec::new();
    if !read.is_empty() {
        all.push(format!(
            "Read only by what started the jobs, so that no job runs again for it: {}",
            shown(&read)
        ));
    }
    if !growing.is_empty() {
        all.push(format!(
            "Files that a job makes no more after its inputs changed stay, and are listed, in: {}",
            shown(&growing)
        ));
    }
    all
}

fn targets(job: &Job, stamp: &str, before: Before, name: &impl Fn(&str) -> Option<String>) -> Targets {
    let files: Option<Vec<String>> = job.outputs.iter().map(|file| target(job, file, before, name)).collect();
    match files {
        Some(files) if !files.is_empty() => Targets::Files(files),
        _ => Targets::Stamp(stamp.to_owned()),
    }
}

/// The name of a file that the job may be known by.
fn target(
    job: &Job,
    file: &JobFile,
    before: Before,
    name: &impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let in_own_directory = |path: &str| {
        job.directories
            .iter()
            .any(|directory| path.strip_prefix(&**directory).is_some_and(|rest| rest.starts_with('/')))
    };
    let is_made = file.only && file.stays && !file.updated && !file.link;
    let may_go = before == Before::Kept || !file.older && !crate::again::is_guarded(job);
    let is_target = is_made && may_go && !file.timed && !in_own_directory(&file.path);
    is_target.then(|| name(&file.path)).flatten()
}

/// The stamp of a job: its number and a sum of its command, so that no other export that ran in the same directory left it.
fn stamp(id: JobId, job: &Job, jobs: &Jobs, sum: &str) -> String {
    format!(".iotrail/job-{}-{sum}", identity(id, job, jobs))
}

/// What a job leaves when it begins, and nobody but `clean` removes.
pub(crate) fn begun(id: JobId, job: &Job, jobs: &Jobs) -> String {
    format!(".iotrail/ran-{}", identity(id, job, jobs))
}

fn identity(id: JobId, job: &Job, jobs: &Jobs) -> String {
    let line = shell(job, jobs).unwrap_or_default();
    format!("{:04}-{:08x}", id.0 + 1, crc32fast::hash(line.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_jobs_are_woken_by_more() {
        assert_eq!([0, 50, 200, 1000, 50_000].map(most_waking), [400, 400, 200, 40, 40]);
    }

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

    #[test]
    fn what_no_job_reads_and_where_old_files_stay_is_told() {
        let file = |path: &str| Made { path: path.into(), ..Made::default() };
        let directory = Made { is_directory: true, ..file("/w/d") };
        let maker = Job { made: vec![directory], directories: vec!["/w/d".into()], ..Job::default() };
        let filler = Job { made: vec![file("/w/d/1")], ..Job::default() };
        let reader = Job { listed: vec!["/w/d".into()], ..Job::default() };
        let told = |jobs: &[&Job], read: &[&str]| {
            let jobs = jobs.iter().map(|job| (*job).clone()).collect();
            let of_managers = read.iter().map(|path| Arc::from(*path)).collect();
            unheeded(
                &Jobs { jobs, of_managers, base: Some("/w".into()), ..Jobs::default() },
                &Owned::default(),
            )
        };
        let [read, stay] = &told(&[&maker, &filler, &reader], &["/w/conf", "/x"])[..] else { panic!() };
        assert!(read.ends_with(": conf") && stay.ends_with(": d"), "{read} {stay}");
        let both = Job { made: [&maker.made[..], &filler.made[..]].concat(), ..maker.clone() };
        assert!(told(&[&both, &reader], &[]).is_empty(), "it makes the directory anew");
        assert!(told(&[&maker, &filler], &[]).is_empty(), "nobody lists it");
    }
}
