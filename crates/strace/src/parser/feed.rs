//! From chunks of the input to lines.
//!
//! The input comes in chunks that end anywhere. What is known of a line that is not whole yet is kept, so that no byte
//! is searched twice, and a line that is too long is passed over without being held in memory.

use super::MAX_LINE_BYTES;
use memchr::memchr;

/// What is known of a line whose end was not seen.
#[derive(Debug, Default)]
pub(super) struct Feed {
    /// Inside a line that is too long.
    skipping: bool,
    /// How many bytes of the input not consumed are known to hold no line end.
    searched: usize,
}

/// What stands at the start of the input.
pub(super) enum Piece<'a> {
    /// A line without its end, or as much as can be held of one that is too long.
    Line { line: &'a [u8], consumed: usize },
    /// As many bytes of a line that is too long.
    Skipped(usize),
    /// A line of which more is to come.
    Open,
}

impl Feed {
    /// The piece at the start of `input`, which is not empty.
    #[inline]
    pub(super) fn next<'a>(&mut self, input: &'a [u8], at_end: bool) -> Piece<'a> {
        let from = self.searched.min(input.len());
        let end = memchr(b'\n', &input[from..]).map(|place| from + place);
        self.searched = 0;
        if self.skipping {
            self.skipping = end.is_none();
            return Piece::Skipped(end.map_or(input.len(), |end| end + 1));
        }
        match end {
            Some(end) => Piece::Line { line: &input[..end], consumed: end + 1 },
            None if at_end => Piece::Line { line: input, consumed: input.len() },
            None if input.len() > MAX_LINE_BYTES => {
                self.skipping = true;
                Piece::Line { line: input, consumed: input.len() }
            }
            None => {
                self.searched = input.len();
                Piece::Open
            }
        }
    }
}

/// The line at the start of `input`, if it is whole.
pub(super) fn first_line(input: &[u8], at_end: bool) -> Option<&[u8]> {
    match memchr(b'\n', input) {
        Some(end) => Some(&input[..end]),
        None => at_end.then_some(input),
    }
}
