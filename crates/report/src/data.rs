//! The data of a report, as it stands in the page (`docs/report.md`).
//!
//! Names are in one dictionary. Lists are bounded, and each bounded list says how many more there are. Rows of long lists are
//! plain JSON arrays: a million events must fit into a megabyte. Times are nanoseconds after `origin`.

use crate::answer::micro;
use crate::fold::Token;
use iotrail_model::{Coverage, RecordingCoverage};
use serde::Serialize;
use std::collections::BTreeMap;

/// The name of the format.
pub const FORMAT: &str = "iotrail-report/1";

/// A number of [`PageData::names`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct NameId(pub u32);

/// A bounded list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bounded<T> {
    /// What is listed.
    pub list: Vec<T>,
    /// How many more there are.
    pub more: u64,
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self { list: Vec::new(), more: 0 }
    }
}

/// Everything that the page shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields are named as in iotrail_dfg::result, or say what they are")]
pub struct PageData {
    pub format: &'static str,
    pub version: &'static str,
    pub command: String,
    pub title: String,
    /// What a comparison comes to, in a line.
    pub verdict: Option<String>,
    pub mapping: String,
    pub case_by: String,
    pub selection: String,
    pub concurrency_rule: String,
    pub quantile_exact_limit: u64,
    pub quantile_relative_error: f64,
    /// `utc`, `time-of-day`, `relative`, `order`, or `mixed` if the cases differ.
    pub clock: &'static str,
    /// Start of the first mapped event, RFC 3339.
    pub origin: String,
    pub span_ns: u64,
    /// Unit of the time stamps, NULL if it is not known.
    pub resolution_ns: Option<i64>,
    pub totals: PageTotals,
    /// Where the elapsed time went.
    pub why: crate::answer::PageWhy,
    /// What to change, most at stake first.
    pub advice: Bounded<crate::advice::PageAdvice>,
    /// Which files that is about, and their accesses.
    pub drill: crate::drill::PageDrill,
    pub hosts: Bounded<NameId>,
    /// Command line, and how many processes ran it.
    pub commands: Bounded<(NameId, u64)>,
    pub calls: Bounded<TotalsRow>,
    pub groups: Vec<iotrail_dfg::result::Group>,
    pub nodes: Vec<PageNode>,
    pub nodes_more: MoreNodes,
    pub edges: Vec<PageEdge>,
    pub edges_more: MoreEdges,
    /// The graph at the stops of its sliders.
    pub stops: crate::stops::PageStops,
    pub variants: PageVariants,
    pub timeline: PageTimeline,
    pub comparison: Option<PageComparison>,
    pub files: crate::files::PageFiles,
    /// The figures in slices of time; NULL if nothing has a time.
    pub slices: Option<crate::slices::PageSlices>,
    pub cases: Bounded<CaseRow>,
    /// The program beside the clone that a model makes of it; NULL without a model.
    pub likeness: Option<iotrail_characterize::Likeness>,
    /// Loops and messages of structures; NULL if there is no structure among the inputs.
    pub structured: Option<crate::loops::Structured>,
    /// Phases, processes, the workflow DAG, distributions.
    pub workflow: crate::workflow::PageWorkflow,
    pub coverage: Coverage,
    /// What recorders say of [`PageData::coverage`], in words; nothing of imports.
    pub recording: Option<RecordingWords>,
    /// Last, so that a person who reads the file meets the figures first.
    pub names: Vec<String>,
}

/// What recorders saw and what not, in the words of `iotrail info`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the fields are named as the methods of iotrail_model::RecordingCoverage")]
pub struct RecordingWords {
    pub selected: String,
    pub without: Vec<String>,
    pub gaps: Vec<String>,
    pub costs: Vec<String>,
    pub why_empty: Option<String>,
}

impl From<&RecordingCoverage> for RecordingWords {
    fn from(recording: &RecordingCoverage) -> Self {
        Self {
            selected: recording.selected(),
            without: recording.without().into_iter().map(str::to_owned).collect(),
            gaps: recording.gaps(),
            costs: recording.costs().iter().map(|cost| micro(cost)).collect(),
            why_empty: recording.why_empty(),
        }
    }
}

