//! A process appends a few bytes at a time to a file to which nobody else writes. Where an append lands no trace tells, so that such writes are in
//! no run; but each lies behind the one before.

use super::Rule;
use super::habit::{Context, Image, ProcessHabit, Seen, Tally};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::{CaseId, FileId, OpenId};

/// From so many writes one behind the other on it is a habit.
const MANY: u64 = 100;
/// What they move less than, on average.
const SMALL: u64 = 4 << 10;
/// What a buffer holds.
const BUFFER: u64 = 64 << 10;

#[derive(Default)]
pub(crate) struct SmallAppends {
    files: HashMap<FileId, Writers, RandomState>,
}

/// Who writes to a file.
struct Writers {
    by: Image,
    several: bool,
    /// The last write, if nothing that forces data to storage came behind it.
    last: Option<Last>,
    tally: Tally,
}

/// A write that another one may come right behind.
struct Last {
    /// Through which description it went.
    open: (CaseId, OpenId),
    /// It, if it is not counted because nothing came behind it yet.
    alone: Option<Tally>,
}

impl Rule for SmallAppends {
    fn see(&mut self, call: &Seen) {
        let Some(file) = call.file.filter(|_| call.is_done()) else { return };
        if call.transfer == Transfer::Write && call.appends {
            let none = || Writers {
                by: call.process(),
                several: false,
                last: None,
                tally: Tally::new(call.first()),
            };
            self.files.entry(file).or_insert_with(none).append(call);
        } else if let Some(writers) = self.files.get_mut(&file) {
            writers.several |= call.changes() && !call.opened.creates();
            if call.kind == CallKind::Sync {
                writers.last = None;
            }
        }
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        let habits = self.files.iter().filter(|(file, writers)| {
            let Tally { calls, amount, first, .. } = &writers.tally;
            let alone = !writers.several && !log.beside.changes(**file, first.case);
            alone && *calls >= MANY && *amount / *calls < SMALL
        });
        let found = habits.map(|(_, writers)| {
            let tally = &writers.tally;
            let left = tally.amount.div_ceil(BUFFER).min(tally.calls);
            ProcessHabit {
                rule: "small-appends",
                file: log.text(tally.first.path),
                tally: Tally { saved: tally.saved.fraction(tally.calls - left, tally.calls), ..*tally },
                places: Vec::new(),
                fix: "collect lines in memory and append 64 KiB at once: C: setvbuf with _IOFBF instead of _IOLBF; Python: open(..., 'a') without buffering=1 and without flush, logging.handlers.MemoryHandler; Fortran: no FLUSH in the loop; shell: one redirection of the loop",
                assumes: "nobody follows the file line by line, and the last lines may be lost if the program is killed",
            }
        });
        found.collect()
    }
}

impl Writers {
    fn append(&mut self, call: &Seen) {
        self.several |= self.by != call.process();
        let Some(open) = call.description().filter(|_| !call.syncs) else {
            self.last = None;
            return;
        };
        let mut one = Tally::new(call.first());
        if call.selected {
            one.amount = call.size.unwrap_or_default();
            one.waste(call);
        }
        match self.last.take().filter(|last| last.open == open) {
            Some(Last { alone, .. }) => {
                alone.into_iter().chain([one]).for_each(|one| self.tally.join(one));
                self.last = Some(Last { open, alone: None });
            }
            None => self.last = Some(Last { open, alone: Some(one) }),
        }
    }
}
