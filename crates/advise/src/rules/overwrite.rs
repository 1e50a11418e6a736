//! A process writes bytes again that nobody has read, or forced to storage, since it wrote them.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use super::shared_mappings::SharedMappings;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::intervals::OrderedIntervals;

/// From so many calls on it is a habit.
const MANY: u64 = 20;

#[derive(Default)]
pub(crate) struct Overwrite {
    files: HashMap<FileId, Writes, RandomState>,
    mappings: SharedMappings,
}

#[derive(Default)]
struct Writes {
    /// Written, and not used since.
    fresh: OrderedIntervals,
    by: Option<Image>,
    tally: Option<Tally>,
}

impl Rule for Overwrite {
    fn see(&mut self, call: &Seen) {
        if !call.is_done() {
            return;
        }
        self.mappings.see(call);
        // Who has it mapped sees, and changes, what no call shows.
        let Some(file) = call.file.filter(|file| !self.mappings.has(*file)) else { return };
        if call.transfer == Transfer::Write {
            self.files.entry(file).or_default().write(call);
            return;
        }
        let Some(writes) = self.files.get_mut(&file) else { return };
        match (call.transfer, call.range()) {
            (Transfer::Read, Some((low, high))) => writes.fresh.remove(low..high),
            (Transfer::None, _)
                if matches!(call.kind, CallKind::Stat | CallKind::Access | CallKind::Seek) => {}
            _ => writes.fresh = OrderedIntervals::default(),
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let all = self.files.iter().filter_map(|(file, writes)| Some((*file, writes.tally?)));
        let own = all.filter(|(file, tally)| !log.beside.uses(*file, tally.first.case));
        let all = own.map(|(_, tally)| tally);
        let found = all.filter(|tally| tally.saved.calls >= MANY).map(|tally| ProcessHabit {
            rule: "overwrite",
            file: log.text(tally.first.path),
            tally,
            places: Vec::new(),
            fix: "keep what changes in memory and write it once, when it is complete: counters and headers at the end, blocks when they are full; a larger write cache where the program has one",
            assumes: "nobody needs what was written in between, not even after a crash",
        });
        found.collect()
    }
}

impl Writes {
    fn write(&mut self, call: &Seen) {
        let by = Some(call.process());
        let Some((low, high)) = call.range().filter(|_| !call.syncs && (self.by.is_none() || self.by == by))
        else {
            *self = Self { by, tally: self.tally, fresh: OrderedIntervals::default() };
            return;
        };
        self.by = by;
        if low < high && self.fresh.insert(low..high) && call.selected {
            let tally = self.tally.get_or_insert_with(|| Tally::new(call.first()));
            tally.amount = tally.amount.saturating_add(high - low);
            tally.waste(call);
        }
    }
}
