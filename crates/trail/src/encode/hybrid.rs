//! Parquet's RLE / bit-packing hybrid: dictionary keys and definition levels.

use crate::encode::bits::pack_eights;
use iotrail_model::varint::put;

/// The shortest run of equal values that is written as a run; a shorter one is cheaper among packed values.
const MIN_RUN: usize = 16;

/// Appends `values`, each of at most `width` bits.
pub(crate) fn encode(out: &mut Vec<u8>, values: &[u32], width: u8) {
    let mut packed = 0;
    let mut at = 0;
    while at < values.len() {
        let run = values[at..].iter().take_while(|value| **value == values[at]).count();
        if run >= MIN_RUN {
            literals(out, &values[packed..at], width);
            repeated(out, values[at], run, width);
            at += run;
            packed = at;
        } else {
            // Packed values come in eights; only the last eight of a page may be filled up.
            at = (at + 8).min(values.len());
        }
    }
    literals(out, &values[packed..], width);
}

/// Appends so many equal values.
pub(crate) fn encode_equal(out: &mut Vec<u8>, value: u32, count: usize, width: u8) {
    match count < MIN_RUN {
        true => literals(out, &[value; MIN_RUN][..count], width),
        false => repeated(out, value, count, width),
    }
}

fn repeated(out: &mut Vec<u8>, value: u32, run: usize, width: u8) {
    put(out, (run as u64) << 1);
    out.extend_from_slice(&value.to_le_bytes()[..usize::from(width).div_ceil(8)]);
}

fn literals(out: &mut Vec<u8>, values: &[u32], width: u8) {
    if values.is_empty() {
        return;
    }
    let eights = values.len().div_ceil(8);
    put(out, (eights as u64) << 1 | 1);
    let (whole, rest) = values.as_chunks();
    pack_eights(out, whole, width);
    if !rest.is_empty() {
        let mut filled_up = [0; 8];
        filled_up[..rest.len()].copy_from_slice(rest);
        pack_eights(out, &[filled_up], width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_encoded_as_others() {
        for count in 0..40 {
            let (mut one_by_one, mut at_once) = (Vec::new(), Vec::new());
            encode(&mut one_by_one, &vec![1; count], 1);
            encode_equal(&mut at_once, 1, count, 1);
            assert_eq!(at_once, one_by_one, "{count}");
        }
    }

    #[test]
    fn runs_and_packed_values_take_turns() {
        let mut out = Vec::new();
        let values = [vec![1, 0, 1, 0, 1, 0, 1, 0], vec![1; 20], vec![0, 1]].concat();
        encode(&mut out, &values, 1);
        assert_eq!(out, [3, 0b0101_0101, 40, 1, 3, 0b10]);
    }
}
