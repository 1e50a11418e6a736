//! Quantiles of a multiset of integers, exact while it is small, with a bounded relative error beyond.
//!
//! The state is a pure function of the multiset (never of the order of its values), so that partial results merge to
//! exactly what one pass over everything gives; sketches with random or order-dependent compaction (t-digest, KLL) do
//! not have this property. Up to [`EXACT_LIMIT`] values all of them are kept; beyond, they are counted in the buckets of
//! [`iotrail_model::buckets`], and a quantile is the middle of its bucket. A full sketch takes at most 58 KB for each sign.

use crate::result::Bin;
use iotrail_model::buckets::{bucket, middle, start};
use std::borrow::Cow;

/// Up to how many values quantiles are exact.
pub const EXACT_LIMIT: usize = 16_384;
/// Largest relative error of a quantile of more values than [`EXACT_LIMIT`].
pub use iotrail_model::buckets::RELATIVE_ERROR;

/// A multiset of integers that answers nearest-rank quantiles.
///
/// Values wait in a list before they are counted in buckets: the buckets of a hundred activities do not fit the fastest
/// cache, those of one do. Nearly all fit 32 bits, which halves the memory that thousands of lists touch.
#[derive(Clone, Debug, Default)]
pub struct Quantiles {
    /// The values of 32 bits, while there are at most [`EXACT_LIMIT`] in all; then those that wait to be counted.
    waiting: Vec<i32>,
    /// The others.
    wide: Vec<i64>,
    /// Those that were counted; most activities of a graph with many never get there.
    counted: Option<Box<Counted>>,
}

/// Values by bucket.
#[derive(Clone, Debug, Default)]
struct Counted {
    /// How many there are.
    values: u64,
    /// Values >= 0 by bucket.
    positive: Vec<u64>,
    /// Values < 0 by the bucket of their magnitude.
    negative: Vec<u64>,
}

/// How many values wait before they are counted.
const WAITING: usize = 512;

impl Quantiles {
    /// Adds one value.
    #[inline]
    pub fn push(&mut self, value: i64) {
        let Ok(narrow) = i32::try_from(value) else { return self.push_wide(value) };
        if self.waiting.len() == self.waiting.capacity() {
            self.make_room();
        }
        self.waiting.push(narrow);
    }

    #[cold]
    #[inline(never)]
    fn push_wide(&mut self, value: i64) {
        let room = if self.counted.is_some() { WAITING } else { EXACT_LIMIT };
        if self.wide.len() >= room {
            self.count_waiting();
        }
        self.wide.push(value);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let waiting = self.waiting.len();
        if self.counted.is_none() && waiting < EXACT_LIMIT {
            let wanted = (waiting * 2).clamp(2, EXACT_LIMIT);
            self.waiting.reserve_exact(wanted - waiting);
        } else {
            self.count_waiting();
            self.waiting.reserve_exact(WAITING);
        }
    }

    fn values(&self) -> impl Iterator<Item = i64> {
        self.waiting.iter().map(|value| i64::from(*value)).chain(self.wide.iter().copied())
    }

    /// Puts all values into buckets.
    fn count_waiting(&mut self) {
        let counted = self.counted.get_or_insert_default();
        self.waiting.iter().for_each(|value| counted.add(i64::from(*value)));
        self.wide.iter().for_each(|value| counted.add(*value));
        counted.values += (self.waiting.len() + self.wide.len()) as u64;
        self.waiting.clear();
        self.wide.clear();
        if self.waiting.capacity() > WAITING {
            self.waiting = Vec::new();
        }
        self.wide.shrink_to(WAITING);
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, mut other: Self) {
        if self.count() + other.count() <= EXACT_LIMIT as u64 {
            self.waiting.append(&mut other.waiting);
            self.wide.append(&mut other.wide);
            return;
        }
        self.count_waiting();
        other.count_waiting();
        if let (Some(mine), Some(theirs)) = (&mut self.counted, &other.counted) {
            mine.values += theirs.values;
            add_counts(&mut mine.positive, &theirs.positive);
            add_counts(&mut mine.negative, &theirs.negative);
        }
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        let counted = self.counted.as_ref().map_or(0, |counted| counted.values);
        counted + (self.waiting.len() + self.wide.len()) as u64
    }

