//! An order that looks like none and is always the same.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;

/// A permutation of `0..len` that is a function of a key: four rounds of Feistel over the next power of four, walked until
/// the number is one of these.
///
/// Source: Scala-H-Trace, section 5.1.1, which draws at random.
#[derive(Clone, Copy, Debug)]
pub struct Permutation<K> {
    len: u64,
    half_bits: u32,
    key: K,
    seed: u64,
}

impl<K: Copy + Hash> Permutation<K> {
    /// The permutation of so many numbers.
    #[must_use]
    pub fn new(len: u64, key: K, seed: u64) -> Self {
        let bits = 64 - len.saturating_sub(1).leading_zeros();
        Self { len, half_bits: bits.div_ceil(2).max(1), key, seed }
    }

    /// The number at a place; NULL behind the last.
    #[must_use]
    pub fn of(&self, index: u64) -> Option<u64> {
        if index >= self.len {
            return None;
        }
        let mut number = self.round_trip(index);
        while number >= self.len {
            number = self.round_trip(number);
        }
        Some(number)
    }

    fn round_trip(&self, number: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for round in 0_u8..4 {
            let mixed = FixedState::with_seed(self.seed).hash_one((self.key, round, right));
            (left, right) = (right, left ^ mixed & mask);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_is_drawn_once(len in 1_u64..400, item in any::<u32>()) {
            let order = Permutation::new(len, (item, None::<u32>), u64::from(item) % 3);
            let mut drawn: Vec<u64> = (0..len).filter_map(|index| order.of(index)).collect();
            drawn.sort_unstable();
            prop_assert_eq!(drawn, (0..len).collect::<Vec<_>>());
            prop_assert_eq!(order.of(len), None);
        }
    }
}
