//! A process reads bytes again that it has read before and that nobody was seen to change or could
//! change unseen.

use super::Rule;
use super::habit::{Found, Saved, Seen, text};
use super::shared_mappings::SharedMappings;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::{CaseId, FileId, Names, PathId, Pid};
use std::collections::BTreeMap;

/// From so many calls on whose bytes were all read before it is a habit, if these are so many bytes.
const MANY: u64 = 10;
const MUCH: u64 = 256 << 10;

#[derive(Default)]
pub(crate) struct ReadAgain {
    files: HashMap<FileId, HashMap<(CaseId, Pid), Reads, RandomState>, RandomState>,
    mappings: SharedMappings,
}

struct Reads {
    path: Option<PathId>,
    known: Ranges,
    calls: u64,
    /// Calls whose bytes were all read before.
    again: Saved,
    bytes: u64,
    example: Option<Seen>,
}

impl Rule for ReadAgain {
    fn see(&mut self, call: &Seen) {
        if !call.is_done() {
            return;
        }
        self.mappings.see(call);
        let Some(file) = call.file else { return };
        let is_mapped = self.mappings.has(file);
        let changes = call.truncates
            || call.shares
            || matches!(call.transfer, Transfer::Write | Transfer::Copy)
            || matches!(call.kind, CallKind::Truncate | CallKind::Allocate | CallKind::DeviceControl);
        let range = call.offset.zip(call.size).map(|(low, size)| (low, low.saturating_add(size)));
        if changes {
            let readers = self.files.get_mut(&file).into_iter().flat_map(|readers| readers.values_mut());
            readers.for_each(|reads| match range.filter(|_| call.transfer == Transfer::Write) {
                Some((low, high)) => reads.known.remove(low, high),
                None => reads.known = Ranges::default(),
            });
        }
        let (Transfer::Read, Some((low, high)), true) = (call.transfer, range, call.selected) else { return };
        let reads = self.files.entry(file).or_default().entry(call.process()).or_insert_with(|| Reads {
            path: call.path,
            known: Ranges::default(),
            calls: 0,
            again: Saved::default(),
            bytes: 0,
            example: None,
        });
        reads.calls += 1;
        if low < high && !is_mapped && reads.known.insert(low, high) {
            reads.again.add(call);
            reads.bytes = reads.bytes.saturating_add(high - low);
            reads.example.get_or_insert(*call);
        }
    }

    fn found(&self, names: &Names) -> Vec<Found> {
        let all = self.files.values().flat_map(|readers| readers.values());
        let many = all.filter(|reads| reads.again.calls >= MANY && reads.bytes >= MUCH);
        let found = many.filter_map(|reads| {
            Some(Found {
                rule: "read-again",
                file: text(names, reads.path),
                calls: reads.calls,
                saved: reads.again,
                amount: reads.bytes,
                fix: "keep what was read in memory: read the file once, or map it; a larger cache where the program has one (SQLite: PRAGMA cache_size; HDF5: chunk cache); process all that needs a block while it is there",
                assumes: "the bytes fit in memory, and programs that were not recorded do not change them",
                example: reads.example?,
            })
        });
        found.collect()
    }
}

/// Ranges of bytes that do not touch.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range; true if all of it was there.
    fn insert(&mut self, low: u64, high: u64) -> bool {
        if self.0.range(..=low).next_back().is_some_and(|(_, end)| *end >= high) {
            return true;
        }
        let (mut first, mut end) = (low, high);
        while let Some((from, to)) = self.0.range(..=end).next_back().map(|(from, to)| (*from, *to)) {
            if to < first {
                break;
            }
            (first, end) = (first.min(from), end.max(to));
            self.0.remove(&from);
        }
        self.0.insert(first, end);
        false
    }

    /// Takes a range away.
    fn remove(&mut self, low: u64, high: u64) {
        while let Some((from, to)) = self.0.range(..high).next_back().map(|(from, to)| (*from, *to)) {
            if to <= low {
                break;
            }
            self.0.remove(&from);
            if from < low {
                self.0.insert(from, low);
            }
            if to > high {
                self.0.insert(high, to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_hold_what_a_set_of_bytes_holds(steps in prop::collection::vec((any::<bool>(), 0_u64..40, 1_u64..12), 0..60)) {
            let (mut ranges, mut bytes) = (Ranges::default(), std::collections::BTreeSet::new());
            for (adds, low, length) in steps {
                let high = low + length;
                if adds {
                    let all = (low..high).all(|byte| bytes.contains(&byte));
                    prop_assert_eq!(ranges.insert(low, high), all);
                    bytes.extend(low..high);
                } else {
                    ranges.remove(low, high);
                    bytes.retain(|byte| *byte < low || *byte >= high);
                }
                let held: std::collections::BTreeSet<u64> = ranges.0.iter().flat_map(|(low, high)| *low..*high).collect();
                prop_assert_eq!(&held, &bytes);
            }
        }
    }
}
