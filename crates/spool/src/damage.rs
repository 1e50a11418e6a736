//! What a reader finds that no writer wrote.

use std::path::PathBuf;

/// A stretch of a spool that cannot be believed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// Path of the damaged file.
    pub path: PathBuf,
    /// Where it begins, in bytes from the start of the file.
    pub byte: u64,
    /// How many bytes were skipped.
    pub skipped: u64,
    /// Events known to be lost there; `None` if nothing tells their number.
    pub events: Option<u64>,
    /// What was found and what was expected.
    pub what: String,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}, byte {}: {}; {} bytes skipped",
            self.path.display(),
            self.byte,
            self.what,
            self.skipped
        )?;
        match self.events {
            Some(events) => write!(f, ", {events} events lost"),
            None => Ok(()),
        }
    }
}
