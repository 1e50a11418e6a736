//! The values of a distribution, of which each is drawn once.

use crate::distribution::Distribution;
use crate::draw::Permutation;
use crate::histogram::Histogram;

/// Equal or neighbouring values, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// How many values there are up to the end of this part.
    end: u64,
    /// The value.
    value: i64,
    /// How many of the part are 1 larger, so that the sum is right.
    larger: u64,
}

/// What is left to draw of a distribution. All draws together have its number of values, sum, smallest and largest.
#[derive(Clone, Debug)]
pub struct Urn {
    parts: Vec<Part>,
    order: Permutation<(u32, u32, u32)>,
    drawn: u64,
}

impl Urn {
    /// Nothing was drawn yet; the order depends on key and seed. NULL: the distribution contradicts itself.
    #[must_use]
    pub fn new(distribution: &Distribution, key: (u32, u32, u32), seed: u64) -> Option<Self> {
        let parts = match distribution {
            Distribution::Quantities(quantities) => match quantities.values() {
                Some(values) => exact(values.iter().map(|(&value, &count)| (value, count)))?,
                None => spread(quantities.histogram())?,
            },
            Distribution::Names(names) => exact(names.each())?,
        };
        let count = parts.last().map_or(0, |part| part.end);
        Some(Self { parts, order: Permutation::new(count, key, seed), drawn: 0 })
    }

    /// The next value; NULL if none is left.
    pub fn draw(&mut self) -> Option<i64> {
        let number = self.order.of(self.drawn)?;
        self.drawn += 1;
        let index = self.parts.partition_point(|part| part.end <= number);
        let &Part { value, larger, .. } = self.parts.get(index)?;
        let before = index.checked_sub(1).map_or(0, |before| self.parts[before].end);
        Some(if number - before < larger { value.saturating_add(1) } else { value })
    }

    /// How many are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.end) - self.drawn
    }

    /// Whether any was drawn.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.drawn > 0
    }

    /// Puts all values back.
    pub fn begin_again(&mut self) {
        self.drawn = 0;
    }
}

fn exact(values: impl Iterator<Item = (i64, u64)>) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut end = 0_u64;
    for (value, count) in values {
        end = end.checked_add(count)?;
        parts.push(Part { end, value, larger: 0 });
    }
    Some(parts)
}

/// Values that follow each other from `low` to `high`.
struct Range {
    count: u64,
    low: i64,
    high: i64,
    value: i64,
    larger: u64,
}

/// Values within the buckets of a histogram, among them its smallest and its largest, with its sum.
fn spread(histogram: &Histogram) -> Option<Vec<Part>> {
    let (min, max) = (histogram.min()?.value, histogram.max()?.value);
    let count = histogram.count();
    if count == 1 {
        return Some(vec![Part { end: 1, value: min, larger: 0 }]);
    }
    let mut ranges: Vec<Range> = histogram
        .buckets()
        .map(|bucket| {
            let (low, high) = bucket.range();
            let (low, high) = (low.clamp(min, max), high.clamp(min, max));
            Range { count: bucket.count, low, high, value: low, larger: 0 }
        })
        .collect();
    // The smallest and the largest stand for themselves.
    ranges.first_mut()?.count -= 1;
    let last = ranges.last_mut()?;
    last.count = last.count.checked_sub(1)?;
    let sum = histogram.sum().checked_sub(i128::from(min) + i128::from(max))?;
    reach(&mut ranges, sum)?;
    let mut parts = vec![Part { end: 1, value: min, larger: 0 }];
    let mut end = 1;
    for Range { count, value, larger, .. } in ranges.into_iter().filter(|range| range.count > 0) {
        end += count;
        parts.push(Part { end, value, larger });
    }
    parts.push(Part { end: end + 1, value: max, larger: 0 });
    Some(parts)
}

/// Moves the values of ranges from their lowest towards their highest until their sum is that.
fn reach(ranges: &mut [Range], sum: i128) -> Option<()> {
    let product = |count: u64, value: i128| i128::from(count).checked_mul(value);
    let (mut lowest, mut room) = (0_i128, 0_i128);
    for Range { count, low, high, .. } in &*ranges {
        lowest = lowest.checked_add(product(*count, i128::from(*low))?)?;
        room = room.checked_add(product(*count, i128::from(*high) - i128::from(*low))?)?;
    }
    let mut left = sum.checked_sub(lowest)?;
    if !(0..=room).contains(&left) {
        return None;
    }
    let share = if room == 0 { 0.0 } else { left as f64 / room as f64 };
    for range in &mut *ranges {
        let width = i128::from(range.high) - i128::from(range.low);
        let step = ((width as f64 * share) as i128).clamp(0, width);
        range.value = i64::try_from(i128::from(range.low) + step).ok()?;
        left -= product(range.count, step)?;
    }
    // What rounding left over, a few for each value.
    for range in ranges.iter_mut().filter(|range| range.count > 0) {
        let count = i128::from(range.count);
        let (up, down) = (
            i128::from(range.high) - i128::from(range.value),
            i128::from(range.low) - i128::from(range.value),
        );
        let moved = left.clamp(down * count, up * count);
        range.value = i64::try_from(i128::from(range.value) + moved.div_euclid(count)).ok()?;
        range.larger = moved.rem_euclid(count) as u64;
        left -= moved;
    }
    (left == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Quantities, Resolution};
    use proptest::prelude::*;

    fn drawn(values: &[i64], seed: u64) -> (Quantities, Vec<i64>) {
        let mut quantities = Quantities::new(Resolution { level: 3, buckets: Some(8) });
        values.iter().for_each(|&value| quantities.add(value, 0));
        let mut urn =
            Urn::new(&Distribution::Quantities(quantities.clone()), (1, 0, 0), seed).expect("an urn");
        let mut drawn: Vec<i64> = std::iter::from_fn(|| urn.draw()).collect();
        assert_eq!(urn.left(), 0);
        drawn.sort_unstable();
        (quantities, drawn)
    }

    #[test]
    fn few_different_values_are_drawn_as_they_are() {
        assert_eq!(drawn(&[5, 6, 5, 5, 6], 0).1, [5, 5, 5, 6, 6]);
    }

    proptest! {
        #[test]
        fn draws_have_the_number_sum_and_ends_of_what_was_counted(
            values in prop::collection::vec(prop_oneof![-3_000_i64..9_000_000, any::<i32>().prop_map(i64::from)], 1..160),
            seed in 0_u64..3,
        ) {
            let (quantities, drawn) = drawn(&values, seed);
            let histogram = quantities.histogram();
            prop_assert_eq!(drawn.len(), values.len());
            prop_assert_eq!(drawn.iter().map(|&value| i128::from(value)).sum::<i128>(), histogram.sum());
            prop_assert_eq!(drawn.first().copied(), histogram.min().map(|min| min.value));
            prop_assert_eq!(drawn.last().copied(), histogram.max().map(|max| max.value));
            let mut again = Quantities::new(Resolution { level: histogram.level(), buckets: None });
            drawn.iter().for_each(|&value| again.add(value, 0));
            prop_assert_eq!(again.histogram().counts(), histogram.counts());
        }

        #[test]
        fn values_at_the_ends_of_64_bits_are_drawn(values in prop::collection::vec(any::<i64>(), 65..90)) {
            let (quantities, drawn) = drawn(&values, 0);
            let sum: i128 = drawn.iter().map(|&value| i128::from(value)).sum();
            prop_assert_eq!(sum, quantities.histogram().sum());
        }
    }
}