/// Sums over the whole log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(
    missing_docs,
    reason = "the fields are named as in iotrail_dfg::details::Totals, or say what they are"
)]
pub struct PageTotals {
    pub events: u64,
    pub mapped: u64,
    pub unmapped: u64,
    pub cases: u64,
    pub cases_without_trace: u64,
    pub processes: u64,
    pub threads: u64,
    pub files: u64,
    pub failures: u64,
    /// Sum of the durations of all selected events; NULL if none is known.
    pub duration_ns: Option<u64>,
    /// Sum of the durations of the mapped events; NULL if none is known.
    pub mapped_ns: Option<u64>,
    /// Sum of the processes of all threads.
    pub thread_ns: u64,
    pub read: u64,
    pub written: u64,
    pub copied: u64,
}

/// Name, count, failures, duration (NULL if none is known), bytes read, written, copied.
pub type TotalsRow = (NameId, u64, u64, Option<u64>, u64, u64, u64);

/// An activity. Keys are short because there are many.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageNode {
    /// Name of the activity.
    pub n: NameId,
    /// Number of events.
    pub c: u64,
    /// Number of cases.
    pub k: u64,
    /// Failures.
    pub e: u64,
    /// Distinct files.
    pub f: u64,
    /// Total duration; NULL if none is known.
    pub t: Option<u64>,
    /// Bytes.
    pub b: u64,
    /// Process data rate.
    pub r: Option<f64>,
    /// Max concurrency; NULL if no event has a time stamp and a duration > 0.
    pub m: Option<u64>,
    /// Durations: mean, median, 95 %, 99 %, largest.
    pub d: PageDurations,
    /// Sizes: mean, median, 95 %, largest.
    pub s: (Option<f64>, Option<i64>, Option<i64>, Option<i64>),
    /// Durations: 0 for the bin of zero, else one more than the power of two of the bin's lower end, and the count.
    pub dh: Vec<(u32, u64)>,
    /// Sizes, likewise.
    pub sh: Vec<(u32, u64)>,
    /// By group: count, cases, failures, duration, bytes, data rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub g: Vec<Option<PageNodeInGroup>>,
    /// Width of its box, points.
    pub w: i32,
    /// Its slowest events.
    pub ex: Vec<PageExample>,
    /// Its files: name, events, duration, bytes.
    pub fl: Vec<(NameId, u64, Option<u64>, u64)>,
    /// How many more files.
    pub flm: u64,
    /// Its cases: name, events, duration, bytes.
    pub cs: Vec<(NameId, u64, Option<u64>, u64)>,
    /// How many more cases.
    pub csm: u64,
}

/// Mean, median, 95 %, 99 %, largest.
pub type PageDurations = (Option<f64>, Option<i64>, Option<i64>, Option<i64>, Option<i64>);

/// Count, cases, failures, duration, bytes, data rate.
pub type PageNodeInGroup = (u64, u64, u64, Option<u64>, u64, Option<f64>);

/// Start, duration, case, pid, tid, call, path, offset, requested, size, error.
pub type PageExample = (
    i64,
    i64,
    NameId,
    u32,
    u32,
    NameId,
    Option<NameId>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<NameId>,
);

/// Activities that are not in the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MoreNodes {
    /// Number of activities.
    pub nodes: u64,
    /// Number of their events.
    pub events: u64,
    /// Their time; NULL if none is known.
    pub duration_ns: Option<u64>,
}

/// Transitions that are not in the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MoreEdges {
    /// Number of transitions.
    pub edges: u64,
    /// How often they were taken.
    pub count: u64,
}

/// Gaps of a transition: mean, median, 95 %, sum.
pub type PageGap = (Option<f64>, Option<i64>, Option<i64>, Option<i64>);

