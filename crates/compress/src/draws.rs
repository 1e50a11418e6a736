//! Times in place of those that a structure does not keep one by one.
//!
//! Each value of a histogram is drawn once, in an order that looks like none and is always the same. Values are the
//! middles of buckets, moved so that their sum is the recorded one.
//!
//! Source: Scala-H-Trace, section 5.1.1.

use crate::columns::{DUR, Numbers, START};
use crate::error::CompressError;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use iotrail_structure::{Execution, Histogram, ItemId, Permutation};
use iotrail_structure_file::ItemTimes;

/// Of an item: its durations, or its gaps of a class.
type Which = (u32, Option<u32>);

/// What is left to draw.
#[derive(Debug)]
pub(crate) struct Draws<'a> {
    times: &'a [ItemTimes],
    seed: u64,
    /// Counts are drawn, so that what lies between two events may be of another class than any that was recorded.
    loose: bool,
    urns: HashMap<Which, Urn>,
}

impl<'a> Draws<'a> {
    pub(crate) fn new(times: &'a [ItemTimes], seed: u64, loose: bool) -> Self {
        Self { times, seed, loose, urns: HashMap::new() }
    }

    /// Puts drawn times into an event that is expected at a time; the first one of a line begins then, and none before
    /// `earliest`, when the event before it began.
    pub(crate) fn times(
        &mut self,
        execution: &Execution<'_>,
        is_first: bool,
        (expected, earliest): (i64, i64),
        event: &mut Numbers,
    ) -> Result<(), CompressError> {
        let gap = if is_first { 0 } else { self.draw(execution.item, Some(execution.entered))? };
        event[START] = Some(expected.wrapping_add(gap).max(earliest));
        if event[DUR].is_some() {
            event[DUR] = Some(self.draw(execution.item, None)?);
        }
        Ok(())
    }

    fn draw(&mut self, item: ItemId, class: Option<u32>) -> Result<i64, CompressError> {
        let drawn = self.draw_of(item, class);
        if drawn.is_ok() || !self.loose {
            return drawn;
        }
        let classes = self.times.get(item.0 as usize).map(|times| times.gaps.keys().copied());
        let mut others = class.and(classes).into_iter().flatten();
        Ok(others.find_map(|other| self.draw_of(item, Some(other)).ok()).unwrap_or(0))
    }

    fn draw_of(&mut self, item: ItemId, class: Option<u32>) -> Result<i64, CompressError> {
        let missing = CompressError::Times { item: item.0 };
        let times = self.times.get(item.0 as usize).ok_or(CompressError::Times { item: item.0 })?;
        let histogram = match class {
            None => Some(&times.durations),
            Some(class) => times.gaps.get(&class),
        };
        let histogram = histogram.filter(|histogram| histogram.count() > 0).ok_or(missing)?;
        let (which, seed) = ((item.0, class), self.seed);
        let urn = match self.urns.entry(which) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(new) => Urn::new(histogram, which, seed).map(|urn| new.insert(urn)),
        };
        urn.and_then(Urn::draw).ok_or(CompressError::Times { item: item.0 })
    }

    /// Whether nothing is left.
    pub(crate) fn end(&self) -> Result<(), CompressError> {
        if self.loose {
            return Ok(());
        }
        for (item, times) in (0..).zip(self.times) {
            let drawn = |class| self.urns.get(&(item, class)).map_or(0, |urn| urn.drawn);
            let gaps = times.gaps.iter().all(|(&class, gaps)| drawn(Some(class)) == gaps.count());
            if !gaps || drawn(None) != times.durations.count() {
                return Err(CompressError::Times { item });
            }
        }
        Ok(())
    }
}

/// The values of a histogram, of which each is drawn once.
#[derive(Debug)]
struct Urn {
    /// Ascending: how many values there are up to each bucket, and the value that stands for those of the bucket.
    ends: Vec<(u64, i64)>,
    /// How many of the smallest are 1 larger, so that the sum is right.
    rest: u64,
    order: Permutation<Which>,
    drawn: u64,
}

