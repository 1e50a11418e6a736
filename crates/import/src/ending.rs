//! What a reader tells of a text beside what is in it: how it ended, and what its clock did.

use iotrail_model::Nanos;

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
    #[must_use]
    pub fn without_line_end(line: &[u8], number: u64, understood: bool) -> Self {
        let doubtful = line.last().is_some_and(u8::is_ascii_alphanumeric);
        match understood {
            false => Self::Cut(number),
            true if doubtful => Self::Doubtful,
            true => Self::Whole,
        }
    }
}

/// How often a clock was set back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockSteps {
    /// Number of steps.
    pub count: u64,
    /// By how much at most, as far as it shows.
    pub largest: Nanos,
}

impl ClockSteps {
    /// Counts a step of the clock by `step` ns.
    pub fn count(&mut self, step: i64) {
        self.count += 1;
        self.largest = self.largest.max(Nanos(step));
    }

    /// Those of another input as well.
    pub fn add(&mut self, other: Self) {
        self.count += other.count;
        self.largest = self.largest.max(other.largest);
    }
}
