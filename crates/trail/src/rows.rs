//! Operations on whole rows of a batch: sort, cut off the front, copy.

use iotrail_model::{CaseId, Event, EventBatch, Timestamp};
use std::ops::Range;

/// The order of rows within a part.
pub(crate) type Key = (CaseId, Timestamp, u64);

macro_rules! each_column {
    ($batch:expr, $column:ident => $body:expr) => {{
        let EventBatch {
            len: _, case, seq, pid, tid, layer, call, start, dur, fd, path, path2, offset, requested, size, ret, errno,
            flags, file, file2,
        } = $batch;
        each_column!(@ $column => $body; case seq pid tid layer call start dur fd path path2 offset requested size ret
            errno flags file file2)
    }};
    (@ $column:ident => $body:expr; $($name:ident)*) => {{ $({ let $column = $name; $body; })* }};
}

/// The sort key of a row.
pub(crate) fn key(batch: &EventBatch, row: usize) -> Key {
    (batch.case[row], batch.start[row], batch.seq[row])
}

/// Removes the first `count` rows.
pub(crate) fn drop_front(batch: &mut EventBatch, count: usize) {
    batch.len -= count;
    each_column!(batch, column => drop(column.drain(..count)));
}

/// Removes all rows and keeps the memory.
pub(crate) fn clear(batch: &mut EventBatch) {
    batch.len = 0;
    each_column!(batch, column => column.clear());
}

/// Appends rows of `source`.
pub(crate) fn append(target: &mut EventBatch, source: &EventBatch, rows: Range<usize>) {
    macro_rules! columns {
        ($($name:ident)*) => { $(target.$name.extend_from_slice(&source.$name[rows.clone()]);)* };
    }
    target.len += rows.len();
    columns!(case seq pid tid layer call start dur fd path path2 offset requested size ret errno flags file file2);
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
        let batch = &mut *batch;
        each_column!(batch, column => *column = order.iter().map(|(_, row)| column[*row as usize]).collect());
        self.unsorted = false;
    }

    pub(crate) fn drop_front(&mut self, count: usize) {
        drop_front(&mut self.batch, count);
    }

    pub(crate) fn clear(&mut self) {
        clear(&mut self.batch);
        (self.greatest, self.unsorted) = (None, false);
    }
}
