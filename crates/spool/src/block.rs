//! The records of a block, as far as they can be believed.

use crate::sum::Sum;

/// Why there are no more records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The bytes end.
    End,
    /// A zero stands where a record would begin.
    Zero,
    /// The record there would go beyond the end of the bytes.
    Length,
    /// The bytes are not those that were written.
    Check,
}

/// The payload of the record at `at`, and where the next one begins.
#[inline]
fn frame(bytes: &[u8], at: usize) -> Result<([u8; 2], &[u8], usize), Stop> {
    let rest = bytes.get(at..).unwrap_or_default();
    let (length, size) = match *rest {
        [] => return Err(Stop::End),
        [0, ..] => return Err(Stop::Zero),
        [a @ ..0x80, ..] => (usize::from(a), 1),
        [a, b @ ..0x80, ..] => (usize::from(a & 0x7f) | usize::from(b) << 7, 2),
        [a, b, c @ ..0x80, ..] => {
            (usize::from(a & 0x7f) | usize::from(b & 0x7f) << 7 | usize::from(c) << 14, 3)
        }
        _ => return Err(Stop::Length),
    };
    match rest[size..].split_first_chunk::<2>() {
        Some((check, payload)) if payload.len() >= length => {
            Ok((*check, &payload[..length], at + size + 2 + length))
        }
        _ => Err(Stop::Length),
    }
}

/// Where the records end that can be believed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verified {
    pub(crate) end: usize,
    pub(crate) records: u32,
    pub(crate) sum: Sum,
    pub(crate) stop: Stop,
    /// Where the last record begins.
    last: usize,
}

impl Verified {
    /// Follows the records of `bytes` from `start` on. `sum` is that before the first one.
    pub(crate) fn follow(bytes: &[u8], start: usize, sum: Sum) -> Self {
        let mut verified = Self { end: start, records: 0, sum, stop: Stop::End, last: start };
        loop {
            verified = match verified.next(bytes) {
                Ok(verified) => verified,
                Err(stop) => return Self { stop, ..verified },
            };
        }
    }

    /// The first record of `bytes` alone.
    pub(crate) fn follow_one(bytes: &[u8], sum: Sum) -> Self {
        let verified = Self { end: 0, records: 0, sum, stop: Stop::End, last: 0 };
        verified.next(bytes).unwrap_or(verified)
    }

    #[inline]
    fn next(self, bytes: &[u8]) -> Result<Self, Stop> {
        let (check, payload, end) = frame(bytes, self.end)?;
        let sum = self.sum.with(payload);
        if sum.check() != check {
            return Err(Stop::Check);
        }
        Ok(Self { end, records: self.records + 1, sum, last: self.end, ..self })
    }

    /// Without the last record: the sum of all says that one of them is wrong, and that could only be the last.
    pub(crate) fn without_last(self) -> Self {
        Self { end: self.last, records: self.records.saturating_sub(1), stop: Stop::Check, ..self }
    }
}

/// The payloads of verified records with the place of each.
#[derive(Debug)]
pub(crate) struct Payloads<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Payloads<'a> {
    /// The records from `start` to the end of `bytes`.
    pub(crate) fn new(bytes: &'a [u8], start: usize) -> Self {
        Self { bytes, at: start }
    }
}

impl<'a> Iterator for Payloads<'a> {
    type Item = (usize, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (_, payload, next) = frame(self.bytes, self.at).ok()?;
        Some((std::mem::replace(&mut self.at, next), payload))
    }
}
