//! Each read or write is preceded by a seek, which `pread` and `pwrite` do not need.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use super::per_image::PerImage;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::{CaseId, FileId, Tid};

/// From so many times on it is a habit.
const MANY: u64 = 20;

#[derive(Default)]
pub(crate) struct SeekRead {
    /// The last call of a thread if it was a seek.
    seeks: HashMap<(CaseId, Tid), Seen, RandomState>,
    files: PerImage<FileId, Tally>,
}

impl Rule for SeekRead {
    fn see(&mut self, call: &Seen) {
        let thread = (call.case, call.tid);
        let before = self.seeks.remove(&thread);
        if call.kind == CallKind::Seek && call.is_done() && call.file.is_some() && call.open.is_some() {
            self.seeks.insert(thread, *call);
            return;
        }
        let moves = matches!(call.kind, CallKind::Read | CallKind::Write) && call.transfer != Transfer::Copy;
        let seek = before.filter(|seek| moves && call.is_done() && call.selected && seek.open == call.open);
        if let (Some(seek), Some(file)) = (seek, call.file) {
            let key = (call.process(), file);
            let tally = self.files.entry(key).or_insert_with(|| Tally::new(seek.first()));
            tally.calls += 2;
            tally.amount += 1;
            tally.saved.add(&seek);
        }
    }

    fn ended(&mut self, image: Image) {
        self.files.keep_habits(image, |tally| tally.amount >= MANY);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.files.values().filter(|tally| tally.amount >= MANY);
        let found = many.map(|tally| ProcessHabit {
            rule: "seek-read",
            file: log.text(tally.first.path),
            tally: *tally,
            places: Vec::new(),
            fix: "give the offset with the transfer: C: pread and pwrite; Python: os.pread, os.pwrite; MPI: MPI_File_read_at; Fortran: stream access with `pos=` (whose library still seeks)",
            assumes: "nothing uses the position of the file afterwards",
        });
        found.collect()
    }
}
