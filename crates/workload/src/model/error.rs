//! What is wrong with a model file.

use thiserror::Error;

/// A place in a model file, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {problem}; {expected}")]
pub struct ModelError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What was found, without control characters.
    pub problem: String,
    /// What was expected.
    pub expected: String,
}
