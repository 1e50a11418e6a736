//! What was issued against what was recorded: calls by kind and file, with their bytes and places.

use crate::recorded::{Act, Recorded, Step};
use iotrail_replay::{Action, Companion, Expected, OpenNumber, Operation, Plan};
use iotrail_verify::CallAction;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

/// What a call does, in a word.
type Kind = &'static str;

/// Calls of a kind on a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Calls {
    calls: u64,
    bytes: u64,
    /// Sum over the calls of what their place, bytes and error come to: the same for the same calls in any order.
    places: u64,
}

/// Calls by file and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<(usize, Kind), Calls>);

/// Where recorded and issued calls are not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The name below the directory.
    pub file: String,
    /// What the calls do.
    pub call: &'static str,
    /// Recorded calls.
    pub recorded_calls: u64,
    /// Issued calls.
    pub issued_calls: u64,
    /// Bytes that the recorded calls moved.
    pub recorded_bytes: u64,
    /// Bytes that the issued calls moved.
    pub issued_bytes: u64,
}

impl Tally {
    fn add(&mut self, file: usize, kind: Kind, place: Option<u64>, bytes: u64, error: Option<i32>) {
        let calls = self.0.entry((file, kind)).or_default();
        let mut hasher = DefaultHasher::new();
        (place, bytes, error).hash(&mut hasher);
        calls.calls += 1;
        calls.bytes += bytes;
        calls.places = calls.places.wrapping_add(hasher.finish());
    }

    /// Of the calls as recorded.
    pub(crate) fn recorded(recorded: &Recorded) -> Self {
        let mut tally = Self::default();
        // The name under which it was opened: that of an open file may change.
        let mut names = HashMap::new();
        for step in recorded.steps.iter().filter(|step| !matches!(step.act, Act::Other(_))) {
            let (kind, place, bytes) = of_step(step);
            let name = step.call.open.map_or(step.name, |open| *names.entry(open).or_insert(step.name));
            tally.add(name, kind, place, bytes, step.error);
        }
        tally
    }

    /// All calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.0.values().map(|calls| calls.calls).sum()
    }

    /// Calls and bytes by what they do.
    #[must_use]
    pub fn by_kind(&self) -> BTreeMap<&'static str, (u64, u64)> {
        let mut kinds = BTreeMap::new();
        for ((_, kind), calls) in &self.0 {
            let (number, bytes) = kinds.entry(*kind).or_insert((0, 0));
            *number += calls.calls;
            *bytes += calls.bytes;
        }
        kinds
    }
}

/// What differs, up to so many.
#[must_use]
pub fn differences(plan: &Plan, recorded: &Tally, issued: &Tally, most: usize) -> Vec<Difference> {
    let keys: std::collections::BTreeSet<_> = recorded.0.keys().chain(issued.0.keys()).copied().collect();
    let of = |tally: &Tally, key: &(usize, Kind)| tally.0.get(key).copied().unwrap_or_default();
    let differ = keys.into_iter().map(|key| (key, of(recorded, &key), of(issued, &key)));
    let differ = differ.filter(|(_, recorded, issued)| recorded != issued).take(most);
    let told = differ.map(|((file, call), recorded, issued)| Difference {
        file: plan.program().files.get(file).map(|file| file.name.clone()).unwrap_or_default(),
        call,
        recorded_calls: recorded.calls,
        issued_calls: issued.calls,
        recorded_bytes: recorded.bytes,
        issued_bytes: issued.bytes,
    });
    told.collect()
}

fn of_step(step: &Step) -> (Kind, Option<u64>, u64) {
    match (step.act, step.call.action) {
        (Act::Open(_), _) | (Act::Plain, CallAction::Open(_)) => ("open", None, 0),
        (Act::Inspect, _) | (Act::Plain, CallAction::Stat | CallAction::Refused(_)) => ("stat", None, 0),
        (Act::Access, _) => ("access", None, 0),
        (Act::Other(_), _) => ("other", None, 0),
        (Act::Remove { .. }, _) => ("remove", None, 0),
        (Act::Rename(_), _) => ("rename", None, 0),
        (Act::Symlink, _) => ("symlink", None, 0),
        (Act::Link(_), _) => ("link", None, 0),
        (Act::Truncate(size), _) => ("truncate", Some(size), 0),
        (Act::MakeDirectory, _) => ("mkdir", None, 0),
        (Act::List, _) => ("list", None, 0),
        (Act::Duplicate, _) => ("duplicate", None, 0),
        (Act::Plain, CallAction::Close) => ("close", None, 0),
        (Act::Plain, CallAction::Seek(to)) => ("seek", Some(to), 0),
        (Act::Plain, CallAction::Sync | CallAction::SyncData) => ("sync", None, 0),
        (Act::Plain, CallAction::Truncate(size)) => ("truncate", Some(size), 0),
        (Act::Plain, CallAction::Transfer(moved)) => (
            if moved.writes { "write" } else { "read" },
            moved.offset.filter(|_| moved.positioned),
            moved.moved,
        ),
    }
}

