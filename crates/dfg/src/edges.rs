//! Directly-follows relations and what is summed over each.
//!
//! The number of a relation is looked up once for each event: in a matrix while there are at most [`MATRIX`] activities
//! (1 MB at most), in a hash table beyond.

use crate::quantile::Quantiles;
use crate::vertex::Relation;
use hashbrown::HashMap;

const MATRIX: usize = 512;
const NONE: u32 = u32::MAX;

/// All relations that were seen, numbered in the order in which they first were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    pub(crate) list: Vec<EdgeTotals>,
    matrix: Vec<u32>,
    /// Rows and columns of the matrix; a power of two.
    side: usize,
    beyond: HashMap<Relation, u32, foldhash::fast::RandomState>,
}

/// A relation, summed over all groups.
#[derive(Clone, Debug)]
pub(crate) struct EdgeTotals {
    pub(crate) relation: Relation,
    pub(crate) gaps: Quantiles,
    /// By slot of the plan.
    pub(crate) groups: Vec<EdgeSums>,
}

/// What is summed for each group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EdgeSums {
    pub(crate) count: u64,
    pub(crate) cases: u64,
    pub(crate) gap_sum: i128,
}

impl EdgeSums {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.cases += other.cases;
        self.gap_sum += other.gap_sum;
    }
}

impl Edges {
    /// The number of a relation, a new one if it was not seen before.
    #[inline]
    pub(crate) fn number(&mut self, relation: Relation, slots: usize) -> usize {
        if let (Some(from), Some(to)) = (relation.from.index(), relation.to.index())
            && from < self.side
            && to < self.side
        {
            let known = self.matrix[from * self.side + to];
            if known != NONE {
                return known as usize;
            }
        }
        self.number_slowly(relation, slots)
    }

    #[cold]
    fn number_slowly(&mut self, relation: Relation, slots: usize) -> usize {
        if let Some(&known) = self.beyond.get(&relation) {
            return known as usize;
        }
        let new = self.list.len();
        self.list.push(EdgeTotals {
            relation,
            gaps: Quantiles::default(),
            groups: vec![EdgeSums::default(); slots],
        });
        match (relation.from.index(), relation.to.index()) {
            (Some(from), Some(to)) if from.max(to) < MATRIX => {
                self.widen(from.max(to) + 1);
                self.matrix[from * self.side + to] = new as u32;
            }
            _ => {
                self.beyond.insert(relation, new as u32);
            }
        }
        new
    }

    fn widen(&mut self, activities: usize) {
        if activities <= self.side {
            return;
        }
        self.side = activities.next_power_of_two().max(32);
        self.matrix = vec![NONE; self.side * self.side];
        for (number, edge) in self.list.iter().enumerate() {
            if let (Some(from), Some(to)) = (edge.relation.from.index(), edge.relation.to.index())
                && from.max(to) < self.side
            {
                self.matrix[from * self.side + to] = number as u32;
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for theirs in other.list {
            let number = self.number(theirs.relation, theirs.groups.len());
            let mine = &mut self.list[number];
            mine.gaps.merge(theirs.gaps);
            mine.groups.iter_mut().zip(&theirs.groups).for_each(|(mine, theirs)| mine.merge(theirs));
        }
    }
}
