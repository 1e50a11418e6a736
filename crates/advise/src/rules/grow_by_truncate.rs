//! A file is made longer step by step by `ftruncate`.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::CallKind;

/// From so many steps on it is a habit.
const MANY: u64 = 20;

#[derive(Default)]
pub(crate) struct GrowByTruncate {
    files: HashMap<(Image, FileId), (u64, Tally), RandomState>,
}

impl Rule for GrowByTruncate {
    fn see(&mut self, call: &Seen) {
        let truncates = call.kind == CallKind::Truncate && call.is_done() && call.selected;
        let (Some(file), Some(length), true) = (call.file, call.offset, truncates) else { return };
        let key = (call.process(), file);
        let (before, tally) = self.files.entry(key).or_insert_with(|| (u64::MAX, Tally::new(call.first())));
        tally.calls += 1;
        if length > *before {
            tally.amount += 1;
            tally.saved.add(call);
        }
        *before = length;
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.files.values().filter(|(_, tally)| tally.amount >= MANY);
        let found = many.map(|(_, tally)| ProcessHabit {
            rule: "grow-by-truncate",
            file: log.text(tally.first.path),
            tally: *tally,
            places: Vec::new(),
            fix: "make the file as long as it will be at once (ftruncate, or fallocate to have the storage too; MPI: MPI_File_set_size, MPI_File_preallocate), in larger steps if its length is not known, and cut it at the end",
            assumes: "nobody takes the length of the file for what is written",
        });
        found.collect()
    }
}
