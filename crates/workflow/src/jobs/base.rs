//! The directory that an export stands for.
//!
//! A trail has absolute names, however programs wrote them, and a command that is run again writes to `../out` as it did before. So
//! an export stands for the nearest directory above the one where the recording began in which all is that jobs
//! write, that their redirections name, that they run in and that their command lines reach by `..`. Only what has nothing but `/` in
//! common with it is elsewhere, and is named by its absolute path.

use super::changed_names::{absolute, paths_in};
use super::hidden::holds_files;
use super::programs::Programs;
use super::stages::parent;
use super::{Job, Script};
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use iotrail_model::Names;
use iotrail_model::text::path_to_text;
use iotrail_query::ProcessTable;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// Directories for what passes.
const PASSING: [&str; 2] = ["/tmp", "/var/tmp"];

/// The directory that jobs of a recording that began in `home` can be moved with; `made` are directories that managers
/// made.
pub(crate) fn base(home: &str, jobs: &[Job], made: &[Arc<str>], names: &Names) -> Arc<str> {
    let home = home.trim_end_matches('/');
    let whereabouts = jobs.iter().flat_map(Job::commands).map(|command| command.cwd.as_deref());
    if home.is_empty() || whereabouts.clone().any(|cwd| cwd.is_none()) {
        return if home.is_empty() { "/".into() } else { home.into() };
    }
    let known: HashSet<&str, RandomState> = names.paths.iter().map(|path| &**path).collect();
    let inputs = || jobs.iter().flat_map(|job| &job.inputs).map(|file| &*file.path).collect();
    let inputs: LazyCell<BTreeSet<&str>, _> = LazyCell::new(inputs);
    let is_read = |path: &str| {
        let within = format!("{path}/");
        let mut below = inputs.range::<str, _>((Bound::Included(&*within), Bound::Unbounded));
        inputs.contains(path) || below.next().is_some_and(|input| input.starts_with(&within))
    };
    let mut base = home;
    let mut widen = |path: &str| {
        let common = common(base, path).len();
        if common > 0 {
            base = &base[..common];
        }
    };
    whereabouts.flatten().for_each(&mut widen);
    made.iter().filter(|path| !is_private(home, path)).for_each(|path| widen(path));
    for job in jobs {
        redirected(job).into_iter().for_each(&mut widen);
        let stay = job.outputs.iter().filter(|file| file.stays).map(|file| &*file.path);
        let stay = stay.chain(job.directories.iter().map(|path| &**path));
        stay.filter(|path| !is_private(home, path)).for_each(&mut widen);
        for (path, by_link) in climbing(job, home) {
            if known.contains(&*path) && (!by_link || is_read(&path)) {
                widen(&path);
            }
        }
    }
    base.into()
}

/// The directory that two paths have in common; empty if it is `/`.
fn common<'a>(one: &'a str, other: &str) -> &'a str {
    let mut end = 0;
    for (at, _) in one.match_indices('/').skip(1).chain([(one.len(), "")]) {
        if other.get(..at) != Some(&one[..at]) || !matches!(other.as_bytes().get(at), None | Some(b'/')) {
            break;
        }
        end = at;
    }
    &one[..end]
}

/// Whether a program keeps it for itself: `~/.cache/x` of a recording in `~/project`.
pub(crate) fn is_private(home: &str, path: &str) -> bool {
    let common = common(home, path);
    common.len() < home.len() && path[common.len()..].starts_with("/.")
}

/// Files that redirections name, but for temporary ones in the system's directories for these.
fn redirected(job: &Job) -> Vec<&str> {
    let gone = |path: &str| {
        let of_job = job.inputs.iter().chain(&job.outputs).find(|file| &*file.path == path);
        of_job.is_none_or(|file| !file.stays)
    };
    let passes =
        |path: &str| path.rsplit_once('/').is_some_and(|(place, _)| PASSING.contains(&place)) && gone(path);
    let redirects = job.script.iter().flat_map(Script::redirects);
    redirects
        .filter_map(|redirect| redirect.target.path().map(|path| &**path))
        .filter(|path| holds_files(path) && !passes(path))
        .collect()
}

/// Why a job cannot be moved with its directory: a command in a directory elsewhere names what is in it by a relative path.
pub(crate) fn immovable(base: &str, job: &Job, names: &Names) -> Option<String> {
    let known = |path: &str| names.paths.iter().any(|known| **known == *path);
    for command in job.commands() {
        let Some(cwd) = command.cwd.as_deref().filter(|cwd| common(base, cwd) != base) else { continue };
        for word in command.argv.iter().skip(1).map(|word| path_to_text(word).into_owned()) {
            for path in paths_in(&word).filter(|path| !path.starts_with('/')) {
                let whole = absolute(cwd, path);
                if common(base, &whole) == base && known(&whole) {
                    return Some(format!("from {cwd} its command reaches {whole} by a relative name"));
                }
            }
        }
    }
    None
}

