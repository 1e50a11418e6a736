//! The relations of a case.
//!
//! Nearly all that are added are new, because whoever adds them knows the latest one of each; so a list that is tidied when it is
//! full costs less than a hash for each. It holds at most twice what is distinct.

use crate::vertex::Relation;

/// Distinct relations.
#[derive(Clone, Debug, Default)]
pub(crate) struct RelationSet {
    /// Some may stand here several times.
    list: Vec<Relation>,
}

const LEAST: usize = 16;

impl RelationSet {
    #[inline]
    pub(crate) fn insert(&mut self, relation: Relation) {
        if self.list.len() == self.list.capacity() {
            self.make_room();
        }
        self.list.push(relation);
    }

    #[cold]
    fn make_room(&mut self) {
        self.tidy();
        if self.list.len() * 2 >= self.list.capacity() {
            self.list.reserve_exact(self.list.len().max(LEAST));
        }
    }

    fn tidy(&mut self) {
        self.list.sort_unstable_by_key(|relation| relation.key());
        self.list.dedup();
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other.list.into_iter().for_each(|relation| self.insert(relation));
    }

    /// The relations; some may come several times.
    pub(crate) fn into_list(self) -> Vec<Relation> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relation_that_comes_again_and_again_takes_no_room() {
        let mut set = RelationSet::default();
        for round in 0..10_000_u32 {
            set.insert(Relation::between(round % 40, 7));
        }
        assert!(set.list.capacity() <= 128, "{}", set.list.capacity());
        let mut other = RelationSet::default();
        (30..50).for_each(|from| other.insert(Relation::between(from, 7)));
        set.merge(other);
        set.tidy();
        assert_eq!(set.into_list(), (0..50).map(|from| Relation::between(from, 7)).collect::<Vec<_>>());
    }
}
