//! What changes from one execution of an item to the next, in as little space as it follows from.
//!
//! Source: Scala-H-Trace, sections 3.1 and 4; its (start, stride, count) of offsets are affine columns.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::fold::Unfolded;
use crate::tree::{Counts, Positions};
use crate::{Affine, Block, Folded, RankList, fold, unfold};

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
    fn of(positions: &Positions, executions: Range<usize>, values: impl Fn(usize) -> Value) -> Self {
        let known: Option<Vec<i64>> = executions.clone().map(&values).collect();
        let points = known.iter().flat_map(|known| executions.clone().zip(known));
        let affine = Affine::through(points.map(|(execution, &value)| (positions.at(execution), value)));
        affine.map_or_else(|| Self::Sequence(fold(executions.map(values))), Self::Affine)
    }

    /// The same value everywhere, at so many indices.
    fn same(value: Value, indices: usize) -> Self {
        value.map_or(Self::Null, |constant| Self::Affine(Affine { constant, coefficients: vec![0; indices] }))
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
    /// Of a column that has the same value everywhere.
    pub(crate) const LEAST_WEIGHT: usize = 2;

    /// The column of values by execution, on the ranks that execute the item.
    pub fn of(positions: &Positions, values: impl Fn(usize) -> Value) -> Self {
        if positions.is_empty() {
            return Self::default();
        }
        let is_same = |mut executions: Range<usize>| {
            let first = executions.next().and_then(&values);
            executions.all(|execution| values(execution) == first).then_some(first)
        };
        if let Some(value) = is_same(0..positions.len()) {
            let ranks = Arc::clone(positions.ranks());
            let values = Values::same(value, positions.width());
            return Self { classes: vec![Class { ranks, strides: Vec::new(), values }] };
        }
        let mut groups = Groups::default();
        for (rank, executions) in positions.sequences() {
            match is_same(executions.clone()) {
                Some(value) => groups.add_same(rank, value),
                None => groups.add(rank, Values::of(positions, executions, &values)),
            }
        }
        groups.column(positions.width())
    }

    /// The column of counts of an item in the body that is executed at these positions.
    pub(crate) fn of_counts(around: &Positions, counts: &Counts) -> Self {
        let mut of_executions = vec![0; around.len()];
        counts.iter().for_each(|(execution, count)| of_executions[execution as usize] = count);
        Self::of(around, |execution| Some(of_executions[execution].into()))
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
        let mut groups = Groups::default();
        let mut ranks: Vec<(u32, Values)> = self.ranks().chain(other.ranks()).collect();
        ranks.sort_by_key(|&(rank, _)| rank);
        ranks.into_iter().for_each(|(rank, values)| groups.add(rank, values));
        groups.column(0)
    }

    /// The values of each rank.
    fn ranks(&self) -> impl Iterator<Item = (u32, Values)> {
        self.classes.iter().flat_map(|class| {
            let of_rank = |rank| Some((rank, class.values.moved(class.added(rank)?)?));
            class.ranks.iter().filter_map(of_rank)
        })
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

/// Ranks, ascending, by what their values have in common, with what they have not.
#[derive(Default)]
struct Groups {
    /// Those that were added as having the same value everywhere: no value, or a constant.
    nulls: Vec<(u32, i64)>,
    constants: Vec<(u32, i64)>,
    others: HashMap<Values, Vec<(u32, i64)>>,
}

impl Groups {
    fn add(&mut self, rank: u32, values: Values) {
        let (constant, shared) = values.apart();
        self.others.entry(shared).or_default().push((rank, constant));
    }

    fn add_same(&mut self, rank: u32, value: Value) {
        match value {
            None => self.nulls.push((rank, 0)),
            Some(constant) => self.constants.push((rank, constant)),
        }
    }

    /// The column of values at so many indices.
    fn column(self, indices: usize) -> Column {
        let same = [(Values::Null, self.nulls), (Values::same(Some(0), indices), self.constants)];
        let groups = self.others.into_iter().chain(same);
        Column::of_classes(groups.flat_map(|(shared, ranks)| classes(&shared, &ranks)).collect())
    }
}

/// Classes of ranks, ascending, whose values are equal but for a constant: one if that is the same, else those in which it
/// follows from the rank, else one for each constant.
fn classes(shared: &Values, constants: &[(u32, i64)]) -> Vec<Class> {
    let list = |constants: &[(u32, i64)]| {
        let ranks: Vec<u32> = constants.iter().map(|&(rank, _)| rank).collect();
        RankList::of_ascending(&ranks)
    };
    let class = |ranks, strides, constant| {
        Some(Class { ranks: Arc::new(ranks), strides, values: shared.moved(constant)? })
    };
    let of_constant = |equal: &[(u32, i64)]| class(list(equal), Vec::new(), equal[0].1);
    let Some(&(_, first)) = constants.first() else { return Vec::new() };
    if constants.iter().all(|&(_, constant)| constant == first) {
        return of_constant(constants).into_iter().collect();
    }
    let (mut classes, mut others, mut rest) = (Vec::new(), Vec::new(), constants);
    for block in list(constants).blocks() {
        let of_block;
        (of_block, rest) = rest.split_at(block.len() as usize);
        match strides(block, of_block) {
            Some(Affine { constant, coefficients }) => {
                classes.extend(class(list(of_block), coefficients, constant));
            }
            None => others.extend_from_slice(of_block),
        }
    }
    others.sort_by_key(|&(_, constant)| constant);
    classes.extend(others.chunk_by(|one, next| one.1 == next.1).filter_map(of_constant));
    classes
}

/// How constants follow from the indices of the ranks of a block, where there are several ranks.
fn strides(block: &Block, constants: &[(u32, i64)]) -> Option<Affine> {
    let inner = block.progressions.last()?;
    let step = |pair: &[(u32, i64)]| i128::from(pair[1].1) - i128::from(pair[0].1);
    let first = constants.windows(2).next().map(step);
    let mut inner = constants.chunks(inner.count as usize);
    if !inner.all(|chunk| chunk.windows(2).all(|pair| Some(step(pair)) == first)) {
        return None;
    }
    let point = |&(rank, constant): &(u32, i64)| Some((block.indices(rank)?, constant));
    let points: Vec<(Vec<u32>, i64)> = constants.iter().map(point).collect::<Option<_>>()?;
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
