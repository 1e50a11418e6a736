//! What can go wrong when a trail is redacted.

use std::path::PathBuf;

/// Why a trail cannot be redacted.
#[derive(Debug, thiserror::Error)]
pub enum RedactError {
    /// A trail cannot be read or written.
    #[error("{0}")]
    Trail(#[from] iotrail_trail::TrailError),
    /// The file of rules or of the key cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file of rules is not understood.
    #[error("{}: {why}; {KEYS}", path.display())]
    Rules {
        /// Path of the rules file.
        path: PathBuf,
        /// What was found, with its place.
        why: String,
    },
    /// A pattern of paths that stay is none.
    #[error("keep: {0}")]
    Keep(String),
    /// The key is too short to be one.
    #[error(
        "a key needs at least 16 bytes, this one has {found}; make one with `head -c 32 /dev/urandom > key`"
    )]
    ShortKey {
        /// Its length in bytes.
        found: usize,
    },
    /// The key is one byte again and again.
    #[error("a key of equal bytes is none; make one with `head -c 32 /dev/urandom > key`")]
    ConstantKey,
    /// The system gives no random numbers.
    #[error("cannot draw a key: {0}")]
    NoRandomness(getrandom::Error),
}

/// What a file of rules may hold.
const KEYS: &str = "a file of rules has `keep = [\"/public/**\"]` and any number of [[path]], [[argument]] and [[host]], each with \
                    match (a regular expression) and replace";
