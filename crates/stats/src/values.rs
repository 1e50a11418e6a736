//! A multiset of integers and its exact distribution (Dun et al., "ParaTrac", figures 5 to 12).
//!
//! Each value counts once, never by its size. Distinct values are kept with their counts, so lengths of requests, of which
//! there are few, take no room. Beyond [`MOST_DISTINCT`] distinct values they are counted in the buckets of
//! [`iotrail_model::buckets`]. Whether that happens depends on the multiset only, never on the order of its values, so
//! partial results merge to exactly what one pass gives. Sum, sum of squares, smallest and largest are exact in any case.

use iotrail_model::buckets::{RELATIVE_ERROR, bucket, middle};

/// Up to how many distinct values a distribution is exact.
pub const MOST_DISTINCT: usize = 1_000_000;

/// How many values wait at least before they are sorted into the steps.
const WAITING: usize = 256;

/// A multiset of integers >= 0.
#[derive(Clone, Debug, Default)]
pub struct Values {
    waiting: Vec<u64>,
    /// Distinct values, ascending, each with its count.
    steps: Vec<(u64, u64)>,
    joined: bool,
    count: u64,
    sum: u128,
    squares: u128,
    bounds: Option<(u64, u64)>,
}

impl Values {
    /// Adds one value; those that no `i64` holds count as the largest that one does.
    #[inline]
    pub fn push(&mut self, value: u64) {
        let value = value.min(i64::MAX as u64);
        if self.waiting.len() == self.waiting.capacity() {
            self.make_room();
        }
        self.waiting.push(value);
        self.count += 1;
        let wide = u128::from(value);
        self.sum += wide;
        self.squares = self.squares.saturating_add(wide * wide);
        self.bounds = Some(self.bounds.map_or((value, value), |(min, max)| (min.min(value), max.max(value))));
    }

    /// Values wait for as many others as there are steps, so that each is moved a constant number of times.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let room = self.waiting.len();
        if room >= WAITING.max(self.steps.len()) {
            self.settle();
        }
        let wanted = (room * 2).clamp(4, WAITING.max(self.steps.len()));
        self.waiting.reserve_exact(wanted.saturating_sub(self.waiting.len()));
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, mut other: Self) {
        other.settle();
        self.settle();
        self.joined |= other.joined;
        self.steps = merged(&self.steps, &other.steps);
        self.limit();
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.bounds = match (self.bounds, other.bounds) {
            (Some(mine), Some(theirs)) => Some((mine.0.min(theirs.0), mine.1.max(theirs.1))),
            (mine, theirs) => mine.or(theirs),
        };
    }

    fn settle(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        if self.joined {
            waiting.iter_mut().for_each(|value| *value = representative(*value));
        }
        waiting.sort_unstable();
        let steps: Vec<(u64, u64)> =
            waiting.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
        self.steps = if self.steps.is_empty() { steps } else { merged(&self.steps, &steps) };
        self.limit();
        waiting.clear();
        self.waiting = waiting;
    }

    /// Joins values in buckets if they are too many, or if some already were.
    fn limit(&mut self) {
        self.joined |= self.steps.len() > MOST_DISTINCT;
        if self.joined {
            self.steps.iter_mut().for_each(|(value, _)| *value = representative(*value));
            self.steps.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                earlier.1 += if same { later.1 } else { 0 };
                same
            });
        }
    }

    /// Number of values.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all values.
    #[must_use]
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// Smallest and largest.
    #[must_use]
    pub const fn bounds(&self) -> Option<(u64, u64)> {
        self.bounds
    }

    /// Mean; NULL without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Standard deviation of the population; NULL without values.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let count = u128::from(self.count);
        // n·Σx² − (Σx)² is exact as long as it fits, where differences of floats would lose small deviations.
        let exact = count.checked_mul(self.squares).zip(self.sum.checked_mul(self.sum));
        let variance = match exact {
            Some((squares, square)) => {
                squares.saturating_sub(square) as f64 / (self.count as f64 * self.count as f64)
            }
            None => (self.squares as f64 / self.count as f64 - mean * mean).max(0.0),
        };
        Some(variance.sqrt())
    }

    /// The multiset in its final form.
    #[must_use]
    pub fn settled(mut self) -> Sorted {
        self.settle();
        Sorted(self)
    }
}

/// A multiset to which no more is added.
#[derive(Clone, Debug, Default)]
pub struct Sorted(Values);

impl std::ops::Deref for Sorted {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.0
    }
}

impl Sorted {
    /// The values at the given percentages, in ascending order, by nearest rank: the smallest value such that at least that
    /// share of all values is not larger.
    #[must_use]
    pub fn percentiles<const N: usize>(&self, percentages: [u8; N]) -> [Option<u64>; N] {
        debug_assert!(percentages.is_sorted());
        let mut steps = self.0.steps.iter();
        let (mut seen, mut value) = (0, None);
        percentages.map(|percentage| {
            let rank = (u128::from(self.0.count) * u128::from(percentage)).div_ceil(100).max(1);
            while seen < rank {
                let (next, count) = steps.next()?;
                seen += u128::from(*count);
                value = Some(*next);
            }
            value
        })
    }

