//! Several processes append to one file in turns.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::Transfer;

/// From so many changes of the writer on it is a habit.
const MANY: u64 = 50;

#[derive(Default)]
pub(crate) struct SharedAppend {
    files: HashMap<FileId, Appends, RandomState>,
}

#[derive(Default)]
struct Appends {
    last: Option<Image>,
    changes: u64,
    writers: HashMap<Image, Tally, RandomState>,
}

impl Rule for SharedAppend {
    fn see(&mut self, call: &Seen) {
        let appends = call.transfer == Transfer::Write && call.appends && call.is_done() && call.selected;
        let (Some(file), true) = (call.file, appends) else { return };
        let file = self.files.entry(file).or_default();
        let tally = file.writers.entry(call.process()).or_insert_with(|| Tally::new(call.first()));
        tally.calls += 1;
        if file.last.replace(call.process()).is_some_and(|last| last != call.process()) {
            file.changes += 1;
            tally.amount += 1;
            tally.saved.add(call);
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        // Writers that come back, not one process after the other.
        let in_turns =
            |file: &&Appends| file.changes >= MANY && file.changes >= 4 * file.writers.len() as u64;
        let writers = self.files.values().filter(in_turns).flat_map(|file| file.writers.values());
        let found = writers.map(|tally| ProcessHabit {
            rule: "shared-append",
            file: log.text(tally.first.path),
            tally: *tally,
            places: Vec::new(),
            fix: "let each process write a log of its own and join them afterwards (`sort -m` by time), or send lines to one that writes (syslog, a pipe); MPI: MPI_File_write_shared or _ordered, or one rank that collects",
            assumes: "nobody needs all lines in one file while the program runs",
        });
        found.collect()
    }
}
