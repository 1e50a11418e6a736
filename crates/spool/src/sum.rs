//! The sum that tells records from what only looks like them.
//!
//! It is chained through a block: the check of a record depends on all records before it, on the block's place and on
//! the spool's identity, so that neither a page of zeros nor a page of an older spool is believed. It finds accidents,
//! not forgery. Each step multiplies 64 by 64 bits and folds the halves together.

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const LENGTH: u64 = 0xd6e8_feb8_6659_fd93;

/// The sum of records so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum(pub(crate) u64);

impl Sum {
    /// The sum at the start of the block at byte `place` of segment `number`.
    pub(crate) fn of_block(identity: u64, number: u32, index: u64) -> Self {
        Self(identity).with(&u64::from(number).to_le_bytes()).with(&index.to_le_bytes())
    }

    /// The sum of some bytes alone.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(MULTIPLIER).with(bytes)
    }

    /// The sum with `bytes` added.
    #[inline]
    pub(crate) fn with(self, bytes: &[u8]) -> Self {
        let mut state = self.0 ^ (bytes.len() as u64).wrapping_add(1).wrapping_mul(LENGTH);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            state = fold(state ^ u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let word = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            state = fold(state ^ word);
        }
        Self(state)
    }

    /// What a record stores of it.
    #[inline]
    pub(crate) fn check(self) -> [u8; 2] {
        (self.0 as u16).to_le_bytes()
    }
}

#[inline]
fn fold(value: u64) -> u64 {
    let product = u128::from(value) * u128::from(MULTIPLIER);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_and_the_length_count() {
        let bytes = *b"a record of an event";
        let sum = Sum(7).with(&bytes);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(Sum(7).with(&flipped), sum);
        }
        assert_ne!(Sum(7).with(b"a\0"), Sum(7).with(b"a"));
        assert_ne!(Sum(7).with(b""), Sum(7));
        assert_ne!(Sum::of_block(7, 0, 0), Sum::of_block(7, 0, 1 << 16));
        assert_ne!(Sum::of_block(7, 1, 0), Sum::of_block(7, 0, 0));
    }
}
