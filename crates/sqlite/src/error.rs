//! What can go wrong with a database.

use iotrail_trail::TrailError;
use std::path::PathBuf;

/// Why there is no database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteError {
    /// SQLite refused: out of disk space, mostly.
    #[error("cannot write {}: {source}", path.display())]
    Database {
        /// Path of the database.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The operating system refused.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// Path of the database.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// There is something at the target that no database can replace.
    #[error("{} is not a regular file: a database needs a file of its own, name another with -o", path.display())]
    Special {
        /// Path of the target.
        path: PathBuf,
    },
    /// The trail cannot be read.
    #[error("{0}")]
    Trail(#[from] TrailError),
}
