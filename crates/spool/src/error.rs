//! What can go wrong with a spool as a whole. Damage within one is no error: see [`crate::Damage`].

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a spool could not be written or opened. Cheap to clone: a writer that failed answers every later call with it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpoolError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `create`, `extend`, `read`, ...
        action: &'static str,
        /// On which file.
        path: Arc<Path>,
        /// The error of the operating system.
        source: Arc<io::Error>,
    },
    /// The file under the writer was removed or replaced: what is written to it is in no directory.
    #[error("{} was removed while it was written: what was recorded so far is lost with it", path.display())]
    Vanished {
        /// Path of the file that is gone.
        path: Arc<Path>,
    },
    /// There is a spool already.
    #[error("{} holds a spool already: each recorder needs a directory of its own", path.display())]
    Exists {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The directory has no `header.json` that could be read.
    #[error("{} is not a spool: {why}", path.display())]
    NotASpool {
        /// Path of the directory.
        path: PathBuf,
        /// What it is instead.
        why: String,
    },
    /// The spool was written by a later iotrail.
    #[error("{} has spool version {found}, this iotrail reads {supported}: use iotrail {tool_version} or later", path.display())]
    FutureVersion {
        /// Path of the directory.
        path: PathBuf,
        /// Its format version.
        found: u64,
        /// The version known here.
        supported: u64,
        /// The version of the iotrail that wrote it, in printable form.
        tool_version: String,
    },
    /// An event refers to a name that its dictionaries do not hold.
    #[error("an event refers to row {id} of the dictionary of {column}, which has {rows} rows")]
    NoSuchName {
        /// Column whose dictionary lacks the name.
        column: &'static str,
        /// The id that was looked up.
        id: u32,
        /// Number of names in the dictionary.
        rows: usize,
    },
    /// A record is longer than a spool can hold.
    #[error("{what} has {bytes} bytes, a spool holds at most {limit}")]
    TooLong {
        /// What it is.
        what: &'static str,
        /// Size in bytes.
        bytes: usize,
        /// The largest size.
        limit: usize,
    },
}

impl SpoolError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path: Arc<Path> = path.into();
        move |source| Self::Io { action, path, source: Arc::new(source) }
    }
}

impl SpoolError {
    /// Whether only the record is at fault: the next one may be written.
    #[must_use]
    pub const fn is_about_one_record(&self) -> bool {
        matches!(self, Self::NoSuchName { .. } | Self::TooLong { .. })
    }
}
