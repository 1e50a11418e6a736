//! Process data rate (Sankaran et al., equations 11 to 13): the arithmetic mean of size / duration over events.
//!
//! A sum of floating-point rates depends on the order of its terms, and so on threads and splits. Each rate is therefore
//! rounded once to a multiple of 2^-24 B/s, and the multiples are summed as integers.

const SCALE: f64 = (1_u64 << 24) as f64;
const NANOS_PER_SECOND: f64 = 1e9;

/// Sum of the rates of events that have a size and a duration > 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RateSum {
    /// Bytes per second, in units of 2^-24.
    sum: u128,
    count: u64,
}

impl RateSum {
    /// Adds an event that moved `bytes` in `nanos` > 0.
    #[inline]
    pub(crate) fn push(&mut self, bytes: u64, nanos: u64) {
        let rate = bytes as f64 * (NANOS_PER_SECOND * SCALE) / nanos as f64;
        // The conversion to 64 bits is one instruction; beyond 550 GB/s the slow one keeps the sum right.
        let scaled = if rate < i64::MAX as f64 { u128::from(rate as i64 as u64) } else { rate as u128 };
        self.sum = self.sum.saturating_add(scaled);
        self.count += 1;
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.count += other.count;
    }

    /// Bytes per second; NULL without events.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / SCALE / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_rates_is_not_the_rate_of_sums() {
        let mut rate = RateSum::default();
        rate.push(1_000, 1_000);
        rate.push(1_000, 4_000);
        assert_eq!(rate.mean(), Some((1e9 + 0.25e9) / 2.0));
        assert_eq!(RateSum::default().mean(), None);
    }

    #[test]
    fn rates_beyond_the_fast_conversion_count_in_full() {
        let mut rate = RateSum::default();
        rate.push(2_u64.pow(40), 1);
        assert_eq!(rate.mean(), Some(2_f64.powi(40) * 1e9));
    }
}
