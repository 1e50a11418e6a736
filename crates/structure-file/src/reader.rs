//! Bytes as numbers and texts, none of which is believed before it is checked.

use crate::error::FileError;
use crate::section::Section;

type Result<T> = std::result::Result<T, FileError>;

/// A section that is read.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    section: Section,
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(section: Section, bytes: &'a [u8]) -> Self {
        Self { section, bytes, position: 0 }
    }

    #[expect(clippy::needless_pass_by_value, reason = "texts as they are written where the error is")]
    pub(crate) fn error(&self, found: impl ToString, expected: impl ToString) -> FileError {
        let (found, expected) = (found.to_string(), expected.to_string());
        FileError::Section { section: self.section, byte: self.position, found, expected }
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

    pub(crate) fn text(&mut self) -> Result<&'a str> {
        let len = self.len("bytes of a text")?;
        let bytes = &self.bytes[self.position..self.position + len];
        let text = std::str::from_utf8(bytes).map_err(|_| self.error("bytes that are no text", "UTF-8"))?;
        self.position += len;
        Ok(text)
    }

    /// A table of `columns` columns, row by row.
    pub(crate) fn columns<const N: usize>(&mut self) -> Result<Vec<[Option<i64>; N]>> {
        let rows = self.len("rows")?;
        let left = self.bytes.len() - self.position;
        if rows.saturating_mul(N) > left {
            return Err(self.error(format_args!("{rows} rows"), format_args!("rows for {left} bytes")));
        }
        let mut table = vec![[None; N]; rows];
        for column in 0..N {
            let mut last = 0;
            for row in &mut table {
                row[column] = self.next(&mut last)?;
            }
        }
        Ok(table)
    }

    /// What was read was all.
    pub(crate) fn end(&self) -> Result<()> {
        match self.bytes.len() - self.position {
            0 => Ok(()),
            left => Err(self.error(format_args!("{left} more bytes"), "the end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_compared_with_what_follows_it() {
        let error = Reader::new(Section::Names, &[2, b'a']).text().expect_err("one byte is missing");
        let expected =
            "section `names`, byte 0: found 2 bytes of a text, expected at most 1, as many as bytes follow";
        assert_eq!(error.to_string(), expected);
        assert_eq!(Reader::new(Section::Names, &[1, b'a']).text().expect("a text"), "a");
    }
}