/// Paths to which the words of a job's commands climb by `..`; whether only links that it makes lead there.
fn climbing(job: &Job, home: &str) -> Vec<(Arc<str>, bool)> {
    let climbs = |path: &str| path.split('/').any(|part| part == "..");
    let mut all = Vec::new();
    for command in job.commands() {
        let cwd = command.cwd.as_deref().unwrap_or(home);
        let links = if &*command.name() == "ln" { places_of_links(job) } else { Vec::new() };
        let by_link = !links.is_empty();
        let places = if by_link { links } else { vec![cwd] };
        for word in &command.argv {
            let word = path_to_text(word);
            let own = |path: &&str| !path.starts_with('/') || !common(home, path).is_empty();
            let climbing = paths_in(&word).filter(|path| climbs(path)).filter(own);
            let lead = |path| places.iter().map(move |place| (absolute(place, path), by_link));
            all.extend(climbing.flat_map(lead));
        }
    }
    all
}

/// Where a job makes symbolic links: their texts lead on from there.
fn places_of_links(job: &Job) -> Vec<&str> {
    let links = job.outputs.iter().filter(|file| file.link);
    let places: BTreeSet<&str> = links.filter_map(|file| parent(&file.path)).collect();
    places.into_iter().collect()
}

/// Other names of directories in `base`, with their own: where a shell's `PWD` leads to the working directory by another
/// way. A name that led to several directories is none.
pub(crate) fn aliases(
    base: &str,
    processes: &ProcessTable,
    programs: &Programs,
    names: &Names,
) -> Vec<(Arc<str>, Arc<str>)> {
    let mut all: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for image in programs.all.iter().map(|program| programs.image(program, processes)) {
        let told = image.env.iter().find_map(|entry| entry.strip_prefix("PWD="));
        let (Some(mut told), Some(mut cwd)) = (told, image.cwd.as_deref()) else { continue };
        // What is above a link has no other name; but then names below it were seen.
        while told != cwd && common(base, told) != base && common(base, cwd) == base {
            all.entry(told)
                .and_modify(|known| *known = known.filter(|known| *known == cwd))
                .or_insert(Some(cwd));
            let (Some((above, name)), Some((parent, own))) = (told.rsplit_once('/'), cwd.rsplit_once('/'))
            else {
                break;
            };
            let below = format!("{above}/");
            if name != own || above.is_empty() || names.paths.iter().any(|path| path.starts_with(&below)) {
                break;
            }
            (told, cwd) = (above, parent);
        }
    }
    all.into_iter().filter_map(|(told, cwd)| Some((told.into(), cwd?.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Redirect, Target};
    use super::*;
    use crate::jobs::Command;

    #[test]
    fn directories_are_compared_by_their_names() {
        assert_eq!(common("/w/sub", "/w/sub/x"), "/w/sub");
        assert_eq!(common("/w/sub", "/w/subway"), "/w");
        assert_eq!(common("/w/sub", "/w"), "/w");
        assert_eq!(common("/w", "/v/w"), "");
        assert!(is_private("/home/u/p", "/home/u/.cache/x") && !is_private("/home/u/p", "/home/u/p/.x"));
    }

    #[test]
    fn an_export_stands_for_all_that_is_reached_by_going_up() {
        let command = |cwd: &str, words: &[&str], redirects: &[&str]| Command {
            cwd: Some(cwd.into()),
            argv: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            redirects: redirects
                .iter()
                .map(|path| Redirect { fd: 1, target: Target::Write((*path).into()) })
                .collect(),
            ..Command::default()
        };
        let found = |command: Command| {
            let job = Job { script: Some(Script::Command(command)), ..Job::default() };
            let names = Names { paths: vec!["/w/data/in".into(), "/w/a/run/x".into()], ..Names::default() };
            base("/w/a/run", &[job], &[], &names).to_string()
        };
        assert_eq!(found(command("/w/a/run", &["sort", "in"], &["/w/a/run/out"])), "/w/a/run");
        assert_eq!(found(command("/w/a/run", &["sort", "in"], &["/w/a/out"])), "/w/a");
        assert_eq!(found(command("/w/a", &["sort", "in"], &[])), "/w/a");
        assert_eq!(found(command("/w/a/run", &["sort", "../../data/in"], &[])), "/w");
        // A pattern, no path.
        assert_eq!(found(command("/w/a/run", &["grep", "../../.."], &[])), "/w/a/run");
        assert_eq!(found(command("/w/a/run", &["sort", "in"], &["/elsewhere/out"])), "/w/a/run");
        assert_eq!(found(command("/w/a/run", &["sort", "in"], &["/dev/shm/out"])), "/w/a/run");
    }
}
