//! What can go wrong with a trail: every message names the file, what was found and what to do.

use iotrail_model::text::printable;
use iotrail_model::units;
use std::path::{Path, PathBuf};

/// Why a trail could not be written, opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrailError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `create`, `write`, `read`, `rename`, ...
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// There is something at the target already.
    #[error("{} exists already: choose another name", path.display())]
    Exists {
        /// Path that the trail was to have.
        path: PathBuf,
    },
    /// The target of an overwrite is not a trail, so it is left alone.
    #[error("{} exists and is not a trail, so it is not overwritten: {why}", path.display())]
    NotReplaceable {
        /// Path that the trail was to have.
        path: PathBuf,
        /// What it is instead.
        why: String,
    },
    /// The target of an overwrite holds more than a trail, so it is left alone.
    #[error("{} is not replaced: it holds {}, which is not part of a trail; move it elsewhere first, or choose another name", path.display(), printable(name))]
    HoldsOthers {
        /// Path that the trail was to have.
        path: PathBuf,
        /// What else it holds, below the target.
        name: String,
    },
    /// The current directory would be removed with the target of an overwrite.
    #[error("{} is not replaced: the current directory is inside it; start from another directory, or choose another name", path.display())]
    StandsWithin {
        /// Path that the trail was to have.
        path: PathBuf,
    },
    /// There is not a trail at that path.
    #[error("{} is not a trail: {why}", path.display())]
    NotATrail {
        /// Path that was given.
        path: PathBuf,
        /// What it is instead.
        why: String,
    },
    /// A writer was killed, or is still at work, before the trail was complete.
    #[error("{} is a trail that was never finished: its writer was killed or is still running. \
             Import or record again; the directory can be removed", path.display())]
    Partial {
        /// Path of the directory.
        path: PathBuf,
    },
    /// What would be written lies in a trail, which is left as it is.
    #[error("{} lies in the trail {}: write to another directory", path.display(), trail.display())]
    WithinTrail {
        /// Path that the trail was to have.
        path: PathBuf,
        /// Path of the trail around it.
        trail: PathBuf,
    },
    /// Somebody else is finishing the same trail.
    #[error("another process has been recovering {} for a minute: wait until it is done", path.display())]
    BeingRecovered {
        /// Path of the trail.
        path: PathBuf,
    },
    /// Another recorder holds the trail's lock for too long.
    #[error("another recorder has been changing this trail for a minute; if none is at work, remove {} and recover the trail", path.display())]
    Locked {
        /// The file that is the lock.
        path: PathBuf,
    },
    /// The trail is that of another run.
    #[error("{} exists already and is of another run ({of}): choose another name", path.display())]
    OtherRun {
        /// Path of the trail.
        path: PathBuf,
        /// The run that it is of.
        of: String,
    },
    /// A spool cannot be read or written.
    #[error(transparent)]
    Spool(#[from] iotrail_spool::SpoolError),
    /// The program has run, but its events could not be brought into the trail.
    #[error("{source}; the events are kept in {}{}: the trail can be recovered when there is space", path.display(), but_for(*.lost))]
    NotConverted {
        /// Path of the trail.
        path: PathBuf,
        /// Events that were lost before.
        lost: u64,
        /// What went wrong.
        source: Box<TrailError>,
    },
    /// The trail was moved while it was recorded.
    #[error("{} was moved to {} while it was recorded: the events until then are kept there", path.display(), to.display())]
    Moved {
        /// Path of the trail when the recording began.
        path: PathBuf,
        /// Where it is now.
        to: PathBuf,
    },
    /// The trail was removed while it was recorded.
    #[error("{} was removed, or its file system went away, while it was recorded: its events are lost", path.display())]
    Vanished {
        /// Path of the trail.
        path: PathBuf,
    },
    /// The trail was written by a later iotrail.
    #[error("{} has format version {found}, this iotrail reads up to {supported}: \
             use iotrail {tool_version} or later", path.display())]
    FutureVersion {
        /// Path of the trail.
        path: PathBuf,
        /// Its format version.
        found: u64,
        /// The latest version known here.
        supported: u64,
        /// The version of the iotrail that wrote it.
        tool_version: String,
    },
    /// `trail.json` cannot be understood.
    #[error("{} is not a description of a trail: {source}", path.display())]
    Json {
        /// Path of the file within the trail.
        path: PathBuf,
        /// Line, column and reason.
        source: serde_json::Error,
    },
    /// A table lacks a column or has it in another type.
    #[error("{}: column `{column}` {found}, expected {expected}: the file is not part of this trail format", path.display())]
    Column {
        /// Path of the file within the trail.
        path: PathBuf,
        /// Name of the column.
        column: String,
        /// What is there: `is missing` or `has type ...`.
        found: String,
        /// The type it should have.
        expected: String,
    },
    /// A file contradicts itself, `trail.json` or the format.
    #[error("{}{}: {why}: the trail is damaged; make it again from its source", path.display(), place(*row_group))]
    Damaged {
        /// Path of the file within the trail.
        path: PathBuf,
        /// The row group, if one can be named.
        row_group: Option<usize>,
        /// What was found and what was expected.
        why: String,
    },
    /// What a killed recorder left is not as it was written.
    #[error(
        "{}: {why}; the trail is not recovered yet",
        path.display()
    )]
    DamagedSpool {
        /// The file of the spool.
        path: PathBuf,
        /// The byte, what was found there and what was expected.
        why: String,
        /// Path of the trail.
        target: PathBuf,
    },
    /// The writer was given rows that do not belong together.
    #[error("cannot finish {}: {why}", path.display())]
    Inconsistent {
        /// Path of the trail.
        path: PathBuf,
        /// What does not fit.
        why: String,
    },
}

fn place(row_group: Option<usize>) -> String {
    row_group.map(|number| format!(", row group {number}")).unwrap_or_default()
}

/// What of the events is not kept.
fn but_for(lost: u64) -> String {
    match lost {
        0 => String::new(),
        1 => ", but for 1 that is lost".to_owned(),
        _ => format!(", but for {} that are lost", units::count(lost)),
    }
}

impl TrailError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn damaged(path: &Path, row_group: Option<usize>, why: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), row_group, why: why.into() }
    }

    /// An error of the Parquet library while writing: out of disk space, mostly.
    pub(crate) fn writing(path: &Path) -> impl Fn(parquet::errors::ParquetError) -> Self {
        let path = path.to_owned();
        move |error| {
            let source = match error {
                parquet::errors::ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
                    Ok(io) => *io,
                    Err(other) => std::io::Error::other(other),
                },
                other => std::io::Error::other(other),
            };
            Self::Io { action: "write", path: path.clone(), source }
        }
    }
}
