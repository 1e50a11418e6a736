//! Names are searched for in several directories: by loaders, interpreters, shells and compilers. A search is many names that are
//! each looked for in several directories, most of which have many of them not.

use super::Rule;
use super::habit::{Context, Directories, First, Image, Outcome, ProcessHabit, Saved, Seen, Tally, split};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::PathId;
use iotrail_model::calls::CallKind;

/// From so many failed lookups of a process on they are a habit.
const MANY: u64 = 100;
/// A directory is part of a search path if so many of the names were looked for in it.
const NAMES: usize = 5;

#[derive(Default)]
pub(crate) struct FailedLookups {
    processes: HashMap<Image, Lookups, RandomState>,
}

#[derive(Default)]
struct Lookups {
    first: Option<First>,
    failed: HashMap<PathId, Saved, RandomState>,
    found: HashSet<PathId, RandomState>,
}

impl Rule for FailedLookups {
    fn see(&mut self, call: &Seen) {
        let looks = matches!(
            call.kind,
            CallKind::Open | CallKind::Stat | CallKind::Access | CallKind::ReadLink | CallKind::Exec
        );
        let (Some(path), true) = (call.path, looks && call.selected) else { return };
        let lookups = self.processes.entry(call.process()).or_default();
        match call.result {
            Outcome::Missing => {
                lookups.first.get_or_insert(call.first());
                lookups.failed.entry(path).or_default().add(call);
            }
            Outcome::Done => {
                lookups.found.insert(path);
            }
            Outcome::Failed => {}
        }
    }

    fn ended(&mut self, image: Image) {
        if self.processes.get(&image).is_some_and(|lookups| (lookups.failed.len() as u64) < MANY) {
            self.processes.remove(&image);
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.processes.values().filter(|lookups| lookups.failed.len() as u64 >= MANY);
        many.filter_map(|lookups| lookups.search(log)).collect()
    }
}

impl Lookups {
    fn search(&self, log: &Context) -> Option<ProcessHabit> {
        let mut tried: HashMap<&str, u32, RandomState> = HashMap::default();
        let mut missed: HashMap<&str, usize, RandomState> = HashMap::default();
        let path = |id: &PathId| split(log.names.paths.get(id.index()).map_or("", |path| &**path));
        let found = self.found.iter().filter(|id| !self.failed.contains_key(*id));
        found.chain(self.failed.keys()).for_each(|id| *tried.entry(path(id).1).or_default() += 1);
        let is_searched = |name: &str| tried.get(name).is_some_and(|directories| *directories > 1);
        for (directory, _) in self.failed.keys().map(path).filter(|(_, name)| is_searched(name)) {
            *missed.entry(directory).or_default() += 1;
        }
        let (mut directories, mut names) = (Directories::default(), HashSet::<&str, RandomState>::default());
        let mut saved = Saved::default();
        for (id, calls) in &self.failed {
            let (directory, name) = path(id);
            if is_searched(name) && missed.get(directory).is_some_and(|names| *names >= NAMES) {
                directories.add(directory, calls.calls);
                names.insert(name);
                saved.join(*calls);
            }
        }
        let tally = Tally { first: self.first?, calls: saved.calls, saved, amount: names.len() as u64 };
        (saved.calls >= MANY).then(|| ProcessHabit {
            rule: "failed-lookups",
            file: directories.common(),
            tally,
            places: directories.most(),
            fix: "shorten the search path, and put what is found first: fewer and local directories in PATH, LD_LIBRARY_PATH (or an RPATH), PYTHONPATH and `-I`; absolute paths of programs; Python: `-I -S` or one zip file for many small modules",
            assumes: "what is looked for is always found at the same place, or never",
        })
    }
}
