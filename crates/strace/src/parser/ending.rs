//! How the input ended.

/// How the input ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// With a whole line, or not yet.
    #[default]
    Whole,
    /// In the middle of this line, which was not understood.
    Cut(u64),
    /// Without a line end, and the last line was understood but its last value may lack digits.
    Doubtful,
}

impl Ending {
    /// With a line of this number that has no end.
    pub(super) fn without_line_end(line: &[u8], number: u64, understood: bool) -> Self {
        let doubtful = line.last().is_some_and(u8::is_ascii_alphanumeric);
        match understood {
            false => Self::Cut(number),
            true if doubtful => Self::Doubtful,
            true => Self::Whole,
        }
    }
}
