//! Why there is no graph.

use iotrail_trail::TrailError;

/// Why a graph could not be synthesized or groups not be compared.
#[derive(Debug, thiserror::Error)]
pub enum DfgError {
    /// The log could not be read.
    #[error("{0}")]
    Trail(#[from] TrailError),
    /// A group was asked for that does not exist.
    #[error("there is no group `{name}`: the groups are {}", list(.known))]
    UnknownGroup {
        /// What was asked for.
        name: String,
        /// The groups there are.
        known: Vec<String>,
    },
    /// A group was to be compared with itself.
    #[error("group `{0}` cannot be compared with itself: name two different groups")]
    SameGroup(String),
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none, because the cases were not divided into groups, for example by label".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}
