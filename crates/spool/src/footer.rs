//! The last bytes of a full block: what is in it, so that a reader can skip it and knows what damage took.

use crate::format::FOOTER;
use crate::sum::Sum;
use iotrail_model::Timestamp;

/// Summary of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Footer {
    /// Where the records end, from the start of the block.
    pub(crate) used: u32,
    pub(crate) records: u32,
    pub(crate) events: u32,
    pub(crate) names: u32,
    /// Process rows, images, file facts, coverage statements.
    pub(crate) rows: u32,
    /// The earliest and the latest start of an event, the wrong way round if there are none.
    pub(crate) first: i64,
    pub(crate) last: i64,
    /// Sum of all records.
    pub(crate) sum: Sum,
}

impl Default for Footer {
    fn default() -> Self {
        Self {
            used: 0,
            records: 0,
            events: 0,
            names: 0,
            rows: 0,
            first: i64::MAX,
            last: i64::MIN,
            sum: Sum::default(),
        }
    }
}

impl Footer {
    pub(crate) fn encode(&self) -> [u8; FOOTER] {
        let mut bytes = [0; FOOTER];
        let numbers = [self.used, self.records, self.events, self.names, self.rows, 0];
        for (place, number) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        bytes[24..32].copy_from_slice(&self.first.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.last.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.sum.0.to_le_bytes());
        let check = self.sum.with(&bytes[..48]);
        bytes[48..].copy_from_slice(&check.0.to_le_bytes());
        bytes
    }

    /// The footer, if these bytes are one. A footer of another place than the records' fails when its sum is compared.
    pub(crate) fn decode(bytes: &[u8; FOOTER]) -> Option<Self> {
        let (numbers, _) = bytes[..24].as_chunks::<4>();
        let (words, _) = bytes[24..].as_chunks::<8>();
        let [used, records, events, names, rows] = [0, 1, 2, 3, 4].map(|at| u32::from_le_bytes(numbers[at]));
        let sum = Sum(u64::from_le_bytes(words[2]));
        let footer = Self {
            used,
            records,
            events,
            names,
            rows,
            first: i64::from_le_bytes(words[0]),
            last: i64::from_le_bytes(words[1]),
            sum,
        };
        let check = u64::from_le_bytes(words[3]);
        let is_sound = used as usize <= crate::format::BLOCK - FOOTER && events <= records;
        (is_sound && sum.with(&bytes[..48]).0 == check).then_some(footer)
    }

    /// Counts an event.
    #[inline]
    pub(crate) fn count_event(&mut self, start: Timestamp) {
        self.events += 1;
        self.first = self.first.min(start.0);
        self.last = self.last.max(start.0);
    }

    /// The earliest and the latest start of an event.
    pub(crate) fn starts(&self) -> Option<(Timestamp, Timestamp)> {
        (self.events > 0 && self.first <= self.last).then_some((Timestamp(self.first), Timestamp(self.last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_is_read_back_and_a_changed_one_is_none() {
        let footer = Footer {
            used: 60_000,
            records: 3,
            events: 1,
            names: 1,
            rows: 1,
            first: -5,
            last: 9,
            sum: Sum(77),
        };
        let bytes = footer.encode();
        assert_eq!(Footer::decode(&bytes), Some(footer));
        for bit in 0..FOOTER * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Footer::decode(&flipped), None, "bit {bit}");
        }
        assert_eq!(Footer::decode(&[0; FOOTER]), None);
    }
}
