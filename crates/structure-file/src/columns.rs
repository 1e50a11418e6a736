//! Tables of numbers, column by column.
//!
//! A column is a number of columns before it in the table, 0 or the one that is taken off it, a form, and its cells. In
//! form 0 each cell is 0 (NULL) or 1 more than the zigzag difference to the last one that is not NULL. Form `w` from 8 on is a least
//! value, a factor, and `w` bits for each cell, the lowest first: how many times the factor it is above the least one. In
//! forms 1 and 2 cells are digits ([`crate::digits`]).
//! Tables of more than some cells take a byte or more for each, so that they are no larger than their bytes justify.

use crate::digits;
use crate::digits::Form;
use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;

type Result<T> = std::result::Result<T, FileError>;
/// A column.
pub(crate) type Cells = Vec<Option<i64>>;

const STEPS: u8 = 0;
/// Cells of fewer bits are steps of a byte, which are compressed later.
const MIN_WIDTH: u32 = 8;
const MAX_WIDTH: u32 = 64;
/// How many columns before it a column is held against.
const MAX_REFERENCES: usize = 64;
/// Cells of the tables of a section that may take less than a byte each.
pub(crate) const FREE_CELLS: usize = 1 << 16;
/// How well steps are compressed to learn whether they are the smaller form.
const TRIAL_LEVEL: i32 = 3;

/// What is known of the rows of a table before they are read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known<'a> {
    /// Columns as if they stood in the table before all others.
    pub(crate) columns: &'a [Cells],
    /// A class for each row: those of one are alike. Empty: all are.
    pub(crate) classes: &'a [u8],
}

/// The number of rows, and the columns.
pub(crate) fn write(rows: usize, columns: &[Cells], known: Known<'_>, out: &mut Writer) {
    out.len(rows);
    let all: Vec<&[Option<i64>]> = known.columns.iter().chain(columns).map(Vec::as_slice).collect();
    let is_small = out.takes_cells(rows.saturating_mul(columns.len()));
    for index in known.columns.len()..all.len() {
        let (column, before) = (all[index], &all[index.saturating_sub(MAX_REFERENCES)..index]);
        match is_small {
            true => digits::write(column, before, known.classes, out),
            false => out.bytes.extend_from_slice(&smallest(column, before).bytes),
        }
    }
}

fn smallest(column: &[Option<i64>], before: &[&[Option<i64>]]) -> Coded {
    let plain = Coded::of(0, column);
    match closest(column, before) {
        Some((distance, difference)) => plain.smaller(Coded::of(distance, &difference)),
        None => plain,
    }
}

/// The column before from which this one differs by the smallest range, if by a smaller one than its own: how many columns
/// before, and the differences.
fn closest(column: &[Option<i64>], before: &[&[Option<i64>]]) -> Option<(usize, Cells)> {
    let own = spread(column)?;
    let candidates = before.iter().rev().enumerate().filter_map(|(distance, other)| {
        let difference = difference(column, other)?;
        Some((spread(&difference)?, distance + 1, difference))
    });
    let (_, distance, difference) =
        candidates.filter(|(spread, ..)| *spread < own).min_by_key(|(spread, ..)| *spread)?;
    Some((distance, difference))
}

