//! A process reads bytes again that it has read before and that nobody was seen to change or could
//! change unseen.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use super::shared_mappings::SharedMappings;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::Transfer;
use iotrail_model::intervals::OrderedIntervals;

/// From so many calls on whose bytes were all read before it is a habit, if these are so many bytes.
const MANY: u64 = 10;
const MUCH: u64 = 256 << 10;

#[derive(Default)]
pub(crate) struct ReadAgain {
    files: HashMap<FileId, HashMap<Image, Reads, RandomState>, RandomState>,
    mappings: SharedMappings,
}

struct Reads {
    known: OrderedIntervals,
    tally: Tally,
}

impl Rule for ReadAgain {
    fn see(&mut self, call: &Seen) {
        if !call.is_done() {
            return;
        }
        self.mappings.see(call);
        let Some(file) = call.file else { return };
        let is_mapped = self.mappings.has(file);
        if call.changes() {
            let readers = self.files.get_mut(&file).into_iter().flat_map(|readers| readers.values_mut());
            readers.for_each(|reads| match call.range().filter(|_| call.transfer == Transfer::Write) {
                Some((low, high)) => reads.known.remove(low..high),
                None => reads.known = OrderedIntervals::default(),
            });
        }
        let (Transfer::Read, Some((low, high)), true) = (call.transfer, call.range(), call.selected) else {
            return;
        };
        let readers = self.files.entry(file).or_default();
        let reads = readers
            .entry(call.process())
            .or_insert_with(|| Reads { known: OrderedIntervals::default(), tally: Tally::new(call.first()) });
        reads.tally.calls += 1;
        if low < high && !is_mapped && reads.known.insert(low..high) {
            if reads.tally.saved.calls == 0 {
                reads.tally.first = call.first();
            }
            reads.tally.saved.add(call);
            reads.tally.amount = reads.tally.amount.saturating_add(high - low);
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let readers = self
            .files
            .iter()
            .flat_map(|(file, readers)| readers.values().map(move |reads| (*file, reads.tally)));
        let unchanged = readers.filter(|(file, tally)| !log.beside.changes(*file, tally.first.case));
        let all = unchanged.map(|(_, tally)| tally);
        let many = all.filter(|tally| tally.saved.calls >= MANY && tally.amount >= MUCH);
        let found = many.map(|tally| ProcessHabit {
            rule: "read-again",
            file: log.text(tally.first.path),
            tally,
            places: Vec::new(),
            fix: "keep what was read in memory: read the file once, or map it; a larger cache where the program has one (SQLite: PRAGMA cache_size; HDF5: chunk cache); process all that needs a block while it is there",
            assumes: "the bytes fit in memory, and programs that were not recorded do not change them",
        });
        found.collect()
    }
}
