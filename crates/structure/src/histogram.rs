//! Distributions of times and quantities in bounded space, which merge to the same bytes in any order.
//!
//! The buckets are those of `model::buckets`, of which 2^level that follow each other are one here. The level is the
//! smallest at which the multiset needs no more buckets than allowed, so how it was divided does not matter (the bins
//! of Scala-H-Trace, section 4.4, depend on the order of merging).

use std::collections::BTreeMap;

use iotrail_model::buckets;

use crate::clusters::Precision;

/// How fine histograms are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The level that histograms begin with.
    pub level: u8,
    /// The most buckets that are kept; NULL: any number.
    pub buckets: Option<u32>,
}

impl Resolution {
    /// The highest level, at which all magnitudes are in one bucket.
    pub const MAX_LEVEL: u8 = 13;

    /// The coarsest level, at most 7, whose middles are within `100 - precision` percent of large values.
    #[must_use]
    pub fn of(precision: Precision, buckets: Option<u32>) -> Self {
        let allowed = 256 * u32::from(100 - precision.percent());
        let fits = |&level: &u8| 100 << level <= allowed;
        Self { level: (0..=7).rev().find(fits).unwrap_or(0), buckets }
    }
}

/// A value and who had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extreme {
    /// The value.
    pub value: i64,
    /// The smallest rank that had it.
    pub rank: u32,
}

/// Values of a histogram that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The value next to 0.
    pub from: i64,
    /// How many values there were.
    pub count: u64,
    /// The first value behind the bucket, seen from 0; NULL if there is none of 64 bits.
    pub to: Option<i64>,
}

impl Bucket {
    /// The bucket of this number at a level; NULL if there is none.
    #[must_use]
    pub fn of_number(number: i32, level: u8, count: u64) -> Option<Self> {
        let (magnitude, sign) = if number < 0 { (-1 - number, -1) } else { (number, 1) };
        let first = (magnitude as usize) << level.min(Resolution::MAX_LEVEL);
        let start = |index| i64::try_from(i128::from(buckets::start(index)) * sign).ok();
        let from = match first {
            // 0 is in the bucket above.
            0 if number < 0 => -1,
            first if first <= buckets::bucket(u64::MAX) => start(first)?,
            _ => return None,
        };
        Some(Self { from, count, to: end(magnitude as usize + 1, level).and_then(start) })
    }

    /// The smallest and the largest value of the bucket.
    #[must_use]
    pub fn range(&self) -> (i64, i64) {
        let end = if self.from < 0 { i64::MIN } else { i64::MAX };
        let last = self.to.map_or(end, |to| to - to.signum());
        (self.from.min(last), self.from.max(last))
    }
}

/// The figures of a histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistogramParts {
    /// Its level.
    pub level: u8,
    /// Number of values by number of bucket.
    pub counts: BTreeMap<i32, u64>,
    /// The sum of the values.
    pub sum: i128,
    /// The smallest.
    pub min: Option<Extreme>,
    /// The largest.
    pub max: Option<Extreme>,
}

impl HistogramParts {
    /// The smallest and the largest sum that values may have which are counted so, the smallest and the largest among them.
    #[must_use]
    pub fn sums(&self) -> (i128, i128) {
        let (Some(min), Some(max)) = (self.min, self.max) else { return (0, 0) };
        let (least, largest) = (min.value, max.value);
        let ends = i128::from(least) + i128::from(largest);
        if self.counts.values().eq([&1]) {
            return (least.into(), least.into());
        }
        let (first, last) = (self.counts.keys().next(), self.counts.keys().next_back());
        self.counts.iter().fold((ends, ends), |(low, high), (number, &count)| {
            let known = u64::from(Some(number) == first) + u64::from(Some(number) == last);
            let others = i128::from(count.saturating_sub(known));
            let bucket = Bucket::of_number(*number, self.level, count);
            let (from, to) = bucket.map_or((least, largest), |bucket| bucket.range());
            let sum = |value: i64| others.saturating_mul(value.into());
            (low.saturating_add(sum(from.max(least))), high.saturating_add(sum(to.min(largest))))
        })
    }
}

/// How values are distributed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    resolution: Resolution,
    level: u8,
    counts: BTreeMap<i32, u64>,
    sum: i128,
    min: Option<Extreme>,
    max: Option<Extreme>,
}

impl Histogram {
    /// No value yet.
    #[must_use]
    pub fn new(resolution: Resolution) -> Self {
        let level = resolution.level.min(Resolution::MAX_LEVEL);
        Self { resolution, level, counts: BTreeMap::new(), sum: 0, min: None, max: None }
    }

