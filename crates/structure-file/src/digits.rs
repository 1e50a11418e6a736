//! Columns of few rows as digits: numbers of a range, none of which is more likely than another.
//!
//! In form 1 of a column stand, for each class of rows, its least value as the zigzag difference to that of the class before, its range
//! and, if that is not 0, a factor; each cell is a digit up to the range: how many times the factor it is above the least value.
//! Form 2 is a least value and a factor, and as many values as there are rows from the least on, each once: a digit is the place among
//! those that are left.

use crate::columns::{Cells, above_least, difference, greatest_divisor, steps};
use crate::error::FileError;
use crate::reader::Reader;
use crate::writer::Writer;

type Result<T> = std::result::Result<T, FileError>;

/// Forms whose cells are digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Any of a range.
    Ranges = 1,
    /// Each of a range once.
    Permutation = 2,
}

/// Rows of which each is looked for among all others.
const MOST_PERMUTED: usize = 1_024;

impl Form {
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        [Self::Ranges, Self::Permutation].into_iter().find(|form| *form as u32 == number)
    }
}

/// Cells that are alike.
struct Range {
    least: i64,
    /// How many times the factor the largest is above the least.
    most: u64,
    factor: u64,
}

impl Range {
    /// The range of values, of which there is one or more; NULL if they are not all known.
    fn of(values: &[Option<i64>]) -> Option<Self> {
        let values: Vec<i64> = values.iter().copied().collect::<Option<_>>()?;
        let (least, largest) = (*values.iter().min()?, *values.iter().max()?);
        let above = values.iter().map(|value| value.abs_diff(least));
        let factor = above.fold(0, greatest_divisor).max(1);
        Some(Self { least, most: largest.abs_diff(least) / factor, factor })
    }

    fn digit(&self, value: i64) -> u64 {
        value.abs_diff(self.least) / self.factor
    }

    fn value(&self, digit: u64) -> Option<i64> {
        above_least(self.least, digit, self.factor)
    }
}

/// A column as it may be written, and about how many bits it takes.
struct Coded {
    bytes: Vec<u8>,
    /// Each with the most that it may be.
    digits: Vec<(u64, u64)>,
    bits: f64,
}

/// A column in the smallest form, off the column before it that makes it smallest.
pub(crate) fn write(column: &[Option<i64>], before: &[&[Option<i64>]], classes: &[u8], out: &mut Writer) {
    let of_column = |distance, cells: &[Option<i64>]| {
        [
            Some(Coded::steps(distance, cells)),
            Coded::ranges(distance, cells, classes),
            Coded::permutation(distance, cells),
        ]
    };
    let of_reference =
        |(other, distance): (&&[Option<i64>], usize)| Some(of_column(distance, &difference(column, other)?));
    let references = before.iter().rev().zip(1..).filter_map(of_reference);
    let all = std::iter::once(of_column(0, column)).chain(references).flatten().flatten();
    if let Some(best) = all.min_by(|one, other| one.bits.total_cmp(&other.bits)) {
        out.bytes.extend_from_slice(&best.bytes);
        best.digits.iter().for_each(|&(digit, most)| out.digits.digit(digit, most));
    }
}

impl Coded {
    fn steps(distance: usize, cells: &[Option<i64>]) -> Self {
        let bytes = steps(distance, cells);
        Self { bits: bits_of(&bytes), digits: Vec::new(), bytes }
    }

    fn of(out: Writer, digits: Vec<(u64, u64)>) -> Self {
        let of_digits: f64 = digits.iter().map(|(_, most)| (*most as f64 + 1.0).log2()).sum();
        let bytes = out.bytes;
        Self { bits: of_digits + bits_of(&bytes), bytes, digits }
    }

    fn ranges(distance: usize, cells: &[Option<i64>], classes: &[u8]) -> Option<Self> {
        let mut out = header(distance, Form::Ranges);
        let (mut digits, mut last) = (vec![(0, 0); cells.len()], 0);
        for rows in rows_of(cells.len(), classes) {
            let of_class: Vec<Option<i64>> = rows.iter().map(|row| cells[*row]).collect();
            let range = Range::of(&of_class)?;
            out.signed(i128::from(range.least) - i128::from(last));
            out.number(range.most);
            if range.most > 0 {
                out.number(range.factor);
            }
            for (row, value) in rows.into_iter().zip(of_class.into_iter().flatten()) {
                digits[row] = (range.digit(value), range.most);
            }
            last = range.least;
        }
        Some(Self::of(out, digits))
    }

