//! What can go wrong when a result is written in a format.

use crate::format::{Subject, endings, names};
use std::path::PathBuf;

/// Why a result cannot be written in a format.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The word names no format.
    #[error("unknown format `{word}`; use one of {}", names(*subject))]
    UnknownFormat {
        /// What was written.
        word: String,
        /// What should be exported.
        subject: Subject,
    },
    /// The file's name tells no format.
    #[error("{}: unknown format; use one of the endings {}", path.display(), endings(*subject))]
    UnknownEnding {
        /// Path of the output file.
        path: PathBuf,
        /// What should be exported.
        subject: Subject,
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
    /// The picture cannot be drawn.
    #[error(transparent)]
    Draw(#[from] iotrail_draw::DrawError),
    /// The trail cannot be read.
    #[error("{0}")]
    Trail(#[from] iotrail_trail::TrailError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}
