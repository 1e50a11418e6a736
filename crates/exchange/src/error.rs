//! What can go wrong when a workflow is written.

use std::path::PathBuf;

/// Why a workflow cannot be written in a format.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The word names no format.
    #[error("`{word}` is no format; write one of {}", crate::format::names())]
    UnknownFormat {
        /// What was written.
        word: String,
    },
    /// The file's name tells no format.
    #[error(
        "{}: its name tells no format; give it one of the endings {}, or say --format",
        path.display(), crate::format::endings()
    )]
    UnknownEnding {
        /// The file.
        path: PathBuf,
    },
    /// The format cannot hold what the graph says.
    #[error("this workflow cannot be written as {format}: {why}")]
    CannotHold {
        /// Name of the format.
        format: &'static str,
        /// What is in the way, and what to do.
        why: String,
    },
    /// A value could not be encoded.
    #[error("cannot encode as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The trail cannot be read.
    #[error(transparent)]
    Trail(#[from] iotrail_trail::TrailError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}
