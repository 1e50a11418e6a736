//! Bits by their probability, and numbers that are all as likely: no number takes more bits than it tells, and none takes a whole one.
//!
//! An arithmetic coder of 32 bits without carries. What is behind the last byte is read as zeros, so the end takes none.

/// How many parts certainty has.
pub(crate) const CERTAIN: u32 = 1 << 16;

/// Bits under construction.
#[derive(Debug)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
    low: u32,
    high: u32,
}

impl Default for Encoder {
    fn default() -> Self {
        Self { bytes: Vec::new(), low: 0, high: u32::MAX }
    }
}

impl Encoder {
    /// A bit that is 1 in `ones` of [`CERTAIN`] cases, neither never nor always.
    pub(crate) fn bit(&mut self, bit: bool, ones: u32) {
        let middle = middle(self.low, self.high, ones);
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.bytes.push((self.high >> 24) as u8);
            self.low <<= 8;
            self.high = self.high << 8 | 0xff;
        }
    }

    /// A number from 0 to `most`.
    pub(crate) fn digit(&mut self, number: u64, most: u64) {
        each_bit(most, |at, ones| {
            let bit = number >> at & 1 == 1;
            self.bit(bit, ones);
            bit
        });
    }

    /// As few bytes as tell what was added.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let free = (0..=u32::BITS / 8).rev().map(|bytes| bytes * 8);
        let ends = free.filter_map(|free| {
            let unit = 1_u64 << free;
            let end = u64::from(self.low).next_multiple_of(unit);
            (end <= u64::from(self.high)).then_some(end as u32)
        });
        let end = ends.into_iter().next().unwrap_or(self.low);
        self.bytes.extend_from_slice(&end.to_be_bytes());
        while self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
        self.bytes
    }
}

/// Bits that are read.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    bytes: std::slice::Iter<'a, u8>,
    low: u32,
    high: u32,
    code: u32,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { bytes: bytes.iter(), low: 0, high: u32::MAX, code: 0 };
        (0..4).for_each(|_| decoder.shift());
        decoder
    }

    fn shift(&mut self) {
        self.code = self.code << 8 | u32::from(*self.bytes.next().unwrap_or(&0));
    }

    /// A bit that is 1 in `ones` of [`CERTAIN`] cases.
    pub(crate) fn bit(&mut self, ones: u32) -> bool {
        let middle = middle(self.low, self.high, ones);
        let bit = self.code <= middle;
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.low <<= 8;
            self.high = self.high << 8 | 0xff;
            self.shift();
        }
        bit
    }

    /// A number from 0 to `most`.
    pub(crate) fn digit(&mut self, most: u64) -> u64 {
        let mut number = 0;
        each_bit(most, |at, ones| {
            let bit = self.bit(ones);
            number |= u64::from(bit) << at;
            bit
        });
        number
    }

    /// Whether all bytes were read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.bytes.len() == 0
    }
}

/// The last code of a 1.
fn middle(low: u32, high: u32, ones: u32) -> u32 {
    low + (u64::from(high - low) * u64::from(ones) / u64::from(CERTAIN)) as u32
}

/// Asks for each bit of a number up to `most` that does not follow from those above it, with how often it is 1.
fn each_bit(most: u64, mut bit: impl FnMut(u32, u32) -> bool) {
    let mut is_along_most = true;
    for at in (0..u64::BITS - most.leading_zeros()).rev() {
        if !is_along_most {
            bit(at, CERTAIN / 2);
        } else if most >> at & 1 == 1 {
            let (zeros, ones) = (1_u128 << at, u128::from(most & ((1 << at) - 1)) + 1);
            let ones = (u128::from(CERTAIN) * ones / (zeros + ones)) as u32;
            is_along_most = bit(at, ones.max(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_take_the_bits_that_they_tell() {
        let mut out = Encoder::default();
        (0..1_000_u64).for_each(|number| out.digit(number * 7919 % 5, 4));
        let bits = out.finish().len() * 8;
        assert!((2_321..=2_344).contains(&bits), "{bits} bits for 1,000 of 2.32");
    }

    #[test]
    fn what_is_certain_takes_nothing() {
        let mut out = Encoder::default();
        (0..1_000).for_each(|_| out.digit(0, 0));
        assert!(out.finish().is_empty());
    }

    proptest! {
        #[test]
        fn numbers_come_back(numbers in prop::collection::vec((any::<u64>(), any::<u64>(), 0..64_u32), 0..60)) {
            let numbers: Vec<(u64, u64)> = numbers
                .into_iter()
                .map(|(number, most, shift)| (number, most >> shift))
                .map(|(number, most)| (if most == u64::MAX { number } else { number % (most + 1) }, most))
                .collect();
            let mut out = Encoder::default();
            numbers.iter().for_each(|&(number, most)| out.digit(number, most));
            let bytes = out.finish();
            let mut input = Decoder::new(&bytes);
            for (number, most) in numbers {
                prop_assert_eq!(input.digit(most), number);
            }
            prop_assert!(input.is_at_end());
        }

        #[test]
        fn bits_come_back(bits in prop::collection::vec((any::<bool>(), 1..CERTAIN), 0..200)) {
            let mut out = Encoder::default();
            bits.iter().for_each(|&(bit, ones)| out.bit(bit, ones));
            let bytes = out.finish();
            let mut input = Decoder::new(&bytes);
            for (bit, ones) in bits {
                prop_assert_eq!(input.bit(ones), bit);
            }
        }

        #[test]
        fn any_bytes_are_numbers(bytes in prop::collection::vec(any::<u8>(), 0..40), most in any::<u64>()) {
            let mut input = Decoder::new(&bytes);
            for _ in 0..20 {
                prop_assert!(input.digit(most) <= most);
            }
        }
    }
}
