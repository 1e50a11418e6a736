//! Recorded runs of programs and their clones, as they are compared; and a directory for recordings that are needed for a moment.

use anyhow::Context;
use iotrail_characterize::{Options, Ranking};
use iotrail_query::{Query, QuerySpec, SelectSpec};
use iotrail_trail::EventLog;
use std::path::{Path, PathBuf};

/// A recording, what is selected of it, and what its ranks are.
pub(crate) struct RecordedRun {
    pub(crate) log: EventLog,
    pub(crate) query: Query,
    pub(crate) options: Options,
}

impl RecordedRun {
    /// Opens a recording.
    ///
    /// # Errors
    /// If it is not a trail, or the selection does not fit.
    pub(crate) fn open(trail: &Path, select: SelectSpec, ranking: Ranking) -> anyhow::Result<Self> {
        let log = EventLog::open(&[trail.to_owned()])?;
        let query = Query::new(QuerySpec { select, ..QuerySpec::default() }, &log)?;
        Ok(Self { log, query, options: Options { ranking, ..Options::default() } })
    }
}

/// A directory for trails, which is removed in the end.
pub(crate) struct Trails(PathBuf);

impl Trails {
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("iotrail-runs-{}", std::process::id()));
        std::fs::create_dir(&path)
            .with_context(|| format!("cannot make the directory {}", path.display()))?;
        Ok(Self(path))
    }

    /// Where a trail of that name is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.trail"))
    }
}

impl Drop for Trails {
    fn drop(&mut self) {
        // What is left is in the directory for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
