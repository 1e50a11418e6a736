//! What a run does over time, in bins of equal width.
//!
//! Source: PIONEER, section VI-B: throughput (figure 5), file data operation ratio (figure 6), arrival rate (figure 7).

use crate::distribution::Distribution;

/// Bins are at least this wide, in ns.
const MIN_BIN: i64 = 10_000_000;
/// At most about this many bins of a run.
const MAX_BINS: i64 = 200;

/// A request as series count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// When it began, in ns after the begin of the run.
    pub start: i64,
    /// When it ended; its start if that was not seen.
    pub end: i64,
    /// Bytes that it asked to move.
    pub bytes: u64,
    /// Whether it moves data.
    pub is_data: bool,
}

/// The width of bins for runs of which the longest takes so many ns: a two-hundredth of it, at least 10 ms.
#[must_use]
pub fn bin_width(longest: i64) -> i64 {
    MIN_BIN.max((longest.max(1) - 1) / MAX_BINS + 1)
}

/// Requests and bytes of each bin of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Width of a bin, in ns.
    pub bin_ns: i64,
    /// Bytes; those of a request are spread evenly over the time that it took.
    pub bytes: Vec<u64>,
    /// Requests that begin in it.
    pub requests: Vec<u64>,
    /// Of them those that move data.
    pub data: Vec<u64>,
}

impl Series {
    /// The series of a run that takes `span` ns, in bins of `bin_ns`. The last bin holds what begins at its very end.
    #[must_use]
    pub fn of(moments: &[Moment], span: i64, bin_ns: i64) -> Self {
        let bin_ns = bin_ns.max(1);
        let bins = usize::try_from((span.max(1) - 1) / bin_ns + 1).unwrap_or(usize::MAX).min(1 << 20);
        let mut series = Self { bin_ns, bytes: vec![0; bins], requests: vec![0; bins], data: vec![0; bins] };
        let bin = |at: i64| usize::try_from(at.max(0) / bin_ns).unwrap_or(usize::MAX).min(bins - 1);
        for moment in moments {
            let at = bin(moment.start);
            series.requests[at] += 1;
            series.data[at] += u64::from(moment.is_data);
            series.spread(moment, at..=bin(moment.end.max(moment.start)));
        }
        series
    }

    /// Adds the bytes of a request to its bins; their sum is exact.
    fn spread(&mut self, moment: &Moment, bins: std::ops::RangeInclusive<usize>) {
        let (first, last) = (*bins.start(), *bins.end());
        let took = i128::from(moment.end - moment.start);
        let mut given = 0_u64;
        for bin in bins {
            let end = i128::from(self.bin_ns) * (bin as i128 + 1) - i128::from(moment.start);
            let due = match bin == last || took <= 0 || first == last {
                true => moment.bytes,
                false => u64::try_from(i128::from(moment.bytes) * end.clamp(0, took) / took)
                    .unwrap_or(moment.bytes),
            };
            self.bytes[bin] += due - given;
            given = due;
        }
    }

    /// Of each bin the share of its requests that move data; NULL where there are no requests.
    #[must_use]
    pub fn data_ratio(&self) -> Vec<Option<f64>> {
        let ratio = |(all, data): (&u64, &u64)| (*all > 0).then(|| *data as f64 / *all as f64);
        self.requests.iter().zip(&self.data).map(ratio).collect()
    }

    /// How many requests begin in a bin.
    #[must_use]
    pub fn arrivals(&self) -> Distribution {
        self.requests.iter().map(|count| i64::try_from(*count).unwrap_or(i64::MAX)).collect()
    }

    /// Index of dispersion: variance over mean of the requests of a bin, 1 if they come independently; NULL without requests.
    #[must_use]
    pub fn dispersion(&self) -> Option<f64> {
        let count = self.requests.len() as f64;
        let mean = self.requests.iter().sum::<u64>() as f64 / count;
        let squares = self.requests.iter().map(|value| (*value as f64 - mean).powi(2)).sum::<f64>();
        (mean > 0.0).then(|| squares / count / mean)
    }
}

/// How far apart two series are: the mean of |x−y| over the mean of the first; what one does not have is 0. NULL if the first is 0 everywhere.
#[must_use]
pub fn series_distance(one: &[f64], other: &[f64]) -> Option<f64> {
    let len = one.len().max(other.len());
    let at = |values: &[f64], bin: usize| values.get(bin).copied().unwrap_or_default();
    let apart: f64 = (0..len).map(|bin| (at(one, bin) - at(other, bin)).abs()).sum();
    let all: f64 = one.iter().map(|value| value.abs()).sum();
    (all > 0.0).then(|| apart / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn moment(start: i64, end: i64, bytes: u64) -> Moment {
        Moment { start: start * MS, end: end * MS, bytes, is_data: bytes > 0 }
    }

    #[test]
    fn bytes_are_spread_over_the_time_of_a_request_and_none_is_lost() {
        let series = Series::of(&[moment(5, 25, 100), moment(0, 0, 7), moment(30, 30, 0)], 40 * MS, 10 * MS);
        assert_eq!(series.bytes, [7 + 25, 50, 25, 0]);
        assert_eq!(series.requests, [2, 0, 0, 1]);
        assert_eq!(series.data_ratio(), [Some(1.0), None, None, Some(0.0)]);
        assert_eq!(series.arrivals().counts().collect::<Vec<_>>(), [(0, 2), (1, 1), (2, 1)]);
        let odd = Series::of(&[moment(3, 29, 1001)], 30 * MS, 7 * MS);
        assert_eq!(odd.bytes.iter().sum::<u64>(), 1001);
    }

    #[test]
    fn what_begins_at_the_end_is_in_the_last_bin() {
        let series = Series::of(&[moment(40, 41, 3)], 40 * MS, 10 * MS);
        assert_eq!((series.requests, series.bytes), (vec![0, 0, 0, 1], vec![0, 0, 0, 3]));
    }

    #[test]
    fn bins_are_a_two_hundredth_of_the_run_and_at_least_ten_milliseconds() {
        assert_eq!(
            (bin_width(1), bin_width(2_000 * MS), bin_width(20_000 * MS)),
            (10 * MS, 10 * MS, 100 * MS)
        );
    }

    #[test]
    fn equal_numbers_in_all_bins_have_no_dispersion() {
        let even: Vec<Moment> = (0..8).map(|at| moment(at * 10, at * 10, 1)).collect();
        assert_eq!(Series::of(&even, 80 * MS, 10 * MS).dispersion(), Some(0.0));
        let burst = vec![moment(0, 0, 1); 8];
        assert_eq!(Series::of(&burst, 80 * MS, 10 * MS).dispersion(), Some(7.0));
        assert_eq!(Series::of(&[], 80 * MS, 10 * MS).dispersion(), None);
    }

    #[test]
    fn a_distance_of_series_is_a_share_of_the_first() {
        assert_eq!(series_distance(&[2.0, 2.0], &[1.0, 3.0, 1.0]), Some(0.75));
        assert_eq!(series_distance(&[0.0], &[1.0]), None);
    }
}
