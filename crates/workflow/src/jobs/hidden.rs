//! Names that are no files of the workflow: the system, the installed software, what is not a regular file.

use super::stages::parent;
use super::steps::{JobAction, Step};
use iotrail_model::places::is_pseudo;
use iotrail_model::{Nullable, PathId};
use iotrail_query::{ProcessId, ProcessTable};
use iotrail_trail::{EventLog, FileName};
use std::collections::HashSet;
use std::sync::Arc;

const SYSTEM: [&str; 10] =
    ["/bin/", "/boot/", "/etc/", "/lib/", "/lib32/", "/lib64/", "/run/", "/sbin/", "/usr/", "/var/cache/"];

/// Kinds of files that jobs make and wait for; pipes without a name are hidden by what they are called.
const ENTRIES: [&str; 2] = ["file", "pipe"];

/// What is hidden.
#[derive(Debug)]
pub(crate) struct Hidden {
    /// By path: whether no file of the workflow ever had the name.
    paths: Vec<bool>,
    /// By path: whether it belongs to the system or to the installed software.
    system: Vec<bool>,
    /// By number of the file: whether it is known to be neither a regular file nor a named pipe.
    others: Vec<bool>,
}

impl Hidden {
    /// Below the directory where the recording began nothing of the system is hidden by its place, and elsewhere nothing that
    /// the recording made.
    pub(crate) fn new(log: &EventLog, processes: &ProcessTable, steps: &[Step]) -> Self {
        let base = processes.first_directory();
        let base = base.map(|base| format!("{}/", base.trim_end_matches('/')));
        let software = software(processes, base.as_deref());
        let of_system = |path: &str| {
            if !holds_files(path) {
                return true;
            }
            if base.as_deref().is_some_and(|base| base.len() > 1 && path.starts_with(base)) {
                return false;
            }
            let within = |place: &str| path.starts_with(place);
            SYSTEM.iter().any(|place| within(place)) || software.iter().any(|place| within(place))
        };
        let files = log.distinct_files();
        let places = unseen_directories(log, steps);
        let others: Vec<bool> = files
            .iter()
            .zip(places)
            .map(|(file, is_place)| {
                is_place || file.kind.as_deref().is_some_and(|kind| !ENTRIES.contains(&kind))
            })
            .collect();
        // A name may be that of a directory first and of a file then.
        let (mut named, mut regular) =
            (vec![false; log.names().paths.len()], vec![false; log.names().paths.len()]);
        for (file, other) in files.iter().zip(&others) {
            for name in &file.names {
                named[name.path.index()] = true;
                regular[name.path.index()] |= !other;
            }
        }
        let made = made(steps, log.names().paths.len());
        let hides_caches = !handles_caches(steps, &log.names().paths);
        let system = log.names().paths.iter().zip(made).map(|(path, made)| {
            hides_caches && is_cache(path) || of_system(path) && !(made && holds_files(path))
        });
        let system: Vec<bool> = system.collect();
        let paths = system.iter().enumerate();
        let paths = paths.map(|(at, of_system)| named[at] && !regular[at] || *of_system).collect();
        Self { paths, system, others }
    }

    /// Whether no file of the workflow ever has the name.
    pub(crate) fn hides(&self, path: PathId) -> bool {
        self.paths[path.index()]
    }

    /// Whether a name belongs to the system or to the installed software.
    pub(crate) fn is_of_system(&self, path: PathId) -> bool {
        self.system[path.index()]
    }

    /// Whether a step is about something that is not a regular file, though a file has its name at another time.
    pub(crate) fn is_other(&self, step: &Step) -> bool {
        let asks =
            matches!(step.action, JobAction::Look | JobAction::Stat | JobAction::Missing | JobAction::Tried);
        !asks && step.file.get().is_some_and(|file| self.others.get(file.index()) == Some(&true))
    }
}

