//! Which bytes of one file were moved, as ranges that do not touch.

use iotrail_model::intervals::IntervalSet;
use serde::Serialize;

/// Ranges that are listed; the others are only counted.
const LISTED: usize = 64;

/// Bytes of a file, in ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ByteRanges {
    /// Number of ranges.
    pub count: u64,
    /// The end of the last one: the first byte behind it. NULL if there is none.
    pub end: Option<u64>,
    /// The first ranges, ascending: first byte, and first byte behind. At most 64 of the `count`.
    pub first: Vec<[u64; 2]>,
}

impl ByteRanges {
    /// The bytes of a set; NULL if it had too many intervals.
    pub(crate) fn of(set: &mut IntervalSet) -> Option<Self> {
        let spans = set.spans()?;
        Some(Self {
            count: spans.len() as u64,
            end: spans.last().map(|span| span.end),
            first: spans.iter().take(LISTED).map(|span| [span.start, span.end]).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_counted() {
        let mut set = IntervalSet::default();
        assert_eq!(ByteRanges::of(&mut set), Some(ByteRanges::default()));
        for piece in (0..100).rev() {
            set.insert(piece * 10..piece * 10 + 4);
        }
        set.insert(4..10);
        let ranges = ByteRanges::of(&mut set).unwrap();
        assert_eq!((ranges.count, ranges.end, ranges.first.len()), (99, Some(994), LISTED));
        assert_eq!(ranges.first[..2], [[0, 14], [20, 24]]);
    }
}
