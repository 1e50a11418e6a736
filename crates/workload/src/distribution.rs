//! The empirical distribution of a quantity.

use std::collections::BTreeMap;

/// A multiset of whole numbers; its unit is that of the quantity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    counts: BTreeMap<i64, u64>,
    total: u64,
}

impl Distribution {
    /// Adds a value.
    pub fn add(&mut self, value: i64) {
        self.add_times(value, 1);
    }

    /// Adds a value that occurred several times.
    pub fn add_times(&mut self, value: i64, times: u64) {
        if times > 0 {
            *self.counts.entry(value).or_default() += times;
            self.total += times;
        }
    }

    /// Adds all values of another one.
    pub fn merge(&mut self, other: &Self) {
        other.counts.iter().for_each(|(&value, &times)| self.add_times(value, times));
    }

    /// Number of values.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Its values with their counts, ascending.
    pub fn counts(&self) -> impl Iterator<Item = (i64, u64)> {
        self.counts.iter().map(|(&value, &times)| (value, times))
    }

    /// NULL if there is no value.
    #[must_use]
    pub fn min(&self) -> Option<i64> {
        self.counts.keys().next().copied()
    }

    /// NULL if there is no value.
    #[must_use]
    pub fn max(&self) -> Option<i64> {
        self.counts.keys().next_back().copied()
    }

    /// NULL if there is no value.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let sum: i128 = self.counts().map(|(value, times)| i128::from(value) * i128::from(times)).sum();
        (self.total > 0).then(|| sum as f64 / self.total as f64)
    }

    /// The statistic of Kolmogorov and Smirnov: the largest difference of the shares of values that are not larger. NULL
    /// if one of the two has no value.
    #[must_use]
    pub fn kolmogorov_smirnov(&self, other: &Self) -> Option<f64> {
        Some(self.steps(other)?.map(|step| step.difference).fold(0.0, f64::max))
    }

    /// Wasserstein-1 distance, in the unit of the values: what lies between the two curves of cumulative shares. NULL if
    /// one of the two has no value.
    #[must_use]
    pub fn wasserstein(&self, other: &Self) -> Option<f64> {
        Some(self.steps(other)?.map(|step| step.difference * step.width).sum())
    }

    /// The steps of both curves of cumulative shares.
    fn steps<'a>(&'a self, other: &'a Self) -> Option<impl Iterator<Item = CurveStep> + 'a> {
        if self.total == 0 || other.total == 0 {
            return None;
        }
        let mut both: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
        self.counts().for_each(|(value, times)| both.entry(value).or_default().0 = times);
        other.counts().for_each(|(value, times)| both.entry(value).or_default().1 = times);
        let nexts: Vec<i64> = both.keys().skip(1).copied().collect();
        let (mut below, mut below_other) = (0, 0);
        let (total, total_other) = (self.total as f64, other.total as f64);
        Some(both.into_iter().enumerate().map(move |(at, (value, (times, times_other)))| {
            below += times;
            below_other += times_other;
            let next = nexts.get(at).copied().unwrap_or(value);
            CurveStep {
                difference: (below as f64 / total - below_other as f64 / total_other).abs(),
                width: next.abs_diff(value) as f64,
            }
        }))
    }
}

/// Where neither of two curves of cumulative shares rises.
struct CurveStep {
    /// Between the curves.
    difference: f64,
    /// To the next value.
    width: f64,
}

impl FromIterator<i64> for Distribution {
    fn from_iter<T: IntoIterator<Item = i64>>(values: T) -> Self {
        let mut distribution = Self::default();
        values.into_iter().for_each(|value| distribution.add(value));
        distribution
    }
}
