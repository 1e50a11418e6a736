//! Numbers at the start of bytes that may be anything.

use iotrail_model::varint::Cursor;

/// The first `count` bytes.
pub(super) fn advance<'a>(input: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(count)?;
    *input = rest;
    Some(taken)
}

/// An unsigned number of varying length.
pub(super) fn varint(input: &mut &[u8]) -> Option<u64> {
    let mut cursor = Cursor(input);
    let number = cursor.number();
    *input = cursor.0;
    number
}

/// A signed number.
pub(super) fn zigzag(input: &mut &[u8]) -> Option<i64> {
    let mut cursor = Cursor(input);
    let number = cursor.signed();
    *input = cursor.0;
    number
}

/// What 32 bits hold, as the lengths of levels and texts are.
pub(super) fn length(input: &mut &[u8]) -> Option<usize> {
    let bytes = advance(input, 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(bytes) as usize)
}

/// `width` bits from the bit `at` on; behind the last of them there must be [`SLACK`] bytes.
#[inline]
pub(super) fn bits(bytes: &[u8], index: usize, width: u32) -> Option<u64> {
    let (byte, shift) = (index >> 3, (index & 7) as u32);
    let word = u64::from_le_bytes(bytes.get(byte..byte + 8)?.try_into().ok()?);
    let low = word >> shift;
    if shift + width <= 64 {
        return Some(low & mask(width));
    }
    let high = u64::from(*bytes.get(byte + 8)?);
    Some((low | high << (64 - shift)) & mask(width))
}

/// What is read behind packed values.
pub(super) const SLACK: usize = 16;

/// The lowest `width` bits.
#[inline]
pub(super) const fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}
