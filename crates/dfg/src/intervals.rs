//! A multiset of half-open time intervals in few bytes.
//!
//! Maximal concurrency is no sum: it needs the start and end of every event until the last part of the log is seen.
//! They are therefore stored as differences to the interval before, one control byte and as many bytes as the two
//! numbers need: about 5 bytes for each event of a real trace instead of 16.

use iotrail_model::{Nanos, Timestamp};

/// A full chunk; a new one starts from absolute times, so that chunks can be reordered and shared out.
const CHUNK_BYTES: usize = 64 * 1024;
const FIRST_BYTES: usize = 32;
/// One control byte and two numbers; also the slack that lets numbers be read and written as eight bytes.
const MAX_RECORD: usize = 17;
/// What the lowest n bytes of a number hold.
const MASKS: [u64; 9] = [
    0,
    0xff,
    0xffff,
    0xff_ffff,
    0xffff_ffff,
    0xff_ffff_ffff,
    0xffff_ffff_ffff,
    0xff_ffff_ffff_ffff,
    u64::MAX,
];

/// Start and end of an interval, nanoseconds; the end is greater and does not belong to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Interval {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// Intervals in the order in which they were pushed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Intervals {
    /// Full chunks.
    chunks: Vec<Chunk>,
    /// The chunk that is being filled; empty at first.
    current: Chunk,
    count: u64,
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    bytes: Vec<u8>,
    used: usize,
    /// Start of the interval pushed last.
    last_start: i64,
    /// From the smallest start to the largest end.
    hull: Interval,
    /// Whether every interval starts where the one before ends, or later.
    disjoint: bool,
}

impl Intervals {
    /// Adds `[start, start + length)`. Nothing is in flight during an interval without length, so it is left out.
    #[inline]
    pub(crate) fn push(&mut self, start: Timestamp, length: Nanos) {
        let interval = Interval { start: start.0, end: (start + length).0 };
        if interval.end <= interval.start {
            return;
        }
        self.count += 1;
        if !self.current.has_room() {
            self.make_room();
        }
        self.current.push(interval);
    }

    #[cold]
    fn make_room(&mut self) {
        if self.current.bytes.len() < CHUNK_BYTES {
            self.current.grow();
        } else {
            self.seal();
            self.current.bytes.resize(CHUNK_BYTES, 0);
        }
    }

    /// Puts the current chunk to the full ones.
    fn seal(&mut self) {
        let mut full = std::mem::take(&mut self.current);
        if full.used > 0 {
            full.bytes.truncate(full.used + MAX_RECORD);
            full.bytes.shrink_to_fit();
            self.chunks.push(full);
        }
    }

    pub(crate) fn merge(&mut self, mut other: Self) {
        self.count += other.count;
        other.seal();
        self.chunks.append(&mut other.chunks);
    }

    fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().chain(std::iter::once(&self.current)).filter(|chunk| chunk.used > 0)
    }

    /// Number of intervals.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// From the smallest start to the largest end; NULL without intervals.
    pub(crate) fn hull(&self) -> Option<Interval> {
        self.chunks().map(|chunk| chunk.hull).reduce(Interval::union)
    }

    /// Whether it is known without looking at each interval that no two overlap.
    pub(crate) fn disjoint(&self) -> bool {
        let mut hulls: Vec<Interval> = self.chunks().map(|chunk| chunk.hull).collect();
        hulls.sort_unstable();
        self.chunks().all(|chunk| chunk.disjoint) && hulls.windows(2).all(|pair| pair[0].end <= pair[1].start)
    }

    /// Calls `visit` with each interval.
    #[inline]
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Interval)) {
        self.chunks().for_each(|chunk| chunk.for_each(&mut visit));
    }
}

