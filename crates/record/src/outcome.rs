//! How a recording ended.

use iotrail_model::{Coverage, Timestamp};

/// A recording that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How the program ended.
    pub end: End,
    /// What was seen and what not.
    pub coverage: Coverage,
    /// Whether two of its processes ran at the same time.
    pub interleaved: bool,
    /// When the program was started or attached to.
    pub started: Timestamp,
    /// When the recording was over.
    pub ended: Timestamp,
}

/// How the recorded program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It did not, as far as is known: it goes on, or its end was not for this recorder to see.
    Detached,
}

impl End {
    /// The status that a shell reports for it: its own, or 128 + n after signal n; 0 if it goes on.
    #[must_use]
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Exited(status) => (status & 0xff) as u8,
            Self::Signalled(signal) => 128_u8.wrapping_add((signal & 0x7f) as u8),
            Self::Detached => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_those_of_a_shell() {
        assert_eq!(End::Exited(7).exit_status(), 7);
        assert_eq!(End::Signalled(9).exit_status(), 137);
        assert_eq!(End::Signalled(64).exit_status(), 192);
        assert_eq!(End::Detached.exit_status(), 0);
    }
}