/// A column without another one; NULL if that is not known of all rows.
pub(crate) fn difference(column: &[Option<i64>], other: &[Option<i64>]) -> Option<Cells> {
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
        let bytes = steps(distance, column);
        let compressed = zstd::bulk::compress(&bytes, TRIAL_LEVEL);
        let small = compressed.map_or(usize::MAX, |bytes| bytes.len()).min(bytes.len());
        Self { bytes, small }
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

/// A column in the form of steps.
pub(crate) fn steps(distance: usize, column: &[Option<i64>]) -> Vec<u8> {
    let (mut out, mut last) = (Writer::default(), 0);
    out.len(distance);
    out.number(STEPS);
    column.iter().for_each(|cell| out.next(*cell, &mut last));
    out.bytes
}

/// So many times the factor above the least value; NULL if that is more than 64 bits.
pub(crate) fn above_least(least: i64, above: u64, factor: u64) -> Option<i64> {
    let above = i128::from(above).checked_mul(factor.into())?;
    i64::try_from(above.checked_add(least.into())?).ok()
}

pub(crate) fn greatest_divisor(mut one: u64, mut other: u64) -> u64 {
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
    read_with(input, columns, |_| (Vec::new(), Vec::new()))
}

/// As [`read`], where `known` tells columns and classes of so many rows, as they were [`Known`] when it was written.
pub(crate) fn read_with(
    input: &mut Reader<'_>,
    columns: usize,
    known: impl FnOnce(usize) -> (Vec<Cells>, Vec<u8>),
) -> Result<Vec<Cells>> {
    let rows = input.cells(columns)?;
    let (mut table, classes) = known(rows);
    let known = table.len();
    let has_rows = |len| len == rows;
    if !table.iter().map(Vec::len).all(has_rows) || !(classes.is_empty() || has_rows(classes.len())) {
        return Err(input.error(format_args!("{rows} rows"), "as many as there are things that they are of"));
    }
    for _ in 0..columns {
        let distance = input.at_most(table.len() as u64, "columns before this one")? as usize;
        let mut column = match input.at_most(MAX_WIDTH.into(), "a form of a column")? as u32 {
            0 => read_steps(input, rows)?,
            form if form < MIN_WIDTH => match Form::of_number(form) {
                Some(form) => digits::read(input, form, rows, &classes)?,
                None => return Err(input.error(format_args!("form {form}"), "0, 1, 2 or 8 to 64")),
            },
            width => read_packed(input, rows, width)?,
        };
        if distance > 0 {
            add(input, &mut column, &table[table.len() - distance])?;
        }
        table.push(column);
    }
    Ok(table.split_off(known))
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
        above_least(least, above, factor).map(Some)
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
    use crate::container::Content;
    use crate::section::Section;
    use proptest::prelude::*;

    fn content(columns: &[Cells], known: Known<'_>) -> Content {
        let mut out = Writer::default();
        write(columns.first().map_or(0, Vec::len), columns, known, &mut out);
        out.into()
    }

    fn back(content: &Content, columns: usize, known: Known<'_>) -> Result<Vec<Cells>> {
        let mut reader = Reader::new(Section::Lines, content);
        let table = read_with(&mut reader, columns, |_| (known.columns.to_vec(), known.classes.to_vec()))?;
        reader.end()?;
        Ok(table)
    }

    /// Bytes without digits as a table.
    fn of_bytes(bytes: &[u8], columns: usize) -> Result<Vec<Cells>> {
        back(&bytes.to_vec().into(), columns, Known::default())
    }

    /// Numbers below 1,009 without order.
    fn scattered(row: i64) -> i64 {
        (row * row * row * 7919 + row * 31) % 1009
    }

    #[test]
    fn numbers_without_order_take_the_bits_of_their_range_in_units_of_their_common_divisor() {
        let pages: Cells = (0..64).map(|row| Some(5_000_000_000 + 4096 * scattered(row))).collect();
        let Content { bytes, digits, .. } = content(std::slice::from_ref(&pages), Known::default());
        // Rows, distance, form, five bytes of the least value (twice 5,000,000,000), two of the range, two of the factor.
        assert_eq!(bytes.len(), 1 + 1 + 1 + 5 + 2 + 2);
        assert!((79..=80).contains(&digits.len()), "{} bytes for 64 times 9.97 bits", digits.len());
        let coded = Content { bytes, digits, expanded: 0 };
        assert_eq!(back(&coded, 1, Known::default()).expect("a table"), [pages]);
    }

    #[test]
    fn large_tables_are_bits_of_their_range_and_no_smaller_than_they_justify() {
        let rows = FREE_CELLS as i64 + 1;
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i64 % 1_009
        };
        let pages: Cells = (0..rows).map(|_| Some(4096 * random())).collect();
        let coded = content(std::slice::from_ref(&pages), Known::default());
        assert_eq!(
            (coded.digits.len(), coded.bytes.len()),
            (0, 3 + 1 + 1 + 1 + 2 + (rows as usize * 10).div_ceil(8))
        );
        assert_eq!(back(&coded, 1, Known::default()).expect("a table"), [pages]);
    }

    #[test]
    fn a_column_that_repeats_another_one_takes_as_much_as_a_constant() {
        let ranks: Cells = (0..64).map(|row| Some(scattered(row))).collect();
        let one = content(std::slice::from_ref(&ranks), Known::default());
        let two = content(&[ranks.clone(), ranks], Known::default());
        assert_eq!((two.bytes.len() - one.bytes.len(), two.digits.len()), (4, one.digits.len()));
    }

    #[test]
    fn what_is_known_of_rows_takes_nothing() {
        let starts: Cells = (0..64).map(|row| Some(scattered(row) << 40 | scattered(row + 1))).collect();
        let classes: Vec<u8> = (0..64).map(|row| row % 2).collect();
        let of_row = |(start, class): (&Option<i64>, &u8)| start.map(|start| start + 7 * i64::from(*class));
        let column: Cells = starts.iter().zip(&classes).map(of_row).collect();
        let known = Known { columns: &[starts], classes: &classes };
        let coded = content(std::slice::from_ref(&column), known);
        assert_eq!((coded.bytes.len(), coded.digits.len()), (1 + 2 + 2 + 2, 0));
        assert_eq!(back(&coded, 1, known).expect("a table"), [column]);
        back(&coded, 1, Known { classes: &classes[1..], ..known }).expect_err("a class less than rows");
    }

    #[test]
    fn a_permutation_takes_what_its_order_tells() {
        let ranks: Cells = (0..32_i64).map(|row| Some(row * (row + 1) / 2 % 32)).collect();
        let coded = content(std::slice::from_ref(&ranks), Known::default());
        assert_eq!((coded.bytes.len(), coded.digits.len()), (1 + 1 + 1 + 1 + 1, 15), "117.7 bits");
        assert_eq!(back(&coded, 1, Known::default()).expect("a table"), [ranks]);
    }

    #[test]
    fn what_is_not_in_the_bytes_is_an_error() {
        // 9 rows, distance 0, form 8, least value 1, factor 4,096, the cells.
        let coded = [9, 0, 8, 2, 128, 32, 1, 2, 3, 4, 5, 6, 7, 8, 255];
        assert_eq!(of_bytes(&coded, 1).expect("a table")[0][8], Some(1 + 255 * 4096));
        for end in 0..coded.len() {
            assert!(of_bytes(&coded[..end], 1).is_err(), "{end} of {} bytes", coded.len());
        }
        assert!(of_bytes(&[1, 1, 0, 1], 1).is_err(), "a column before the first");
        assert!(of_bytes(&[1, 0, 7, 0, 1, 0], 1).is_err(), "a form that is none");
        assert!(of_bytes(&[200, 200, 1, 0, 0, 1], 1).is_err(), "more rows than bytes");
        assert!(of_bytes(&[255, 255, 4, 0, 1, 0, 0], 1).is_err(), "more rows than are free");
        assert!(
            of_bytes(&[2, 0, 1, 2, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], 1).is_err(),
            "a cell of 65 bits"
        );
    }

    #[test]
    fn cells_of_the_largest_factor_are_an_error() {
        assert_eq!(above_least(0, u64::MAX, u64::MAX), None);
        assert_eq!(above_least(i64::MIN, u64::MAX, 1), Some(i64::MAX));
        let mut packed = Writer::default();
        packed.bytes.extend([1, 0, 64, 0]);
        packed.number(u64::MAX);
        packed.bytes.extend([255; 8]);
        assert!(of_bytes(&packed.bytes, 1).is_err());
        let mut ranges = Writer::default();
        ranges.bytes.extend([1, 0, 1, 0]);
        ranges.number(u64::MAX);
        ranges.number(u64::MAX);
        ranges.digits.digit(u64::MAX, u64::MAX);
        assert!(back(&ranges.into(), 1, Known::default()).is_err());
    }

    #[test]
    fn bytes_that_follow_justify_no_cells_of_several_tables() {
        // 40,000 rows of form 1, all the same, twice; behind them bytes that no cell takes.
        let mut bytes = [192, 184, 2, 0, 1, 0, 0].repeat(2);
        bytes.resize(100_000, 0);
        let content = Content::from(bytes);
        let mut reader = Reader::new(Section::Lines, &content);
        assert_eq!(read(&mut reader, 1).expect("a table")[0].len(), 40_000);
        assert!(read(&mut reader, 1).is_err(), "80,000 cells that take no bytes");
    }

    proptest! {
        #[test]
        fn tables_come_back_as_they_were(
            rows in prop::collection::vec((any::<Option<i64>>(), -5_i64..5, any::<i64>(), 0..3_i64, any::<u8>()), 0..80),
            has_classes in any::<bool>(),
        ) {
            let columns: Vec<Cells> = vec![
                rows.iter().map(|row| row.0).collect(),
                rows.iter().map(|row| Some(row.1 * 4096)).collect(),
                rows.iter().map(|row| Some(row.2)).collect(),
                rows.iter().map(|row| Some(row.2.wrapping_add(row.1))).collect(),
                rows.iter().map(|row| (row.3 > 0).then_some(row.3)).collect(),
                (0..rows.len() as i64).rev().map(Some).collect(),
            ];
            let classes: Vec<u8> = rows.iter().filter(|_| has_classes).map(|row| row.4).collect();
            let (known, columns) = columns.split_at(2);
            let known = Known { columns: known, classes: &classes };
            let coded = content(columns, known);
            prop_assert_eq!(back(&coded, columns.len(), known).expect("a table"), columns);
        }

        #[test]
        fn any_bytes_are_a_table_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..200), digits in prop::collection::vec(any::<u8>(), 0..20),
            columns in 0..6_usize,
        ) {
            let most = FREE_CELLS + bytes.len();
            let table = back(&Content { bytes, digits, expanded: 0 }, columns, Known::default());
            prop_assert!(table.is_err() || table.is_ok_and(|table| table.iter().map(Vec::len).sum::<usize>() <= most));
        }
    }
}
