//! Which bytes of a file.

use std::collections::BTreeMap;

/// Ranges of bytes that do not touch.
#[derive(Debug, Default)]
pub(crate) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Whether all of a range is there.
    pub(crate) fn contains(&self, low: u64, high: u64) -> bool {
        self.0.range(..=low).next_back().is_some_and(|(_, end)| *end >= high)
    }

    /// Adds a range; true if all of it was there.
    pub(crate) fn insert(&mut self, low: u64, high: u64) -> bool {
        if self.contains(low, high) {
            return true;
        }
        let (mut first, mut end) = (low, high);
        while let Some((from, to)) = self.0.range(..=end).next_back().map(|(from, to)| (*from, *to)) {
            if to < first {
                break;
            }
            (first, end) = (first.min(from), end.max(to));
            self.0.remove(&from);
        }
        self.0.insert(first, end);
        false
    }

    /// Takes a range away.
    pub(crate) fn remove(&mut self, low: u64, high: u64) {
        while let Some((from, to)) = self.0.range(..high).next_back().map(|(from, to)| (*from, *to)) {
            if to <= low {
                break;
            }
            self.0.remove(&from);
            if from < low {
                self.0.insert(from, low);
            }
            if to > high {
                self.0.insert(high, to);
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
        fn ranges_hold_what_a_set_of_bytes_holds(steps in prop::collection::vec((any::<bool>(), 0_u64..40, 1_u64..12), 0..60)) {
            let (mut ranges, mut bytes) = (Ranges::default(), std::collections::BTreeSet::new());
            for (adds, low, length) in steps {
                let high = low + length;
                if adds {
                    let all = (low..high).all(|byte| bytes.contains(&byte));
                    prop_assert_eq!(ranges.insert(low, high), all);
                    bytes.extend(low..high);
                } else {
                    ranges.remove(low, high);
                    bytes.retain(|byte| *byte < low || *byte >= high);
                }
                let held: std::collections::BTreeSet<u64> = ranges.0.iter().flat_map(|(low, high)| *low..*high).collect();
                prop_assert_eq!(&held, &bytes);
            }
        }
    }
}
