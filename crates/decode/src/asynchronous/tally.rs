//! What is said about asynchronous I/O in the coverage statement.

use iotrail_model::recording_coverage::Counts;

/// Counts over the whole recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations that became events, finished or not.
    pub operations: u64,
    /// Of these, how many were not seen to complete, or not told from others under way with the same `user_data`: results are of none.
    pub unfinished: u64,
    /// Rings that the kernel polls (`IORING_SETUP_SQPOLL`): what was submitted to them was not seen.
    pub polled_rings: u64,
    /// Entries that are not about files, by operation.
    pub other_entries: Counts,
    /// Entries that were submitted and could not be read: rings that were not seen to be made, or memory that this
    /// kernel does not show to tracers.
    pub unread_entries: u64,
    /// Completions that the program took and the kernel overwrote before they were seen.
    pub overwritten: u64,
}
