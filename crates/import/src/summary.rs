//! What an import did.

use crate::error::{InputFailure, Warning};
use iotrail_model::Coverage;
use serde::Serialize;

/// What an import did, in figures and warnings. Serialized, it is what `iotrail import --json` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportSummary {
    /// Files imported.
    pub files: u64,
    /// Cases made of them.
    pub cases: u64,
    /// Events written.
    pub events: u64,
    /// Processes seen; a process that becomes another program is still one.
    pub processes: u64,
    /// Bytes read, as stored.
    pub bytes_read: u64,
    /// Bytes of text they hold.
    pub text_bytes: u64,
    /// Whether the import was cancelled before the end of its inputs.
    pub cancelled: bool,
    /// What became of every line; the trail keeps the same statement.
    pub coverage: Coverage,
    /// Inputs that are not what they should be.
    pub warnings: Vec<Warning>,
    /// Inputs that could not be read, or not to their end. An import with any is not a full success.
    pub failures: Vec<InputFailure>,
}
