//! Groups of arguments that several commands share.

pub(crate) mod graph;
pub(crate) mod operations;
pub(crate) mod query;
pub(crate) mod scratch;

use std::str::FromStr;

/// Parses a word of a library's choice; the error lists all of them.
pub(crate) fn choice<T: FromStr>(word: &str) -> Result<T, T::Err> {
    word.parse()
}
