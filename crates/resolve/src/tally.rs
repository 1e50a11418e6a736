//! What is counted over all that went through a resolver.

use crate::{CaseSummary, Summary};

/// Figures of [`crate::Summary`], as they grow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) relative_paths: u64,
    /// Names that are not known because there are too many that are so long.
    pub(crate) long_names: u64,
    pub(crate) threads: u64,
    pub(crate) orphans: u64,
    pub(crate) changed_roots: u64,
    pub(crate) unclear_mounts: u64,
    pub(crate) unknown_descriptors: u64,
    pub(crate) uncertain_calls: u64,
    pub(crate) file_mappings: u64,
    pub(crate) submitted: u64,
    pub(crate) rings: u64,
}

impl Tally {
    /// The figures so far, with those of each case.
    pub(crate) fn summary(&self, cases: Vec<CaseSummary>) -> Summary {
        Summary {
            cases,
            relative_paths: self.relative_paths,
            long_names: self.long_names,
            threads: self.threads,
            orphans: self.orphans,
            changed_roots: self.changed_roots,
            unclear_mounts: self.unclear_mounts,
            unknown_descriptors: self.unknown_descriptors,
            uncertain_calls: self.uncertain_calls,
            file_mappings: self.file_mappings,
            submitted: self.submitted,
            rings: self.rings,
        }
    }
}
