//! A process reads back what it has written itself.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use super::shared_mappings::SharedMappings;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::Transfer;
use iotrail_model::intervals::OrderedIntervals;

/// From so many calls on that read nothing else it is a habit, if these are so many bytes.
const MANY: u64 = 10;
const MUCH: u64 = 256 << 10;

#[derive(Default)]
pub(crate) struct ReadOwnWrites {
    files: HashMap<FileId, Writes, RandomState>,
    read_back: HashMap<(FileId, Image), Tally, RandomState>,
    mappings: SharedMappings,
}

/// What the last process that wrote to a file has written.
struct Writes {
    by: Image,
    own: OrderedIntervals,
}

impl Rule for ReadOwnWrites {
    fn see(&mut self, call: &Seen) {
        if !call.is_done() {
            return;
        }
        self.mappings.see(call);
        // Who has it mapped sees, and changes, what no call shows.
        let Some(file) = call.file.filter(|file| !self.mappings.has(*file)) else { return };
        let range = call.range().filter(|(low, high)| low < high);
        if call.changes() {
            let none = || Writes { by: call.process(), own: OrderedIntervals::default() };
            let writes = self.files.entry(file).or_insert_with(none);
            if writes.by != call.process() || call.transfer != Transfer::Write || range.is_none() {
                *writes = none();
            }
            if let (Transfer::Write, Some((low, high))) = (call.transfer, range) {
                writes.own.insert(low..high);
            }
            return;
        }
        let (Transfer::Read, Some((low, high)), true) = (call.transfer, range, call.selected) else { return };
        let writes = self.files.get(&file).filter(|writes| writes.by == call.process());
        if writes.is_some_and(|writes| writes.own.contains(&(low..high))) {
            let tally =
                self.read_back.entry((file, call.process())).or_insert_with(|| Tally::new(call.first()));
            tally.amount = tally.amount.saturating_add(high - low);
            tally.waste(call);
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let own = self.read_back.iter().filter(|((file, (case, ..)), _)| !log.beside.changes(*file, *case));
        let many = own.map(|(_, tally)| *tally).filter(|tally| tally.calls >= MANY && tally.amount >= MUCH);
        let found = many.map(|tally| ProcessHabit {
            rule: "read-own-writes",
            file: log.text(tally.first.path),
            tally,
            places: Vec::new(),
            fix: "keep in memory what is needed again, or more of it: a larger buffer (`sort -S`), a temporary file in memory (memfd_create, /dev/shm), a pipe to the next step instead of a file",
            assumes: "the bytes fit in memory",
        });
        found.collect()
    }
}
