//! Many names are looked for that are not there: search paths of loaders, interpreters, shells and include directories.

use super::Rule;
use super::habit::{Found, Outcome, Saved, Seen, text};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::CallKind;
use iotrail_model::{CaseId, Names, PathId, Pid};
use std::collections::BTreeMap;

/// From so many failed lookups of a process on they are a habit.
const MANY: u64 = 100;

#[derive(Default)]
pub(crate) struct FailedLookups {
    processes: HashMap<(CaseId, Pid), Lookups, RandomState>,
}

struct Lookups {
    first: Seen,
    /// All of them.
    failed: Saved,
    paths: HashMap<PathId, u64, RandomState>,
}

impl Rule for FailedLookups {
    fn see(&mut self, call: &Seen) {
        let looks = matches!(
            call.kind,
            CallKind::Open | CallKind::Stat | CallKind::Access | CallKind::ReadLink | CallKind::Exec
        );
        let (Some(path), true) = (call.path, looks && call.result == Outcome::Missing && call.selected)
        else {
            return;
        };
        let lookups = self.processes.entry(call.process()).or_insert_with(|| Lookups {
            first: *call,
            failed: Saved::default(),
            paths: HashMap::default(),
        });
        lookups.failed.add(call);
        *lookups.paths.entry(path).or_default() += 1;
    }

    fn found(&self, names: &Names) -> Vec<Found> {
        let many = self.processes.values().filter(|lookups| lookups.failed.calls >= MANY);
        let found = many.map(|lookups| Found {
            rule: "failed-lookups",
            file: directory_of_most(names, &lookups.paths).into(),
            calls: lookups.failed.calls,
            saved: lookups.failed,
            amount: lookups.paths.len() as u64,
            fix: "shorten the search path, and put what is found first: fewer and local directories in PATH, LD_LIBRARY_PATH (or an RPATH), PYTHONPATH and `-I`; absolute paths of programs; Python: `-I -S` or one zip file for many small modules",
            assumes: "what is looked for is always found at the same place, or never",
            example: lookups.first,
        });
        found.collect()
    }
}

/// The directory in which most lookups failed.
fn directory_of_most(names: &Names, paths: &HashMap<PathId, u64, RandomState>) -> String {
    let mut directories: BTreeMap<String, u64> = BTreeMap::new();
    for (path, number) in paths {
        let path = text(names, Some(*path));
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        *directories.entry(if directory.is_empty() { "/" } else { directory }.to_owned()).or_default() +=
            number;
    }
    let most = directories.into_iter().max_by(|(a, m), (b, n)| m.cmp(n).then_with(|| b.cmp(a)));
    most.map(|(directory, _)| directory).unwrap_or_default()
}
