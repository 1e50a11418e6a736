//! Bytes as numbers and texts, none of which is believed before it is checked.

use crate::arithmetic::Decoder;
use crate::columns;
use crate::columns::FREE_CELLS;
use crate::container::Content;
use crate::error::FileError;
use crate::section::Section;

type Result<T> = std::result::Result<T, FileError>;

/// A section that is read.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    /// NULL: the index of the file.
    section: Option<Section>,
    bytes: &'a [u8],
    position: usize,
    digits: Decoder<'a>,
    most: usize,
    /// Cells that may take less than a byte each.
    free: usize,
}

impl<'a> Reader<'a> {
    /// A section of which at most `expanded` bytes are made.
    pub(crate) fn new(section: Section, Content { bytes, digits, expanded }: &'a Content) -> Self {
        Self {
            section: Some(section),
            bytes,
            position: 0,
            digits: Decoder::new(digits),
            most: *expanded,
            free: FREE_CELLS,
        }
    }

    /// A file, to read its index.
    pub(crate) fn of_index(file: &'a [u8]) -> Self {
        Self { section: None, bytes: file, position: 0, digits: Decoder::new(&[]), most: 0, free: 0 }
    }

    /// How many bytes may be made of the section.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Where it reads, from the start.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    #[expect(clippy::needless_pass_by_value, reason = "texts as they are written where the error is")]
    pub(crate) fn error(&self, found: impl ToString, expected: impl ToString) -> FileError {
        let (byte, found, expected) = (self.position, found.to_string(), expected.to_string());
        match self.section {
            Some(section) => FileError::Section { section, byte, found, expected },
            None => FileError::Index { byte, found, expected },
        }
    }

    pub(crate) fn number(&mut self) -> Result<u128> {
        let mut number = 0_u128;
        for shift in (0..126).step_by(7) {
            let Some(&byte) = self.bytes.get(self.position) else {
                return Err(self.error("the end", "a number"));
            };
            number |= u128::from(byte & 0x7f) << shift;
            self.position += 1;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.error("a number of more than 126 bits", "a shorter one"))
    }

    /// A number up to `most`.
    pub(crate) fn at_most(&mut self, most: u64, what: &str) -> Result<u64> {
        let position = self.position;
        let number = self.number()?;
        match u64::try_from(number) {
            Ok(number) if number <= most => Ok(number),
            _ => {
                self.position = position;
                Err(self.error(number, format_args!("{what}, at most {most}")))
            }
        }
    }

    /// The index of one of `len` rows.
    pub(crate) fn index(&mut self, len: usize, of: &str) -> Result<usize> {
        match len.checked_sub(1) {
            Some(last) => Ok(self.at_most(last as u64, of)? as usize),
            None => Err(self.error(format_args!("a reference to {of}"), "none, as there are none")),
        }
    }

    /// How many follow, each of which takes at least a byte.
    pub(crate) fn len(&mut self, what: &str) -> Result<usize> {
        let position = self.position;
        let len = self.at_most(u64::MAX, what)?;
        let left = self.bytes.len() - self.position;
        match usize::try_from(len) {
            Ok(len) if len <= left => Ok(len),
            _ => {
                self.position = position;
                Err(self.error(
                    format_args!("{len} {what}"),
                    format_args!("at most {left}, as many as bytes follow"),
                ))
            }
        }
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32> {
        Ok(self.at_most(u32::MAX.into(), what)? as u32)
    }

    /// All that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.position..];
        self.position = self.bytes.len();
        rest
    }