    /// The histogram that [`Self::counts`] and the other figures tell of; NULL if they contradict each other.
    #[must_use]
    pub fn of_parts(resolution: Resolution, parts: HistogramParts) -> Option<Self> {
        let (least, largest) = parts.sums();
        let HistogramParts { level, counts, sum, min, max } = parts;
        if !(resolution.level..=Resolution::MAX_LEVEL).contains(&level)
            || counts.values().any(|&count| count == 0)
        {
            return None;
        }
        counts.values().try_fold(0_u64, |sum, &count| sum.checked_add(count))?;
        let at_ends = match (min, max) {
            (None, None) => counts.is_empty() && sum == 0,
            (Some(min), Some(max)) => {
                let ends = (counts.keys().next().copied(), counts.keys().next_back().copied());
                ends == (Some(bucket(min.value, level)), Some(bucket(max.value, level)))
                    && min.value <= max.value
                    && (least..=largest).contains(&sum)
            }
            _ => false,
        };
        at_ends.then_some(Self { resolution, level, counts, sum, min, max })
    }

    /// The histogram of values with their numbers, of which the smallest and the largest are of these ranks; NULL if a number
    /// is 0 or there are more than 64 bits count.
    #[must_use]
    pub fn of_values(
        resolution: Resolution,
        values: &BTreeMap<i64, u64>,
        (min, max): (u32, u32),
    ) -> Option<Self> {
        let mut histogram = Self::new(resolution);
        let mut total = 0_u64;
        for (&value, &count) in values {
            total = total.checked_add(count).filter(|_| count > 0)?;
            *histogram.counts.entry(bucket(value, histogram.level)).or_default() += count;
            histogram.sum = histogram.sum.checked_add(i128::from(value).checked_mul(count.into())?)?;
        }
        let extreme = |value: Option<&i64>, rank| value.map(|&value| Extreme { value, rank });
        histogram.min = extreme(values.keys().next(), min);
        histogram.max = extreme(values.keys().next_back(), max);
        histogram.coarsen();
        Some(histogram)
    }

    /// Number of values by number of bucket, at its level.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<i32, u64> {
        &self.counts
    }

    /// Adds a value of a rank.
    pub fn add(&mut self, value: i64, rank: u32) {
        *self.counts.entry(bucket(value, self.level)).or_default() += 1;
        self.sum += i128::from(value);
        let extreme = Extreme { value, rank };
        self.widen(Some(extreme), Some(extreme));
        self.coarsen();
    }

    /// Adds the values of another histogram of the same resolution.
    pub fn merge(&mut self, other: &Self) {
        let level = self.level.max(other.level);
        self.set_level(level);
        for (&bucket, count) in &other.counts {
            *self.counts.entry(coarser(bucket, level - other.level)).or_default() += count;
        }
        self.sum += other.sum;
        self.widen(other.min, other.max);
        self.coarsen();
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Their exact sum.
    #[must_use]
    pub fn sum(&self) -> i128 {
        self.sum
    }

    /// The smallest value; NULL if there is none.
    #[must_use]
    pub fn min(&self) -> Option<Extreme> {
        self.min
    }

    /// The largest value; NULL if there is none.
    #[must_use]
    pub fn max(&self) -> Option<Extreme> {
        self.max
    }

    /// Its level: middles err by at most 2^(level - 8) of the value.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.level
    }

    /// What is counted, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        self.counts.iter().filter_map(|(&bucket, &count)| Bucket::of_number(bucket, self.level, count))
    }

    fn widen(&mut self, min: Option<Extreme>, max: Option<Extreme>) {
        self.min = [self.min, min].into_iter().flatten().min();
        let by_value = |extreme: &Extreme| (extreme.value, std::cmp::Reverse(extreme.rank));
        self.max = [self.max, max].into_iter().flatten().max_by_key(by_value);
    }

    fn coarsen(&mut self) {
        let Some(most) = self.resolution.buckets else { return };
        while self.counts.len() > most as usize && self.level < Resolution::MAX_LEVEL {
            self.set_level(self.level + 1);
        }
    }

    fn set_level(&mut self, level: u8) {
        if level > self.level {
            let by = level - self.level;
            let mut counts = BTreeMap::new();
            for (&bucket, count) in &self.counts {
                *counts.entry(coarser(bucket, by)).or_default() += count;
            }
            (self.counts, self.level) = (counts, level);
        }
    }
}

/// Buckets of values below 0 have numbers below 0.
fn bucket(value: i64, level: u8) -> i32 {
    let magnitude = (buckets::bucket(value.unsigned_abs()) >> level) as i32;
    if value < 0 { -1 - magnitude } else { magnitude }
}

