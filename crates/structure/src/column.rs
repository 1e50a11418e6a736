//! What changes from one execution of an item to the next, in as little space as it follows from.
//!
//! Source: Scala-H-Trace, sections 3.1 and 4; its (start, stride, count) of offsets are affine columns.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::fold::Unfolded;
use crate::tree::Positions;
use crate::{Affine, Folded, RankList, fold, unfold};

/// One value of a column; NULL is unknown.
pub type Value = Option<i64>;

/// The values of one rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Values {
    /// All are NULL.
    Null,
    /// They follow from the iterations of the loops around them.
    Affine(Affine),
    /// Any others, in the order of execution.
    Sequence(Vec<Folded<Value>>),
}

impl Values {
    /// The values of a rank, in order, whose executions stand at these positions.
    pub fn of(positions: &Positions, executions: Range<usize>, values: impl Fn(usize) -> Value) -> Self {
        let all = executions.clone().map(&values);
        if all.clone().all(|value| value.is_none()) {
            return Self::Null;
        }
        let known: Option<Vec<i64>> = all.collect();
        let points = known.iter().flat_map(|known| executions.clone().zip(known));
        let affine = Affine::through(points.map(|(execution, &value)| (positions.at(execution), value)));
        affine.map_or_else(|| Self::Sequence(fold(executions.map(values))), Self::Affine)
    }

    /// Numbers that have to be kept.
    fn weight(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Affine(affine) => {
                1 + affine.coefficients.iter().filter(|&&coefficient| coefficient != 0).count()
            }
            Self::Sequence(folded) => 2 + folded.iter().map(Folded::weight).sum::<usize>(),
        }
    }

    /// The values at index 0 of all loops, and what is the same on all ranks of a class.
    fn apart(mut self) -> (i64, Self) {
        match &mut self {
            Self::Affine(affine) => (std::mem::take(&mut affine.constant), self),
            Self::Null | Self::Sequence(_) => (0, self),
        }
    }

    fn moved(&self, by: i64) -> Option<Self> {
        match self {
            Self::Affine(affine) => {
                let constant = affine.constant.checked_add(by)?;
                Some(Self::Affine(Affine { constant, ..affine.clone() }))
            }
            Self::Null | Self::Sequence(_) => Some(self.clone()),
        }
    }
}

/// Ranks whose values are the same, or differ by what follows from the rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    /// The ranks, at least one.
    pub ranks: Arc<RankList>,
    /// What the indices of a rank in the progressions of `ranks` add to its values, one for each progression; empty:
    /// nothing.
    pub strides: Vec<i64>,
    /// The values of the first rank.
    pub values: Values,
}

impl Class {
    /// What a rank adds to the values; NULL if it is not of this class, or that does not fit 64 bits.
    #[must_use]
    pub fn added(&self, rank: u32) -> Option<i64> {
        match (self.strides.is_empty(), self.ranks.blocks()) {
            (true, _) => self.ranks.contains(rank).then_some(0),
            (false, [block]) => {
                let strides = Affine { constant: 0, coefficients: self.strides.clone() };
                strides.at(&block.indices(rank)?)
            }
            (false, _) => None,
        }
    }
}

/// One value for each execution of an item, on all ranks. A function of the values alone: neither how ranks were
/// divided nor the order of merging changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Column {
    classes: Vec<Class>,
}

impl Column {
    /// The column of values by execution, on the ranks that execute the item.
    pub fn of(positions: &Positions, values: impl Fn(usize) -> Value) -> Self {
        let of_rank = |(rank, executions)| (rank, Values::of(positions, executions, &values));
        Self::of_ranks(positions.sequences().map(of_rank))
    }

    /// Classes by their first rank.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The column of these classes, of which no rank is in two.
    #[must_use]
    pub fn of_classes(mut classes: Vec<Class>) -> Self {
        classes.sort_by_key(|class| class.ranks.first());
        Self { classes }
    }

