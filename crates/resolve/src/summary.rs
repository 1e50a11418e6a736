//! What a resolver can say about a whole trace.

use iotrail_model::CaseId;

/// Figures over everything that went through one resolver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// One entry per case that had an item, in the order of their ids.
    pub cases: Vec<CaseSummary>,
    /// Events whose path stayed relative because no working directory or directory descriptor was known.
    pub relative_paths: u64,
    /// Names of files that are not known because there were too many names longer than the kernel takes or tells.
    pub long_names: u64,
    /// Threads that were seen of by an item of their own.
    pub threads: u64,
    /// Threads of which it could not be decided which of several processes made them; each counts as a process.
    pub orphans: u64,
    /// Successful chroot and pivot_root calls: later absolute paths of those processes are as the process saw them.
    pub changed_roots: u64,
    /// Successful calls that changed mounts in a way that is not followed: names below may be those of other files.
    pub unclear_mounts: u64,
    /// Calls that did not fail on a descriptor of which it was not known what it refers to.
    pub unknown_descriptors: u64,
    /// Calls on descriptors that another thread may have changed before: nobody knows what they refer to.
    pub uncertain_calls: u64,
    /// Files, or parts of files, that were mapped into memory. What the processes read and wrote there are no calls.
    pub file_mappings: u64,
    /// Requests that were handed to io_uring or aio by a call.
    pub submitted: u64,
    /// Rings that were set up. Requests may be handed over without a call.
    pub rings: u64,
}

/// Figures of one case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseSummary {
    /// The case that the summary is about.
    pub case: CaseId,
    /// Events handed out.
    pub events: u64,
    /// Whether two processes of the case made calls in turns, that is, ran at the same time.
    pub interleaved: bool,
}

impl Summary {
    /// Whether two processes of `case` ran at the same time.
    #[must_use]
    pub fn interleaved(&self, case: CaseId) -> bool {
        self.cases.iter().any(|summary| summary.case == case && summary.interleaved)
    }
}
