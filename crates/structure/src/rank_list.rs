//! Sets of ranks in little space: progressions of progressions.
//!
//! Source: Scala-H-Trace, section 2.1; the inner 2x2 of a grid of 4x4 is `5 (2,4)(2,1)`.

use std::fmt;

/// Numbers with equal differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Progression {
    /// How many; at least 2.
    pub count: u32,
    /// From each to the next; at least 1.
    pub stride: u32,
}

/// Ranks from `start` on, repeated by each progression, the outermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// The smallest rank.
    pub start: u32,
    /// No two have a rank in common.
    pub progressions: Vec<Progression>,
}

/// A set of ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RankList {
    blocks: Vec<Block>,
}

impl RankList {
    /// The list of these ranks: from the left they are cut into progressions as long as they go, then the starts of
    /// equal ones are again. It depends on the set only.
    #[must_use]
    pub fn new(ranks: impl IntoIterator<Item = u32>) -> Self {
        let mut ranks: Vec<u32> = ranks.into_iter().collect();
        ranks.sort_unstable();
        ranks.dedup();
        Self::of_ascending(&ranks)
    }

    /// The list of these ranks, of which each is larger than the one before.
    pub(crate) fn of_ascending(ranks: &[u32]) -> Self {
        let mut blocks = progressions(ranks);
        loop {
            let before = blocks.len();
            blocks = join(blocks);
            if blocks.len() == before {
                return Self { blocks };
            }
        }
    }

    /// The list of these parts, of which each has at most `most` ranks below `most`; NULL if it is not the list of its
    /// ranks.
    #[must_use]
    pub fn of_blocks(blocks: &[Block], most: u32) -> Option<Self> {
        let within = |block: &Block| {
            let factors = block.progressions.iter().map(|progression| u64::from(progression.count));
            let len = factors.fold(1_u64, u64::saturating_mul);
            let steps = block.progressions.iter().map(|&Progression { count, stride }| {
                u64::from(count.saturating_sub(1)).saturating_mul(u64::from(stride))
            });
            let last = steps.fold(u64::from(block.start), u64::saturating_add);
            len <= u64::from(most) && last < u64::from(most)
        };
        let few = blocks.len() as u64 <= u64::from(most) && blocks.iter().all(within);
        let len: u64 = if few { blocks.iter().map(Block::len).sum() } else { return None };
        let list = (len <= u64::from(most)).then(|| Self::new(blocks.iter().flat_map(Block::ranks)))?;
        (list.blocks == blocks).then_some(list)
    }

    /// Its parts, of which each lies behind the one before.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The ranks, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.blocks.iter().flat_map(Block::ranks)
    }

    /// The lowest rank.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.blocks.first().map(|block| block.start)
    }

    /// Number of ranks.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.blocks.iter().map(Block::len).sum()
    }

    /// Whether there is no rank.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Whether the rank is one of these.
    #[must_use]
    pub fn contains(&self, rank: u32) -> bool {
        let behind = self.blocks.partition_point(|block| block.start <= rank);
        behind.checked_sub(1).is_some_and(|index| self.blocks[index].contains(rank))
    }
}

impl Block {
    /// Number of ranks.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.progressions.iter().map(|progression| u64::from(progression.count)).product()
    }

    /// Whether there is no rank.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The indices of a rank in the progressions; NULL if it is none of these.
    #[must_use]
    pub fn indices(&self, rank: u32) -> Option<Vec<u32>> {
        let mut rest = rank.checked_sub(self.start)?;
        let mut indices = Vec::with_capacity(self.progressions.len());
        for progression in &self.progressions {
            let index = (rest / progression.stride).min(progression.count - 1);
            rest -= index * progression.stride;
            indices.push(index);
        }
        (rest == 0).then_some(indices)
    }

    /// Whether the rank is one of these.
    fn contains(&self, rank: u32) -> bool {
        let left = |rest: u32, progression: &Progression| {
            rest - (rest / progression.stride).min(progression.count - 1) * progression.stride
        };
        rank.checked_sub(self.start).is_some_and(|rest| self.progressions.iter().fold(rest, left) == 0)
    }

    /// Ranks in ascending order.
    pub fn ranks(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(|index| self.rank(index))
    }

    fn rank(&self, mut index: u64) -> u32 {
        let mut rank = u64::from(self.start);
        for progression in self.progressions.iter().rev() {
            let count = u64::from(progression.count);
            rank += index % count * u64::from(progression.stride);
            index /= count;
        }
        rank as u32
    }
}

