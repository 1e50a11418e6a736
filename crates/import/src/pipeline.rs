//! Parsing on one thread, resolving on another.
//!
//! Items are copied into batches, with marks for what the parser's side says between them, so that the resolver's side does the
//! same one after the other as if it parsed itself. A few batches are on their way, and come back to be used again: memory
//! is bounded, and whoever is faster waits.

use crate::context::Context;
use crate::format::RawCalls;
use crate::intake::{self, Read, Run, Taker};
use crate::resolving::Resolving;
use iotrail_model::raw::{RawBatch, RawItem};
use iotrail_model::{CaseId, Dictionaries, Tid};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Items of a batch: so many that waking a thread costs little, so few that they stay in its core's cache.
const ITEMS: usize = 2048;
/// A batch with more text is sent at once.
const TEXT: usize = 256 << 10;
/// Batches that may wait.
const WAITING: usize = 8;

/// Some items, and what was said between them.
#[derive(Default)]
struct Batch {
    items: RawBatch,
    marks: Vec<Mark>,
    /// Names of calls that are new, in the order of their ids.
    calls: Vec<Box<[u8]>>,
}

/// What comes next.
enum Mark {
    /// The items of this case up to this number.
    Items(CaseId, usize),
    Begin(CaseId, bool),
    Over(Tid),
    Pause,
    End,
}

/// Reads the files of a run on a thread of its own, and resolves what they hold on this one.
pub(crate) fn read(
    run: Run<'_>,
    calls: &dyn RawCalls,
    context: Context<'_>,
    names: &mut Dictionaries,
    resolving: &mut Resolving<'_>,
) -> Read {
    // Numbers of calls mean the same on both sides.
    let mut own = Dictionaries { calls: names.calls.clone(), ..Dictionaries::default() };
    let (full, todo) = sync_channel(WAITING);
    let (done, empty) = channel();
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut batches =
                Batches { batch: Batch::default(), told: own.calls.len(), full, empty, broken: false };
            let read = intake::read_calls(run, calls, context, &mut own, &mut batches);
            batches.send(&own);
            read
        });
        resolve(todo, &done, names, resolving);
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Resolves what comes, until nothing more comes or can be taken.
fn resolve(
    todo: Receiver<Batch>,
    done: &Sender<Batch>,
    names: &mut Dictionaries,
    resolving: &mut Resolving<'_>,
) {
    for mut batch in todo {
        if !batch.replay(names, resolving) {
            return;
        }
        batch.clear();
        // The other side needs no more if it is through.
        let _ = done.send(batch);
    }
}

impl Batch {
    /// Hands all of it over. False if no more is taken.
    fn replay(&mut self, names: &mut Dictionaries, resolving: &mut Resolving<'_>) -> bool {
        for call in self.calls.drain(..) {
            names.calls.intern(&call);
        }
        let mut next = 0;
        self.marks.iter().all(|mark| match *mark {
            Mark::Items(case, until) => {
                for number in next..until {
                    self.items.with(number, |item| resolving.item(case, item, names));
                }
                next = until;
                true
            }
            Mark::Begin(first, own_files) => {
                resolving.begin(first, own_files, names);
                true
            }
            Mark::Over(tid) => {
                resolving.over(tid, names);
                true
            }
            Mark::Pause => resolving.pause(names),
            Mark::End => resolving.end(names),
        })
    }

    fn clear(&mut self) {
        self.items.clear();
        self.marks.clear();
    }
}

/// The parser's side: collects and sends.
struct Batches {
    batch: Batch,
    /// How many names of calls the other side knows.
    told: usize,
    full: SyncSender<Batch>,
    empty: Receiver<Batch>,
    /// The other side takes no more.
    broken: bool,
}

impl Batches {
    fn send(&mut self, names: &Dictionaries) {
        let next = self.empty.try_recv().unwrap_or_default();
        let mut batch = std::mem::replace(&mut self.batch, next);
        let new = (self.told..names.calls.len()).map(|id| names.calls.get(id as u32).into());
        batch.calls.extend(new);
        self.told = names.calls.len();
        self.broken |= self.full.send(batch).is_err();
    }
}

impl Taker for Batches {
    fn begin(&mut self, first: CaseId, own_files: bool, _: &mut Dictionaries) {
        self.batch.marks.push(Mark::Begin(first, own_files));
    }

    #[inline]
    fn item(&mut self, case: CaseId, item: &RawItem<'_>, names: &mut Dictionaries) {
        self.batch.items.push(item);
        let items = self.batch.items.len();
        match self.batch.marks.last_mut() {
            Some(Mark::Items(same, until)) if *same == case => *until = items,
            _ => self.batch.marks.push(Mark::Items(case, items)),
        }
        if items >= ITEMS || self.batch.items.text_bytes() >= TEXT {
            self.send(names);
        }
    }

    fn over(&mut self, tid: Tid, _: &mut Dictionaries) {
        self.batch.marks.push(Mark::Over(tid));
    }

    fn pause(&mut self, names: &mut Dictionaries) -> bool {
        if !matches!(self.batch.marks.last(), Some(Mark::Pause)) {
            self.batch.marks.push(Mark::Pause);
        }
        if self.batch.marks.len() >= ITEMS {
            self.send(names);
        }
        !self.broken
    }

    fn end(&mut self, _: &mut Dictionaries) -> bool {
        self.batch.marks.push(Mark::End);
        !self.broken
    }
}
