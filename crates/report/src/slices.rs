//! What the page's figures are in slices of its time, so that a window of it can be looked at.

use crate::files::Files;
use crate::name_table::NameTable;
use crate::options::Limits;
use crate::subject::Subject;
use crate::workflow::PageRow;
use crate::workflow::thin::{joined, without_zeros};
use iotrail_dfg::{Dfg, SlicedGraph};
use iotrail_draw::Picture;
use iotrail_model::Timestamp;
use iotrail_query::{ActivityId, TimeSlices};
use iotrail_stats::{FileSlices, Profile};
use iotrail_trail::EventLog;
use serde::Serialize;

/// Most slices: a sixtieth of the time is a part that a pointer can take.
const MOST: usize = 60;

/// Figures by slice; `-n` stands for n zeros. What has none in any slice is an empty list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageSlices {
    /// Start of the first slice after the page's origin.
    pub from: i64,
    /// Length of a slice.
    pub slice_ns: u64,
    /// How many they are.
    pub count: usize,
    /// By number of the activity: events, time, bytes.
    pub nodes: Vec<[Vec<i64>; 3]>,
    /// By number of the transition: how often.
    pub edges: Vec<Vec<i64>>,
    /// By number of the file: calls, I/O time, bytes read, bytes written.
    pub files: Vec<[Vec<i64>; 4]>,
    /// Name of a group of processes, bytes read, bytes written, calls.
    pub groups: Vec<PageRow>,
}

/// The slices: bins of the profile's throughput, joined; nothing if nothing has a time.
pub(crate) fn time_slices(log: &EventLog, profile: Option<&Profile>) -> Option<TimeSlices> {
    let throughput = &profile?.throughput;
    let (origin, bin_ns) = throughput.origin_ns.zip(throughput.bin_ns)?;
    let bins = bins(profile?);
    let join = bins.div_ceil(MOST).max(1);
    let width = bin_ns.saturating_mul(join as u64);
    (bins > 1).then(|| TimeSlices::new(log, Timestamp(origin), width, bins.div_ceil(join)))
}

fn bins(profile: &Profile) -> usize {
    profile.throughput.groups.iter().map(|group| group.calls.len()).max().unwrap_or(0)
}

/// What was found in each slice.
#[derive(Debug)]
pub(crate) struct Sliced {
    pub(crate) slices: TimeSlices,
    pub(crate) graph: SlicedGraph,
    /// Of the listed files.
    pub(crate) files: Vec<FileSlices>,
}

impl Sliced {
    pub(crate) fn page(&self, subject: &Subject<'_>, shown: &Picture, names: &mut NameTable) -> PageSlices {
        PageSlices {
            from: self.slices.origin.0.saturating_sub(subject.origin().0),
            slice_ns: self.slices.width_ns,
            count: self.slices.count,
            nodes: self.nodes(subject, shown),
            edges: self.edges(subject, shown),
            files: self.files(subject.files, &subject.options.limits),
            groups: subject.workflow.profile().map(|profile| self.groups(profile, names)).unwrap_or_default(),
        }
    }

    fn nodes(&self, subject: &Subject<'_>, shown: &Picture) -> Vec<[Vec<i64>; 3]> {
        let node = |node: &usize| {
            let id = activity(subject, &subject.dfg.nodes[*node].activity)?;
            let found = self.graph.activity(id)?;
            Some([&found.events, &found.busy_ns, &found.bytes].map(|values| short(values)))
        };
        shown.nodes.iter().map(|index| node(index).unwrap_or_default()).collect()
    }

    fn edges(&self, subject: &Subject<'_>, shown: &Picture) -> Vec<Vec<i64>> {
        let dfg: &Dfg = subject.dfg;
        let edge = |edge: &usize| {
            let edge = &dfg.edges[*edge];
            let counts = self.graph.transition(activity(subject, &edge.from), activity(subject, &edge.to))?;
            Some(short(counts))
        };
        shown.edges.iter().map(|index| edge(index).unwrap_or_default()).collect()
    }

    fn files(&self, files: &Files, limits: &Limits) -> Vec<[Vec<i64>; 4]> {
        let listed = self.files.iter().take(limits.files.min(files.order.len()));
        let file = |found: &FileSlices| {
            [&found.calls, &found.io_ns, &found.bytes_read, &found.bytes_written].map(|values| short(values))
        };
        listed.map(file).collect()
    }

    fn groups(&self, profile: &Profile, names: &mut NameTable) -> Vec<PageRow> {
        let bin_ns = profile.throughput.bin_ns.unwrap_or(1).max(1);
        let join = (self.slices.width_ns / bin_ns) as usize;
        let short = |values: &[u64]| without_zeros(&joined(values, join));
        let group = |group: &iotrail_stats::result::Series| {
            (names.id(&group.name), short(&group.read), short(&group.written), short(&group.calls))
        };
        profile.throughput.groups.iter().map(group).collect()
    }
}

fn activity(subject: &Subject<'_>, name: &str) -> Option<ActivityId> {
    subject.collected.ids.get(name).copied()
}

/// Nothing if all are zero.
fn short(values: &[u64]) -> Vec<i64> {
    if values.iter().all(|value| *value == 0) { Vec::new() } else { without_zeros(values) }
}