/// A transition as a list: from, to (numbers of activities; -1 for ●, -2 for ■), count, cases, mean, median, 95 % and sum of
/// the gap, groups (0 without them).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageEdge {
    /// The activity before.
    pub from: i32,
    /// The activity after.
    pub to: i32,
    /// Number of times that it was taken.
    pub count: u64,
    /// In how many cases.
    pub cases: u64,
    /// Time between the two events.
    pub gap: PageGap,
    /// By group: count, cases, sum of gaps.
    pub groups: Vec<Option<(u64, u64, Option<i64>)>>,
}

impl Serialize for PageEdge {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq;
        let (mean, p50, p95, sum) = &self.gap;
        let mut row = serializer.serialize_seq(Some(9))?;
        row.serialize_element(&self.from)?;
        row.serialize_element(&self.to)?;
        row.serialize_element(&self.count)?;
        row.serialize_element(&self.cases)?;
        row.serialize_element(mean)?;
        row.serialize_element(p50)?;
        row.serialize_element(p95)?;
        row.serialize_element(sum)?;
        match self.groups.is_empty() {
            true => row.serialize_element(&0)?,
            false => row.serialize_element(&self.groups)?,
        }
        row.end()
    }
}

/// Distinct activity traces and how many cases have each.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageVariants {
    /// The most frequent ones.
    pub list: Vec<PageVariant>,
    /// Variants that the list leaves out.
    pub more: MoreVariants,
}

/// Variants that are not in the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MoreVariants {
    /// Number of variants.
    pub variants: u64,
    /// Number of their cases.
    pub cases: u64,
}

/// A distinct activity trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageVariant {
    /// Cases that have it.
    pub c: u64,
    /// Length of the trace in events.
    pub l: u64,
    /// Whether `t` is only its beginning.
    pub x: bool,
    /// The trace without ● and ■, folded.
    pub t: Vec<Token<NameId>>,
    /// Names of its first cases.
    pub k: Vec<NameId>,
}

/// When the events of activities took place.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageTimeline {
    /// By number of the activity.
    pub acts: BTreeMap<usize, PageActivityTimeline>,
}

/// The timeline of one activity.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageActivityTimeline {
    /// Number of events.
    pub count: u64,
    /// Width of a bin.
    pub bin_ns: u64,
    /// Every event (row, start, duration or -1), if they are few enough; otherwise bins and the longest events.
    pub bars: Option<Vec<(u32, i64, i64)>>,
    /// The longest events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub longest: Vec<(u32, i64, i64)>,
    /// Mean number of events in flight in each bin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub level: Vec<f64>,
    /// Rows of the timeline, one for each case or thread.
    pub rows: Vec<TimelineRow>,
}

/// A row of a timeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimelineRow {
    /// Its first case.
    pub k: NameId,
    /// How many cases it stands for.
    pub n: u64,
    /// The bins as text (`timeline.js` decodes it).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub h: String,
}

/// What changed between two groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageComparison {
    /// Name of the group that is the baseline.
    pub a: String,
    /// The other group.
    pub b: String,
    /// Whether values are per rank instead of per run.
    pub per_case: bool,
    /// Runs of both groups, and how many each needs before one change can stand.
    pub runs: (u64, u64, u64),
    /// What they are: `run` or `rank`.
    pub unit: &'static str,
    /// Whether most activities are in one group only.
    pub exclusive: bool,
    /// Divisions behind the p-values.
    pub permutations: u64,
    /// One change for each activity or transition, in the order of the comparison: kind, activity, follower, measure, both
    /// values, difference, ratio, time at stake, p-value, whether it stands, kinds and ratios of its other changes.
    pub list: Vec<PageChange>,
    /// How many more.
    pub more: u64,
}

/// A change.
pub type PageChange = (
    iotrail_dfg::ChangeKind,
    NameId,
    Option<NameId>,
    String,
    f64,
    f64,
    f64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<bool>,
    Vec<(iotrail_dfg::ChangeKind, Option<f64>)>,
);

/// A case: name, group or -1, its totals, its first start, its life.
pub type CaseRow = (NameId, i32, u64, u64, Option<u64>, u64, u64, u64, i64, u64);
