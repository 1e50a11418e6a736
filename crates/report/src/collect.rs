//! What stands behind the figures of a graph.

use crate::options::Limits;
use crate::subject::span_ns;
use iotrail_dfg::details::Details;
use iotrail_dfg::timeline::{Timeline, TimelineOptions};
use iotrail_dfg::{ActivitySet, Dfg};
use iotrail_model::calls::{PerCall, Transfer};
use iotrail_model::{Names, Timestamp};
use iotrail_query::{ActivityId, Pass, Query, Rows};
use iotrail_trail::{Columns, EventLog};
use std::collections::HashMap;
use std::sync::Arc;

/// How many (activity, case, bin) cells a worker holds before it joins bins.
const CELLS: usize = 400_000;

/// What was found.
#[derive(Clone, Debug)]
pub(crate) struct Collected {
    pub(crate) details: Details,
    pub(crate) timeline: Timeline,
    /// The number of each activity.
    pub(crate) ids: HashMap<Arc<str>, ActivityId>,
}

/// The pass that collects what stands behind the nodes of a graph that are shown.
#[derive(Debug)]
pub(crate) struct Collecting {
    details: Details,
    timeline: Timeline,
    wanted: ActivitySet,
    ids: HashMap<Arc<str>, ActivityId>,
}

impl Collecting {
    /// For the nodes `shown` of `dfg`, as much as `limits` allow.
    pub(crate) fn new(log: &EventLog, query: &Query, dfg: &Dfg, shown: &[usize], limits: &Limits) -> Self {
        let ids: HashMap<Arc<str>, ActivityId> =
            (0..).map(ActivityId).zip(query.activities()).map(|(id, name)| (name, id)).collect();
        let wanted =
            ActivitySet::only(shown.iter().filter_map(|node| ids.get(&dfg.nodes[*node].activity).copied()));
        let options = TimelineOptions {
            origin: Timestamp(dfg.span.start_ns.unwrap_or(0)),
            span_ns: span_ns(dfg),
            bins: limits.timeline_bins,
            bars: limits.bars_per_timeline,
            longest: limits.longest,
            cells: CELLS,
        };
        let details = Details::new(limits.examples, wanted.clone(), transfers(log.names()));
        Self { details, timeline: Timeline::new(options, wanted.clone()), wanted, ids }
    }

    /// The activities that are shown.
    pub(crate) fn wanted(&self) -> ActivitySet {
        self.wanted.clone()
    }
}

impl Pass for Collecting {
    type Sums = (Details, Timeline);
    type Boundary = ();
    type Closed = ();
    type Output = Collected;

    fn columns(&self) -> Columns {
        Columns::ALL
    }

    fn sums(&self) -> (Details, Timeline) {
        (self.details.clone(), self.timeline.clone())
    }

    fn closed(&self) {}

    fn add(&self, (details, timeline): &mut (Details, Timeline), rows: &Rows<'_>) {
        details.add(rows.batch, rows.classified);
        timeline.add(rows.batch, rows.classified);
    }

    fn merge(&self, (details, timeline): &mut (Details, Timeline), other: (Details, Timeline)) {
        details.merge(&other.0);
        timeline.merge(&other.1);
    }

    fn close(&self, (): &mut (), (): ()) {}

    fn finish(&self, (details, timeline): (Details, Timeline), (): ()) -> Collected {
        Collected { details, timeline, ids: self.ids.clone() }
    }
}

/// By number of the call, which way it moves data.
fn transfers(names: &Names) -> Arc<[Transfer]> {
    PerCall::new(&names.calls, |call| call.transfer()).into_all().into()
}