impl fmt::Display for RankList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, block) in self.blocks.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            let space = if block.progressions.is_empty() { "" } else { " " };
            write!(f, "{comma}{}{space}", block.start)?;
            for Progression { count, stride } in &block.progressions {
                write!(f, "({count},{stride})")?;
            }
        }
        Ok(())
    }
}

/// Cuts ascending ranks into progressions as long as they go.
fn progressions(ranks: &[u32]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = ranks;
    while let [start, others @ ..] = rest {
        let stride = others.first().map_or(0, |next| next - start);
        let count = 1 + rest.windows(2).take_while(|pair| pair[1] - pair[0] == stride).count();
        let progression = (count > 1).then_some(Progression { count: count as u32, stride });
        blocks.push(Block { start: *start, progressions: progression.into_iter().collect() });
        rest = &rest[count..];
    }
    blocks
}

/// Cuts the starts of equal blocks that follow each other into progressions.
fn join(mut blocks: Vec<Block>) -> Vec<Block> {
    let mut joined = Vec::new();
    let mut index = 0;
    while index < blocks.len() {
        let (first, others) = (&blocks[index], &blocks[index + 1..]);
        let count = progression(first, others);
        let stride = others.first().map_or(0, |next| next.start - first.start);
        let Block { start, progressions } = &mut blocks[index];
        let mut progressions = std::mem::take(progressions);
        if count > 1 {
            progressions.insert(0, Progression { count: count as u32, stride });
        }
        joined.push(Block { start: *start, progressions });
        index += count;
    }
    joined
}

/// How many blocks, `first` and those behind it, are one progression.
fn progression(first: &Block, others: &[Block]) -> usize {
    let Some(stride) = others.first().map(|next| next.start - first.start) else { return 1 };
    let steps = std::iter::once(first).chain(others).zip(others);
    let fits = |(one, next): &(&Block, &Block)| {
        next.start - one.start == stride && next.progressions == first.progressions
    };
    1 + steps.take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_inside_of_a_grid_is_one_block() {
        assert_eq!(RankList::new([10, 5, 9, 6]).to_string(), "5 (2,4)(2,1)");
        assert_eq!(RankList::new(0..6).to_string(), "0 (6,1)");
        assert_eq!(RankList::new([7]).to_string(), "7");
        assert_eq!(RankList::new([0, 1, 2, 10, u32::MAX]).to_string(), "0 (3,1), 10 (2,4294967285)");
        let cube = (0..2).flat_map(|z| (0..3).flat_map(move |y| (0..2).map(move |x| z * 100 + y * 10 + x)));
        assert_eq!(RankList::new(cube).to_string(), "0 (2,100)(3,10)(2,1)");
    }

    #[test]
    fn a_rank_has_indices_in_each_progression() {
        let list = RankList::new([5, 6, 9, 10]);
        assert_eq!(list.blocks()[0].indices(9), Some(vec![1, 0]));
        assert_eq!(list.blocks()[0].indices(7), None);
    }

    proptest! {
        #[test]
        fn a_list_holds_its_ranks(ranks in prop::collection::btree_set(0_u32..60, 0..40)) {
            let list = RankList::new(ranks.iter().rev().copied());
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), ranks.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(list.len(), ranks.len() as u64);
            for rank in 0..61 {
                prop_assert_eq!(list.contains(rank), ranks.contains(&rank));
            }
        }
    }
}
