//! The result of a synthesis: plain data, serialised as the documented JSON (`docs/dfg-json.md`, `schema/dfg.schema.json`).
//!
//! Every picture, table and page is drawn from these types and from nothing else. All lists are sorted, so that the same
//! input gives the same bytes.

use crate::by_group::ByGroup;
use iotrail_model::{Coverage, Limitation, Nanos, Resolution};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Artificial first activity of every trace.
pub const START: &str = "●";
/// Artificial last activity of every trace.
pub const END: &str = "■";

/// A Directly-Follows Graph with its statistics (spec: nodes, edges, variants; paper: section IV).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dfg {
    /// `iotrail-dfg/1`.
    pub format: String,
    /// Names of the trails.
    pub sources: Vec<String>,
    /// The mapping, as the user would write it.
    pub mapping: String,
    /// What a case is: `rank`, `pid`, `tid`, `exec`.
    pub case_by: String,
    /// The selection in words, empty if everything was selected.
    pub selection: String,
    /// `exact` or `paper`.
    pub max_concurrency_rule: String,
    /// Counts of events.
    pub events: EventCounts,
    /// Cases with at least one mapped event, that is, traces.
    pub cases: u64,
    /// Cases whose selected events are all unmapped.
    pub cases_without_trace: u64,
    /// First start to last end of the mapped events.
    pub span: Span,
    /// The unit of the time stamps in ns, of several cases the coarsest; NULL if it is not known.
    #[serde(rename = "resolution_ns", default)]
    pub resolution: Resolution,
    /// Sum of the durations of all mapped events, the denominator of relative durations; NULL if no duration is known.
    pub duration_ns: Option<u64>,
    /// Bytes moved by all mapped events.
    pub bytes: u64,
    /// The groups, in the order of their colours; empty without a partition.
    pub groups: Vec<Group>,
    /// Distinct activity traces, most frequent first.
    pub variants: Vec<Variant>,
    /// Activities, largest total duration first, then largest count, then by name.
    pub nodes: Vec<Node>,
    /// Directly-follows relations, largest count first, then by names.
    pub edges: Vec<Edge>,
    /// Quantiles are exact for at most this many values...
    pub quantile_exact_limit: u64,
    /// ...and have at most this relative error beyond it.
    pub quantile_relative_error: f64,
    /// Which events the trails lack.
    #[serde(default)]
    pub limitations: Vec<Limitation>,
    /// What the trails do not hold.
    pub coverage: Coverage,
}

/// Events by what the mapping made of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCounts {
    /// Selected events.
    pub total: u64,
    /// Those with an activity.
    pub mapped: u64,
    /// Selected events that the mapping assigns to no activity.
    pub unmapped: u64,
    /// The time of these, without requests in flight; NULL if no duration of theirs is known.
    #[serde(default)]
    pub unmapped_ns: Option<u64>,
}

impl EventCounts {
    /// Adds the time of events that are assigned to no activity.
    pub(crate) fn add_unmapped(&mut self, time: Option<u64>) {
        if let Some(time) = time {
            self.unmapped_ns = Some(self.unmapped_ns.unwrap_or(0).saturating_add(time));
        }
    }
}

/// A span of time, nanoseconds since the clock's origin; NULL without events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// First start.
    pub start_ns: Option<i64>,
    /// Last end.
    pub end_ns: Option<i64>,
}

impl Node {
    /// The time of its events without waits and requests; NULL if no duration is known.
    #[must_use]
    pub fn working_ns(&self) -> Option<u64> {
        let others = self.wait_ns.unwrap_or(0).saturating_add(self.request_ns.unwrap_or(0));
        Some(self.duration_ns?.saturating_sub(others))
    }

    /// Whether most of its time is that of requests in flight.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.duration_ns.zip(self.request_ns).is_some_and(|(all, requests)| requests > all / 2)
    }

    /// Whether most of its time is waiting.
    #[must_use]
    pub fn is_wait(&self) -> bool {
        self.duration_ns.zip(self.wait_ns).is_some_and(|(all, waits)| waits > all / 2)
    }
}

impl Dfg {
    /// The time in which requests were in flight, each by itself: the part of `duration_ns` that no thread spent.
    #[must_use]
    pub fn request_ns(&self) -> u64 {
        self.nodes.iter().filter_map(|node| node.request_ns).fold(0, u64::saturating_add)
    }

    /// From the first start to the last end, if time stamps tell how long that is.
    #[must_use]
    pub fn elapsed(&self) -> Option<Nanos> {
        let (start, end) = self.span.start_ns.zip(self.span.end_ns)?;
        self.resolution.known_span(Nanos(end.saturating_sub(start)))
    }
}

/// A group of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Name of the group, as `--by` defines it.
    pub name: String,
    /// Traces in it.
    pub cases: u64,
    /// Mapped events in it.
    pub events: u64,
    /// Sum of their durations; NULL if none is known.
    pub duration_ns: Option<u64>,
    /// Bytes they moved.
    pub bytes: u64,
}

