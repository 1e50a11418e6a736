//! Rows that are collected and sorted.

use iotrail_model::{CaseId, Event, EventBatch, Timestamp};

/// The order of rows within a part.
pub(crate) type Key = (CaseId, Timestamp, u64);

/// The sort key of a row.
pub(crate) fn key(batch: &EventBatch, row: usize) -> Key {
    (batch.case[row], batch.start[row], batch.seq[row])
}

/// Rows that are collected, then sorted at once.
#[derive(Debug, Default)]
pub(crate) struct SortBuffer {
    batch: EventBatch,
    greatest: Option<Key>,
    unsorted: bool,
}

impl SortBuffer {
    #[inline]
    pub(crate) fn push(&mut self, event: &Event) {
        let key = Some(event.sort_key());
        if key < self.greatest {
            self.unsorted = true;
        } else {
            self.greatest = key;
        }
        self.batch.push(event);
    }

    pub(crate) fn len(&self) -> usize {
        self.batch.len
    }

    /// The rows, sorted; equal keys keep their order.
    pub(crate) fn sorted(&mut self) -> &EventBatch {
        if self.unsorted {
            self.sort();
        }
        &self.batch
    }

    /// The keys are sorted together with their places, then one column after another is brought into that order.
    fn sort(&mut self) {
        let batch = &mut self.batch;
        let mut order: Vec<(Key, u32)> = (0..batch.len).map(|row| (key(batch, row), row as u32)).collect();
        order.sort_by_key(|(key, _)| *key);
        batch.reorder(order.iter().map(|(_, row)| *row as usize));
        self.unsorted = false;
    }

    pub(crate) fn drop_front(&mut self, count: usize) {
        self.batch.drop_front(count);
    }

    pub(crate) fn clear(&mut self) {
        self.batch.clear();
        (self.greatest, self.unsorted) = (None, false);
    }
}