/// Hears of the calls of an execution.
#[derive(Debug)]
pub struct Listener<'a> {
    plan: &'a Plan,
    /// The file of each description, by stream.
    files: Vec<HashMap<OpenNumber, usize>>,
    tallies: Vec<Mutex<Tally>>,
}

impl<'a> Listener<'a> {
    /// For an execution of a plan.
    #[must_use]
    pub fn new(plan: &'a Plan) -> Self {
        let streams = &plan.program().streams;
        let mut shared: HashMap<usize, usize> = HashMap::new();
        let mut files = vec![HashMap::new(); streams.len()];
        // Whoever inherits may stand before who shares.
        for _ in 0..2 {
            for (stream, files) in streams.iter().zip(&mut files) {
                stream.iter().for_each(|operation| follow(operation.action, files, &mut shared));
            }
        }
        Self { plan, files, tallies: streams.iter().map(|_| Mutex::default()).collect() }
    }

    /// What was issued.
    #[must_use]
    pub fn issued(&self) -> Tally {
        let mut all = Tally::default();
        for tally in &self.tallies {
            for (key, calls) in &tally.lock().unwrap_or_else(PoisonError::into_inner).0 {
                let sum = all.0.entry(*key).or_default();
                sum.calls += calls.calls;
                sum.bytes += calls.bytes;
                sum.places = sum.places.wrapping_add(calls.places);
            }
        }
        all
    }
}

fn follow(action: Action, files: &mut HashMap<OpenNumber, usize>, shared: &mut HashMap<usize, usize>) {
    let known = match action {
        Action::Open { file, open, .. } | Action::Attach { file, open, .. } => Some((open, file)),
        Action::Duplicate { open, copy } | Action::Adopt { open, copy } => {
            files.get(&open).map(|file| (copy, *file))
        }
        Action::Inherit { open, event } => shared.get(&event).map(|file| (open, *file)),
        Action::Share { open, event } => {
            shared.extend(files.get(&open).map(|file| (event, *file)));
            None
        }
        _ => None,
    };
    files.extend(known);
}

impl Companion for Listener<'_> {
    fn other(&self, _: usize, _: usize) -> Result<u64, i32> {
        Ok(0)
    }

    fn made(&self, stream: usize, operation: &Operation, result: Result<u64, i32>) {
        let action = operation.action;
        let Some(kind) = of_action(action) else { return };
        // A call that failed unlike the recorded one did nothing.
        if result.is_err() && !matches!(operation.expected, Expected::Error(_)) {
            return;
        }
        let named = match action {
            Action::Open { file, .. }
            | Action::Stat(file)
            | Action::Access(file)
            | Action::Unlink(file)
            | Action::RemoveDirectory(file)
            | Action::MakeDirectory(file)
            | Action::TruncateNamed(file, _)
            | Action::Link(file, _)
            | Action::Symlink(file)
            | Action::Rename(file, _) => Some(file),
            _ => None,
        };
        let through = || self.files.get(stream)?.get(&action.uses()?).copied();
        let Some(file) = named.or_else(through) else { return };
        let bytes = if action.bytes() > 0 { result.unwrap_or_default() } else { 0 };
        let place = match action {
            Action::Truncate(_, to) | Action::TruncateNamed(_, to) | Action::Seek(_, to) => Some(to),
            _ => action.offset(),
        };
        if let Some(tally) = self.tallies.get(stream) {
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.add(file, kind, place, bytes, result.err());
        }
        debug_assert!(file < self.plan.program().files.len());
    }
}

const fn of_action(action: Action) -> Option<Kind> {
    Some(match action {
        Action::Open { .. } => "open",
        Action::Close(_) => "close",
        Action::Read(..) | Action::ReadAt(..) | Action::ReadVector(..) => "read",
        Action::Write(..) | Action::WriteAt(..) | Action::WriteVector(..) => "write",
        Action::Seek(..) => "seek",
        Action::Sync(_) | Action::SyncData(_) => "sync",
        Action::Truncate(..) | Action::TruncateNamed(..) => "truncate",
        Action::Stat(_) | Action::StatOpen(_) => "stat",
        Action::Access(_) => "access",
        Action::Unlink(_) | Action::RemoveDirectory(_) => "remove",
        Action::Rename(..) => "rename",
        Action::Link(..) => "link",
        Action::Symlink(_) => "symlink",
        Action::MakeDirectory(_) => "mkdir",
        Action::ListOpen(_) => "list",
        Action::Duplicate { .. } => "duplicate",
        Action::Lock { .. } | Action::Unlock(_) => "lock",
        _ => return None,
    })
}
