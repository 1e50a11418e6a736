//! Several processes write parts of the same blocks of a file.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::{CallKind, Transfer};

/// A block: a page of memory, which is what most local file systems write at least.
const BLOCK: u64 = 4096;
/// From so many writes on it is a habit.
const MANY: u64 = 20;

/// A process.
type Writer = Image;

#[derive(Default)]
pub(crate) struct SharedBlocks {
    files: HashMap<FileId, Blocks, RandomState>,
}

#[derive(Default)]
struct Blocks {
    /// Who wrote a part of a block last.
    writers: HashMap<u64, Writer, RandomState>,
    shared: HashMap<Writer, Tally, RandomState>,
    number: u64,
}

impl Rule for SharedBlocks {
    fn see(&mut self, call: &Seen) {
        let empties = call.opened.truncates() || call.kind == CallKind::Truncate;
        if let Some(file) = call.file.filter(|_| empties && call.is_done()) {
            // Nobody has written a part of what is written from now on.
            self.files.entry(file).or_default().writers.clear();
        }
        let writes = call.transfer == Transfer::Write && call.is_done() && call.selected && !call.appends;
        let (Some(file), Some((low, high)), true) = (call.file, call.range(), writes) else { return };
        let file = self.files.entry(file).or_default();
        let partial = [low, high].into_iter().filter(|edge| low < high && edge % BLOCK != 0);
        let mut meets = false;
        for block in partial.map(|edge| edge / BLOCK) {
            let before = file.writers.insert(block, call.process());
            meets |= before.is_some_and(|writer| writer != call.process());
        }
        let tally = file.shared.entry(call.process()).or_insert_with(|| Tally::new(call.first()));
        tally.calls += 1;
        if meets {
            file.number += 1;
            tally.amount += 1;
            tally.saved.add(call);
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.files.values().filter(|file| file.number >= MANY);
        let writers = many.flat_map(|file| file.shared.values()).filter(|tally| tally.amount > 0);
        let found = writers.map(|tally| ProcessHabit {
            rule: "shared-blocks",
            file: log.text(tally.first.path),
            tally: *tally,
            places: Vec::new(),
            fix: "let each process write whole blocks of its own: one contiguous part for each rank, padded to the block or stripe (`lfs getstripe`), or collective writes (MPI_File_write_at_all with cb_nodes), whose aggregators own whole stripes",
            assumes: "the layout of the file is yours to choose, or the processes can exchange data before they write",
        });
        found.collect()
    }
}
