//! What the loop counts for the coverage statement.

use hashbrown::HashSet;
use iotrail_model::recording_coverage::Counts;
use iotrail_model::{Pid, Timestamp};

/// What was counted so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) stops: u64,
    pub(crate) calls: u64,
    pub(crate) cut_command_lines: u64,
    pub(crate) unnamed_descriptors: u64,
    pub(crate) left_running: u64,
    /// When they were left.
    pub(crate) left_at: Option<Timestamp>,
    pub(crate) escaped: Counts,
    /// Requests that the kernel refused, by error.
    pub(crate) troubles: Counts,
    pub(crate) not_decoded: Counts,
    pub(crate) filtering: HashSet<Pid, foldhash::fast::FixedState>,
    pub(crate) tracing: HashSet<Pid, foldhash::fast::FixedState>,
    pub(crate) without_privileges: Counts,
    pub(crate) filtering_before: u64,
    pub(crate) tracing_before: u64,
    /// Number of stops after which the next statement is due.
    next_statement: u64,
}

/// Stops between two statements of coverage.
const STATEMENTS: u64 = 1 << 16;

impl Tally {
    /// Whether a statement of coverage is due: the first at once, so that whoever is killed early has made one.
    #[inline]
    pub(crate) fn is_statement_due(&mut self) -> bool {
        let is_due = self.stops > self.next_statement;
        if is_due {
            self.next_statement = self.stops + STATEMENTS;
        }
        is_due
    }

    /// A process that filtered its calls or traced others is gone, and its id may be given again.
    pub(crate) fn forget(&mut self, process: Pid) {
        self.filtering_before += u64::from(self.filtering.remove(&process));
        self.tracing_before += u64::from(self.tracing.remove(&process));
    }
}
