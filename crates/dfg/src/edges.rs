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
    /// By number of the relation and slot of the plan, `slots` for each relation.
    sums: Vec<EdgeSums>,
    slots: usize,
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
}

/// What is summed for each group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EdgeSums {
    pub(crate) count: u64,
    pub(crate) cases: u64,
    /// Occurrences that have a gap, and the sum of their gaps.
    pub(crate) gaps: u64,
    pub(crate) gap_sum: i128,
}

impl EdgeSums {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.cases += other.cases;
        self.gaps += other.gaps;
        self.gap_sum += other.gap_sum;
    }
}

impl Edges {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            list: Vec::new(),
            sums: Vec::new(),
            slots,
            matrix: Vec::new(),
            side: 0,
            beyond: HashMap::default(),
        }
    }

    /// The relation of that number and its sums within one group.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: usize, slot: usize) -> (&mut EdgeTotals, &mut EdgeSums) {
        (&mut self.list[number], &mut self.sums[number * self.slots + slot])
    }

    /// The sums of a relation by slot of the plan.
    pub(crate) fn sums(&self, number: usize) -> &[EdgeSums] {
        &self.sums[number * self.slots..][..self.slots]
    }

    /// The number of a relation, a new one if it was not seen before.
    #[inline]
    pub(crate) fn number(&mut self, relation: Relation) -> usize {
        if let (Some(from), Some(to)) = (relation.from.index(), relation.to.index())
            && from < self.side
            && to < self.side
        {
            let known = self.matrix[from * self.side + to];
            if known != NONE {
                return known as usize;
            }
        }
        self.number_slowly(relation)
    }

    #[cold]
    fn number_slowly(&mut self, relation: Relation) -> usize {
        if let Some(&known) = self.beyond.get(&relation) {
            return known as usize;
        }
        let new = self.list.len();
        self.list.push(EdgeTotals { relation, gaps: Quantiles::default() });
        self.sums.resize((new + 1) * self.slots, EdgeSums::default());
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
        for (theirs, sums) in other.list.into_iter().zip(other.sums.chunks(self.slots)) {
            let number = self.number(theirs.relation);
            self.list[number].gaps.merge(theirs.gaps);
            let mine = &mut self.sums[number * self.slots..][..self.slots];
            mine.iter_mut().zip(sums).for_each(|(mine, theirs)| mine.merge(theirs));
        }
    }
}
