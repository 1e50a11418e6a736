//! Why there is no profile.

use iotrail_trail::TrailError;

/// Why a log could not be profiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// The log could not be read.
    #[error("{0}")]
    Trail(#[from] TrailError),
    /// A word that names no grouping of files.
    #[error("`{}` is not a grouping of files; write {}", iotrail_model::text::printable(.0), crate::options::FILES_BY)]
    FilesBy(String),
    /// A word that names no table.
    #[error("table `{}`: a profile has no such table; write {} or all", iotrail_model::text::printable(.0), crate::table::NAMES)]
    Table(String),
    /// A name that no group of cases has.
    #[error("`{}`: no group of cases is called so", iotrail_model::text::printable(.0))]
    NoSuchGroup(String),
}
