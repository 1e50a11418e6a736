//! Records as lines.

use crate::{RawError, RawRecord};
use iotrail_model::Dictionaries;
use iotrail_model::raw::RawItem;
use std::io::{BufRead, Read, Write};

/// How long a line may be: arguments and environments are bounded by the kernel, and bytes may be written as six.
const MAX_LINE: usize = 64 << 20;

/// Writes an item as a line.
///
/// # Errors
/// It could not be written.
pub fn write(out: &mut impl Write, item: &RawItem<'_>, names: &Dictionaries) -> Result<(), RawError> {
    let mut line = serde_json::to_vec(&RawRecord::of(item, names)).map_err(std::io::Error::from)?;
    line.push(b'\n');
    Ok(out.write_all(&line)?)
}

/// Reads records line by line. Empty lines say nothing.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    buffer: Vec<u8>,
    line: u64,
    limit: usize,
}

impl<R: BufRead> Reader<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), line: 0, limit: MAX_LINE }
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// The line could not be read, or is not a record. The next call goes on behind it, but for a line that is too long.
    #[expect(clippy::should_implement_trait, reason = "an iterator would go on after an error of the system")]
    pub fn next(&mut self) -> Result<Option<RawRecord>, RawError> {
        loop {
            self.buffer.clear();
            let most = self.limit as u64 + 1;
            if self.input.by_ref().take(most).read_until(b'\n', &mut self.buffer)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            let line = self.line;
            if self.buffer.len() > self.limit {
                return Err(RawError::Long { line, limit: self.limit });
            }
            if self.buffer.trim_ascii().is_empty() {
                continue;
            }
            let record = serde_json::from_slice(&self.buffer);
            return record.map(Some).map_err(|error| RawError::Line { line, error });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_the_rest_is_read() {
        let text = "\n{\"item\":\"sent\",\"tid\":1,\"fd\":3}\n{\"item\":\"sent\"}\n[]\n{\"item\":\"sent\",\"tid\":1,\"fd\":4,\"x\":1}\n\
                    {\"item\":\"escaped\",\"tid\":2}";
        let mut reader = Reader::new(text.as_bytes());
        assert!(reader.next().unwrap().is_some());
        let errors = [(); 3].map(|()| reader.next().unwrap_err().to_string());
        assert!(errors[0].starts_with("line 3 is not a raw record: missing field `tid`"), "{}", errors[0]);
        assert!(errors[1].starts_with("line 4 "), "{}", errors[1]);
        assert!(errors[2].contains("unknown field `x`"), "{}", errors[2]);
        assert!(reader.next().unwrap().is_some() && reader.next().unwrap().is_none());
    }

    #[test]
    fn a_line_without_an_end_costs_no_more_memory_than_a_long_one() {
        let endless = std::io::BufReader::new(std::io::repeat(b' '));
        let mut reader = Reader { limit: 1 << 16, ..Reader::new(endless) };
        assert!(matches!(reader.next(), Err(RawError::Long { line: 1, .. })));
        assert!(reader.buffer.capacity() <= 1 << 18);
    }
}