/// By number of the file: whether nothing says what it is, but something lies in it: of those that had one of its names it is the only one.
fn unseen_directories(log: &EventLog, steps: &[Step]) -> Vec<bool> {
    let (files, paths) = (log.distinct_files(), &log.names().paths);
    let asks =
        |step: &Step| matches!(step.action, JobAction::Missing | JobAction::Tried | JobAction::Hindered);
    let used = steps.iter().filter(|step| !asks(step)).filter_map(|step| step.path.get());
    let places: HashSet<&str> = used.filter_map(|path| parent(&paths[path.index()])).collect();
    let mut bearers = vec![0_u32; paths.len()];
    let names = || files.iter().flat_map(|file| &file.names);
    names().for_each(|name| bearers[name.path.index()] += 1);
    let holds = |path: PathId| bearers[path.index()] == 1 && places.contains(&*paths[path.index()]);
    let is_place = |names: &[FileName]| names.iter().any(|name| holds(name.path));
    files.iter().map(|file| file.kind.is_none() && is_place(&file.names)).collect()
}

/// By path: whether the recording made something of that name.
fn made(steps: &[Step], count: usize) -> Vec<bool> {
    let mut made = vec![false; count];
    for step in steps {
        let path = match step.action {
            JobAction::Open(mode) if mode.write && (mode.create || mode.truncate) => step.path.get(),
            JobAction::Symlink | JobAction::Fifo | JobAction::MakeDirectory(_) => step.path.get(),
            JobAction::Rename | JobAction::Link => step.path2.get(),
            _ => None,
        };
        path.into_iter().for_each(|path| made[path.index()] = true);
    }
    made
}

/// Whether files can be made there.
pub(super) fn holds_files(path: &str) -> bool {
    path.starts_with('/') && !is_pseudo(path)
}

/// Whether Python keeps it for itself, and makes it again where it is not there.
fn is_cache(path: &str) -> bool {
    path.contains("/__pycache__/") || path.ends_with("/__pycache__")
}

/// Whether caches are more to the recording than what Python keeps for itself: removed, or moved with a directory or to another one. What it
/// does itself is to give a new file its name within the cache.
fn handles_caches(steps: &[Step], paths: &[Arc<str>]) -> bool {
    let caches: Vec<bool> = paths.iter().map(|path| is_cache(path)).collect();
    if !caches.contains(&true) {
        return false;
    }
    let of_cache = |path: Nullable<PathId>| path.get().is_some_and(|path| caches[path.index()]);
    let directory = |path: Nullable<PathId>| parent(&paths[path.get()?.index()]);
    let mut moved: HashSet<&str> = HashSet::new();
    for step in steps {
        match step.action {
            JobAction::Remove | JobAction::RemoveDirectory if of_cache(step.path) => return true,
            JobAction::Rename
                if (of_cache(step.path) || of_cache(step.path2))
                    && (directory(step.path) != directory(step.path2) || is_cache_itself(step, paths)) =>
            {
                return true;
            }
            JobAction::Rename => moved.extend(step.path.get().map(|path| &*paths[path.index()])),
            _ => {}
        }
    }
    let mut caches = paths.iter().zip(&caches).filter(|(_, cache)| **cache);
    let is_moved =
        |path| std::iter::successors(parent(path), |path| parent(path)).any(|place| moved.contains(place));
    !moved.is_empty() && caches.any(|(path, _)| is_moved(&**path))
}

/// Whether a step renames a cache, or gives its name to something.
fn is_cache_itself(step: &Step, paths: &[Arc<str>]) -> bool {
    let named =
        |path: Nullable<PathId>| path.get().is_some_and(|path| paths[path.index()].ends_with("/__pycache__"));
    named(step.path) || named(step.path2)
}

/// Where executables are installed: `X/lib/` and so on for each executed `X/bin/name`.
fn software(processes: &ProcessTable, base: Option<&str>) -> Vec<String> {
    let mut places: Vec<String> = processes
        .all()
        .iter()
        .enumerate()
        .flat_map(|(index, _)| processes.images(ProcessId(index as u32)))
        .filter_map(|image| image.exe.as_deref()?.rsplit_once("/bin/"))
        .map(|(prefix, _)| prefix)
        .filter(|prefix| {
            !prefix.is_empty() && base.is_none_or(|base| !base.starts_with(&format!("{prefix}/")))
        })
        .flat_map(|prefix| {
            ["bin", "lib", "lib64", "libexec", "share", "include"].map(|part| format!("{prefix}/{part}/"))
        })
        .collect();
    places.sort();
    places.dedup();
    places
}
