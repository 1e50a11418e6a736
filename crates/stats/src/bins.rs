//! Equal bins over time that can be joined.

use std::ops::RangeInclusive;

/// Where bins are: bin n holds the instants from n widths to n + 1 widths since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    first: i64,
    last: i64,
    /// One of 1, 2, 10, 20, 100 …
    width: u64,
}

impl Grid {
    /// The finest grid of at most `most` bins over `span` (ns since the epoch).
    pub(crate) fn over(span: &RangeInclusive<i64>, most: u64) -> Self {
        Self { first: *span.start(), last: *span.end(), width: 1 }.coarsened(most)
    }

    /// The finest grid of at most `most` bins over both.
    pub(crate) fn join(&self, other: &Self, most: u64) -> Self {
        let width = self.width.max(other.width);
        let (mine, theirs) = (self.widened(width), other.widened(width));
        let (first, last) = (mine.first.min(theirs.first), mine.last.max(theirs.last));
        Self { first, last, width }.coarsened(most)
    }

    fn coarsened(mut self, most: u64) -> Self {
        while self.last.abs_diff(self.first) >= most {
            self = self.widened(wider(self.width));
        }
        self
    }

    /// With bins of `width`, a multiple of theirs.
    pub(crate) fn widened(&self, width: u64) -> Self {
        let factor = width / self.width;
        Self { first: joined(self.first, factor), last: joined(self.last, factor), width }
    }

    pub(crate) fn width(&self) -> u64 {
        self.width
    }

    /// When the first bin begins.
    pub(crate) fn origin(&self) -> i64 {
        clamp(i128::from(self.first) * i128::from(self.width))
    }

    /// The bin of an instant.
    #[inline]
    pub(crate) fn bin(&self, at: i64) -> i64 {
        joined(at, self.width)
    }

    pub(crate) fn bins(&self) -> RangeInclusive<i64> {
        self.first..=self.last
    }
}

/// The next width.
fn wider(width: u64) -> u64 {
    let decade = 10_u64.pow(width.ilog10());
    if width == decade { 2 * decade } else { decade.saturating_mul(10) }
}

/// The bin that bin `at` belongs to when `factor` bins are joined.
fn joined(at: i64, factor: u64) -> i64 {
    clamp(i128::from(at).div_euclid(i128::from(factor)))
}

fn clamp(value: i128) -> i64 {
    value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// Sums in the bins of a grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bins {
    /// The bin of the first sum.
    first: i64,
    sums: Vec<u64>,
}

impl Bins {
    pub(crate) fn add(&mut self, bin: i64, amount: u64) {
        let index = self.place(bin);
        self.sums[index] = self.sums[index].saturating_add(amount);
    }

    /// Spreads `amount` evenly over `span`; an instant lies in one bin.
    pub(crate) fn spread(&mut self, grid: &Grid, span: &RangeInclusive<i64>, amount: u64) {
        let (start, end) = (*span.start(), *span.end());
        let duration = u128::from(end.abs_diff(start));
        let before = |bin: i64| {
            let begins = i128::from(bin) * i128::from(grid.width);
            let elapsed = (begins - i128::from(start)).max(0) as u128;
            if elapsed >= duration { amount } else { (u128::from(amount) * elapsed / duration) as u64 }
        };
        let (first, last) = (grid.bin(start), grid.bin(end));
        let mut done = 0;
        for bin in first..last {
            let until = before(bin + 1);
            self.add(bin, until - done);
            done = until;
        }
        self.add(last, amount - done);
    }

    fn place(&mut self, bin: i64) -> usize {
        if self.sums.is_empty() {
            self.first = bin;
        }
        if bin < self.first {
            let missing = self.first.abs_diff(bin) as usize;
            self.sums.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = bin;
        }
        let place = bin.abs_diff(self.first) as usize;
        if place >= self.sums.len() {
            self.sums.resize(place + 1, 0);
        }
        place
    }

    /// Joins `factor` bins to one.
    pub(crate) fn widen(&mut self, factor: u64) {
        let narrow = std::mem::take(self);
        for (bin, amount) in narrow.iter() {
            self.add(joined(bin, factor), amount);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (bin, amount) in other.iter() {
            self.add(bin, amount);
        }
    }

    /// The sums of all `bins`.
    pub(crate) fn values(&self, bins: &RangeInclusive<i64>) -> Vec<u64> {
        let mut values = vec![0; bins.end().abs_diff(*bins.start()) as usize + 1];
        for (bin, amount) in self.iter() {
            values[bin.abs_diff(*bins.start()) as usize] = amount;
        }
        values
    }

    /// Bins with their sums.
    fn iter(&self) -> impl Iterator<Item = (i64, u64)> {
        self.sums.iter().enumerate().map(|(index, sum)| (self.first.saturating_add(index as i64), *sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(width: u64) -> Grid {
        Grid { first: i64::MIN, last: i64::MAX, width }
    }

    #[test]
    fn bytes_are_spread_over_the_time_that_a_call_takes_and_none_is_lost() {
        let mut bins = Bins::default();
        // A quarter of the time lies in the first bin, half in the second: 2.5 and 5 of 10 bytes, rounded down as they come.
        bins.spread(&grid(10), &(5..=25), 10);
        assert_eq!(bins.values(&(0..=3)), [2, 5, 3, 0]);
        bins.spread(&grid(10), &(-1..=-1), 7);
        assert_eq!(bins.values(&(-1..=2)), [7, 2, 5, 3]);
    }

    #[test]
    fn widths_are_round_and_bins_are_few() {
        let over = |first: i64, last: i64| Grid::over(&(first..=last), 400);
        assert_eq!(over(0, 399).width(), 1);
        assert_eq!(over(0, 400).width(), 2);
        let second = over(1_000_000_123, 2_000_000_456);
        assert_eq!((second.width(), second.bins(), second.origin()), (10_000_000, 100..=200, 1_000_000_000));
        let all = over(i64::MIN, i64::MAX);
        assert!(all.bins().count() <= 400, "{all:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn joined_bins_hold_what_wide_ones_would(
            calls in prop::collection::vec((-500..500_i64, 0..300_i64, 0..1000_u64), 0..20),
            widths in prop::sample::select(vec![(1, 2), (1, 10), (2, 10), (2, 100), (10, 20)]),
        ) {
            let (narrow, wide) = (grid(widths.0), grid(widths.1));
            let (mut joined, mut direct) = (Bins::default(), Bins::default());
            for (start, duration, amount) in &calls {
                joined.spread(&narrow, &(*start..=start + duration), *amount);
                direct.spread(&wide, &(*start..=start + duration), *amount);
            }
            joined.widen(widths.1 / widths.0);
            let all = -500..=1000;
            prop_assert_eq!(joined.values(&all), direct.values(&all));
            let sum: u64 = direct.values(&all).iter().sum();
            prop_assert_eq!(sum, calls.iter().map(|call| call.2).sum::<u64>());
        }
    }
}
