//! Which rows of a page are not NULL.

use crate::decode::input::{advance, varint};

/// One bit a row, lowest first.
#[derive(Debug, Default)]
pub(super) struct Validity {
    words: Vec<u64>,
    rows: usize,
}

impl Validity {
    /// Reads the levels of `rows` rows and answers how many of them are not NULL.
    pub(super) fn read(&mut self, mut levels: &[u8], rows: usize) -> Option<usize> {
        (self.rows, _) = (0, self.words.clear());
        while self.rows < rows {
            let header = varint(&mut levels)?;
            let count = usize::try_from(header >> 1).ok()?;
            let wanted = rows - self.rows;
            if header & 1 == 0 {
                let [value @ (0 | 1)] = *advance(&mut levels, 1)? else { return None };
                self.push_run(value == 1, count.min(wanted));
            } else {
                // Eight rows a byte.
                let packed = advance(&mut levels, count)?;
                let used = &packed[..count.min(wanted.div_ceil(8))];
                let mut rest = wanted.min(used.len() * 8);
                for bytes in used.chunks(8) {
                    let mut word = [0; 8];
                    word[..bytes.len()].copy_from_slice(bytes);
                    let rows = rest.min(bytes.len() * 8);
                    self.push(u64::from_le_bytes(word), rows);
                    rest -= rows;
                }
            }
            if count == 0 {
                return None;
            }
        }
        Some(self.words.iter().map(|word| word.count_ones() as usize).sum())
    }

    fn push_run(&mut self, value: bool, mut rows: usize) {
        let word = if value { u64::MAX } else { 0 };
        while rows > 0 {
            let some = rows.min(64 - self.rows % 64);
            self.push(word, some);
            rows -= some;
        }
    }

    /// Appends the lowest `rows` bits, at most 64.
    fn push(&mut self, word: u64, rows: usize) {
        if rows == 0 {
            return;
        }
        let word = word & u64::MAX >> (64 - rows);
        let filled = self.rows % 64;
        match self.words.last_mut() {
            Some(last) if filled > 0 => {
                *last |= word << filled;
                if filled + rows > 64 {
                    self.words.push(word >> (64 - filled));
                }
            }
            _ => self.words.push(word),
        }
        self.rows += rows;
    }

    /// Moves the values from `from` on apart, so that each row that is not NULL has its own and the others have `null`.
    pub(super) fn spread<T: Copy>(&self, cells: &mut Vec<T>, from: usize, null: T) {
        let mut left = cells.len() - from;
        cells.resize(from + self.rows, null);
        let cells = &mut cells[from..];
        for (number, word) in self.words.iter().enumerate().rev() {
            let first = number * 64;
            let end = self.rows.min(first + 64);
            if left == end {
                // All rows up to here have a value, at its place.
                return;
            }
            match *word {
                0 => cells[first..end].fill(null),
                u64::MAX => {
                    left -= end - first;
                    cells.copy_within(left..left + end - first, first);
                }
                word => left = spread_word(cells, (first, end), left, word, null),
            }
        }
    }
}

/// Spreads the last of the `left` values over the rows of one word and answers how many are left.
fn spread_word<T: Copy>(
    cells: &mut [T],
    (first, end): (usize, usize),
    left: usize,
    word: u64,
    null: T,
) -> usize {
    let known = word.count_ones() as usize;
    // Values that are left lie before the row of the first of them, so these rows and those values may be the same cells.
    let mut values = [null; 64];
    values[..known].copy_from_slice(&cells[left - known..left]);
    let mut next = 0;
    for (row, cell) in cells[first..end].iter_mut().enumerate() {
        let valid = word >> (row & 63) & 1 == 1;
        *cell = if valid { values[next & 63] } else { null };
        next += usize::from(valid);
    }
    left - known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::hybrid;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn levels_that_are_written_are_read_and_values_find_their_rows(
            runs in prop::collection::vec((any::<bool>(), 1_usize..150), 0..12),
            mixed in prop::collection::vec(any::<bool>(), 0..200),
        ) {
            let mut valid: Vec<bool> = runs.iter().flat_map(|(value, rows)| vec![*value; *rows]).collect();
            valid.extend(mixed);
            let mut levels = Vec::new();
            hybrid::encode(&mut levels, &valid.iter().map(|valid| u32::from(*valid)).collect::<Vec<_>>(), 1);
            let mut validity = Validity::default();
            let known = validity.read(&levels, valid.len()).unwrap();
            prop_assert_eq!(known, valid.iter().filter(|valid| **valid).count());
            let mut cells = vec![7];
            cells.extend(0..known);
            validity.spread(&mut cells, 1, usize::MAX);
            let mut next = 0..;
            let expected: Vec<usize> = valid.iter().map(|valid| if *valid { next.next().unwrap() } else { usize::MAX }).collect();
            prop_assert_eq!(&cells[1..], &expected[..]);
            prop_assert!((0..levels.len()).all(|cut| Validity::default().read(&levels[..cut], valid.len()).is_none()));
        }

        #[test]
        fn levels_that_are_anything_tell_of_as_many_rows_as_are_wanted(
            levels in prop::collection::vec(prop_oneof![0_u8..8, any::<u8>()], 0..40),
            rows in 0_usize..300,
        ) {
            let mut validity = Validity::default();
            if let Some(known) = validity.read(&levels, rows) {
                let mut cells: Vec<usize> = (0..known).collect();
                validity.spread(&mut cells, 0, usize::MAX);
                prop_assert_eq!(cells.len(), rows);
                prop_assert_eq!(cells.iter().filter(|cell| **cell != usize::MAX).count(), known);
            }
        }
    }
}
