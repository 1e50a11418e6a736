//! The I/O summary, the access patterns and the throughput look at the same rows: they share one part of the scan.

use crate::call::{Call, Kinds, columns};
use crate::part::{Context, Part, RowFacts};
use crate::pattern::{Closed, Patterns, Streams};
use crate::summary::Summary;
use crate::throughput::Throughput;
use iotrail_model::{Case, EventBatch, Resolution};
use iotrail_trail::Columns;
use std::sync::Arc;

/// What the selected rows moved, where, and when.
#[derive(Clone, Debug)]
pub(crate) struct IoTable {
    kinds: Arc<Kinds>,
    pub(crate) summary: Summary,
    pub(crate) patterns: Patterns,
    pub(crate) throughput: Throughput,
}

impl IoTable {
    pub(crate) fn new(kinds: Arc<Kinds>) -> Self {
        Self {
            kinds,
            summary: Summary::default(),
            patterns: Patterns::default(),
            throughput: Throughput::default(),
        }
    }

    fn add_selected(&mut self, call: &Call, timed: Option<Resolution>, streams: &mut Streams) {
        self.summary.add(call);
        self.patterns.add(call, streams, &self.kinds.across_cases);
        if let Some(resolution) = timed {
            self.throughput.add(call, resolution);
        }
    }
}

impl Part for IoTable {
    type Boundary = Streams;
    type Closed = Closed;
    type Table = Self;

    fn columns() -> Columns {
        columns()
    }

    fn add(&mut self, batch: &EventBatch, facts: &RowFacts, context: &Context<'_>) -> Streams {
        let mut streams = Streams::default();
        for row in 0..batch.len {
            let mut call = self.kinds.call(batch.event(row), facts.process[row], facts.slot[row] as usize);
            streams.open(&call);
            if facts.selected[row] {
                call.class = self.kinds.class(batch, row, facts.process[row], context.processes);
                let case = context.cases().get(call.event.case.index());
                let timed = case.is_none_or(Case::has_times);
                let resolution = case.map(|case| case.resolution).unwrap_or_default();
                self.add_selected(&call, timed.then_some(resolution), &mut streams);
            }
        }
        streams
    }

    fn merge(&mut self, other: Self) {
        self.summary.merge(other.summary);
        self.patterns.merge(other.patterns);
        self.throughput.merge(other.throughput);
    }

    fn close(closed: &mut Closed, boundary: Streams) {
        closed.push(boundary);
    }

    fn finish(mut self, closed: Closed, _: &Context<'_>) -> Self {
        self.patterns.settle(closed);
        self
    }
}
