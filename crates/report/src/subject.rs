//! What a report is about: the graph, what stands behind it, and the names.

use crate::collect::Collected;
use crate::files::Files;
use crate::options::ReportOptions;
use crate::slices::Sliced;
use crate::workflow::Material;
use iotrail_advise::Advice;
use iotrail_dfg::{Comparison, Dfg};
use iotrail_model::{FileId, Nullable, Process, Timestamp};
use iotrail_query::Query;
use iotrail_trail::EventLog;
use iotrail_workflow::why::result::Why;

/// Everything that the page's data is made from.
pub(crate) struct Subject<'a> {
    pub(crate) log: &'a EventLog,
    pub(crate) query: &'a Query,
    pub(crate) processes: &'a [Process],
    pub(crate) dfg: &'a Dfg,
    pub(crate) comparison: Option<&'a Comparison>,
    pub(crate) collected: &'a Collected,
    pub(crate) workflow: &'a Material,
    pub(crate) files: &'a Files,
    pub(crate) sliced: Option<&'a Sliced>,
    pub(crate) why: &'a Why,
    pub(crate) advice: &'a Advice,
    pub(crate) options: &'a ReportOptions,
}

impl Subject<'_> {
    /// The name to call a file by.
    pub(crate) fn name_of(&self, file: FileId) -> &str {
        let file = self.log.distinct_files().get(file.index());
        file.and_then(|file| self.log.names().path(Nullable::some(file.path))).unwrap_or_default()
    }

    /// Where the page's times begin.
    pub(crate) fn origin(&self) -> Timestamp {
        Timestamp(self.dfg.span.start_ns.unwrap_or(0))
    }

    /// A point in time in nanoseconds after the origin.
    pub(crate) fn offset(&self, time: Timestamp) -> i64 {
        (time - self.origin()).0
    }

    /// Length of the page's time.
    pub(crate) fn span_ns(&self) -> u64 {
        span_ns(self.dfg)
    }
}

/// From the first start to the last end of a graph's events. Without time stamps, events are a nanosecond apart.
pub(crate) fn span_ns(dfg: &Dfg) -> u64 {
    match (dfg.span.start_ns, dfg.span.end_ns) {
        (Some(start), Some(end)) => end.saturating_sub(start).max(0) as u64,
        _ => dfg.events.total,
    }
}
