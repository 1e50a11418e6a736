//! Tables of numbers, column by column.
//!
//! A column is a number of columns before it in the table, 0 or the one that is taken off it, a form, and its cells. In
//! form 0 each cell is 0 (NULL) or 1 more than the zigzag difference to the last one that is not NULL. Form `w` is a least
//! value, a factor, and `w` bits for each cell, the lowest first: how many times the factor it is above the least one.
//! A cell takes a byte or more, so that a table is no larger than its bytes justify.

use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;

type Result<T> = std::result::Result<T, FileError>;
type Cells = Vec<Option<i64>>;

const STEPS: u8 = 0;
/// Cells of fewer bits are steps of a byte, which are compressed later.
const MIN_WIDTH: u32 = 8;
const MAX_WIDTH: u32 = 64;
/// How many columns before it a column is held against.
const MAX_REFERENCES: usize = 64;
/// How well steps are compressed to learn whether they are the smaller form.
const TRIAL_LEVEL: i32 = 3;

/// The number of rows, and the columns.
pub(crate) fn write(rows: usize, columns: &[Cells], out: &mut Writer) {
    out.len(rows);
    for (index, column) in columns.iter().enumerate() {
        let before = &columns[index.saturating_sub(MAX_REFERENCES)..index];
        let plain = Coded::of(0, column);
        let best = match closest(column, before) {
            Some((distance, difference)) => plain.smaller(Coded::of(distance, &difference)),
            None => plain,
        };
        out.bytes.extend_from_slice(&best.bytes);
    }
}

/// The column before from which this one differs by the smallest range, if by a smaller one than its own: how many columns
/// before, and the differences.
fn closest(column: &[Option<i64>], before: &[Cells]) -> Option<(usize, Cells)> {
    let own = spread(column)?;
    let candidates = before.iter().rev().enumerate().filter_map(|(distance, other)| {
        let difference = difference(column, other)?;
        Some((spread(&difference)?, distance + 1, difference))
    });
    let (_, distance, difference) =
        candidates.filter(|(spread, ..)| *spread < own).min_by_key(|(spread, ..)| *spread)?;
    Some((distance, difference))
}

fn difference(column: &[Option<i64>], other: &[Option<i64>]) -> Option<Cells> {
    column.iter().zip(other).map(|(one, other)| Some(Some((*one)?.checked_sub((*other)?)?))).collect()
}

/// How far apart the smallest and the largest cell are, where none is NULL.
fn spread(column: &[Option<i64>]) -> Option<u64> {
    let values = || column.iter().flatten();
    let known = !column.contains(&None);
    known.then(|| Some(values().max()?.abs_diff(*values().min()?))).flatten()
}

/// A column as bytes, and how many of them will be left when they are compressed.
struct Coded {
    bytes: Vec<u8>,
    small: usize,
}

impl Coded {
    fn of(distance: usize, column: &[Option<i64>]) -> Self {
        let steps = Self::steps(distance, column);
        match Self::packed(distance, column) {
            Some(packed) => steps.smaller(packed),
            None => steps,
        }
    }

    fn smaller(self, other: Self) -> Self {
        if other.small < self.small { other } else { self }
    }

    fn steps(distance: usize, column: &[Option<i64>]) -> Self {
        let (mut out, mut last) = (Writer::default(), 0);
        out.len(distance);
        out.number(STEPS);
        column.iter().for_each(|cell| out.next(*cell, &mut last));
        let compressed = zstd::bulk::compress(&out.bytes, TRIAL_LEVEL);
        let small = compressed.map_or(usize::MAX, |bytes| bytes.len()).min(out.bytes.len());
        Self { bytes: out.bytes, small }
    }

    fn packed(distance: usize, column: &[Option<i64>]) -> Option<Self> {
        let spread = spread(column)?;
        let least = column.iter().flatten().min().copied()?;
        let above = || column.iter().flatten().map(|value| value.abs_diff(least));
        let factor = above().fold(0, greatest_divisor).max(1);
        let width = u64::BITS - (spread / factor).leading_zeros();
        if width < MIN_WIDTH {
            return None;
        }
        let mut out = Writer::default();
        out.len(distance);
        out.number(width);
        out.signed(least);
        out.number(factor);
        pack(above().map(|above| above / factor), width, &mut out.bytes);
        Some(Self { small: out.bytes.len(), bytes: out.bytes })
    }
}

fn greatest_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

fn pack(numbers: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut bits, mut waiting) = (0_u128, 0);
    for number in numbers {
        bits |= u128::from(number) << waiting;
        waiting += width;
        while waiting >= u8::BITS {
            out.push(bits as u8);
            bits >>= u8::BITS;
            waiting -= u8::BITS;
        }
    }
    if waiting > 0 {
        out.push(bits as u8);
    }
}

/// The rows of a table of `columns` columns, column by column.
pub(crate) fn read(input: &mut Reader<'_>, columns: usize) -> Result<Vec<Cells>> {
    let rows = input.cells(columns)?;
    let mut table: Vec<Cells> = Vec::with_capacity(columns);
    for _ in 0..columns {
        let distance = input.at_most(table.len() as u64, "columns before this one")? as usize;
        let mut column = match input.at_most(MAX_WIDTH.into(), "a form of a column")? as u32 {
            0 => read_steps(input, rows)?,
            width if width < MIN_WIDTH => {
                return Err(input.error(format_args!("{width} bits a cell"), "8 to 64"));
            }
            width => read_packed(input, rows, width)?,
        };
        if distance > 0 {
            add(input, &mut column, &table[table.len() - distance])?;
        }
        table.push(column);
    }
    Ok(table)
}