    /// Four bytes.
    pub(crate) fn little_endian(&mut self) -> Result<u32> {
        let bytes = self.bytes(size_of::<u32>())?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    pub(crate) fn wide(&mut self) -> Result<i128> {
        let number = self.number()?;
        Ok((number >> 1) as i128 ^ -((number & 1) as i128))
    }

    pub(crate) fn signed(&mut self) -> Result<i64> {
        let position = self.position;
        let number = self.wide()?;
        i64::try_from(number).map_err(|_| {
            self.position = position;
            self.error(number, "a number of 64 bits")
        })
    }

    pub(crate) fn next(&mut self, last: &mut i64) -> Result<Option<i64>> {
        let position = self.position;
        let Some(zigzag) = self.number()?.checked_sub(1) else { return Ok(None) };
        let step = (zigzag >> 1) as i128 ^ -((zigzag & 1) as i128);
        let number = i128::from(*last).checked_add(step).and_then(|number| i64::try_from(number).ok());
        let Some(number) = number else {
            self.position = position;
            return Err(self.error(format_args!("a difference of {step}"), "one within 64 bits"));
        };
        *last = number;
        Ok(Some(number))
    }

    pub(crate) fn texts(&mut self) -> Result<Vec<&'a str>> {
        let len = self.len("texts")?;
        (0..len).map(|_| self.text()).collect()
    }

    pub(crate) fn text(&mut self) -> Result<&'a str> {
        let len = self.len("bytes of a text")?;
        let bytes = &self.bytes[self.position..self.position + len];
        let text = std::str::from_utf8(bytes).map_err(|_| self.error("bytes that are no text", "UTF-8"))?;
        self.position += len;
        Ok(text)
    }

    /// The rows of a table of `columns` columns, each cell of which takes at least a byte if it is none of those that are free.
    pub(crate) fn cells(&mut self, columns: usize) -> Result<usize> {
        let rows = usize::try_from(self.at_most(u64::MAX, "rows")?).unwrap_or(usize::MAX);
        let (left, cells) = (self.bytes.len() - self.position, rows.saturating_mul(columns.max(1)));
        if cells > left.saturating_add(self.free) {
            return Err(self.error(format_args!("{rows} rows"), format_args!("rows for {left} bytes")));
        }
        Ok(rows)
    }

    /// Takes so many cells that may take less than a byte each off those of the section.
    pub(crate) fn free_cells(&mut self, cells: usize) -> Result<()> {
        let free = self.free.checked_sub(cells);
        self.free = free.ok_or_else(|| {
            let most = format_args!("at most {FREE_CELLS} in a section, of which {} are left", self.free);
            self.error(format_args!("{cells} cells as digits"), most)
        })?;
        Ok(())
    }

    /// A table of `N` columns, row by row.
    pub(crate) fn columns<const N: usize>(&mut self) -> Result<Vec<[Option<i64>; N]>> {
        let table = columns::read(self, N)?;
        let rows = table.first().map_or(0, Vec::len);
        Ok((0..rows).map(|row| std::array::from_fn(|column| table[column][row])).collect())
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.position..];
        let Some(bytes) = rest.get(..len) else {
            return Err(
                self.error(format_args!("{} bytes", rest.len()), format_args!("{len}; the file is cut off"))
            );
        };
        self.position += len;
        Ok(bytes)
    }

    /// A number of the digits, from 0 to `most`.
    pub(crate) fn digit(&mut self, most: u64) -> u64 {
        self.digits.digit(most)
    }

    /// What was read was all.
    pub(crate) fn end(&self) -> Result<()> {
        if !self.digits.is_at_end() {
            return Err(self.error("more digits", "the end"));
        }
        match self.bytes.len() - self.position {
            0 => Ok(()),
            left => Err(self.error(format_args!("{left} more bytes"), "the end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T>(bytes: &[u8], read: impl FnOnce(&mut Reader<'_>) -> Result<T>) -> Result<T> {
        read(&mut Reader::new(Section::Names, &Content::from(bytes.to_vec())))
    }

    #[test]
    fn a_length_is_compared_with_what_follows_it() {
        let error = of(&[2, b'a'], |input| input.text().map(str::to_owned)).expect_err("one byte is missing");
        let expected =
            "section `names`, byte 0: found 2 bytes of a text, expected at most 1, as many as bytes follow";
        assert_eq!(error.to_string(), expected);
        assert_eq!(of(&[1, b'a'], |input| input.text().map(str::to_owned)).expect("a text"), "a");
    }
}
