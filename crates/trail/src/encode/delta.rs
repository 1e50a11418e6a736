//! Parquet's DELTA_BINARY_PACKED: numbers that grow, as time stamps do.

use crate::encode::bits::{pack, width};
use iotrail_model::varint::{put, put_signed};

const BLOCK: usize = 128;
const MINIBLOCK: usize = 32;

/// Appends `values`.
pub(crate) fn encode(out: &mut Vec<u8>, values: &[i64]) {
    put(out, BLOCK as u64);
    put(out, (BLOCK / MINIBLOCK) as u64);
    put(out, values.len() as u64);
    put_signed(out, values.first().copied().unwrap_or_default());
    let mut deltas = [0_i64; BLOCK];
    for first in (1..values.len()).step_by(BLOCK) {
        let count = BLOCK.min(values.len() - first);
        for (delta, pair) in deltas.iter_mut().zip(values[first - 1..first + count].windows(2)) {
            *delta = pair[1].wrapping_sub(pair[0]);
        }
        block(out, &deltas[..count]);
    }
}

fn block(out: &mut Vec<u8>, deltas: &[i64]) {
    let least = deltas.iter().copied().min().unwrap_or_default();
    put_signed(out, least);
    let above = |delta: &i64| delta.wrapping_sub(least) as u64;
    let widths_at = out.len();
    out.extend_from_slice(&[0; BLOCK / MINIBLOCK]);
    for (number, miniblock) in deltas.chunks(MINIBLOCK).enumerate() {
        let bits = width(miniblock.iter().map(above).fold(0, |all, value| all | value));
        out[widths_at + number] = bits;
        let filler = std::iter::repeat_n(0, MINIBLOCK - miniblock.len());
        pack(out, miniblock.iter().map(above).chain(filler), bits);
    }
}
