//! Values of a fixed width in bits, packed without gaps, lowest bit first: the ground of Parquet's integer encodings.

/// Number of bits that `value` needs.
pub(crate) const fn width(value: u64) -> u8 {
    (u64::BITS - value.leading_zeros()) as u8
}

/// Appends the lowest `width` bits of each value; the last byte is filled up with zeros.
pub(crate) fn pack(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u8) {
    let width = u32::from(width);
    let mut buffer = 0_u128;
    let mut filled = 0;
    for value in values {
        buffer |= u128::from(value) << filled;
        filled += width;
        if filled >= 64 {
            out.extend_from_slice(&(buffer as u64).to_le_bytes());
            buffer >>= 64;
            filled -= 64;
        }
    }
    let rest = filled.div_ceil(8) as usize;
    out.extend_from_slice(&(buffer as u64).to_le_bytes()[..rest]);
}

/// Values of this many bits are packed eight at a time: they fit 128 bits.
const WIDEST_EIGHT: u8 = 16;

/// Appends the lowest `width` bits of each value, as [`pack`] does; eight values take `width` bytes.
pub(crate) fn pack_eights(out: &mut Vec<u8>, eights: &[[u32; 8]], width: u8) {
    if width > WIDEST_EIGHT {
        return pack(out, eights.as_flattened().iter().map(|value| u64::from(*value)), width);
    }
    let bytes = usize::from(width);
    let mut at = out.len();
    out.resize(at + eights.len() * bytes + size_of::<u128>(), 0);
    for eight in eights {
        let four =
            |values: &[u32]| values.iter().rev().fold(0, |all, value| all << width | u64::from(*value));
        let (low, high) = eight.split_at(4);
        let packed = u128::from(four(low)) | u128::from(four(high)) << (4 * width);
        out[at..at + size_of::<u128>()].copy_from_slice(&packed.to_le_bytes());
        at += bytes;
    }
    out.truncate(at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn eight_at_a_time_are_packed_as_one_by_one(values in prop::collection::vec(any::<[u32; 8]>(), 0..5), width in 0..=32_u8) {
            let mask = ((1_u64 << width) - 1) as u32;
            let values: Vec<[u32; 8]> = values.iter().map(|eight| eight.map(|value| value & mask)).collect();
            let (mut one_by_one, mut at_once) = (vec![7], vec![7]);
            pack(&mut one_by_one, values.iter().flatten().map(|value| u64::from(*value)), width);
            pack_eights(&mut at_once, &values, width);
            prop_assert_eq!(at_once, one_by_one);
        }
    }

    #[test]
    fn packs_lowest_bits_first() {
        // The example of the Parquet format: 0 to 7 in three bits each.
        let mut out = Vec::new();
        pack(&mut out, 0..8, 3);
        assert_eq!(out, [0b1000_1000, 0b1100_0110, 0b1111_1010]);
    }

    #[test]
    fn full_width_values_survive() {
        let mut out = Vec::new();
        pack(&mut out, [u64::MAX, 1].into_iter(), 64);
        assert_eq!(out, [[0xff; 8], [1, 0, 0, 0, 0, 0, 0, 0]].concat());
    }
}
