//! Sums by key. Most rows have the key of a row shortly before, which costs a comparison and no hash.

use hashbrown::HashMap;
use std::hash::Hash;

/// A sum for each key. The hash is seeded per process, so that no trace can choose its collisions.
#[derive(Clone, Debug)]
pub(crate) struct KeyedSums<K, V> {
    places: HashMap<K, u32, foldhash::fast::RandomState>,
    list: Vec<(K, V)>,
    /// Where the key that was asked for last is.
    last: usize,
}

impl<K, V> Default for KeyedSums<K, V> {
    fn default() -> Self {
        Self { places: HashMap::default(), list: Vec::new(), last: 0 }
    }
}

impl<K: Copy + Eq + Hash, V: Copy> KeyedSums<K, V> {
    /// The sum of `key`, at first `new`.
    #[inline]
    pub(crate) fn get_or(&mut self, key: K, new: V) -> &mut V {
        if self.list.get(self.last).is_none_or(|(last, _)| *last != key) {
            self.last = self.find(key, new);
        }
        &mut self.list[self.last].1
    }

    fn find(&mut self, key: K, new: V) -> usize {
        let next = self.list.len();
        let place = *self.places.entry(key).or_insert(next as u32) as usize;
        if place == next {
            self.list.push((key, new));
        }
        place
    }

    /// Keys and sums, in the order in which the keys came.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &(K, V)> {
        self.list.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_sum_whatever_the_order() {
        let mut sums = KeyedSums::default();
        for key in [3, 3, 5, 3, 5, 5, 7] {
            *sums.get_or(key, 100) += key;
        }
        let found: Vec<(u32, u32)> = sums.iter().copied().collect();
        assert_eq!(found, [(3, 109), (5, 115), (7, 107)]);
    }
}
