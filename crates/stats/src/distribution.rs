//! Distributions as others read them: steps of the empirical distribution function, and histograms made of them.

use crate::result::{Distribution, Quantity};
use crate::values::Sorted;
use serde::Serialize;

/// A logarithmic axis serves data whose largest value is at least so many times its smallest above 0.
const WIDE: i64 = 100;
/// How many bins a linear histogram has at most.
const LINEAR_BINS: i64 = 40;

/// What a histogram's axis is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal bins.
    Linear,
    /// Bins that each begin at a power of two, for bytes.
    Log2,
    /// Bins that begin at 1, 2 and 5 times a power of ten, for times.
    Log10,
}

/// Values in `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HistogramBin {
    /// Smallest value.
    pub from: i64,
    /// One more than the largest value.
    pub to: i64,
    /// Number of values in the bin.
    pub count: u64,
}

impl Distribution {
    pub(crate) fn new(quantity: Quantity, series: String, values: &Sorted) -> Self {
        Self {
            quantity,
            series,
            count: values.count(),
            sum: values.sum(),
            steps: values.cumulative(),
            error: values.error(),
        }
    }

    /// The value at a percentage, by nearest rank: the smallest value such that at least that share is not larger.
    #[must_use]
    pub fn percentile(&self, percentage: f64) -> Option<i64> {
        let rank = (self.count as f64 * percentage / 100.0).ceil().max(1.0) as u64;
        let index = self.steps.partition_point(|(_, seen)| *seen < rank);
        self.steps.get(index).or(self.steps.last()).map(|(value, _)| *value)
    }

    /// Mean; NULL without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The axis that the data asks for: logarithmic if it spans two powers of ten.
    #[must_use]
    pub fn scale(&self) -> Scale {
        let smallest = self.steps.iter().map(|(value, _)| *value).find(|value| *value > 0);
        let largest = self.steps.last().map(|(value, _)| *value);
        match smallest.zip(largest) {
            Some((smallest, largest)) if largest / WIDE >= smallest => match self.quantity {
                Quantity::Latency | Quantity::Lifetime => Scale::Log10,
                _ => Scale::Log2,
            },
            _ => Scale::Linear,
        }
    }

    /// Counts of values in the bins of [`Distribution::scale`], from the first bin with a value to the last. Exact.
    #[must_use]
    pub fn histogram(&self) -> Vec<HistogramBin> {
        let (Some((first, _)), Some((last, _))) = (self.steps.first(), self.steps.last()) else {
            return Vec::new();
        };
        let mut edges = edges(self.scale(), *first, *last);
        let from = edges.partition_point(|edge| edge <= first).saturating_sub(1);
        edges.drain(..from);
        // Nothing is above the largest number, so it belongs to the bin that ends there.
        let is_below = |step: i64, edge: i64| step < edge || edge == i64::MAX;
        let below = |edge: i64| match self.steps.partition_point(|(step, _)| is_below(*step, edge)) {
            0 => 0,
            place => self.steps[place - 1].1,
        };
        let bin = |pair: &[i64]| HistogramBin {
            from: pair[0],
            to: pair[1],
            count: below(pair[1]) - below(pair[0]),
        };
        edges.windows(2).map(bin).collect()
    }
}

/// Edges of bins, ascending, the first not above `first` and the last above `last`.
fn edges(scale: Scale, first: i64, last: i64) -> Vec<i64> {
    let mut edges = vec![if scale == Scale::Linear { first } else { 0 }];
    let width = ((last - first) / LINEAR_BINS + 1).max(1);
    while let Some(edge) = edges.last().copied().filter(|edge| *edge <= last) {
        let next = match scale {
            Scale::Linear => edge.checked_add(width),
            Scale::Log2 => edge.checked_mul(2).map(|next| next.max(1)),
            Scale::Log10 => next_preferred(edge),
        };
        edges.push(next.unwrap_or(i64::MAX));
        if next.is_none() {
            break;
        }
    }
    edges
}

/// The next of 0, 1, 2, 5, 10, 20, 50, ...
fn next_preferred(edge: i64) -> Option<i64> {
    let mut power = 1_i64;
    while edge / power >= 10 {
        power *= 10;
    }
    match edge / power {
        0 => Some(1),
        1 => edge.checked_mul(2),
        2 => power.checked_mul(5),
        _ => power.checked_mul(10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Values;
    use proptest::prelude::*;

    fn of(quantity: Quantity, values: &[u64]) -> Distribution {
        let mut all = Values::default();
        values.iter().for_each(|value| all.push(*value));
        Distribution::new(quantity, "x".to_owned(), &all.settled())
    }

    fn bins(distribution: &Distribution) -> Vec<(i64, i64, u64)> {
        distribution.histogram().into_iter().map(|bin| (bin.from, bin.to, bin.count)).collect()
    }

    #[test]
    fn the_axis_follows_from_the_data() {
        assert_eq!(of(Quantity::Latency, &[10, 999]).scale(), Scale::Linear);
        assert_eq!(of(Quantity::Latency, &[10, 1000]).scale(), Scale::Log10);
        assert_eq!(of(Quantity::ReadLength, &[0, 1, 100]).scale(), Scale::Log2);
        assert_eq!(of(Quantity::ReadLength, &[0, 0]).scale(), Scale::Linear);
        assert_eq!(of(Quantity::ReadLength, &[]).histogram(), []);
    }

    #[test]
    fn bins_begin_at_round_numbers() {
        let lengths = of(Quantity::ReadLength, &[3, 4, 7, 8, 700]);
        assert_eq!(bins(&lengths)[..4], [(2, 4, 1), (4, 8, 2), (8, 16, 1), (16, 32, 0)]);
        assert_eq!(bins(&lengths).last(), Some(&(512, 1024, 1)));
        let times = of(Quantity::Latency, &[7, 10, 19, 20, 5_000]);
        assert_eq!(bins(&times)[..3], [(5, 10, 1), (10, 20, 2), (20, 50, 1)]);
        assert_eq!(bins(&times).last(), Some(&(5_000, 10_000, 1)));
        assert_eq!(bins(&of(Quantity::ReadLength, &[5, 5])), [(5, 6, 2)]);
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let distribution = of(Quantity::Latency, &[15, 20, 35, 40, 50]);
        let at = [5.0, 30.0, 40.0, 50.0, 100.0].map(|percentage| distribution.percentile(percentage));
        assert_eq!(at, [15, 20, 20, 35, 50].map(Some));
        assert_eq!(distribution.mean(), Some(32.0));
        assert_eq!(of(Quantity::Latency, &[]).percentile(50.0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn every_value_is_in_one_bin(
            values in prop::collection::vec(prop_oneof![0_u64..2_000, any::<u64>()], 1..30),
            latency in any::<bool>(),
        ) {
            let quantity = if latency { Quantity::Latency } else { Quantity::ReadLength };
            let distribution = of(quantity, &values);
            let bins = distribution.histogram();
            prop_assert!(bins.len() <= 64);
            prop_assert!(bins.windows(2).all(|pair| pair[0].to == pair[1].from));
            for bin in &bins {
                let is_in = |value: &&u64| {
                    let value = i64::try_from(**value).unwrap_or(i64::MAX);
                    bin.from <= value && (value < bin.to || bin.to == i64::MAX)
                };
                prop_assert_eq!(bin.count, values.iter().filter(is_in).count() as u64);
            }
        }
    }
}
