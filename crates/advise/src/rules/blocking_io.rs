//! A thread computes and transfers data in turns, where the one could go on beside the other.

use super::Rule;
use super::habit::{Context, ProcessHabit, Saved, Seen, Tally, part_of};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Class, Transfer};
use iotrail_model::{CaseId, FileId, Tid};

/// From so many turns on it is a habit.
const MANY: u64 = 20;
/// A transfer or a computation that is shorter is not worth another thread, in ns.
const LONG: u64 = 100_000;
/// What all that could go on beside each other counts from so much on, in ns.
const MUCH: u64 = 20_000_000;

/// A thread, a file, and whether it reads.
type Stream = (CaseId, Tid, FileId, bool);

#[derive(Default)]
pub(crate) struct BlockingIo {
    /// What each thread does since its last transfer.
    threads: HashMap<(CaseId, Tid), Since, RandomState>,
    streams: HashMap<Stream, Turns, RandomState>,
}

/// A transfer, and what came after it.
struct Since {
    transfer: Seen,
    /// Time in other calls, and what recording took behind all of them and the transfer.
    calls: u64,
    /// Whether the thread waited, or went on elsewhere.
    is_over: bool,
}

/// Transfers of one direction and computations in turns.
struct Turns {
    /// Where a read that follows must begin to be known before it is asked for.
    next: Option<u64>,
    tally: Tally,
}

impl Rule for BlockingIo {
    fn see(&mut self, call: &Seen) {
        if call.is_request {
            return;
        }
        let thread = (call.case, call.tid);
        let moves = call.class == Some(Class::Data)
            && matches!(call.transfer, Transfer::Read | Transfer::Write)
            && call.is_done()
            && call.selected;
        if moves && call.file.is_some() {
            let before =
                self.threads.insert(thread, Since { transfer: *call, calls: call.behind, is_over: false });
            if let Some(before) = before.filter(|before| !before.is_over) {
                self.turn(&before, call);
            }
        } else if let Some(since) = self.threads.get_mut(&thread) {
            since.calls =
                since.calls.saturating_add(call.time.unwrap_or_default()).saturating_add(call.behind);
            since.is_over |= call.class.is_some_and(Class::is_wait)
                || matches!(call.kind, CallKind::Spawn | CallKind::Vfork | CallKind::Exec)
                || call.class == Some(Class::Sync);
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let is_habit = |turns: &Turns| {
            // What lies between transfers may be what recording took beyond what is known of it.
            let computed = turns.tally.first.process.and_then(|process| log.computed(process));
            turns.tally.amount >= MANY
                && turns.tally.saved.time.is_some_and(|time| time >= MUCH)
                && computed.is_none_or(|computed| computed >= MUCH)
        };
        let found = self.streams.iter().filter(|(_, turns)| is_habit(turns)).map(|((.., reads), turns)| ProcessHabit {
            rule: "blocking-io",
            file: log.text(turns.tally.first.path),
            tally: turns.tally,
            places: Vec::new(),
            fix: if *reads {
                "read the next piece while this one is worked on: a thread that reads ahead into a second buffer, posix_fadvise(POSIX_FADV_WILLNEED) or readahead, io_uring; Python: concurrent.futures with one thread; MPI: MPI_File_iread_at and MPI_Wait one step later"
            } else {
                "write this piece while the next one is computed: a thread that writes from a second buffer, io_uring, aio_write; Python: concurrent.futures with one thread; MPI: MPI_File_iwrite_at and MPI_Wait one step later; Fortran: asynchronous='yes'"
            },
            assumes: "there is memory for a second buffer, and a core or a device that is free meanwhile",
        });
        found.collect()
    }
}

impl BlockingIo {
    /// One transfer, a computation, and the transfer of the next piece.
    fn turn(&mut self, before: &Since, call: &Seen) {
        let (Some(file), Some((low, _))) = (call.file, call.range()) else { return };
        let transfer = &before.transfer;
        if transfer.file != Some(file) || transfer.transfer != call.transfer {
            return;
        }
        let reads = call.transfer == Transfer::Read;
        let turns = self
            .streams
            .entry((call.case, call.tid, file, reads))
            .or_insert_with(|| Turns { next: None, tally: Tally::new(transfer.first()) });
        // Which piece is read next must be known while the last one is worked on.
        let is_known =
            !reads || transfer.range().is_some_and(|(_, end)| end == low) || turns.next == Some(low);
        turns.next = transfer.range().map(|(from, _)| low.saturating_add(low.saturating_sub(from)));
        let gap = call.start.saturating_sub(transfer.end());
        let computed = u64::try_from(gap).unwrap_or_default().saturating_sub(before.calls);
        // A piece is read while the one before is worked on, and written while the next one is.
        let (moved, on_path) = if reads {
            (call.time.unwrap_or_default(), call.on_path)
        } else {
            (transfer.time.unwrap_or_default(), transfer.on_path)
        };
        if !is_known || moved.min(computed) < LONG {
            return;
        }
        let beside = moved.min(computed);
        turns.tally.amount += 1;
        turns.tally.calls += 1;
        turns.tally.saved.join(Saved {
            calls: 0,
            timed: 0,
            time: Some(beside),
            on_path: part_of(beside, on_path, moved),
        });
    }
}