impl Urn {
    /// NULL: its sum is too far from those of its buckets.
    fn new(histogram: &Histogram, key: Which, seed: u64) -> Option<Self> {
        let mut ends = Vec::new();
        let mut count = 0_u64;
        for bucket in histogram.buckets() {
            count = count.checked_add(bucket.count)?;
            ends.push((count, middle(bucket.from, bucket.to)));
        }
        let middles = sum(&ends)?;
        if middles != 0 {
            // Middles times what the recorded sum is to theirs.
            for (_, value) in &mut ends {
                let scaled = i128::from(*value).saturating_mul(histogram.sum()).checked_div(middles)?;
                *value = i64::try_from(scaled).unwrap_or(*value);
            }
        }
        let left = histogram.sum().checked_sub(sum(&ends)?)?;
        let step = left.checked_div_euclid(count.into())?;
        let rest = left.checked_rem_euclid(count.into())?;
        ends.iter_mut()
            .for_each(|(_, value)| *value = value.saturating_add(i64::try_from(step).unwrap_or(0)));
        Some(Self { ends, rest: rest as u64, order: Permutation::new(count, key, seed), drawn: 0 })
    }

    fn draw(&mut self) -> Option<i64> {
        let number = self.order.of(self.drawn)?;
        self.drawn += 1;
        let bucket = self.ends.partition_point(|&(end, _)| end <= number);
        let (_, value) = *self.ends.get(bucket)?;
        Some(if number < self.rest { value.saturating_add(1) } else { value })
    }
}

/// The sum of values, each of which stands with how many there are up to it.
fn sum(ends: &[(u64, i64)]) -> Option<i128> {
    let mut before = 0;
    ends.iter().try_fold(0_i128, |sum, &(end, value)| {
        let count = end - std::mem::replace(&mut before, end);
        sum.checked_add(i128::from(value).checked_mul(count.into())?)
    })
}

fn middle(from: i64, to: Option<i64>) -> i64 {
    let last = to.map_or(if from < 0 { i64::MIN } else { i64::MAX }, |to| to - to.signum());
    ((i128::from(from) + i128::from(last)) / 2) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_structure::{Extreme, HistogramParts, Resolution};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn drawn_values_have_the_recorded_sum(values in prop::collection::vec(-3_000_000_i64..9_000_000_000, 1..60)) {
            let mut histogram = Histogram::new(Resolution { level: 3, buckets: Some(16) });
            values.iter().for_each(|&value| histogram.add(value, 0));
            let mut urn = Urn::new(&histogram, (0, None), 0).expect("an urn");
            let drawn: Vec<i64> = std::iter::from_fn(|| urn.draw()).collect();
            prop_assert_eq!(drawn.len(), values.len());
            prop_assert_eq!(drawn.iter().sum::<i64>(), values.iter().sum::<i64>());
        }
    }

    #[test]
    fn a_sum_that_no_division_gives_is_an_error() {
        // The middles of these buckets add up to -1, and scaled to such a sum are more than 128 bits hold.
        let (min, max) = (Extreme { value: i64::MIN, rank: 0 }, Extreme { value: i64::MAX, rank: 0 });
        let resolution = Resolution { level: 3, buckets: Some(16) };
        let parts = HistogramParts {
            level: Resolution::MAX_LEVEL,
            counts: [(-1, 1 << 62), (0, (1 << 62) + 1)].into(),
            sum: -(1 << 70),
            min: Some(min),
            max: Some(max),
        };
        let histogram = Histogram::of_parts(resolution, parts).expect("a histogram");
        assert!(Urn::new(&histogram, (0, None), 0).is_none());
    }

    #[test]
    fn durations_are_near_those_recorded() {
        let mut histogram = Histogram::new(Resolution { level: 3, buckets: Some(16) });
        let values = [1_000, 1_010, 250_000];
        values.iter().for_each(|&value| histogram.add(value, 0));
        let mut urn = Urn::new(&histogram, (0, None), 0).expect("an urn");
        let mut drawn: Vec<i64> = std::iter::from_fn(|| urn.draw()).collect();
        drawn.sort_unstable();
        for (drawn, value) in drawn.iter().zip(values) {
            assert!((drawn - value).abs() * 20 < value, "{drawn} for {value}");
        }
    }
}
