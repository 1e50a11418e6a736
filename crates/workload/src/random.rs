//! A small generator of random numbers whose sequence is a function of its key.

/// SplitMix64 (Steele, Lea, Flood 2014), a counter through a mixing function.
pub(crate) struct Random(u64);

impl Random {
    /// The generator of a key.
    pub(crate) fn of(key: &[u64]) -> Self {
        key.iter().fold(Self(0), |mut random, part| {
            random.0 ^= part;
            Self(random.next())
        })
    }

    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    pub(crate) fn shuffle<T>(&mut self, values: &mut [T]) {
        for at in (1..values.len()).rev() {
            values.swap(at, self.below(at + 1));
        }
    }
}
