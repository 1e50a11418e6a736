//! Names that no job makes and that decide what a job finds, though it read nothing under them: those that it looked for in vain,
//! and symbolic links.
//!
//! Paths of a trail have their links resolved, and no event says that there was one. So an argument may be a link if it names
//! something that the job did not read under that name, while it used a file that none of its arguments names, or only looked at it.

use super::changed_names::{absolute, paths_in};
use super::history::{History, NameHistory};
use super::programs::name;
use super::stages::parent;
use super::{Job, Script, Target};
use iotrail_model::Names;
use iotrail_model::text::path_to_text;
use iotrail_query::ProcessTable;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Gives each job the names that are to be watched for it, but for those that jobs or managers make or change, and what is below them.
pub(crate) fn watch(
    jobs: &mut [Job],
    processes: &ProcessTable,
    names: &Names,
    history: &History,
    directories: &[Arc<str>],
) {
    let used =
        |name: &NameHistory| name.written || name.uses.iter().any(|(_, used)| used.output || used.removed);
    let files = history.names.iter().filter(|(_, name)| used(name)).map(|(path, _)| path);
    let files: BTreeSet<&str> = files.map(|path| &**path).collect();
    let made =
        jobs.iter().flat_map(|job| job.directories.iter().chain(job.made.iter().map(|made| &made.path)));
    let made: BTreeSet<Arc<str>> = made.chain(directories).cloned().collect();
    let is_free = |path: &Arc<str>| {
        let mut way = std::iter::successors(Some(&**path), |path| parent(path));
        !made.contains(path) && !way.any(|path| files.contains(path) || history.renamed.contains(path))
    };
    let home = processes.first_directory().unwrap_or_default();
    let of_job =
        |job: &Job| links(job, processes).into_iter().chain(on_the_way(job, processes, home)).collect();
    let mut watched: Vec<BTreeSet<Arc<str>>> = jobs.iter().map(of_job).collect();
    for (job, path) in &history.again.missed {
        watched[*job as usize].insert(name(names, *path).clone());
    }
    for (job, watched) in jobs.iter_mut().zip(watched) {
        job.watched = watched.into_iter().filter(is_free).collect();
    }
}

/// Arguments that may be symbolic links.
fn links(job: &Job, processes: &ProcessTable) -> BTreeSet<Arc<str>> {
    let words = words(job, processes);
    let read: BTreeSet<&Arc<str>> = job.inputs.iter().map(|file| &file.path).chain(&job.listed).collect();
    let is_read = |path: &Arc<str>| read.contains(path);
    let looked: BTreeSet<&Arc<str>> = job.found.iter().filter(|path| !is_read(path)).collect();
    let redirects = job.script.iter().flat_map(Script::redirects);
    let redirected: BTreeSet<&Arc<str>> = redirects.filter_map(|redirect| redirect.target.path()).collect();
    let is_named = |path: &Arc<str>| words.contains(path) || redirected.contains(path);
    let all_are_named = read.iter().chain(&looked).all(|path| is_named(path));
    // Who makes another name of a link does not go where it leads.
    let has_content = |path: &Arc<str>| job.inputs.iter().any(|file| file.read > 0 && file.path == *path);
    let is_moved = |path: &Arc<str>| job.moves.contains(path) && !has_content(path);
    let may_be =
        |path: &Arc<str>| looked.contains(path) || !all_are_named && !is_read(path) || is_moved(path);
    words.iter().filter(|path| may_be(path)).cloned().collect()
}

/// Names that redirections and working directories of a job have through symbolic links, with all that is on the way to them.
fn on_the_way(job: &Job, processes: &ProcessTable, home: &str) -> BTreeSet<Arc<str>> {
    let files = job.inputs.iter().chain(&job.outputs).map(|file| &file.path);
    let own: BTreeSet<&Arc<str>> = files.chain(&job.temporaries).chain(&job.listed).collect();
    let redirects = job.script.iter().flat_map(Script::redirects);
    let redirected = redirects.filter_map(|redirect| Some((&redirect.target, redirect.target.path()?)));
    let named =
        redirected.filter(|(_, path)| !own.contains(path)).filter_map(|(target, path)| match target {
            // What it makes there leads where it made it.
            Target::Write(path) => parent(path).map(Arc::from),
            _ => Some(path.clone()),
        });
    let images = job.processes.iter().flat_map(|process| processes.images(*process));
    let real: BTreeSet<&str> = images.filter_map(|image| image.cwd.as_deref()).collect();
    let mut places: Vec<Arc<str>> = Vec::new();
    for command in job.commands() {
        let Some(place) = command.cwd.as_ref().filter(|place| !real.contains(&***place)) else { continue };
        places.push(place.clone());
        for word in command.argv.iter().skip(1).map(|word| path_to_text(word)) {
            let paths = paths_in(&word).filter(|path| !path.starts_with(['-', '/']));
            places.extend(paths.map(|path| absolute(place, path)));
        }
    }
    let below = |path: &&str| path.strip_prefix(home).is_some_and(|rest| rest.starts_with('/'));
    let mut found = BTreeSet::new();
    for path in named.chain(places) {
        let way = std::iter::successors(Some(&*path), |path| parent(path)).take_while(below);
        found.extend(way.map(Arc::from));
    }
    found
}

/// What may be paths in the arguments of a job.
fn words(job: &Job, processes: &ProcessTable) -> BTreeSet<Arc<str>> {
    let images: Vec<_> = job.processes.iter().flat_map(|process| processes.images(*process)).collect();
    let name = |exe: &str| exe.rsplit('/').next().unwrap_or_default().to_owned();
    let programs: BTreeSet<String> =
        images.iter().filter_map(|image| image.exe.as_deref().map(name)).collect();
    let is_path = |word: &&str| {
        !word.starts_with('-') && word.contains(char::is_alphabetic) && !programs.contains(*word)
    };
    // `-name`, `-xzf`: options that are words, or several.
    let is_options = |word: &&str| {
        word.strip_prefix('-').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
    };
    let mut found = BTreeSet::new();
    for image in images {
        let cwd = image.cwd.as_deref().unwrap_or_default();
        let arguments = image.cmdline.as_deref().unwrap_or_default().split('\0').skip(1);
        let arguments = arguments.filter(|word| !is_options(word));
        found.extend(arguments.flat_map(paths_in).filter(is_path).map(|word| absolute(cwd, word)));
    }
    found
}
