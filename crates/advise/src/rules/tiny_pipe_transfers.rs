//! A thread writes to a pipe, or reads from it, a few bytes at a time.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::Transfer;
use iotrail_model::{CaseId, PathId, Tid};
use std::sync::Arc;

/// From so many transfers on, each right behind another one, it is a habit.
const MANY: u64 = 500;
/// A few bytes.
const FEW: u64 = 64;
/// What is saved by a buffer that holds fifty of them, in a hundred.
const SAVED: u64 = 98;

#[derive(Default)]
pub(crate) struct TinyPipeTransfers {
    /// The last transfer of a thread through a pipe.
    last: HashMap<(CaseId, Tid), (PathId, bool), RandomState>,
    pipes: HashMap<(Image, PathId, bool), Tally, RandomState>,
}

impl Rule for TinyPipeTransfers {
    fn see(&mut self, call: &Seen) {
        let moves = matches!(call.transfer, Transfer::Read | Transfer::Write);
        let (Some(path), Some(size), true) = (call.path, call.size, moves && call.is_pipe && call.is_done())
        else {
            return;
        };
        let (writes, thread) = (call.transfer == Transfer::Write, (call.case, call.tid));
        let before = self.last.insert(thread, (path, writes));
        if size > 0 && size <= FEW && call.selected && before == Some((path, writes)) {
            let key = (call.process(), path, writes);
            let tally = self.pipes.entry(key).or_insert_with(|| Tally::new(call.first()));
            tally.amount = tally.amount.saturating_add(size);
            tally.waste(call);
        }
    }

    fn found(&self, _: &Context) -> Vec<ProcessHabit> {
        let many = self.pipes.iter().filter(|(_, tally)| tally.calls >= MANY);
        let found = many.map(|((.., writes), tally)| ProcessHabit {
            rule: "tiny-pipe-transfers",
            file: Arc::from(if *writes { "output to a pipe" } else { "input from a pipe" }),
            tally: Tally { saved: tally.saved.percent(SAVED), ..*tally },
            places: Vec::new(),
            fix: "use a buffer: C: stdio without setvbuf(_IONBF), no flush after each line; Python: no `-u` and no flush=True, or sys.stdout.buffer; shell: awk, sed or `mapfile` instead of `while read`, one printf for many lines; `stdbuf` takes it out of programs of others",
            assumes: "who reads the pipe need not see each piece at once",
        });
        found.collect()
    }
}
