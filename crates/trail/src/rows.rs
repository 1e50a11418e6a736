//! Rows that are collected and sorted.

use iotrail_model::{CaseId, Event, EventBatch, Timestamp};
use std::ops::Range;

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
            sort(&mut self.batch);
            self.unsorted = false;
        }
        &self.batch
    }

    /// Moves the `count` least rows to the empty batch `into`, not yet sorted; answers their greatest key. Fewer are moved if there
    /// are fewer.
    pub(crate) fn take_least(&mut self, count: usize, into: &mut EventBatch) -> Option<Key> {
        if count >= self.batch.len {
            std::mem::swap(&mut self.batch, into);
            self.unsorted = false;
            return self.greatest.take();
        }
        let last = count.checked_sub(1)?;
        if !self.unsorted {
            into.append(&self.batch, 0..count);
            self.batch.drop_front(count);
            return Some(key(into, last));
        }
        let mut order = keys(&self.batch);
        let (_, bound, _) = order.select_nth_unstable(last);
        self.split(*bound, into);
        Some(bound.0)
    }

    /// Moves the rows up to `bound`, a key and the row that has it.
    fn split(&mut self, bound: Place, into: &mut EventBatch) {
        let (mut taken, mut kept) = (Vec::new(), Vec::new());
        let mut last = None;
        self.unsorted = false;
        for row in 0..self.batch.len {
            let key = key(&self.batch, row);
            if (key, row as u32) <= bound {
                add_row(&mut taken, row);
            } else {
                self.unsorted |= Some(key) < last;
                last = Some(key);
                add_row(&mut kept, row);
            }
        }
        into.append_runs(&self.batch, &taken);
        self.batch.keep(&kept);
    }

    pub(crate) fn clear(&mut self) {
        self.batch.clear();
        (self.greatest, self.unsorted) = (None, false);
    }
}

/// The key of a row, and which row it is.
type Place = (Key, u32);

/// All rows with their keys.
fn keys(batch: &EventBatch) -> Vec<Place> {
    (0..batch.len).map(|row| (key(batch, row), row as u32)).collect()
}

fn add_row(runs: &mut Vec<Range<usize>>, row: usize) {
    match runs.last_mut() {
        Some(last) if last.end == row => last.end += 1,
        _ => runs.push(row..row + 1),
    }
}

/// Sorts rows; equal keys keep their order. The keys of those that come late are sorted together with their places, and merged
/// with the others; then one column after another is brought into that order, in which rows that were neighbours mostly still are.
pub(crate) fn sort(batch: &mut EventBatch) {
    let (in_order, mut late) = late_rows(batch);
    if late.is_empty() {
        return;
    }
    late.sort_unstable();
    let mut runs = Vec::new();
    let mut late = late.into_iter().peekable();
    for row in in_order {
        while let Some((_, late)) = late.next_if(|late| *late < row) {
            add_row(&mut runs, late as usize);
        }
        add_row(&mut runs, row.1 as usize);
    }
    late.for_each(|(_, row)| add_row(&mut runs, row as usize));
    batch.reorder(&runs);
}

/// The rows with their keys: those before which there is none with a greater key, and the others.
fn late_rows(batch: &EventBatch) -> (Vec<Place>, Vec<Place>) {
    let (mut in_order, mut late) = (Vec::with_capacity(batch.len), Vec::new());
    let mut greatest = None;
    for row in 0..batch.len {
        let key = key(batch, row);
        if Some(key) < greatest {
            late.push((key, row as u32));
        } else {
            greatest = Some(key);
            in_order.push((key, row as u32));
        }
    }
    (in_order, late)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(starts: &[u8]) -> Vec<Event> {
        let event = |(row, start): (usize, &u8)| Event {
            start: Timestamp(i64::from(*start)),
            seq: u64::from(start % 3),
            ret: iotrail_model::Nullable::some(row as i64),
            ..Event::default()
        };
        starts.iter().enumerate().map(event).collect()
    }

    proptest! {
        #[test]
        fn rows_that_are_taken_a_few_at_a_time_and_sorted_are_all_rows_sorted(
            starts in prop::collection::vec(any::<u8>(), 0..200),
            count in 1_usize..50,
            is_sorted: bool,
        ) {
            let mut events = events(&starts);
            if is_sorted {
                events.sort_by_key(Event::sort_key);
            }
            let mut buffer = SortBuffer::default();
            events.iter().for_each(|event| buffer.push(event));
            let mut taken = EventBatch::default();
            while buffer.len() > 0 {
                let mut batch = EventBatch::default();
                let greatest = buffer.take_least(count, &mut batch);
                sort(&mut batch);
                prop_assert_eq!(greatest, Some(key(&batch, batch.len - 1)));
                taken.append(&batch, 0..batch.len);
            }
            events.sort_by_key(Event::sort_key);
            prop_assert_eq!(taken, EventBatch::from_events(&events));
        }
    }
}
