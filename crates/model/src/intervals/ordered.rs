//! Intervals that are in order after every step.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of bytes of a file that can be searched and from which bytes can be taken away. Memory follows the number of its intervals.
#[derive(Debug, Default)]
pub struct OrderedIntervals(BTreeMap<u64, u64>);

impl OrderedIntervals {
    /// Whether all bytes of a span that is not empty are in the set.
    #[must_use]
    pub fn contains(&self, span: &Range<u64>) -> bool {
        self.0.range(..=span.start).next_back().is_some_and(|(_, end)| *end >= span.end)
    }

    /// Adds the bytes of a span that is not empty; true if all of them were there.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn intervals_hold_what_a_set_of_bytes_holds(steps in prop::collection::vec((any::<bool>(), 0_u64..40, 1_u64..12), 0..60)) {
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
                let spans: Vec<Range<u64>> = set.0.iter().map(|(start, end)| *start..*end).collect();
                prop_assert_eq!(spans, crate::intervals::runs(&bytes));
            }
        }
    }
}
