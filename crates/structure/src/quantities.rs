//! Distributions of quantities, of which few different values are kept as they are.

use std::collections::BTreeMap;

use crate::histogram::{Extreme, Histogram, Resolution};

/// A histogram and, while there are at most [`Quantities::MAX_DISTINCT`], its different values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantities {
    histogram: Histogram,
    values: Option<BTreeMap<i64, u64>>,
}

impl Quantities {
    /// Different values that are kept.
    pub const MAX_DISTINCT: usize = 64;

    /// No value yet.
    #[must_use]
    pub fn new(resolution: Resolution) -> Self {
        Self { histogram: Histogram::new(resolution), values: Some(BTreeMap::new()) }
    }

    /// The quantities of these values, of which the smallest and the largest are of these ranks.
    #[must_use]
    pub fn of_values(
        resolution: Resolution,
        values: BTreeMap<i64, u64>,
        (min, max): (u32, u32),
    ) -> Option<Self> {
        let histogram = Histogram::of_values(resolution, &values, (min, max))?;
        (values.len() <= Self::MAX_DISTINCT).then_some(Self { histogram, values: Some(values) })
    }

    /// Quantities of more different values than are kept.
    #[must_use]
    pub fn of_histogram(histogram: Histogram) -> Self {
        Self { histogram, values: None }
    }

    /// Adds a value of a rank.
    pub fn add(&mut self, value: i64, rank: u32) {
        self.histogram.add(value, rank);
        self.count(&BTreeMap::from([(value, 1)]));
    }

    /// Adds the values of other quantities of the same resolution.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        match &other.values {
            Some(values) => self.count(values),
            None => self.values = None,
        }
    }

    /// Different values, ascending, each with its number; NULL if there were too many.
    #[must_use]
    pub fn values(&self) -> Option<&BTreeMap<i64, u64>> {
        self.values.as_ref()
    }

    /// All values by bucket, with their exact sum.
    #[must_use]
    pub fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// The smallest and the largest value; NULL if there is none.
    #[must_use]
    pub fn range(&self) -> Option<(Extreme, Extreme)> {
        self.histogram.min().zip(self.histogram.max())
    }

    fn count(&mut self, more: &BTreeMap<i64, u64>) {
        let Some(values) = &mut self.values else { return };
        for (&value, count) in more {
            *values.entry(value).or_default() += count;
        }
        if values.len() > Self::MAX_DISTINCT {
            self.values = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[i64]) -> Quantities {
        let mut quantities = Quantities::new(Resolution { level: 3, buckets: Some(16) });
        values.iter().for_each(|&value| quantities.add(value, 0));
        quantities
    }

    #[test]
    fn few_different_values_are_kept() {
        let counted = of(&[5, 5, 6, 5]);
        assert_eq!(counted.values(), Some(&BTreeMap::from([(5, 3), (6, 1)])));
        assert_eq!(of(&(0..64).collect::<Vec<_>>()).values().map(BTreeMap::len), Some(64));
        assert_eq!(of(&(0..65).collect::<Vec<_>>()).values(), None);
    }

    proptest! {
        #[test]
        fn any_division_gives_the_quantities_of_all(
            values in prop::collection::vec(-60_i64..60, 0..160), at in 0_usize..160,
        ) {
            let (left, right) = values.split_at(at.min(values.len()));
            let mut merged = of(right);
            merged.merge(&of(left));
            prop_assert_eq!(merged, of(&values));
        }
    }
}