fn read_steps(input: &mut Reader<'_>, rows: usize) -> Result<Cells> {
    let mut last = 0;
    (0..rows).map(|_| input.next(&mut last)).collect()
}

fn read_packed(input: &mut Reader<'_>, rows: usize, width: u32) -> Result<Cells> {
    let least = input.signed()?;
    let factor = input.at_most(u64::MAX, "a factor")?;
    let packed = input.bytes((rows as u128 * u128::from(width)).div_ceil(8) as usize)?;
    let mask = u64::MAX >> (u64::BITS - width);
    let (mut bytes, mut bits, mut waiting) = (packed.iter(), 0_u128, 0);
    let cell = |_| {
        while waiting < width {
            bits |= u128::from(*bytes.next().unwrap_or(&0)) << waiting;
            waiting += u8::BITS;
        }
        let above = bits as u64 & mask;
        bits >>= width;
        waiting -= width;
        let value = i128::from(least) + i128::from(above) * i128::from(factor);
        i64::try_from(value).ok().map(Some)
    };
    let cells: Option<Cells> = (0..rows).map(cell).collect();
    cells.ok_or_else(|| input.error("a cell of more than 64 bits", "a smaller one"))
}

fn add(input: &Reader<'_>, column: &mut Cells, other: &[Option<i64>]) -> Result<()> {
    for (cell, other) in column.iter_mut().zip(other) {
        let sum = cell.zip(*other).and_then(|(one, other)| one.checked_add(other));
        *cell = Some(sum.ok_or_else(|| input.error("a sum with NULL, or of more than 64 bits", "a number"))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::Section;
    use proptest::prelude::*;

    fn bytes(columns: &[Cells]) -> Vec<u8> {
        let mut out = Writer::default();
        write(columns.first().map_or(0, Vec::len), columns, &mut out);
        out.bytes
    }

    fn back(bytes: &[u8], columns: usize) -> Result<Vec<Cells>> {
        let mut reader = Reader::new(Section::Lines, bytes, 0);
        let table = read(&mut reader, columns)?;
        reader.end()?;
        Ok(table)
    }

    /// Numbers below 1,009 without order.
    fn scattered(row: i64) -> i64 {
        (row * row * row * 7919 + row * 31) % 1009
    }

    #[test]
    fn numbers_without_order_take_the_bits_of_their_range_in_units_of_their_common_divisor() {
        let pages: Cells = (0..64).map(|row| Some(5_000_000_000 + 4096 * scattered(row))).collect();
        let coded = bytes(std::slice::from_ref(&pages));
        // Rows, distance, form, five bytes of the least value (twice 5,000,000,000), two of the factor, ten bits a cell.
        assert_eq!(coded.len(), 1 + 1 + 1 + 5 + 2 + 64 * 10 / 8);
        assert_eq!(back(&coded, 1).expect("a table"), [pages]);
    }

    #[test]
    fn a_column_that_repeats_another_one_takes_as_much_as_a_constant() {
        let ranks: Cells = (0..64).map(|row| Some(scattered(row))).collect();
        let (one, two) = (bytes(std::slice::from_ref(&ranks)), bytes(&[ranks.clone(), ranks]));
        assert_eq!(two.len() - one.len(), 2 + 64);
        assert!(two[one.len() + 3..].iter().all(|step| *step == 1), "no difference but the first: {two:?}");
    }

    #[test]
    fn what_is_not_in_the_bytes_is_an_error() {
        let pages: Cells = (0..64).map(|row| Some(4096 * scattered(row))).collect();
        let coded = bytes(&[pages]);
        for end in 0..coded.len() {
            assert!(back(&coded[..end], 1).is_err(), "{end} of {} bytes", coded.len());
        }
        assert!(back(&[1, 1, 0, 1], 1).is_err(), "a column before the first");
        assert!(back(&[1, 0, 7, 0, 1, 0], 1).is_err(), "a form that is none");
        assert!(back(&[200, 1, 0, 0, 1], 1).is_err(), "more rows than bytes");
    }

    proptest! {
        #[test]
        fn tables_come_back_as_they_were(
            rows in prop::collection::vec((any::<Option<i64>>(), -5_i64..5, any::<i64>(), 0..3_i64), 0..80),
        ) {
            let columns: Vec<Cells> = vec![
                rows.iter().map(|row| row.0).collect(),
                rows.iter().map(|row| Some(row.1 * 4096)).collect(),
                rows.iter().map(|row| Some(row.2)).collect(),
                rows.iter().map(|row| Some(row.2.wrapping_add(row.1))).collect(),
                rows.iter().map(|row| (row.3 > 0).then_some(row.3)).collect(),
            ];
            let coded = bytes(&columns);
            prop_assert_eq!(back(&coded, columns.len()).expect("a table"), columns);
        }

        #[test]
        fn any_bytes_are_a_table_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), columns in 0..6_usize) {
            let table = back(&bytes, columns);
            prop_assert!(table.is_err() || table.is_ok_and(|table| table.iter().map(Vec::len).sum::<usize>() <= bytes.len()));
        }
    }
}