    fn permutation(distance: usize, cells: &[Option<i64>]) -> Option<Self> {
        let range = Range::of(cells).filter(|range| {
            range.most > 1 && range.most as usize == cells.len() - 1 && cells.len() <= MOST_PERMUTED
        })?;
        let mut out = header(distance, Form::Permutation);
        out.signed(range.least);
        out.number(range.factor);
        let mut left: Vec<u64> = (0..=range.most).collect();
        let digit = |cell: &i64| {
            let place = left.binary_search(&range.digit(*cell)).ok()?;
            left.remove(place);
            Some((place as u64, left.len() as u64))
        };
        let digits = cells.iter().flatten().map(digit).collect::<Option<_>>()?;
        Some(Self::of(out, digits))
    }
}

fn header(distance: usize, form: Form) -> Writer {
    let mut out = Writer::default();
    out.len(distance);
    out.number(form as u32);
    out
}

/// About how many bits bytes take that are compressed: those that were there before take less.
fn bits_of(bytes: &[u8]) -> f64 {
    const EXPECTED: f64 = 0.02;
    let mut counts = [0.0; 256];
    let of_byte = |(before, byte): (usize, &u8)| {
        let count = &mut counts[usize::from(*byte)];
        *count += 1.0;
        ((before as f64 + 256.0 * EXPECTED) / (*count - 1.0 + EXPECTED)).log2()
    };
    bytes.iter().enumerate().map(of_byte).sum()
}

/// The rows of each class.
fn rows_of(rows: usize, classes: &[u8]) -> Vec<Vec<usize>> {
    let mut of_classes = vec![Vec::new(); 1 + usize::from(classes.iter().max().copied().unwrap_or(0))];
    (0..rows).for_each(|row| of_classes[classes.get(row).map_or(0, |class| usize::from(*class))].push(row));
    of_classes.retain(|rows| !rows.is_empty());
    of_classes
}

pub(crate) fn read(input: &mut Reader<'_>, form: Form, rows: usize, classes: &[u8]) -> Result<Cells> {
    input.free_cells(rows)?;
    let cells = match form {
        Form::Ranges => read_ranges(input, rows, classes)?,
        Form::Permutation => read_permutation(input, rows)?,
    };
    cells.ok_or_else(|| input.error("a cell of more than 64 bits", "a smaller one"))
}

fn read_ranges(input: &mut Reader<'_>, rows: usize, classes: &[u8]) -> Result<Option<Cells>> {
    let (mut of_rows, mut last) = (vec![0; rows], 0);
    let mut ranges = Vec::new();
    for rows in rows_of(rows, classes) {
        let step = input.wide()?;
        let least = i128::from(last).checked_add(step).and_then(|least| i64::try_from(least).ok());
        let Some(least) = least else { return Ok(None) };
        let most = input.at_most(u64::MAX, "a range")?;
        let factor = if most > 0 { input.at_most(u64::MAX, "a factor")? } else { 1 };
        rows.iter().for_each(|row| of_rows[*row] = ranges.len());
        ranges.push(Range { least, most, factor });
        last = least;
    }
    let cell = |range: usize| ranges[range].value(input.digit(ranges[range].most)).map(Some);
    Ok(of_rows.into_iter().map(cell).collect())
}

fn read_permutation(input: &mut Reader<'_>, rows: usize) -> Result<Option<Cells>> {
    if rows > MOST_PERMUTED {
        return Err(
            input.error(format_args!("{rows} rows in any order"), format_args!("at most {MOST_PERMUTED}"))
        );
    }
    let least = input.signed()?;
    let range = Range { least, most: rows as u64, factor: input.at_most(u64::MAX, "a factor")? };
    let mut left: Vec<u64> = (0..rows as u64).collect();
    let cell = |_| {
        let place = input.digit(left.len() as u64 - 1);
        range.value(left.remove(place as usize)).map(Some)
    };
    Ok((0..rows).map(cell).collect())
}