/// The bucket of a higher level that this one is in. Shifts keep the sign, so those below 0 go the same way.
fn coarser(bucket: i32, by: u8) -> i32 {
    bucket >> by
}

/// The first bucket of level 0 behind those of one; NULL behind the largest.
fn end(bucket: usize, level: u8) -> Option<usize> {
    let end = bucket << level;
    (end <= buckets::bucket(u64::MAX)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(resolution: Resolution, values: &[(i64, u32)]) -> Histogram {
        let mut histogram = Histogram::new(resolution);
        values.iter().for_each(|&(value, rank)| histogram.add(value, rank));
        histogram
    }

    fn shown(histogram: &Histogram) -> Vec<(i64, i64, u64)> {
        histogram.buckets().map(|bucket| (bucket.from, bucket.to.expect("an end"), bucket.count)).collect()
    }

    #[test]
    fn buckets_are_joined_when_there_are_more_than_allowed() {
        let resolution = Resolution::of(Precision::new(95).expect("a precision"), Some(4));
        assert_eq!(resolution.level, 3);
        let mut one = of(resolution, &[(900, 0), (1000, 1), (1010, 0), (1100, 0), (5000, 2)]);
        assert_eq!(shown(&one), [(896, 928, 1), (992, 1024, 2), (1088, 1152, 1), (4864, 5120, 1)]);
        assert_eq!((one.sum(), one.level()), (9_010, 3));
        one.merge(&of(resolution, &[(1005, 3), (8000, 3)]));
        assert_eq!(shown(&one), [(896, 1024, 4), (1024, 1280, 1), (4096, 5120, 1), (7168, 8192, 1)]);
        assert_eq!((one.count(), one.level()), (7, 5));
        assert_eq!(one.min(), Some(Extreme { value: 900, rank: 0 }));
        assert_eq!(one.max(), Some(Extreme { value: 8_000, rank: 3 }));
    }

    #[test]
    fn the_level_is_the_coarsest_that_the_precision_allows() {
        let level = |percent| Resolution::of(Precision::new(percent).expect("a precision"), None).level;
        assert_eq!([100, 99, 98, 95, 90, 0].map(level), [0, 1, 2, 3, 4, 7]);
    }

    #[test]
    fn values_of_all_sizes_and_signs_have_a_bucket() {
        let resolution = Resolution { level: 0, buckets: Some(1) };
        let one = of(resolution, &[(i64::MIN, 1), (i64::MAX, 0), (0, 0), (-1, 0)]);
        assert_eq!(one.count(), 4);
        assert_eq!(one.buckets().map(|bucket| bucket.count).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(one.sum(), -2);
    }

    proptest! {
        #[test]
        fn any_division_and_order_gives_the_histogram_of_all(
            mut values in prop::collection::vec((-100_000_i64..1_000_000, 0_u32..4), 0..80),
            cuts in prop::collection::vec(0_usize..80, 0..5), most in 1_u32..20, level in 0_u8..8,
        ) {
            let resolution = Resolution { level, buckets: Some(most) };
            let whole = of(resolution, &values);
            values.reverse();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(values.len())).collect();
            cuts.extend([0, values.len()]);
            cuts.sort_unstable();
            let parts = cuts.windows(2).map(|cut| of(resolution, &values[cut[0]..cut[1]]));
            let merged = parts.reduce(|mut one, next| { one.merge(&next); one }).expect("a part");
            prop_assert_eq!(merged, whole);
        }

        #[test]
        fn the_sum_is_one_that_counts_allow(
            values in prop::collection::vec((prop_oneof![-200_i64..200, any::<i64>()], 0_u32..4), 1..20), most in 1_u32..20,
        ) {
            let one = of(Resolution { level: 0, buckets: Some(most) }, &values);
            let parts = HistogramParts {
                level: one.level, counts: one.counts.clone(), sum: one.sum, min: one.min, max: one.max,
            };
            let (least, largest) = parts.sums();
            prop_assert!((least..=largest).contains(&one.sum), "{} in {least} to {largest}", one.sum);
            prop_assert_eq!(Histogram::of_parts(one.resolution, parts), Some(one));
        }

        #[test]
        fn a_value_is_in_its_bucket(value in any::<i64>(), level in 0_u8..14) {
            let one = of(Resolution { level, buckets: None }, &[(value, 0)]);
            let bucket = one.buckets().next().expect("a bucket");
            let (from, magnitude) = (bucket.from.unsigned_abs(), value.unsigned_abs());
            prop_assert!(from <= magnitude);
            prop_assert!(bucket.to.is_none_or(|to| magnitude < to.unsigned_abs()));
        }
    }
}
