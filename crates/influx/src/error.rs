//! Why points could not be sent.

use std::time::Duration;

/// Why points could not be sent.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The address cannot be used.
    #[error("{url}: {why}")]
    Address {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The server refused a request for good.
    #[error("{url} answered {status}: {message}")]
    Refused {
        /// Address of the server.
        url: String,
        /// HTTP status.
        status: u16,
        /// What it said.
        message: String,
        /// Points that it had accepted before.
        accepted: u64,
    },
    /// The server did not take a batch in time.
    #[error("{url}: no success for {} s: {last}", patience.as_secs())]
    GaveUp {
        /// Address of the server.
        url: String,
        /// How long it was tried.
        patience: Duration,
        /// What happened last.
        last: String,
        /// Points that it had accepted before.
        accepted: u64,
    },
}

impl UploadError {
    /// Points that the server had accepted before.
    #[must_use]
    pub const fn accepted(&self) -> u64 {
        match self {
            Self::Address { .. } => 0,
            Self::Refused { accepted, .. } | Self::GaveUp { accepted, .. } => *accepted,
        }
    }

    /// HTTP status of a refusal.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}
