//! What is wrong with lines that are no raw records.

use std::io;

/// A line could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RawError {
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not a raw record.
    #[error("line {line} is not a raw record: {error}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// It is longer than any record.
    #[error("line {line} is longer than {limit} bytes")]
    Long {
        /// Its number, from 1.
        line: u64,
        /// How long a line may be.
        limit: usize,
    },
}