    /// Distinct values, ascending, with the number of values not larger.
    #[must_use]
    pub fn cumulative(&self) -> Vec<(i64, u64)> {
        let mut seen = 0;
        let step = |(value, count): &(u64, u64)| {
            seen += count;
            (i64::try_from(*value).unwrap_or(i64::MAX), seen)
        };
        self.0.steps.iter().map(step).collect()
    }

    /// Largest relative error of a value: 0 unless values were joined.
    #[must_use]
    pub const fn error(&self) -> f64 {
        if self.0.joined { RELATIVE_ERROR } else { 0.0 }
    }
}

/// What stands for a value when values are joined.
fn representative(value: u64) -> u64 {
    middle(bucket(value)).unsigned_abs()
}

fn merged(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.0 == y.0 => {
                let sum = (x.0, x.1 + y.1);
                a.next();
                b.next();
                Some(sum)
            }
            (Some(x), Some(y)) if x.0 < y.0 => a.next(),
            (Some(_), None) => a.next(),
            _ => b.next(),
        };
        match next {
            Some(step) => all.push(step),
            None => return all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Values {
        let mut all = Values::default();
        values.into_iter().for_each(|value| all.push(value));
        all
    }

    #[derive(Debug, PartialEq)]
    struct Facts {
        figures: (u64, u128, Option<f64>, Option<(u64, u64)>),
        steps: Vec<(i64, u64)>,
        error: f64,
    }

    fn facts(values: Values) -> Facts {
        let settled = values.settled();
        Facts {
            figures: (settled.count(), settled.sum(), settled.deviation(), settled.bounds()),
            steps: settled.cumulative(),
            error: settled.error(),
        }
    }

    #[test]
    fn the_figures_of_a_small_multiset_are_those_by_hand() {
        let values = of([15, 20, 35, 40, 50, 20]);
        assert_eq!((values.count(), values.sum(), values.bounds()), (6, 180, Some((15, 50))));
        // Squares of the differences from the mean 30: 225, 100, 25, 100, 400, 100.
        assert_eq!((values.mean(), values.deviation()), (Some(30.0), Some((950.0_f64 / 6.0).sqrt())));
        let settled = values.settled();
        assert_eq!(settled.cumulative(), [(15, 1), (20, 3), (35, 4), (40, 5), (50, 6)]);
        assert_eq!(settled.percentiles([1, 16, 17, 50, 51, 100]), [15, 15, 20, 20, 35, 50].map(Some));
        assert_eq!(settled.error(), 0.0);
    }

    #[test]
    fn nothing_has_no_figures() {
        let settled = Values::default().settled();
        assert_eq!((settled.mean(), settled.deviation(), settled.bounds()), (None, None, None));
        assert_eq!((settled.percentiles([50]), settled.cumulative()), ([None], vec![]));
    }

    #[test]
    fn small_deviations_of_large_values_are_not_lost() {
        assert_eq!(of([(1 << 60) + 1, (1 << 60) - 1]).deviation(), Some(1.0));
        assert!(of([u64::MAX, u64::MAX, 0]).deviation().is_some_and(f64::is_finite));
    }

    #[test]
    fn too_many_distinct_values_are_joined_and_the_result_says_so() {
        let many = MOST_DISTINCT as u64 + 1;
        let exact = of((0..many - 1).rev()).settled();
        assert_eq!((exact.error(), exact.cumulative().len()), (0.0, MOST_DISTINCT));
        let values = |range: std::ops::Range<u64>| of(range.map(|value| value * 7));
        let whole = facts(values(0..many));
        let mut split = values(0..many / 2);
        split.merge(values(many / 2..many));
        assert_eq!(whole.error, RELATIVE_ERROR);
        assert!(whole.steps.len() < 3_000);
        assert_eq!(facts(split), whole);
        let [Some(median)] = values(0..many).settled().percentiles([50]) else { panic!("no median") };
        let about = median as f64 / (many as f64 * 3.5);
        assert!((about - 1.0).abs() <= RELATIVE_ERROR + 1e-6, "{about}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn merging_equals_one_pass(
            values in prop::collection::vec(0_u64..300, 0..40),
            repeats in 1_usize..40,
            cut in any::<prop::sample::Index>(),
        ) {
            let all: Vec<u64> = (0..repeats as u64).flat_map(|n| values.iter().map(move |&value| value * (1 + n % 3))).collect();
            let (left, right) = all.split_at(if all.is_empty() { 0 } else { cut.index(all.len()) });
            let (mut forward, mut backward) = (of(left.iter().copied()), of(right.iter().copied()));
            forward.merge(of(right.iter().copied()));
            backward.merge(of(left.iter().copied()));
            let whole = facts(of(all.iter().copied()));
            prop_assert_eq!(&facts(forward), &whole);
            prop_assert_eq!(&facts(backward), &whole);
            let mut sorted = all;
            sorted.sort_unstable();
            for (value, seen) in whole.steps {
                prop_assert_eq!(sorted.partition_point(|&other| other <= value as u64) as u64, seen);
            }
        }
    }
}
