//! Values of a column of which only how they are distributed is kept.
//!
//! Source: Scala-H-Trace, section 4.

use std::collections::{BTreeMap, BTreeSet};

use crate::quantities::Quantities;

/// How values are distributed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Numbers that are near each other.
    Quantities(Quantities),
    /// Numbers that name something.
    Names(NameTable),
}

impl Distribution {
    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Quantities(quantities) => quantities.histogram().count(),
            Self::Names(names) => names.count(),
        }
    }

    /// The smallest and the largest value; NULL if there is none.
    #[must_use]
    pub fn range(&self) -> Option<(i64, i64)> {
        match self {
            Self::Quantities(quantities) => quantities.range().map(|(min, max)| (min.value, max.value)),
            Self::Names(names) => {
                let all = || names.frequent.keys().chain(&names.others);
                all().min().copied().zip(all().max().copied())
            }
        }
    }

    /// Numbers that have to be kept.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::Quantities(quantities) => match quantities.values() {
                Some(values) => 3 + 2 * values.len(),
                None => 8 + 2 * quantities.histogram().counts().len(),
            },
            Self::Names(names) => 3 + 2 * names.frequent.len() + names.others.len(),
        }
    }
}

/// The most frequent names with their numbers, and which others there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameTable {
    /// Names, ascending, each with its number.
    pub frequent: BTreeMap<i64, u64>,
    /// All others.
    pub others: BTreeSet<i64>,
    /// How many values the others are, at least one each.
    pub others_count: u64,
}

impl NameTable {
    /// Names that are counted one by one.
    pub const MOST: usize = 32;

    /// The table of these values; only the multiset matters.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = i64>) -> Self {
        let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
        values.into_iter().for_each(|value| *counts.entry(value).or_default() += 1);
        let mut by_count: Vec<(i64, u64)> = counts.into_iter().collect();
        by_count.sort_by_key(|&(value, count)| (std::cmp::Reverse(count), value));
        let others = by_count.split_off(by_count.len().min(Self::MOST));
        Self {
            frequent: by_count.into_iter().collect(),
            others_count: others.iter().map(|&(_, count)| count).sum(),
            others: others.into_iter().map(|(value, _)| value).collect(),
        }
    }

    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.frequent.values().fold(self.others_count, |sum, &count| sum.saturating_add(count))
    }

    /// Each name with its number; the others have about as many each.
    pub fn each(&self) -> impl Iterator<Item = (i64, u64)> {
        let len = self.others.len() as u64;
        let of_other = move |(place, &value): (u64, &i64)| {
            let more = u64::from(place < self.others_count.checked_rem(len).unwrap_or(0));
            (value, self.others_count / len + more)
        };
        let mut all: Vec<(i64, u64)> = (0..).zip(&self.others).map(of_other).collect();
        all.extend(self.frequent.iter().map(|(&value, &count)| (value, count)));
        all.sort_unstable();
        all.into_iter()
    }
}

/// What is drawn instead of a column's values. The column itself then has the number of a distribution for each value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Whether the values are the same on all ranks, so that each rank draws all of them.
    pub common: bool,
    /// Columns with the same number here, of the same values, are drawn alike.
    pub draw: u32,
    /// The distributions, the one with the smallest values first.
    pub distributions: Vec<Distribution>,
}

impl Drawn {
    /// Numbers that have to be kept.
    #[must_use]
    pub fn weight(&self) -> usize {
        3 + self.distributions.iter().map(Distribution::weight).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_names_keep_their_numbers() {
        let values = (0..40).flat_map(|value| vec![value; if value < 35 { 3 } else { 1 }]);
        let table = NameTable::new(values);
        assert_eq!((table.frequent.len(), table.others.len()), (32, 8));
        assert_eq!((table.others_count, table.count()), (3 * 3 + 5, 110));
        let each: Vec<_> = table.each().collect();
        assert_eq!(each.iter().map(|&(_, count)| count).sum::<u64>(), 110);
        assert_eq!(
            each.iter().filter(|&&(value, _)| value >= 32).map(|&(_, count)| count).collect::<Vec<_>>(),
            [2, 2, 2, 2, 2, 2, 1, 1]
        );
    }
}
