//! Intervals that are collected and asked for at the end.
//!
//! Transfers come in order nearly always, so one that goes on where the last ended extends it; the others wait unsorted until
//! there are as many as sorted ones. So an insertion costs O(log n) on average whatever the order, and the set is never much
//! larger than its shortest form.

use std::ops::Range;

/// Intervals at which a set gives up: 16 MiB, a file read in a million separate pieces.
const LARGEST: usize = 1 << 20;

/// A set of bytes of a file that grows, and gives up at a million intervals.
#[derive(Clone, Debug, Default)]
pub struct IntervalSet {
    /// The first `sorted` are ascending and apart from each other; the rest are as they came.
    spans: Vec<Range<u64>>,
    sorted: usize,
    /// Whether there were too many intervals to go on.
    overflowed: bool,
}

impl IntervalSet {
    /// Adds the bytes of `span`.
    pub fn insert(&mut self, span: Range<u64>) {
        if span.is_empty() || self.overflowed {
            return;
        }
        match self.spans.last_mut() {
            // At the end of the sorted ones nothing lies behind it that it could run into.
            Some(last) if last.start <= span.start && span.start <= last.end => {
                last.end = last.end.max(span.end)
            }
            _ => {
                // Most sets have but one.
                self.spans.reserve_exact(usize::from(self.spans.is_empty()));
                self.spans.push(span);
            }
        }
        if self.spans.len() > self.sorted.saturating_mul(2).max(64) {
            self.tidy();
        }
    }

    /// Adds the bytes of another set.
    pub fn union(&mut self, other: &Self) {
        self.overflowed |= other.overflowed;
        for span in &other.spans {
            self.insert(span.clone());
        }
        if self.overflowed {
            self.spans = Vec::new();
            self.sorted = 0;
        }
    }

    /// Number of bytes; `None` if there were too many intervals.
    pub fn bytes(&mut self) -> Option<u64> {
        self.spans().map(|spans| spans.iter().map(|span| span.end - span.start).sum())
    }

    /// The set in its shortest form, ascending; `None` if there were too many intervals.
    pub fn spans(&mut self) -> Option<&[Range<u64>]> {
        self.tidy();
        (!self.overflowed).then_some(&self.spans)
    }

    /// Brings the set to its shortest form.
    fn tidy(&mut self) {
        if self.sorted == self.spans.len() {
            return;
        }
        self.spans.sort_unstable_by_key(|span| (span.start, span.end));
        let mut kept = 0;
        for at in 1..self.spans.len() {
            let span = self.spans[at].clone();
            let last = &mut self.spans[kept];
            if span.start <= last.end {
                last.end = last.end.max(span.end);
            } else {
                kept += 1;
                self.spans[kept] = span;
            }
        }
        self.spans.truncate(kept + 1);
        self.sorted = self.spans.len();
        if self.sorted > LARGEST {
            *self = Self { overflowed: true, ..Self::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn overlaps_count_once_and_neighbours_join() {
        let mut set = IntervalSet::default();
        for span in [10..20, 20..30, 5..12, 40..50, 40..50, 0..0] {
            set.insert(span);
        }
        assert_eq!(set.bytes(), Some(35));
        assert_eq!(set.spans().unwrap(), [5..30, 40..50]);
    }

    #[test]
    fn a_set_of_too_many_pieces_is_unknown_and_stays_so() {
        let mut set = IntervalSet::default();
        for piece in 0..=LARGEST as u64 {
            set.insert(piece * 2..piece * 2 + 1);
        }
        assert_eq!(set.bytes(), None);
        let mut other = IntervalSet::default();
        other.insert(0..7);
        other.union(&set);
        other.insert(0..9);
        assert_eq!(other.bytes(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_set_holds_what_a_list_of_bytes_holds(spans in prop::collection::vec((0..300_u64, 0..20_u64), 0..300), cut in 0..300_usize) {
            let mut bytes = [false; 320];
            let mut halves = [IntervalSet::default(), IntervalSet::default()];
            for (number, (start, length)) in spans.iter().enumerate() {
                halves[usize::from(number >= cut)].insert(*start..start + length);
                bytes[*start as usize..(start + length) as usize].fill(true);
            }
            let [mut whole, second] = halves;
            whole.union(&second);
            prop_assert_eq!(whole.bytes(), Some(bytes.iter().filter(|byte| **byte).count() as u64));
            let runs = crate::intervals::runs(&bytes);
            prop_assert_eq!(whole.spans(), Some(runs.as_slice()));
        }
    }
}
