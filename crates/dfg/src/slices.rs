//! Activities and transitions in slices of time: what a graph is in a part of its time.
//!
//! An event counts in the slice in which it begins, with its bytes; its time counts where it passes. A transition counts where
//! the event that follows begins, the one to ■ where the last event does.

use crate::activity_set::ActivitySet;
use crate::vertex::{Relation, Vertex};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::EventBatch;
use iotrail_query::{ActivityId, CaseKey, Pass, Rows, TimeSlices};
use iotrail_trail::Columns;

/// An activity by slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlicedActivity {
    /// Events that begin in it.
    pub events: Vec<u64>,
    /// Time that events spend in it, ns.
    pub busy_ns: Vec<u64>,
    /// Bytes of the events that begin in it.
    pub bytes: Vec<u64>,
}

/// A graph by slice. What has nothing in any is not there.
#[derive(Clone, Debug, Default)]
pub struct SlicedGraph {
    activities: HashMap<u32, SlicedActivity, RandomState>,
    transitions: HashMap<Relation, Vec<u64>, RandomState>,
}

impl SlicedGraph {
    /// An activity by slice.
    #[must_use]
    pub fn activity(&self, activity: ActivityId) -> Option<&SlicedActivity> {
        self.activities.get(&(activity.index()? as u32))
    }

    /// How often one activity follows another in each slice; NULL stands for ● before and ■ after.
    #[must_use]
    pub fn transition(&self, from: Option<ActivityId>, to: Option<ActivityId>) -> Option<&[u64]> {
        let relation = Relation { from: vertex(from), to: vertex(to) };
        self.transitions.get(&relation).map(Vec::as_slice)
    }

    fn follow(&mut self, relation: Relation, slice: usize, slices: usize) {
        let counts = self.transitions.entry(relation).or_insert_with(|| vec![0; slices]);
        counts[slice] += 1;
    }
}

fn vertex(activity: Option<ActivityId>) -> Vertex {
    activity.and_then(ActivityId::index).map_or(Vertex::BOUNDARY, |index| Vertex::activity(index as u32))
}

/// The pass that makes a [`SlicedGraph`] of some activities.
#[derive(Clone, Debug)]
pub struct Slicing {
    slices: TimeSlices,
    wanted: ActivitySet,
}

/// The first and the last activity of a case in a piece, and in which slices they begin.
#[derive(Clone, Copy, Debug)]
struct BoundaryEvents {
    first: (u32, usize),
    last: (u32, usize),
}

/// The cases of a piece, or of all pieces from the first one on.
#[derive(Debug, Default)]
pub struct SlicedEnds(HashMap<CaseKey, BoundaryEvents, RandomState>);

/// The cases of all pieces, and the transitions between pieces.
#[derive(Debug, Default)]
pub struct ClosedSlices {
    ends: SlicedEnds,
    graph: SlicedGraph,
}

impl Slicing {
    /// Of the `wanted` activities.
    #[must_use]
    pub fn new(slices: TimeSlices, wanted: ActivitySet) -> Self {
        Self { slices, wanted }
    }

    /// Counts a transition, if both activities are wanted.
    fn follow(&self, graph: &mut SlicedGraph, from: Option<u32>, to: Option<u32>, slice: usize) {
        let is_wanted = |end: Option<u32>| end.is_none_or(|index| self.wanted.contains(ActivityId(index)));
        if is_wanted(from) && is_wanted(to) {
            let relation = Relation { from: vertex(from.map(ActivityId)), to: vertex(to.map(ActivityId)) };
            graph.follow(relation, slice, self.slices.count);
        }
    }

    fn count(&self, graph: &mut SlicedGraph, batch: &EventBatch, row: usize, activity: u32, slice: usize) {
        if !self.wanted.contains(ActivityId(activity)) {
            return;
        }
        let none = || vec![0; self.slices.count];
        let new = || SlicedActivity { events: none(), busy_ns: none(), bytes: none() };
        let sums = graph.activities.entry(activity).or_insert_with(new);
        sums.events[slice] += 1;
        let bytes = batch.size[row].get().and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
        sums.bytes[slice] = sums.bytes[slice].saturating_add(bytes);
        let busy = &mut sums.busy_ns;
        let add = |slice: usize, nanos: u64| busy[slice] = busy[slice].saturating_add(nanos);
        self.slices.spread(batch.start[row], batch.dur[row], add);
    }
}

impl Pass for Slicing {
    type Sums = SlicedGraph;
    type Boundary = SlicedEnds;
    type Closed = ClosedSlices;
    type Output = SlicedGraph;

    fn columns(&self) -> Columns {
        Columns::CASE | Columns::START | Columns::DUR | Columns::SIZE
    }

    fn sums(&self) -> SlicedGraph {
        SlicedGraph::default()
    }

    fn closed(&self) -> ClosedSlices {
        ClosedSlices::default()
    }

    fn add(&self, graph: &mut SlicedGraph, rows: &Rows<'_>) -> SlicedEnds {
        let mut ends = SlicedEnds::default();
        let Rows { batch, classified, .. } = rows;
        for row in 0..batch.len {
            let Some(activity) = classified.activity[row].index().map(|index| index as u32) else { continue };
            let Some(slice) = self.slices.of(batch.case[row], batch.start[row]) else { continue };
            self.count(graph, batch, row, activity, slice);
            let here = (activity, slice);
            let case = ends.0.entry(classified.key[row]).and_modify(|case| {
                self.follow(graph, Some(case.last.0), Some(activity), slice);
                case.last = here;
            });
            case.or_insert(BoundaryEvents { first: here, last: here });
        }
        ends
    }

    fn merge(&self, graph: &mut SlicedGraph, other: SlicedGraph) {
        for (activity, theirs) in other.activities {
            let mine = graph.activities.entry(activity).or_default();
            add_up(&mut mine.events, theirs.events);
            add_up(&mut mine.busy_ns, theirs.busy_ns);
            add_up(&mut mine.bytes, theirs.bytes);
        }
        for (relation, theirs) in other.transitions {
            add_up(graph.transitions.entry(relation).or_default(), theirs);
        }
    }

    fn close(&self, closed: &mut ClosedSlices, piece: SlicedEnds) {
        for (key, next) in piece.0 {
            let before = closed.ends.0.get(&key).map(|ends| ends.last.0);
            self.follow(&mut closed.graph, before, Some(next.first.0), next.first.1);
            closed.ends.0.insert(key, next);
        }
    }

    fn finish(&self, mut graph: SlicedGraph, mut closed: ClosedSlices) -> SlicedGraph {
        for ends in closed.ends.0.values() {
            self.follow(&mut closed.graph, Some(ends.last.0), None, ends.last.1);
        }
        self.merge(&mut graph, closed.graph);
        graph
    }
}

fn add_up(mine: &mut Vec<u64>, theirs: Vec<u64>) {
    if mine.is_empty() {
        *mine = theirs;
        return;
    }
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = mine.saturating_add(theirs));
}
