//! A file is made longer step by step by `ftruncate`.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use super::per_image::PerImage;
use iotrail_model::FileId;
use iotrail_model::calls::{CallKind, Transfer};

/// From so many steps on it is a habit.
const MANY: u64 = 20;

#[derive(Default)]
pub(crate) struct GrowByTruncate {
    files: PerImage<FileId, Growth>,
}

/// What a process made of the length of a file.
struct Growth {
    /// How long it is, as far as that is known.
    length: Option<u64>,
    tally: Tally,
}

impl Growth {
    /// The first call sets the length that it has in the end.
    fn truncate(&mut self, call: &Seen) {
        let before = self.length;
        self.length = call.offset.or(self.length);
        if !call.selected || call.offset.is_none() {
            return;
        }
        if self.tally.calls == 0 {
            self.tally.first = call.first();
        }
        if before.is_some_and(|before| self.length > Some(before)) {
            self.tally.amount += 1;
            if self.tally.calls > 0 {
                self.tally.saved.add(call);
            }
        }
        self.tally.calls += 1;
    }
}

impl Rule for GrowByTruncate {
    fn see(&mut self, call: &Seen) {
        let Some(file) = call.file.filter(|_| call.is_done()) else { return };
        let key = (call.process(), file);
        let none = || Growth { length: None, tally: Tally::new(call.first()) };
        if call.kind == CallKind::Open && (call.opened.truncates() || call.opened.creates_new()) {
            self.files.entry(key).or_insert_with(none).length = Some(0);
        } else if call.kind == CallKind::Truncate {
            self.files.entry(key).or_insert_with(none).truncate(call);
        } else if call.transfer == Transfer::Write
            && let (Some(growth), Some((_, end))) = (self.files.get_mut(&key), call.range())
        {
            growth.length = growth.length.map(|length| length.max(end));
        }
    }

    fn ended(&mut self, image: Image) {
        self.files.keep_habits(image, |growth| growth.tally.amount >= MANY);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.files.values().map(|growth| &growth.tally).filter(|tally| tally.amount >= MANY);
        let found = many.map(|tally| ProcessHabit {
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