impl Interval {
    fn union(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl Chunk {
    #[inline]
    fn has_room(&self) -> bool {
        self.used + MAX_RECORD <= self.bytes.len()
    }

    fn grow(&mut self) {
        self.bytes.resize((self.bytes.len() * 2).clamp(FIRST_BYTES, CHUNK_BYTES), 0);
    }

    #[inline]
    fn push(&mut self, interval: Interval) {
        if self.used == 0 {
            self.hull = interval;
            self.disjoint = true;
        } else {
            self.disjoint &= interval.start >= self.hull.end;
            self.hull = self.hull.union(interval);
        }
        let step = zigzag(interval.start.wrapping_sub(self.last_start));
        let length = interval.end.wrapping_sub(interval.start) as u64;
        let (step_bytes, length_bytes) = (significant_bytes(step), significant_bytes(length));
        let place = &mut self.bytes[self.used..self.used + MAX_RECORD];
        place[0] = (step_bytes | length_bytes << 4) as u8;
        place[1..9].copy_from_slice(&step.to_le_bytes());
        place[1 + step_bytes..9 + step_bytes].copy_from_slice(&length.to_le_bytes());
        self.used += 1 + step_bytes + length_bytes;
        self.last_start = interval.start;
    }

    #[inline]
    fn for_each(&self, visit: &mut impl FnMut(Interval)) {
        let (mut at, mut start) = (0, 0_i64);
        while at < self.used {
            let record = &self.bytes[at..at + MAX_RECORD];
            let (step_bytes, length_bytes) = (usize::from(record[0] & 15), usize::from(record[0] >> 4));
            let step = eight_bytes(&record[1..]) & MASKS[step_bytes];
            let length = eight_bytes(&record[1 + step_bytes..]) & MASKS[length_bytes];
            start = start.wrapping_add(unzigzag(step));
            visit(Interval { start, end: start.wrapping_add(length as i64) });
            at += 1 + step_bytes + length_bytes;
        }
    }
}

#[inline]
fn eight_bytes(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(word)
}

#[inline]
const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

#[inline]
const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[inline]
const fn significant_bytes(value: u64) -> usize {
    (71 - value.leading_zeros()) as usize / 8
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn intervals(pairs: &[(i64, i64)]) -> Intervals {
        let mut intervals = Intervals::default();
        pairs
            .iter()
            .for_each(|&(start, end)| intervals.push(Timestamp(start), Nanos(end.saturating_sub(start))));
        intervals
    }

    pub(crate) fn list(intervals: &Intervals) -> Vec<(i64, i64)> {
        let mut list = Vec::new();
        intervals.for_each(|interval| list.push((interval.start, interval.end)));
        list
    }

    #[test]
    fn intervals_without_length_are_left_out() {
        assert_eq!(list(&intervals(&[(5, 5), (5, 6)])), [(5, 6)]);
    }

    #[test]
    fn many_chunks_hold_what_was_pushed_in_few_bytes() {
        let pairs: Vec<(i64, i64)> = (0..100_000).map(|n| (n * 20_000, n * 20_000 + 7_000)).collect();
        let stored = intervals(&pairs);
        assert_eq!(list(&stored), pairs);
        assert!(stored.disjoint());
        let bytes: usize = stored.chunks().map(|chunk| chunk.bytes.len()).sum();
        assert!(bytes < 6 * 100_000 + CHUNK_BYTES, "{bytes} bytes");
    }

    proptest! {
        #[test]
        fn every_interval_comes_back(pairs in prop::collection::vec((any::<i64>(), 1..i64::MAX), 0..40)) {
            let pairs: Vec<(i64, i64)> =
                pairs.into_iter().map(|(start, length)| (start, start.saturating_add(length))).filter(|(s, e)| s < e).collect();
            // The length of an interval must fit an i64, as durations do.
            let pairs: Vec<_> = pairs.into_iter().filter(|(s, e)| e.checked_sub(*s).is_some()).collect();
            prop_assert_eq!(list(&intervals(&pairs)), pairs);
        }
    }
}
