//! What the bytes of files are where they are checked: a function of seed, file and offset, so that any order of writes leaves the same.

/// Bytes of a word of content.
const WORD: u64 = 8;
/// Makes no byte of a word 0: a 0 is a hole.
const ODD: u64 = 0x0101_0101_0101_0101;

/// Bytes as a function of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// Others give other bytes.
    pub seed: u64,
}

/// The bytes of one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileContent {
    key: u64,
    /// Every word is the same byte again: of files at whose end several write, nobody knows where a transfer lands.
    constant: bool,
}

/// What was found of bytes that were compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Bytes that were compared.
    pub bytes: u64,
    /// Of them those that nobody wrote there.
    pub wrong: u64,
    /// Those that were written, and were found not to be.
    pub missing: u64,
}

impl Checked {
    /// Adds what was found elsewhere.
    pub(crate) fn merge(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.wrong += other.wrong;
        self.missing += other.missing;
    }

    /// Whether all bytes are those that were written.
    #[must_use]
    pub const fn is_right(&self) -> bool {
        self.wrong == 0 && self.missing == 0
    }
}

impl Content {
    pub(crate) fn of(self, file: usize, constant: bool) -> FileContent {
        FileContent { key: mix(self.seed ^ mix(file as u64)), constant }
    }
}

impl FileContent {
    fn word(&self, number: u64) -> u64 {
        if self.constant {
            return u64::from(self.key as u8 | 1) * ODD;
        }
        mix(self.key.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))) | ODD
    }

    /// The bytes from an offset on.
    pub(crate) fn fill(&self, offset: u64, buffer: &mut [u8]) {
        self.pieces(offset, buffer.len(), |at, bytes| buffer[at..at + bytes.len()].copy_from_slice(bytes));
    }

    /// How many bytes from an offset on are neither these nor 0, and how many are 0.
    pub(crate) fn compare(&self, offset: u64, buffer: &[u8]) -> (u64, u64) {
        let (mut wrong, mut zero) = (0, 0);
        self.pieces(offset, buffer.len(), |at, bytes| {
            let found = &buffer[at..at + bytes.len()];
            if found != bytes {
                zero += found.iter().filter(|byte| **byte == 0).count() as u64;
                let is_wrong = |(found, byte): &(&u8, &u8)| **found != 0 && found != byte;
                wrong += found.iter().zip(bytes).filter(is_wrong).count() as u64;
            }
        });
        (wrong, zero)
    }

    /// Hands over the content of so many bytes from an offset on, word for word, with their place in a buffer.
    fn pieces(&self, offset: u64, len: usize, mut take: impl FnMut(usize, &[u8])) {
        let mut at = 0;
        while at < len {
            let position = offset.saturating_add(at as u64);
            let begin = (position % WORD) as usize;
            let end = (begin + len - at).min(WORD as usize);
            take(at, &self.word(position / WORD).to_le_bytes()[begin..end]);
            at += end - begin;
        }
    }
}

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Ranges of files that were written, each as file, begin and end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written(Vec<(usize, u64, u64)>);

impl Written {
    /// File, begin and end of each range, one after the other; what touches or overlaps is one range.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let mut ranges = self.0.clone();
        ranges.sort_unstable();
        ranges.dedup_by(|later, kept| {
            let joins = kept.0 == later.0 && later.1 <= kept.2;
            if joins {
                kept.2 = kept.2.max(later.2);
            }
            joins
        });
        ranges.into_iter().flat_map(|(file, begin, end)| [file as u64, begin, end]).collect()
    }

    /// What [`Written::numbers`] gave.
    pub(crate) fn of_numbers(numbers: &[u64]) -> Self {
        let ranges = numbers.as_chunks().0.iter();
        Self(ranges.map(|[file, begin, end]| (*file as usize, *begin, *end)).collect())
    }

    pub(crate) fn add(&mut self, file: usize, begin: u64, end: u64) {
        match self.0.last_mut() {
            Some((last, _, until)) if *last == file && *until == begin => *until = end,
            _ => self.0.push((file, begin, end)),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// How many bytes of a file were written, if so many were there before.
    pub(crate) fn bytes(&self, file: usize, before: u64) -> u64 {
        let own = self.0.iter().filter(|range| range.0 == file).map(|range| (range.1, range.2));
        let mut own: Vec<(u64, u64)> = own.collect();
        own.sort_unstable();
        let (mut bytes, mut until) = (before, before);
        for (begin, end) in own {
            bytes += end.saturating_sub(begin.max(until));
            until = until.max(end);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_a_function_of_the_place_however_they_are_cut() {
        let content = Content { seed: 7 }.of(3, false);
        let mut whole = [0; 100];
        content.fill(1000, &mut whole);
        for (begin, end) in [(0, 1), (3, 20), (8, 16), (99, 100)] {
            let mut part = vec![0; end - begin];
            content.fill(1000 + begin as u64, &mut part);
            assert_eq!(part, whole[begin..end]);
        }
        assert!(whole.iter().all(|byte| *byte != 0));
        assert_eq!(content.compare(1000, &whole), (0, 0));
        (whole[5], whole[6]) = (0, whole[6] ^ 2);
        assert_eq!(content.compare(1000, &whole), (1, 1));
        let other = Content { seed: 8 }.of(3, false);
        assert!(other.compare(1000, &whole).0 > 90, "bytes of another seed are others");
    }

    #[test]
    fn the_bytes_of_a_file_that_is_appended_to_are_the_same_everywhere() {
        let content = Content { seed: 1 }.of(0, true);
        let (mut one, mut other) = ([0; 9], [0; 9]);
        content.fill(3, &mut one);
        content.fill(1 << 40, &mut other);
        assert_eq!(one, other);
    }

    #[test]
    fn ranges_of_several_processes_are_put_together_as_numbers() {
        let (mut one, mut other) = (Written::default(), Written::default());
        one.add(0, 10, 20);
        one.add(0, 0, 10);
        one.add(2, 5, 9);
        other.add(0, 15, 25);
        other.add(1, 5, 9);
        assert_eq!(one.numbers(), [0, 0, 20, 2, 5, 9]);
        let all = Written::of_numbers(&[one.numbers(), other.numbers()].concat());
        assert_eq!((all.bytes(0, 0), all.bytes(0, 12), all.bytes(1, 0), all.bytes(2, 0)), (25, 25, 4, 4));
        assert_eq!(all.numbers(), [0, 0, 25, 1, 5, 9, 2, 5, 9]);
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let mut written = Written::default();
        for (file, begin, end) in [(0, 10, 20), (0, 20, 30), (1, 0, 5), (0, 0, 10), (0, 40, 50), (0, 45, 60)]
        {
            written.add(file, begin, end);
        }
        assert_eq!((written.bytes(0, 0), written.bytes(1, 0)), (50, 5));
        assert_eq!((written.bytes(0, 50), written.bytes(1, 9)), (60, 9));
    }
}
