//! How a log is profiled, beyond the query.

use crate::error::StatsError;
use iotrail_model::threads::one_per_core;
use iotrail_query::{GroupId, Preset};
use std::num::NonZeroUsize;
use std::str::FromStr;

/// The words for groupings of files, for messages.
pub(crate) const FILES_BY: &str = "template, dir2 (or dir, dir1, dir3, ...), ext, file, or map";

/// Options of [`crate::profile()`]; the result does not depend on the number of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileOptions {
    /// How processes are grouped, as written; [`crate::Profile::by`].
    pub by: String,
    /// How files are grouped for the distributions of request lengths.
    pub files_by: FilesBy,
    /// Whether the log counts each name of a file as a file of its own ([`iotrail_trail::EventLog::by_names`]);
    /// [`crate::Profile::paths`].
    pub paths: bool,
    /// Only the recorded cases of this group of the query's, see [`iotrail_query::Query::groups`]: one side of a comparison.
    pub only: Option<GroupId>,
    /// How many threads read the log.
    pub threads: NonZeroUsize,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        Self {
            by: "exe".to_owned(),
            files_by: FilesBy::default(),
            paths: false,
            only: None,
            threads: one_per_core(),
        }
    }
}

/// How files are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesBy {
    /// By what a preset mapping keeps of the path.
    Preset(Preset),
    /// By the activity that the query's mapping gives.
    Map,
}

impl Default for FilesBy {
    /// Numbers generalised: `corr_{}.fits`.
    fn default() -> Self {
        Self::Preset(Preset::Template)
    }
}

impl FromStr for FilesBy {
    type Err = StatsError;

    fn from_str(word: &str) -> Result<Self, StatsError> {
        match word {
            "map" => Ok(Self::Map),
            "dir" => Ok(Self::Preset(Preset::Dir(2))),
            _ => match Preset::from_name(word) {
                Some(preset) if preset != Preset::Call => Ok(Self::Preset(preset)),
                _ => Err(StatsError::FilesBy(word.to_owned())),
            },
        }
    }
}