    /// How many numbers have to be kept, about.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.classes.iter().map(|class| 1 + class.strides.len() + class.values.weight()).sum()
    }

    /// The column of all ranks of two, of which no rank is in both.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        Self::of_ranks(self.ranks().chain(other.ranks()))
    }

    /// The values of each rank.
    fn ranks(&self) -> impl Iterator<Item = (u32, Values)> {
        self.classes.iter().flat_map(|class| {
            let of_rank = |rank| Some((rank, class.values.moved(class.added(rank)?)?));
            class.ranks.iter().filter_map(of_rank)
        })
    }

    fn of_ranks(ranks: impl Iterator<Item = (u32, Values)>) -> Self {
        let mut groups: HashMap<Values, BTreeMap<u32, i64>> = HashMap::new();
        for (rank, values) in ranks {
            let (constant, shared) = values.apart();
            groups.entry(shared).or_default().insert(rank, constant);
        }
        Self::of_classes(
            groups.into_iter().flat_map(|(shared, constants)| classes(&shared, &constants)).collect(),
        )
    }

    /// Reads the values of a rank from the first one on; NULL if it has none.
    #[must_use]
    pub fn reader(&self, rank: u32) -> Option<Reader<'_>> {
        // Classes stand by their first ranks.
        let later = self.classes.partition_point(|class| class.ranks.first() <= Some(rank));
        let class = self.classes[..later].iter().rfind(|class| class.ranks.contains(rank))?;
        Some(match &class.values {
            Values::Null => Reader::Null,
            Values::Affine(affine) => {
                let constant = affine.constant.checked_add(class.added(rank)?)?;
                Reader::Affine(Affine { constant, ..affine.clone() })
            }
            Values::Sequence(folded) => Reader::Sequence(unfold(folded)),
        })
    }
}

/// Classes of ranks whose values are equal but for a constant: one if that is the same, else those in which it
/// follows from the rank, else one for each constant.
fn classes(shared: &Values, constants: &BTreeMap<u32, i64>) -> Vec<Class> {
    let class = |ranks, strides, constant| {
        Some(Class { ranks: Arc::new(ranks), strides, values: shared.moved(constant)? })
    };
    let mut equal: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    let mut classes = Vec::new();
    let differ = constants.values().any(|constant| Some(constant) != constants.values().next());
    for block in RankList::new(constants.keys().copied()).blocks() {
        let ranks = RankList::new(block.ranks());
        match strides(&ranks, constants).filter(|_| differ) {
            Some(Affine { constant, coefficients }) => classes.extend(class(ranks, coefficients, constant)),
            None => ranks.iter().for_each(|rank| equal.entry(constants[&rank]).or_default().push(rank)),
        }
    }
    let of_constant = |(constant, ranks)| class(RankList::new(ranks), Vec::new(), constant);
    classes.extend(equal.into_iter().filter_map(of_constant));
    classes
}

/// How constants follow from the indices of ranks, where there are several ranks in one block.
fn strides(ranks: &RankList, constants: &BTreeMap<u32, i64>) -> Option<Affine> {
    let [block] = ranks.blocks() else { return None };
    let point = |rank| Some((block.indices(rank)?, constants[&rank]));
    let points: Vec<(Vec<u32>, i64)> = ranks.iter().map(point).collect::<Option<_>>()?;
    let points = points.iter().map(|(indices, constant)| (&indices[..], *constant));
    Affine::through(points).filter(|affine| affine.coefficients.iter().any(|&stride| stride != 0))
}

/// The values of a rank, one after the other.
#[derive(Clone, Debug)]
pub enum Reader<'a> {
    /// All are NULL.
    Null,
    /// They follow from where they stand.
    Affine(Affine),
    /// Those that are left.
    Sequence(Unfolded<'a, Value>),
}

impl Reader<'_> {
    /// The value of the next execution, which stands at these indices; NULL if the column has none for it.
    pub fn next(&mut self, indices: &[u32]) -> Option<Value> {
        match self {
            Self::Null => Some(None),
            Self::Affine(affine) => affine.at(indices).map(Some),
            Self::Sequence(values) => values.next().copied(),
        }
    }
}

#[cfg(test)]
mod tests;
