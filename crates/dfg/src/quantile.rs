//! Quantiles of a multiset of integers, exact while it is small, with a bounded relative error beyond.
//!
//! The state is a pure function of the multiset (never of the order of its values), so that partial results merge to
//! exactly what one pass over everything gives; sketches with random or order-dependent compaction (t-digest, KLL) do
//! not have this property. Up to [`EXACT_LIMIT`] values all of them are kept; beyond, they are counted in buckets that
//! divide each power of two into 128 equal parts, and a quantile is the middle of its bucket: an error of at most half
//! a bucket, 1/256 of the value. A full sketch takes at most 58 KB for each sign.

use crate::result::Bin;

/// Up to how many values quantiles are exact.
pub const EXACT_LIMIT: usize = 16_384;
/// Largest relative error of a quantile of more values than [`EXACT_LIMIT`].
pub const RELATIVE_ERROR: f64 = 1.0 / 256.0;

const SUB_BITS: u32 = 7;
const SUB_BUCKETS: u64 = 1 << SUB_BITS;

/// A multiset of integers that answers nearest-rank quantiles.
#[derive(Clone, Debug)]
pub struct Quantiles(State);

#[derive(Clone, Debug)]
enum State {
    Exact(Vec<i64>),
    Sketch(Box<Sketch>),
}

#[derive(Clone, Debug, Default)]
struct Sketch {
    /// Counts of the values >= 0 by bucket.
    positive: Vec<u64>,
    /// Counts of the values < 0 by the bucket of their magnitude.
    negative: Vec<u64>,
    count: u64,
}

impl Default for Quantiles {
    fn default() -> Self {
        Self(State::Exact(Vec::new()))
    }
}

impl Quantiles {
    /// Adds one value.
    #[inline]
    pub fn push(&mut self, value: i64) {
        match &mut self.0 {
            State::Exact(values) if values.len() < EXACT_LIMIT => values.push(value),
            State::Exact(_) => self.sketch().push(value),
            State::Sketch(sketch) => sketch.push(value),
        }
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (State::Exact(mine), State::Exact(theirs)) if mine.len() + theirs.len() <= EXACT_LIMIT => {
                mine.extend_from_slice(&theirs);
            }
            (_, State::Exact(theirs)) => {
                let sketch = self.sketch();
                theirs.into_iter().for_each(|value| sketch.push(value));
            }
            (_, State::Sketch(theirs)) => self.sketch().merge(&theirs),
        }
    }

    /// Turns the values into bucket counts, if they are not yet.
    #[cold]
    fn sketch(&mut self) -> &mut Sketch {
        if let State::Exact(values) = &self.0 {
            let mut sketch = Sketch::default();
            values.iter().for_each(|&value| sketch.push(value));
            self.0 = State::Sketch(Box::new(sketch));
        }
        match &mut self.0 {
            State::Sketch(sketch) => sketch,
            State::Exact(_) => unreachable!("replaced above"),
        }
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        match &self.0 {
            State::Exact(values) => values.len() as u64,
            State::Sketch(sketch) => sketch.count,
        }
    }

    /// The values at the given percentages by nearest rank: the smallest value such that at least that share of all
    /// values is not larger. NULL without values.
    #[must_use]
    pub fn percentiles<const N: usize>(&self, percentages: [u8; N]) -> [Option<i64>; N] {
        let ranks = percentages.map(|percentage| nearest_rank(self.count(), percentage));
        match &self.0 {
            State::Exact(values) => {
                let mut sorted = values.clone();
                sorted.sort_unstable();
                ranks.map(|rank| Some(sorted[rank? as usize - 1]))
            }
            State::Sketch(sketch) => ranks.map(|rank| rank.map(|rank| sketch.at(rank))),
        }
    }

    /// How many values >= 0 lie in each power of two, `[0, 1)` first, empty bins left out. Exact in any case.
    #[must_use]
    pub fn powers_of_two(&self) -> Vec<Bin> {
        let mut counts = [0_u64; 64];
        match &self.0 {
            State::Exact(values) => {
                values.iter().filter_map(|&value| u64::try_from(value).ok()).for_each(|value| {
                    counts[power(value)] += 1;
                });
            }
            State::Sketch(sketch) => {
                for (bucket, &count) in sketch.positive.iter().enumerate() {
                    counts[power(bucket_start(bucket))] += count;
                }
            }
        }
        let bins = counts.into_iter().enumerate().filter(|&(_, count)| count > 0);
        bins.map(|(power, count)| {
            let to = 1_u64 << power;
            Bin { from: to / 2, to, count }
        })
        .collect()
    }
}

