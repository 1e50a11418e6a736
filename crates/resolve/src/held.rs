//! Items of threads whose parent is not known yet.
//!
//! When several creations are in flight and a new thread is seen, only the return of one of them says whose child it is.
//! Until then its items wait here, copied. They do not wait for ever: beyond [`MAX_ITEMS`] or [`MAX_BYTES`] the thread
//! is taken for one without a parent.

use hashbrown::HashMap;
use iotrail_model::raw::{RawBatch, RawItem};
use iotrail_model::{CaseId, Tid};
use std::collections::{BTreeMap, VecDeque};

/// Items that may wait.
const MAX_ITEMS: usize = 10_000;
/// Bytes of text that may wait.
const MAX_BYTES: usize = 4 << 20;

/// The waiting items.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Those of each thread in the order they came.
    waiting: HashMap<Tid, VecDeque<Waiting>, foldhash::fast::RandomState>,
    /// The threads by the numbers of their first items.
    firsts: BTreeMap<u64, Tid>,
    /// Those of them that are known by now.
    known: BTreeMap<u64, Tid>,
    next: u64,
    items: usize,
    bytes: usize,
}

/// An item that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Its number among all that waited.
    number: u64,
    pub(crate) case: CaseId,
    /// The number of the call that it begins, if it does.
    pub(crate) seq: Option<u64>,
    item: RawBatch,
}

impl Waiting {
    /// Shows the item.
    pub(crate) fn with<R>(&self, show: impl FnOnce(&RawItem<'_>) -> R) -> R {
        self.item.with(0, show)
    }
}

impl Held {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Whether no more may wait.
    pub(crate) fn is_full(&self) -> bool {
        self.items >= MAX_ITEMS || self.bytes >= MAX_BYTES
    }

    /// Keeps a copy of `item`.
    pub(crate) fn push(&mut self, case: CaseId, tid: Tid, seq: Option<u64>, item: &RawItem<'_>) {
        let mut copy = RawBatch::default();
        copy.push(item);
        self.items += 1;
        self.bytes += copy.text_bytes();
        let number = self.next;
        self.next += 1;
        let of_thread = self.waiting.entry(tid).or_default();
        if of_thread.is_empty() {
            self.firsts.insert(number, tid);
        }
        of_thread.push_back(Waiting { number, case, seq, item: copy });
    }

    /// Whether items of this thread wait.
    pub(crate) fn has(&self, tid: Tid) -> bool {
        self.waiting.contains_key(&tid)
    }

    /// The waiting thread that was seen first.
    pub(crate) fn first(&self) -> Option<Tid> {
        self.firsts.first_key_value().map(|(_, tid)| *tid)
    }

    /// A thread of which items wait is known.
    pub(crate) fn know(&mut self, tid: Tid) {
        if let Some(first) = self.waiting.get(&tid).and_then(VecDeque::front) {
            self.known.insert(first.number, tid);
        }
    }

    /// The thread whose item is the first of those that are known.
    pub(crate) fn first_known(&mut self) -> Option<Tid> {
        self.known.pop_first().map(|(_, tid)| tid)
    }

    /// The first item of a thread.
    pub(crate) fn peek(&self, tid: Tid) -> Option<&Waiting> {
        self.waiting.get(&tid)?.front()
    }

    /// Takes the first item of a thread.
    pub(crate) fn take(&mut self, tid: Tid) -> Option<Waiting> {
        let of_thread = self.waiting.get_mut(&tid)?;
        let taken = of_thread.pop_front()?;
        self.firsts.remove(&taken.number);
        match of_thread.front() {
            Some(next) => {
                self.firsts.insert(next.number, tid);
            }
            None => {
                self.waiting.remove(&tid);
            }
        }
        self.items -= 1;
        self.bytes -= taken.item.text_bytes();
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Timestamp;

    #[test]
    fn items_of_known_threads_come_back_in_the_order_of_all() {
        let mut held = Held::default();
        for (tid, status) in [(1, 0), (2, 1), (3, 2), (1, 3), (2, 4), (1, 5)] {
            let (tid, at) = (Tid(tid), Timestamp(0));
            held.push(CaseId(0), tid, None, &RawItem::Exited { tid, at, status });
        }
        let mut statuses = Vec::new();
        [Tid(2), Tid(1)].into_iter().for_each(|tid| held.know(tid));
        while let Some(tid) = held.first_known() {
            held.take(tid).unwrap().with(|item| match item {
                RawItem::Exited { status, .. } => statuses.push(*status),
                _ => unreachable!(),
            });
            held.know(tid);
        }
        assert_eq!(statuses, [0, 1, 3, 4, 5]);
        assert_eq!(held.first(), Some(Tid(3)));
    }
}
