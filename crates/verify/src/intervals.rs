//! Sets of bytes of a file.

use std::collections::BTreeMap;

/// Half-open ranges that do not touch each other, by their begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Intervals(BTreeMap<u64, u64>);

impl Intervals {
    /// Whether all bytes of a range are in it.
    pub(crate) fn contains(&self, (low, high): (u64, u64)) -> bool {
        low >= high || self.0.range(..=low).next_back().is_some_and(|(_, end)| *end >= high)
    }

    /// Adds a range.
    pub(crate) fn insert(&mut self, (mut low, mut high): (u64, u64)) {
        if low >= high {
            return;
        }
        while let Some((begin, end)) = self
            .0
            .range(..=high)
            .next_back()
            .map(|(begin, end)| (*begin, *end))
            .filter(|(_, end)| *end >= low)
        {
            self.0.remove(&begin);
            low = low.min(begin);
            high = high.max(end);
        }
        self.0.insert(low, high);
    }

    /// Takes a range out.
    pub(crate) fn remove(&mut self, (low, high): (u64, u64)) {
        if low >= high {
            return;
        }
        while let Some((begin, end)) =
            self.0.range(..high).next_back().map(|(begin, end)| (*begin, *end)).filter(|(_, end)| *end > low)
        {
            self.0.remove(&begin);
            if begin < low {
                self.0.insert(begin, low);
            }
            if end > high {
                self.0.insert(high, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a set of single bytes, for all short sequences of changes of a small file.
    #[test]
    fn ranges_are_what_their_bytes_are() {
        let mut state = 1_u64;
        for _ in 0..300 {
            let (mut ranges, mut bytes) = (Intervals::default(), [false; 16]);
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (low, length) = (state >> 33 & 15, state >> 40 & 7);
                let range = (low, (low + length).min(16));
                let adds = state >> 50 & 1 == 0;
                bytes[range.0 as usize..range.1 as usize].fill(adds);
                if adds {
                    ranges.insert(range)
                } else {
                    ranges.remove(range)
                }
                for (low, high) in (0..16).flat_map(|low| (low + 1..=16).map(move |high| (low, high))) {
                    let all = bytes[low as usize..high as usize].iter().all(|set| *set);
                    assert_eq!(ranges.contains((low, high)), all, "{low}..{high} of {ranges:?}");
                }
            }
        }
    }
}