impl Sketch {
    #[inline]
    fn push(&mut self, value: i64) {
        let bucket = bucket(value.unsigned_abs());
        let counts = if value < 0 { &mut self.negative } else { &mut self.positive };
        if bucket >= counts.len() {
            counts.resize(bucket + 1, 0);
        }
        counts[bucket] += 1;
        self.count += 1;
    }

    fn merge(&mut self, other: &Self) {
        add_counts(&mut self.positive, &other.positive);
        add_counts(&mut self.negative, &other.negative);
        self.count += other.count;
    }

    /// The value of the given rank (from 1).
    fn at(&self, rank: u64) -> i64 {
        let negative = self.negative.iter().enumerate().rev().map(|(bucket, count)| (-middle(bucket), count));
        let positive = self.positive.iter().enumerate().map(|(bucket, count)| (middle(bucket), count));
        let mut seen = 0;
        negative
            .chain(positive)
            .find(|(_, count)| {
                seen += **count;
                seen >= rank
            })
            .map_or(0, |(value, _)| value)
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

#[inline]
fn bucket(magnitude: u64) -> usize {
    if magnitude < SUB_BUCKETS {
        return magnitude as usize;
    }
    let shift = magnitude.ilog2() - SUB_BITS;
    let within = (magnitude >> shift) & (SUB_BUCKETS - 1);
    (u64::from(shift + 1) * SUB_BUCKETS + within) as usize
}

fn bucket_start(bucket: usize) -> u64 {
    let (row, within) = (bucket as u64 / SUB_BUCKETS, bucket as u64 % SUB_BUCKETS);
    if row == 0 { within } else { (SUB_BUCKETS + within) << (row - 1) }
}

fn middle(bucket: usize) -> i64 {
    let row = bucket as u64 / SUB_BUCKETS;
    let half_width = if row <= 1 { 0 } else { 1_u64 << (row - 2) };
    i64::try_from(bucket_start(bucket) + half_width).unwrap_or(i64::MAX)
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
        assert!(matches!(sketch.0, State::Sketch(_)));
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
        sketch.sketch();
        assert_eq!(sketch.powers_of_two(), expected);
    }

    #[test]
    fn extreme_values_have_buckets() {
        let values = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX];
        let mut sketch = of(values);
        sketch.sketch();
        let [low, high] = sketch.percentiles([1, 100]).map(|value| value.unwrap() as f64);
        assert!((low / i64::MIN as f64 - 1.0).abs() <= RELATIVE_ERROR);
        assert!((high / i64::MAX as f64 - 1.0).abs() <= RELATIVE_ERROR);
    }

    proptest! {
        #[test]
        fn every_bucket_is_within_the_error(value in any::<i64>()) {
            let about = middle(bucket(value.unsigned_abs()));
            let error = (about as f64 - value.unsigned_abs() as f64).abs();
            prop_assert!(error <= RELATIVE_ERROR * value.unsigned_abs() as f64);
        }

        #[test]
        fn exact_quantiles_equal_the_naive_ones(values in prop::collection::vec(-50_i64..50, 0..60), percentage in 1_u8..=100) {
            prop_assert_eq!(of(values.iter().copied()).percentiles([percentage]), [naive(&values, percentage)]);
        }

        #[test]
        fn merging_equals_one_pass(
            values in prop::collection::vec(any::<i32>(), 1..40),
            repeats in 1_usize..900,
            cut in any::<prop::sample::Index>(),
        ) {
            let all: Vec<i64> = (0..repeats).flat_map(|_| values.iter().map(|&value| i64::from(value))).collect();
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