    /// The same values, all of them waiting if quantiles are exact, else all counted.
    fn settled(&self) -> Cow<'_, Self> {
        let waiting = self.waiting.len() + self.wide.len();
        let is_exact = self.counted.is_none() && waiting <= EXACT_LIMIT;
        if is_exact || waiting == 0 {
            return Cow::Borrowed(self);
        }
        let mut settled = self.clone();
        settled.count_waiting();
        Cow::Owned(settled)
    }

    /// The values at the given percentages, in ascending order, by nearest rank: the smallest value such that at least
    /// that share of all values is not larger. NULL without values.
    #[must_use]
    pub fn percentiles<const N: usize>(&self, percentages: [u8; N]) -> [Option<i64>; N] {
        debug_assert!(percentages.is_sorted());
        let ranks = percentages.map(|percentage| nearest_rank(self.count(), percentage));
        if let Some(counted) = &self.settled().counted {
            return ranks.map(|rank| rank.map(|rank| counted.in_bucket(rank)));
        }
        let mut values: Vec<i64> = self.values().collect();
        let mut rest = &mut values[..];
        let mut found = [None; N];
        for (index, rank) in ranks.into_iter().enumerate().rev() {
            let Some(rank) = rank else { continue };
            let (_, &mut value, _) = rest.select_nth_unstable(rank as usize - 1);
            found[index] = Some(value);
            rest = &mut rest[..rank as usize];
        }
        found
    }

    /// How many values >= 0 lie in each power of two, `[0, 1)` first, empty bins left out. Exact in any case.
    #[must_use]
    pub fn powers_of_two(&self) -> Vec<Bin> {
        let mut counts = [0_u64; 64];
        let settled = self.settled();
        let exact = settled.values().filter_map(|value| u64::try_from(value).ok()).map(|value| (value, 1));
        let counted = settled.counted.iter().flat_map(|counted| counted.positive.iter().enumerate());
        let counted = counted.map(|(bucket, &count)| (start(bucket), count));
        exact.chain(counted).for_each(|(value, count)| counts[power(value)] += count);
        let used = counts.into_iter().enumerate().filter(|&(_, count)| count > 0);
        let mut bins: Vec<Bin> = used
            .map(|(power, count)| {
                let to = 1_u64 << power;
                Bin { from: to / 2, to, count }
            })
            .collect();
        bins.shrink_to_fit();
        bins
    }
}

impl Counted {
    #[inline]
    fn add(&mut self, value: i64) {
        let counts = if value < 0 { &mut self.negative } else { &mut self.positive };
        let bucket = bucket(value.unsigned_abs());
        if bucket >= counts.len() {
            counts.resize(bucket + 1, 0);
        }
        counts[bucket] += 1;
    }

    /// The middle of the bucket that holds the value of the given rank (from 1).
    fn in_bucket(&self, rank: u64) -> i64 {
        let negative = self.negative.iter().enumerate().rev().map(|(bucket, count)| (-middle(bucket), count));
        let positive = self.positive.iter().enumerate().map(|(bucket, count)| (middle(bucket), count));
        let mut seen = 0;
        let mut buckets = negative.chain(positive);
        let reached = buckets.find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        reached.map_or(0, |(value, _)| value)
    }
}

fn add_counts(mine: &mut Vec<u64>, theirs: &[u64]) {
    if mine.len() < theirs.len() {
        mine.resize(theirs.len(), 0);
    }
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}

/// `ceil(count * percentage / 100)`, NULL for an empty multiset.
fn nearest_rank(count: u64, percentage: u8) -> Option<u64> {
    let rank = (u128::from(count) * u128::from(percentage)).div_ceil(100).max(1);
    (count > 0).then_some(rank as u64)
}

