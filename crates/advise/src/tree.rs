//! The largest ranks that were put on ranges of cells, by whom.
//!
//! A segment tree whose marks stay where they were put: a range is put, or asked for, in O(log n). Each node knows the largest rank
//! and the largest of all others' but its owner's, which is all it takes to leave one's own out.

/// What was put somewhere: ranks begin at 1, 0 is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Best {
    rank: u32,
    owner: u32,
    /// The largest rank that another than `owner` put.
    other: u32,
}

impl Best {
    /// Adds a rank of `owner`.
    pub(crate) fn put(&mut self, rank: u32, owner: u32) {
        if rank > self.rank {
            // What was the largest is larger than what was the largest of its others.
            if owner != self.owner {
                self.other = self.rank;
            }
            (self.rank, self.owner) = (rank, owner);
        } else if owner != self.owner {
            self.other = self.other.max(rank);
        }
    }

    /// The largest rank that another than `owner` put.
    pub(crate) fn but(self, owner: u32) -> u32 {
        if self.owner == owner { self.other } else { self.rank }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// Leaves begin here.
    width: usize,
    /// What covers a node as a whole.
    whole: Vec<Best>,
    /// What touches a node anywhere.
    touching: Vec<Best>,
}

impl Tree {
    /// A tree over so many cells.
    pub(crate) fn new(cells: usize) -> Self {
        let width = cells.max(1).next_power_of_two();
        Self { width, whole: vec![Best::default(); 2 * width], touching: vec![Best::default(); 2 * width] }
    }

    /// Puts `rank` of `owner` on the cells from `low` to before `high`.
    pub(crate) fn put(&mut self, low: usize, high: usize, rank: u32, owner: u32) {
        if low >= high {
            return;
        }
        let (mut left, mut right) = (low + self.width, high + self.width);
        while left < right {
            if left & 1 == 1 {
                self.whole[left].put(rank, owner);
                self.touching[left].put(rank, owner);
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                self.whole[right].put(rank, owner);
                self.touching[right].put(rank, owner);
            }
            left /= 2;
            right /= 2;
        }
        for mut node in [low + self.width, high - 1 + self.width] {
            while node > 1 {
                node /= 2;
                self.touching[node].put(rank, owner);
            }
        }
    }

    /// The largest rank on the cells from `low` to before `high` that another than `owner` put; 0 if there is none.
    pub(crate) fn best(&self, low: usize, high: usize, owner: u32) -> u32 {
        if low >= high {
            return 0;
        }
        let mut best = 0;
        let (mut left, mut right) = (low + self.width, high + self.width);
        while left < right {
            if left & 1 == 1 {
                best = best.max(self.touching[left].but(owner));
                left += 1;
            }
            if right & 1 == 1 {
                right -= 1;
                best = best.max(self.touching[right].but(owner));
            }
            left /= 2;
            right /= 2;
        }
        for mut node in [low + self.width, high - 1 + self.width] {
            while node > 1 {
                node /= 2;
                best = best.max(self.whole[node].but(owner));
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn answers_are_those_of_a_list(
            cells in 1_usize..40,
            steps in prop::collection::vec((0_usize..40, 0_usize..40, 1_u32..9, 0_u32..4, any::<bool>()), 1..60),
        ) {
            let mut tree = Tree::new(cells);
            let mut list: Vec<(usize, usize, u32, u32)> = Vec::new();
            for (a, b, rank, owner, puts) in steps {
                let (low, high) = (a.min(b).min(cells), a.max(b).min(cells));
                if puts {
                    tree.put(low, high, rank, owner);
                    list.push((low, high, rank, owner));
                }
                let touching = list.iter().filter(|(l, h, _, o)| *o != owner && *l < high && low < *h && l < h && low < high);
                let expected = touching.map(|put| put.2).max().unwrap_or(0);
                prop_assert_eq!(tree.best(low, high, owner), expected);
            }
        }
    }
}
