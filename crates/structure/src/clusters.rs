//! Quantities that are so near to each other that one histogram stands for them.
//!
//! Source: Scala-H-Trace, section 4; at the smallest precision there is one cluster, section 6.

use std::ops::RangeInclusive;

use thiserror::Error;

/// How near values of a cluster are to its middle, in percent; 100 keeps every value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Precision(u8);

/// A precision is a number of percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a precision is from 0 to 100 percent, not {0}")]
pub struct PrecisionError(pub u64);

impl Precision {
    /// Every value is kept.
    pub const EXACT: Self = Self(100);
    /// One cluster for all values.
    pub const LEAST: Self = Self(0);

    /// A precision of so many percent.
    ///
    /// # Errors
    /// There are more than 100.
    pub fn new(percent: u64) -> Result<Self, PrecisionError> {
        u8::try_from(percent).ok().filter(|&percent| percent <= 100).map(Self).ok_or(PrecisionError(percent))
    }

    /// In percent.
    #[must_use]
    pub fn percent(self) -> u8 {
        self.0
    }

    fn joins(self, min: i64, max: i64) -> bool {
        let (min, max) = (i128::from(min), i128::from(max));
        let one_sign = min.signum() == max.signum();
        self == Self::LEAST || one_sign && 100 * (max - min) <= i128::from(100 - self.0) * (min + max).abs()
    }
}

/// The smallest and the largest value of a cluster.
pub type Cluster = RangeInclusive<i64>;

/// Cuts values into clusters, greedily from below: each value of a cluster is within `100 - precision` percent of
/// the middle of its smallest and largest. Only the set of values matters, not their order.
#[must_use]
pub fn clusters(values: impl IntoIterator<Item = i64>, precision: Precision) -> Vec<Cluster> {
    let mut values: Vec<i64> = values.into_iter().collect();
    values.sort_unstable();
    values.dedup();
    let mut clusters: Vec<Cluster> = Vec::new();
    for value in values {
        match clusters.last_mut() {
            Some(last) if precision.joins(*last.start(), value) => *last = *last.start()..=value,
            _ => clusters.push(value..=value),
        }
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(percent: u64, values: &[i64]) -> Vec<Cluster> {
        clusters(values.iter().copied(), Precision::new(percent).expect("a precision"))
    }

    #[test]
    fn five_and_six_are_one_cluster_at_90_and_two_at_95() {
        assert_eq!(at(90, &[5, 5, 6, 5]), [5..=6]);
        assert_eq!(at(95, &[5, 5, 6, 5]), [5..=5, 6..=6]);
    }

    #[test]
    fn nothing_joins_0_or_another_sign_but_at_the_smallest_precision() {
        assert_eq!(at(1, &[-2, -1, 0, 1, 2]), [-2..=-1, 0..=0, 1..=2]);
        assert_eq!(at(0, &[i64::MIN, 0, i64::MAX]), [i64::MIN..=i64::MAX]);
        assert_eq!(at(100, &[7, 8, 7]), [7..=7, 8..=8]);
        assert_eq!(Precision::new(101), Err(PrecisionError(101)));
    }

    proptest! {
        #[test]
        fn values_are_near_the_middle_of_their_cluster(
            values in prop::collection::vec(-1_000_i64..1_000, 0..60), percent in 1_u64..=100,
        ) {
            let clusters = at(percent, &values);
            for value in values {
                let holding: Vec<_> = clusters.iter().filter(|cluster| cluster.contains(&value)).collect();
                prop_assert_eq!(holding.len(), 1);
                let double_middle = holding[0].start() + holding[0].end();
                let off = 100 * (2 * value - double_middle).abs();
                prop_assert!(off <= (100 - percent as i64) * double_middle.abs());
            }
        }
    }
}
