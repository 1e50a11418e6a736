//! Processes wait for locks of a file.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::LockRequest;

/// From so many waits on it is a habit.
const MANY: u64 = 5;
/// What takes longer waits, in ns.
const LONG: u64 = 1_000_000;

#[derive(Default)]
pub(crate) struct LockWaits {
    files: HashMap<(Image, FileId), Tally, RandomState>,
}

impl Rule for LockWaits {
    fn see(&mut self, call: &Seen) {
        let (Some(LockRequest::Wait), Some(file), true) = (call.lock, call.file, call.selected) else {
            return;
        };
        let tally = self.files.entry((call.process(), file)).or_insert_with(|| Tally::new(call.first()));
        tally.calls += 1;
        if call.time.is_some_and(|time| time >= LONG) {
            tally.amount = tally.amount.saturating_add(call.time.unwrap_or_default());
            tally.saved.add(call);
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let many = self.files.values().filter(|tally| tally.saved.calls >= MANY);
        let found = many.map(|tally| ProcessHabit {
            rule: "lock-waits",
            file: log.text(tally.first.path),
            tally: *tally,
            places: Vec::new(),
            fix: "hold the lock shorter (compute before, write within), lock ranges of the file (fcntl with l_start and l_len) instead of all of it, or let each process write a file of its own and join them at the end; SQLite: WAL mode, or one process that writes",
            assumes: "what is done under the lock need not be one after the other",
        });
        found.collect()
    }
}
