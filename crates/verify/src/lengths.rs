//! Files that get their length at once, and bytes that are written once.

use crate::calls::{Call, CallAction, Description};
use crate::position::position;
use iotrail_model::intervals::OrderedIntervals;
use iotrail_model::{CaseId, FileId, Pid};
use std::collections::{HashMap, HashSet};

/// Descriptions that were opened with these properties.
fn opened(calls: &[Call], has: impl Fn(iotrail_replay::OpenMode) -> bool) -> HashSet<Description> {
    let opens = calls.iter().filter_map(|call| match call.action {
        CallAction::Open(mode) if has(mode) => call.open,
        _ => None,
    });
    opens.collect()
}

/// A file that grows by `ftruncate` gets at the first of these calls the length that it has after the last: as far as nobody appends, cuts
/// it or meets its end in between.
pub(crate) fn grown_at_once(calls: &[Call]) -> Vec<Call> {
    let appending = opened(calls, |mode| mode.append);
    let mut growing: HashMap<FileId, Growth> = HashMap::new();
    let mut lengths: HashMap<usize, u64> = HashMap::new();
    let mut gone = HashSet::new();
    for (index, call) in calls.iter().enumerate() {
        let growth = growing.entry(call.file).or_default();
        match call.action {
            CallAction::Truncate(length) => match growth.by(index, length) {
                Some(first) if first != index => {
                    lengths.insert(first, length);
                    gone.insert(index);
                }
                _ => {}
            },
            CallAction::Open(mode) if mode.truncate => *growth = Growth { size: Some(0), first: None },
            CallAction::Transfer(moved) => {
                let ends_short = !moved.writes && moved.moved < moved.asked;
                let appends = moved.writes && call.open.is_some_and(|open| appending.contains(&open));
                if ends_short || appends {
                    growth.first = None;
                }
                let end = moved.range().map(|range| range.1);
                if moved.writes && moved.moved > 0 {
                    growth.size = growth.size.zip(end).map(|(size, end)| size.max(end));
                }
            }
            _ => {}
        }
    }
    let kept = calls.iter().enumerate().filter(|(index, _)| !gone.contains(index));
    let follow = |(index, call): (usize, &Call)| match lengths.get(&index) {
        Some(length) => call.with(CallAction::Truncate(*length)),
        None => *call,
    };
    kept.map(follow).collect()
}

/// How a file grows.
#[derive(Default)]
struct Growth {
    /// Bytes that it has, if that is known.
    size: Option<u64>,
    /// The call that made it longer and may set all of its length.
    first: Option<usize>,
}

impl Growth {
    /// The call that can set this length instead, or this one; `None` if bytes may be cut.
    fn by(&mut self, index: usize, length: u64) -> Option<usize> {
        let grows = self.size.replace(length).is_some_and(|size| size <= length);
        self.first = grows.then(|| self.first.unwrap_or(index));
        self.first
    }
}

/// Without the writes whose bytes the same process writes again before anybody reads, forces or cuts them.
pub(crate) fn written_once(calls: &[Call]) -> Vec<Call> {
    let ordered = opened(calls, |mode| mode.append || mode.sync);
    let extends = extending(calls);
    let mut later: HashMap<FileId, Later> = HashMap::new();
    let mut gone = HashSet::new();
    for (index, call) in calls.iter().enumerate().rev() {
        let later = later.entry(call.file).or_default();
        let is_ordered = call.open.is_some_and(|open| ordered.contains(&open));
        let range = call.transfer().and_then(|moved| moved.range());
        match (call.action, range) {
            (CallAction::Transfer(moved), Some((low, high))) if !moved.writes => {
                later.written.remove(low..high.max(low.saturating_add(moved.asked)));
                later.unseen = OrderedIntervals::default();
            }
            (CallAction::Transfer(_), Some((low, high))) if !is_ordered => {
                if later.by.is_some_and(|by| by != call.process()) {
                    *later = Later::default();
                }
                later.by = Some(call.process());
                let again = if extends.contains(&index) { &later.unseen } else { &later.written };
                if low < high && again.contains(&(low..high)) {
                    gone.insert(index);
                } else {
                    later.written.insert(low..high);
                    later.unseen.insert(low..high);
                }
            }
            (CallAction::Stat | CallAction::Seek(_) | CallAction::Refused(_), _) => {}
            _ => *later = Later::default(),
        }
    }
    let changed = gone.iter().filter_map(|index| calls[*index].open).collect();
    let kept = calls.iter().enumerate().filter(|(index, _)| !gone.contains(index));
    let mut followed: Vec<Call> = kept.map(|(_, call)| *call).collect();
    position(&mut followed, &changed);
    followed
}

/// What is written later by one process, and not used before.
#[derive(Default)]
struct Later {
    by: Option<(CaseId, Pid)>,
    written: OrderedIntervals,
    /// The part of it before which nobody reads anything, and so meets the end of the file.
    unseen: OrderedIntervals,
}

/// The writes that may make their file longer.
fn extending(calls: &[Call]) -> HashSet<usize> {
    let mut sizes: HashMap<FileId, u64> = HashMap::new();
    let mut found = HashSet::new();
    for (index, call) in calls.iter().enumerate() {
        let size = sizes.entry(call.file).or_default();
        match call.action {
            CallAction::Open(mode) if mode.truncate => *size = 0,
            CallAction::Truncate(length) => *size = length,
            CallAction::Transfer(moved) => {
                let end = moved.range().filter(|_| moved.moved > 0).map(|range| range.1);
                if moved.writes && end.is_none_or(|end| end > *size) {
                    found.insert(index);
                }
                *size = (*size).max(end.unwrap_or_default());
            }
            _ => {}
        }
    }
    found
}