/// A distinct activity trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Its multiplicity: how many cases have this trace.
    pub count: u64,
    /// Names of those cases, sorted; at most [`MAX_VARIANT_CASES`].
    pub cases: Vec<String>,
    /// The activities from ● to ■; the beginning only if `truncated`.
    pub trace: Vec<Arc<str>>,
    /// Number of activities between ● and ■, whether they are listed or not.
    pub length: u64,
    /// Whether `trace` is only the beginning (equality of traces is decided on all of it).
    pub truncated: bool,
}

/// How many case names a variant lists.
pub const MAX_VARIANT_CASES: usize = 100;

/// An activity and its statistics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its name, which all of a result share.
    pub activity: Arc<str>,
    /// Number of events.
    pub count: u64,
    /// Number of cases that have it.
    pub cases: u64,
    /// Events that failed.
    pub failures: u64,
    /// Distinct files of its events, whatever their names.
    pub files: u64,
    /// Sum of durations; NULL if none is known.
    pub duration_ns: Option<u64>,
    /// The part of it that is waiting, by the clock or for somebody; NULL if no duration is known.
    #[serde(default)]
    pub wait_ns: Option<u64>,
    /// The part of it in which requests (io_uring, aio) were in flight, each by itself, and which no thread spent; NULL if no duration is known.
    #[serde(default)]
    pub request_ns: Option<u64>,
    /// Share of the durations of all mapped events (paper, equation 8); NULL if its own or that of all is unknown.
    pub relative_duration: Option<f64>,
    /// Sum of sizes (equation 9).
    pub bytes: u64,
    /// Process data rate in bytes per second (equations 11 to 13); NULL if no event has size and duration > 0.
    pub data_rate: Option<f64>,
    /// Maximal concurrency (equation 16) by the rule of [`Dfg::max_concurrency_rule`]; NULL if no event has a time stamp and a
    /// duration > 0.
    pub max_concurrency: Option<u64>,
    /// Durations in nanoseconds, over the events that have one.
    pub duration: DurationStats,
    /// Sizes in bytes, over the events that have one.
    pub size: SizeStats,
    /// Durations: events in each power of two of nanoseconds.
    pub duration_histogram: Vec<Bin>,
    /// Sizes: events in each power of two of bytes.
    pub size_histogram: Vec<Bin>,
    /// The same activity within each group.
    pub groups: ByGroup<NodeInGroup>,
}

/// `count` values in `[from, to)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// Smallest value.
    pub from: u64,
    /// First value beyond.
    pub to: u64,
    /// Number of values.
    pub count: u64,
}

/// Distribution of durations, nanoseconds; NULL without values. Quantiles are nearest-rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DurationStats {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<i64>,
    /// 95th percentile.
    pub p95: Option<i64>,
    /// 99th percentile.
    pub p99: Option<i64>,
    /// Longest duration, ns; NULL if no event has a duration.
    pub max: Option<i64>,
}

/// Distribution of sizes, bytes; NULL without values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeStats {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<i64>,
    /// 95th percentile.
    pub p95: Option<i64>,
    /// Largest request, bytes; NULL if no event has a size.
    pub max: Option<i64>,
}

/// Figures of an activity within one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeInGroup {
    /// Number of events.
    pub count: u64,
    /// Number of cases of the group that have it.
    pub cases: u64,
    /// Events that failed.
    pub failures: u64,
    /// Sum of durations; NULL if none is known.
    pub duration_ns: Option<u64>,
    /// Sum of sizes.
    pub bytes: u64,
    /// Process data rate, bytes per second.
    pub data_rate: Option<f64>,
}

impl NodeInGroup {
    /// Of a group without such an event: nothing took no time.
    pub const ABSENT: Self =
        Self { count: 0, cases: 0, failures: 0, duration_ns: Some(0), bytes: 0, data_rate: None };
}

/// A directly-follows relation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// The activity before, or [`START`].
    pub from: Arc<str>,
    /// The activity after, or [`END`].
    pub to: Arc<str>,
    /// How often it follows.
    pub count: u64,
    /// Number of cases in which it does.
    pub cases: u64,
    /// Start of the follower minus end of the predecessor, nanoseconds, negative if they overlap; NULL at [`START`] and [`END`].
    pub gap_ns: GapStats,
    /// The same relation within each group.
    pub groups: ByGroup<EdgeInGroup>,
}

/// Distribution of gaps, nanoseconds; NULL without values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GapStats {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<i64>,
    /// 95th percentile.
    pub p95: Option<i64>,
    /// Sum of all gaps.
    pub sum: Option<i64>,
}

/// Figures of a relation within one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeInGroup {
    /// How often it follows.
    pub count: u64,
    /// Number of cases of the group in which it does.
    pub cases: u64,
    /// Sum of the gaps, nanoseconds; NULL if none is known.
    pub gap_sum_ns: Option<i64>,
}
