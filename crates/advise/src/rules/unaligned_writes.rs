//! A process changes parts of blocks of a file, here and there.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Saved, Seen, Tally};
use super::per_image::PerImage;
use foldhash::fast::RandomState;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::{CaseId, FileId, OpenId};
use std::collections::HashSet;

/// A block: a page of memory, which is what most local file systems read and write at least.
const BLOCK: u64 = 4096;
/// From so many writes on it is a habit.
const MANY: u64 = 100;

#[derive(Default)]
pub(crate) struct UnalignedWrites {
    /// Descriptions of files that were there, and were not emptied.
    existing: HashSet<(CaseId, OpenId), RandomState>,
    files: PerImage<FileId, Writes>,
}

struct Writes {
    end: u64,
    all: u64,
    unaligned: Tally,
}

impl Writes {
    fn is_habit(&self) -> bool {
        self.unaligned.amount >= MANY && self.unaligned.amount * 2 >= self.all
    }
}

impl Rule for UnalignedWrites {
    fn see(&mut self, call: &Seen) {
        let Some(open) = call.description().filter(|_| call.is_done()) else { return };
        if call.kind == CallKind::Open && !call.opened.creates() && !call.opened.truncates() {
            self.existing.insert(open);
        }
        let writes = call.transfer == Transfer::Write && call.selected && !call.appends;
        let (Some(file), Some((low, high)), true) = (call.file, call.range(), writes) else { return };
        if high - low < BLOCK || !self.existing.contains(&open) {
            return;
        }
        let first = || Writes { end: u64::MAX, all: 0, unaligned: Tally::new(call.first()) };
        let writes = self.files.entry((call.process(), file)).or_insert_with(first);
        writes.all += 1;
        if low != writes.end && (low % BLOCK != 0 || high % BLOCK != 0) {
            writes.unaligned.amount += 1;
            writes.unaligned.calls += 1;
        }
        writes.end = high;
    }

    fn ended(&mut self, image: Image) {
        self.files.keep_habits(image, Writes::is_habit);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let found = self.files.values().filter(|writes| writes.is_habit()).map(|writes| ProcessHabit {
            rule: "unaligned-writes",
            file: log.text(writes.unaligned.first.path),
            // What it would take aligned, these calls do not tell.
            tally: Tally { saved: Saved { calls: 0, timed: 0, time: None, on_path: 0 }, ..writes.unaligned },
            places: Vec::new(),
            fix: "let records begin at multiples of the block (st_blksize of stat, `lfs getstripe` for the stripe) and pad them to whole blocks; HDF5: H5Pset_alignment; C: a layout with a header of one block; databases: a page size that is a multiple of the block",
            assumes: "the layout of the file is yours to choose, and its blocks are not all in memory",
        });
        found.collect()
    }
}
