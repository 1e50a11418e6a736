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

#[cfg(test)]
mod tests {
    use super::*;

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
