//! Numbers in as few bytes as they need: seven bits a byte, the lowest first (LEB128); signed ones zig-zag.

/// Appends `value`.
#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed value; small magnitudes are short.
#[inline]
pub fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, (value << 1 ^ value >> 63) as u64);
}

/// Appends the number of bytes and the bytes.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads what the functions above wrote; `None` where the bytes end too early or are no number.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// What [`put`] wrote.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first < 0x80 { Some(u64::from(first)) } else { self.more(u64::from(first & 0x7f)) }
    }

    fn more(&mut self, mut value: u64) -> Option<u64> {
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                return None;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// What [`put_signed`] wrote.
    #[inline]
    pub fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A number of at most 32 bits.
    #[inline]
    pub fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// What [`put_bytes`] wrote.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.number()?.try_into().ok()?;
        self.take(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_round_trip(value in any::<u64>(), shift in 0_u32..64) {
            let (value, signed) = (value >> shift, value as i64 >> shift);
            let mut out = Vec::new();
            put(&mut out, value);
            put_signed(&mut out, signed);
            let mut cursor = Cursor(&out);
            prop_assert_eq!(cursor.number(), Some(value));
            prop_assert_eq!(cursor.signed(), Some(signed));
            prop_assert_eq!(cursor.byte(), None);
        }

        #[test]
        fn what_ends_too_early_is_no_number(value in 0x80_u64..) {
            let mut out = Vec::new();
            put(&mut out, value);
            out.pop();
            prop_assert_eq!(Cursor(&out).number(), None);
        }
    }

    #[test]
    fn small_numbers_are_short() {
        let mut out = Vec::new();
        put(&mut out, 300);
        put_signed(&mut out, -1);
        put_signed(&mut out, i64::MIN);
        assert_eq!(out[..3], [0xac, 0x02, 0x01]);
        assert_eq!(out.len(), 13);
    }

    #[test]
    fn more_than_64_bits_are_no_number() {
        assert_eq!(Cursor(&[0xff; 20]).number(), None);
        assert_eq!(Cursor(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).number(), None);
        assert_eq!(
            Cursor(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).number(),
            Some(u64::MAX)
        );
    }
}
