//! From the event log to the workflow graph.
//!
//! Dun et al., section 5.3.1. What the paper leaves open (when a file is created, when one becomes another, in which order
//! two processes touched it) is decided in the modules below, each of which says how.

use crate::graph::FileView;
use iotrail_model::threads;
use iotrail_query::Query;
use std::num::NonZeroUsize;

/// What the graph shall show.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions<'a> {
    /// Versions of files, or whole files.
    pub view: FileView,
    /// Whether edges of the relation `Map` are shown: executables and libraries that were mapped.
    pub maps: bool,
    /// Whether system files are shown, see [`crate::system`].
    pub system: bool,
    /// Only events that this query selects; processes without any are left out.
    pub query: Option<&'a Query>,
    /// Number of threads; the result does not depend on it.
    pub threads: NonZeroUsize,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        Self {
            view: FileView::Version,
            maps: false,
            system: false,
            query: None,
            threads: threads::one_per_core(),
        }
    }
}