/// 0 for 0, else one more than the exponent of the largest power of two that is not larger.
fn power(value: u64) -> usize {
    (64 - value.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: impl IntoIterator<Item = i64>) -> Quantiles {
        let mut quantiles = Quantiles::default();
        values.into_iter().for_each(|value| quantiles.push(value));
        quantiles
    }

    fn naive(values: &[i64], percentage: u8) -> Option<i64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let rank = (sorted.len() as f64 * f64::from(percentage) / 100.0).ceil().max(1.0) as usize;
        sorted.get(rank - 1).copied()
    }

    #[test]
    fn nearest_rank_by_hand() {
        assert_eq!(of([]).percentiles([50]), [None]);
        assert_eq!(of([7]).percentiles([1, 50, 99]), [Some(7); 3]);
        assert_eq!(
            of([15, 20, 35, 40, 50]).percentiles([5, 30, 40, 50, 100]),
            [15, 20, 20, 35, 50].map(Some)
        );
        assert_eq!(of((1..=100).rev()).percentiles([50, 95, 99]), [50, 95, 99].map(Some));
    }

    #[test]
    fn small_values_stay_exact_in_a_sketch_and_large_ones_within_the_stated_error() {
        let values: Vec<i64> = (0..40_000).map(|n: i64| (n * n) % 1_000_003 - 5_000).collect();
        let sketch = of(values.iter().copied());
        assert!(sketch.counted.is_some());
        for percentage in 1..=100 {
            let exact = naive(&values, percentage).unwrap();
            let [Some(about)] = sketch.percentiles([percentage]) else { panic!("no value") };
            assert!(
                (about - exact).abs() as f64 <= RELATIVE_ERROR * exact.abs() as f64,
                "{percentage} %: {about} for {exact}"
            );
        }
    }

    #[test]
    fn powers_of_two_are_exact_in_both_states() {
        let bins = [(0, 1, 1), (1, 2, 1), (2, 4, 2), (4, 8, 1), (1024, 2048, 1)];
        let expected: Vec<Bin> = bins.map(|(from, to, count)| Bin { from, to, count }).into();
        assert_eq!(of([0, 1, 2, 3, 4, 1024, -9]).powers_of_two(), expected);
        let mut sketch = of([0, 1, 2, 3, 4, 1024, -9]);
        sketch.count_waiting();
        assert_eq!(sketch.powers_of_two(), expected);
    }

    #[test]
    fn extreme_values_have_buckets() {
        let values = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX];
        let mut sketch = of(values);
        sketch.count_waiting();
        let [low, high] = sketch.percentiles([1, 100]).map(|value| value.unwrap() as f64);
        assert!((low / i64::MIN as f64 - 1.0).abs() <= RELATIVE_ERROR);
        assert!((high / i64::MAX as f64 - 1.0).abs() <= RELATIVE_ERROR);
    }

    proptest! {
        #[test]
        fn exact_quantiles_equal_the_naive_ones(values in prop::collection::vec(-50_i64..50, 0..60), percentage in 1_u8..=100) {
            prop_assert_eq!(of(values.iter().copied()).percentiles([percentage]), [naive(&values, percentage)]);
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        #[test]
        fn merging_equals_one_pass(
            narrow in prop::collection::vec(any::<i32>(), 1..40),
            wide in prop::collection::vec(any::<i64>(), 0..10),
            repeats in 1_usize..900,
            cut in any::<prop::sample::Index>(),
        ) {
            let values = narrow.iter().map(|value| i64::from(*value)).chain(wide.iter().copied());
            let all: Vec<i64> = (0..repeats).flat_map(|_| values.clone()).collect();
            let (left, right) = all.split_at(cut.index(all.len()));
            let (mut forward, mut backward) = (of(left.iter().copied()), of(right.iter().copied()));
            forward.merge(of(right.iter().copied()));
            backward.merge(of(left.iter().copied()));
            let whole = of(all);
            let points = [1, 25, 50, 75, 95, 99, 100];
            prop_assert_eq!(forward.percentiles(points), whole.percentiles(points));
            prop_assert_eq!(backward.percentiles(points), whole.percentiles(points));
            prop_assert_eq!(forward.powers_of_two(), whole.powers_of_two());
        }
    }
}
