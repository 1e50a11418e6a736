//! A seek follows a seek: what the first one set, nobody used.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use super::per_image::PerImage;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::CallKind;
use iotrail_model::{CaseId, FileId, Tid};

/// From so many times on it is a habit.
const MANY: u64 = 20;

#[derive(Default)]
pub(crate) struct SeekSeek {
    /// The last call of a thread if it was a seek to a position that it stated.
    seeks: HashMap<(CaseId, Tid), Seen, RandomState>,
    files: PerImage<FileId, Tally>,
}

impl Rule for SeekSeek {
    fn see(&mut self, call: &Seen) {
        let thread = (call.case, call.tid);
        let before = self.seeks.remove(&thread);
        let (CallKind::Seek, Some(file), Some(open)) = (call.kind, call.file, call.open) else { return };
        if !call.is_done() || !call.selected {
            return;
        }
        if let Some(useless) = before.filter(|seek| seek.open == Some(open)) {
            let key = (call.process(), file);
            let tally = self.files.entry(key).or_insert_with(|| Tally::new(useless.first()));
            tally.amount += 1;
            tally.waste(&useless);
        }
        if call.seeks_from_begin {
            self.seeks.insert(thread, *call);
        }
    }

    fn ended(&mut self, image: Image) {
        self.files.keep_habits(image, |tally| tally.amount >= MANY);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.files.values().filter(|tally| tally.amount >= MANY);
        let found = many.map(|tally| ProcessHabit {
            rule: "seek-seek",
            file: log.text(tally.first.path),
            tally: *tally,
            places: Vec::new(),
            fix: "seek once, to where the next transfer begins, or give the offset with the transfer (C: pread; Python: os.pread); Python: keep the position in a variable instead of f.tell() and f.seek()",
            assumes: "no other thread uses the position in between",
        });
        found.collect()
    }
}
