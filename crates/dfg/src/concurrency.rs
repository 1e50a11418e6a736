//! Maximal concurrency of an activity (Sankaran et al., section IV-B, equation 16), by two rules.
//!
//! The exact rule is the largest number of intervals that hold one instant. Instead of sorting
//! all starts and ends, time is divided into bins of about `PER_BIN` events, each bin gets the number of
//! intervals that reach into it (a lower bound) and the number of those that touch it (an upper bound), and only bins
//! whose upper bound beats the best lower bound are sorted. A single thread, the most frequent case, is recognised
//! without looking at its events at all.

use crate::intervals::{Interval, Intervals};
use serde::{Deserialize, Serialize};

/// How many starts share a bin on average.
const PER_BIN: u64 = 2;
/// With four bins an instant within its bin fits 62 bits, whatever the times.
const MIN_BINS: u64 = 4;
const MAX_BINS: u64 = 1 << 22;
/// How many starts and ends are sorted in one pass over the intervals, at least.
const BATCH: u64 = 1 << 21;

/// How concurrent events are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConcurrencyRule {
    /// The largest number of events in flight at one instant, each during `[start, start + duration)`.
    #[default]
    Exact,
    /// The paper's window: events sorted by start; the longest run of consecutive events such that the first ends after
    /// the last starts. Never less than the exact number, and more where events in between have already ended.
    Paper,
}

impl ConcurrencyRule {
    /// `exact` or `paper`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Paper => "paper",
        }
    }
}

/// The maximal concurrency of `intervals`; NULL if there are none.
pub(crate) fn max_concurrency(intervals: &Intervals, rule: ConcurrencyRule) -> Option<u64> {
    let hull = intervals.hull()?;
    if intervals.disjoint() {
        return Some(1);
    }
    Some(match rule {
        ConcurrencyRule::Exact => Bins::new(intervals, hull).max_in_flight(intervals),
        ConcurrencyRule::Paper => longest_window(intervals),
    })
}

fn longest_window(intervals: &Intervals) -> u64 {
    let mut sorted: Vec<Interval> = Vec::with_capacity(intervals.count() as usize);
    intervals.for_each(|interval| sorted.push(interval));
    sorted.sort_unstable();
    let mut longest = 0;
    for (first, interval) in sorted.iter().enumerate() {
        while sorted.get(first + longest).is_some_and(|last| last.start < interval.end) {
            longest += 1;
        }
    }
    longest as u64
}

/// An activity has fewer than 2^31 events: their intervals would not fit the memory.
struct Bins {
    origin: i64,
    shift: u32,
    /// Intervals that start in the bin.
    starts: Vec<u32>,
    /// Intervals that started in an earlier bin and hold the first instant of the bin.
    reaching: Vec<u32>,
}

impl Bins {
    fn new(intervals: &Intervals, hull: Interval) -> Self {
        let wanted = (intervals.count() / PER_BIN).clamp(MIN_BINS, MAX_BINS);
        let last = hull.end.wrapping_sub(1).wrapping_sub(hull.start) as u64;
        let shift = (0..63).find(|shift| last >> shift < wanted).unwrap_or(63);
        let count = (last >> shift) as usize + 1;
        let mut bins = Self { origin: hull.start, shift, starts: vec![0; count], reaching: Vec::new() };
        let mut changes = vec![0_i32; count + 1];
        intervals.for_each(|interval| {
            let (first, last) = bins.of(interval);
            bins.starts[first] += 1;
            changes[first + 1] += 1;
            changes[last + 1] -= 1;
        });
        let sums = changes[..count].iter().scan(0_i32, |sum, change| {
            *sum += change;
            Some(*sum as u32)
        });
        bins.reaching = sums.collect();
        bins
    }

    /// The bins of the first and the last instant of an interval.
    #[inline]
    fn of(&self, interval: Interval) -> (usize, usize) {
        (self.bin(interval.start), self.bin(interval.end.wrapping_sub(1)))
    }

    #[inline]
    fn bin(&self, instant: i64) -> usize {
        (instant.wrapping_sub(self.origin) as u64 >> self.shift) as usize
    }

    /// Time from the start of the bin to the instant.
    #[inline]
    fn within(&self, bin: usize, instant: i64) -> u64 {
        (instant.wrapping_sub(self.origin) as u64).wrapping_sub((bin as u64) << self.shift)
    }

    fn upper_bound(&self, bin: usize) -> u64 {
        u64::from(self.reaching[bin]) + u64::from(self.starts[bin])
    }

    /// Starts and ends in the bin.
    fn points(&self, bin: usize) -> u64 {
        let next = self.reaching.get(bin + 1).copied().unwrap_or(0);
        u64::from(self.starts[bin]) + self.upper_bound(bin) - u64::from(next)
    }

