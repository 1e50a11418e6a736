//! Intervals that are in order after every step.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of bytes of a file that can be searched and from which bytes can be taken away. Memory follows the number of its intervals.
#[derive(Clone, Debug, Default)]
pub struct OrderedIntervals(BTreeMap<u64, u64>);

impl OrderedIntervals {
    /// Whether there is no byte in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all bytes of a span are in the set.
    #[must_use]
    pub fn contains(&self, span: &Range<u64>) -> bool {
        span.is_empty() || self.0.range(..=span.start).next_back().is_some_and(|(_, end)| *end >= span.end)
    }

    /// Whether all bytes of another set are in this one.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        other.spans().all(|span| self.contains(&span))
    }

    /// Whether a byte is in both sets. The larger one is searched for each interval of the smaller one.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let (few, many) = if self.0.len() < other.0.len() { (self, other) } else { (other, self) };
        few.spans().any(|span| many.0.range(..span.end).next_back().is_some_and(|(_, end)| *end > span.start))
    }

    /// Its intervals, ascending.
    pub fn spans(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().map(|(start, end)| *start..*end)
    }

    /// Adds the bytes of a span; true if all of them were there.
    pub fn insert(&mut self, span: Range<u64>) -> bool {
        if self.contains(&span) {
            return true;
        }
        let Range { mut start, mut end } = span;
        while let Some((from, to)) = self.0.range(..=end).next_back().map(|(from, to)| (*from, *to)) {
            if to < start {
                break;
            }
            (start, end) = (start.min(from), end.max(to));
            self.0.remove(&from);
        }
        self.0.insert(start, end);
        false
    }

    /// Takes the bytes of a span away.
    pub fn remove(&mut self, span: Range<u64>) {
        if span.is_empty() {
            return;
        }
        while let Some((from, to)) = self.0.range(..span.end).next_back().map(|(from, to)| (*from, *to)) {
            if to <= span.start {
                break;
            }
            self.0.remove(&from);
            if from < span.start {
                self.0.insert(from, span.start);
            }
            if to > span.end {
                self.0.insert(span.end, to);
            }
        }
    }
}

impl Extend<Range<u64>> for OrderedIntervals {
    fn extend<T: IntoIterator<Item = Range<u64>>>(&mut self, spans: T) {
        for span in spans {
            self.insert(span);
        }
    }
}

impl FromIterator<Range<u64>> for OrderedIntervals {
    fn from_iter<T: IntoIterator<Item = Range<u64>>>(spans: T) -> Self {
        let mut set = Self::default();
        set.extend(spans);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn intervals_hold_what_a_set_of_bytes_holds(steps in prop::collection::vec((any::<bool>(), 0_u64..40, 0_u64..12), 0..60)) {
            let (mut set, mut bytes) = (OrderedIntervals::default(), [false; 52]);
            for (adds, start, length) in steps {
                let span = start..start + length;
                let held = &mut bytes[start as usize..span.end as usize];
                let all = held.iter().all(|byte| *byte);
                prop_assert_eq!(set.contains(&span), all);
                held.fill(adds);
                if adds {
                    prop_assert_eq!(set.insert(span), all);
                } else {
                    set.remove(span);
                }
                prop_assert_eq!(set.spans().collect::<Vec<_>>(), crate::intervals::runs(&bytes));
                prop_assert_eq!(set.is_empty(), !bytes.contains(&true));
            }
        }

        #[test]
        fn sets_are_compared_as_their_bytes_are(
            one in prop::collection::vec((0_u64..40, 0_u64..12), 0..12),
            other in prop::collection::vec((0_u64..40, 0_u64..12), 0..12),
        ) {
            let set = |spans: &[(u64, u64)]| -> (OrderedIntervals, [bool; 52]) {
                let mut bytes = [false; 52];
                let ranges = spans.iter().map(|(start, length)| *start..start + length);
                ranges.clone().for_each(|span| bytes[span.start as usize..span.end as usize].fill(true));
                (ranges.collect(), bytes)
            };
            let ((one, own), (other, others)) = (set(&one), set(&other));
            let both = || own.iter().zip(&others);
            prop_assert_eq!(one.meets(&other), both().any(|(own, other)| *own && *other));
            prop_assert_eq!(one.includes(&other), both().all(|(own, other)| *own || !*other));
        }
    }
}