    fn max_in_flight(&self, intervals: &Intervals) -> u64 {
        let mut best = self.reaching.iter().copied().max().map_or(1, u64::from).max(1);
        let mut candidates: Vec<usize> =
            (0..self.starts.len()).filter(|&bin| self.upper_bound(bin) > best).collect();
        candidates.sort_unstable_by_key(|&bin| std::cmp::Reverse(self.upper_bound(bin)));
        let all: u64 = candidates.iter().map(|&bin| self.points(bin)).sum();
        let budget = BATCH.max(all / 4);
        let mut rest = &candidates[..];
        while let Some(&first) = rest.first()
            && self.upper_bound(first) > best
        {
            let mut room = budget.saturating_sub(self.points(first));
            let more = rest[1..].iter().take_while(|&&bin| {
                let fits = self.points(bin) <= room;
                room = room.saturating_sub(self.points(bin));
                fits && self.upper_bound(bin) > best
            });
            let (batch, later) = rest.split_at(1 + more.count());
            best = best.max(self.sweep(intervals, batch));
            rest = later;
        }
        best
    }

    /// The largest number of intervals in flight within the given bins.
    fn sweep(&self, intervals: &Intervals, batch: &[usize]) -> u64 {
        let mut next = vec![usize::MAX; self.starts.len()];
        let mut ends = Vec::with_capacity(batch.len());
        let mut total = 0;
        for &bin in batch {
            next[bin] = total;
            total += self.points(bin) as usize;
            ends.push(total);
        }
        let mut points = vec![0_u64; total];
        let mut put = |bin: usize, instant: i64, is_start: u64| {
            let index = &mut next[bin];
            if *index != usize::MAX {
                points[*index] = self.within(bin, instant) << 1 | is_start;
                *index += 1;
            }
        };
        intervals.for_each(|interval| {
            let (first, last) = self.of(interval);
            put(first, interval.start, 1);
            put(last, interval.end, 0);
        });
        let mut from = 0;
        batch.iter().zip(ends).fold(0, |best, (&bin, to)| {
            let in_bin = &mut points[from..to];
            from = to;
            best.max(sweep_points(in_bin, self.reaching[bin].into()))
        })
    }
}

/// Ends (even) come before starts (odd) of the same instant, because intervals are half-open.
fn sweep_points(points: &mut [u64], reaching: u64) -> u64 {
    points.sort_unstable();
    let mut in_flight = reaching;
    points.iter().fold(reaching, |best, point| {
        in_flight = if point & 1 == 1 { in_flight + 1 } else { in_flight - 1 };
        best.max(in_flight)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::tests::intervals;
    use proptest::prelude::*;

    fn both(pairs: &[(i64, i64)]) -> (u64, u64) {
        let intervals = intervals(pairs);
        (
            max_concurrency(&intervals, ConcurrencyRule::Exact).unwrap_or(0),
            max_concurrency(&intervals, ConcurrencyRule::Paper).unwrap_or(0),
        )
    }

    #[test]
    fn the_two_rules_differ_when_an_event_in_between_has_ended() {
        // The first lasts until 10; the second and third follow each other within it.
        assert_eq!(both(&[(0, 10), (1, 2), (3, 4)]), (2, 3));
    }

    #[test]
    fn intervals_are_half_open() {
        assert_eq!(both(&[(0, 5), (5, 9)]), (1, 1));
        assert_eq!(both(&[(0, 6), (5, 9)]), (2, 2));
        assert_eq!(both(&[(0, 5), (0, 5), (0, 5)]), (3, 3));
    }

    #[test]
    fn nothing_is_in_flight_during_no_time() {
        assert_eq!(both(&[]), (0, 0));
        assert_eq!(both(&[(3, 3), (3, 3)]), (0, 0));
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        assert_eq!(
            both(&[(i64::MIN, i64::MIN + 5), (i64::MAX - 5, i64::MAX), (i64::MAX - 9, i64::MAX - 2)]),
            (2, 2)
        );
    }

    fn naive_exact(pairs: &[(i64, i64)]) -> u64 {
        let holding = |t: i64| pairs.iter().filter(|(start, end)| *start <= t && t < *end).count() as u64;
        pairs.iter().map(|&(start, _)| holding(start)).max().unwrap_or(0)
    }

    fn naive_paper(pairs: &[(i64, i64)]) -> u64 {
        let mut sorted: Vec<_> = pairs.iter().filter(|(start, end)| start < end).collect();
        sorted.sort();
        let mut best = 0;
        for first in 0..sorted.len() {
            for last in first..sorted.len() {
                if sorted[first].1 > sorted[last].0 {
                    best = best.max(last - first + 1);
                }
            }
        }
        best as u64
    }

    proptest! {
        #[test]
        fn both_rules_equal_the_naive_ones(pairs in prop::collection::vec((0_i64..400, 0_i64..60), 0..120)) {
            let pairs: Vec<_> = pairs.into_iter().map(|(start, length)| (start, start + length)).collect();
            prop_assert_eq!(both(&pairs), (naive_exact(&pairs), naive_paper(&pairs)));
        }

        #[test]
        fn paper_is_never_less_than_exact_and_order_does_not_matter(mut pairs in prop::collection::vec((0_i64..4000, 1_i64..300), 1..200)) {
            pairs.iter_mut().for_each(|pair| pair.1 += pair.0);
            let (exact, paper) = both(&pairs);
            prop_assert!(paper >= exact);
            pairs.reverse();
            prop_assert_eq!(both(&pairs), (exact, paper));
        }
    }
}
