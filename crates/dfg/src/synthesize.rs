//! From an event log to a graph.

use crate::accumulate::Accumulator;
use crate::error::DfgError;
use crate::finish::{Labels, finish};
use crate::open_cases::{ClosedCases, OpenCases};
use crate::options::DfgOptions;
use crate::plan::Plan;
use crate::result::Dfg;
use crate::summation::Summation;
use crate::totals::Totals;
use iotrail_model::{Case, Clock, Note};
use iotrail_query::{Pass, Query, Rows, scan};
use iotrail_trail::{Columns, EventLog};
use std::sync::Arc;

/// The Directly-Follows Graph of the events that `query` selects in `log`.
///
/// # Errors
/// If the log cannot be read.
pub fn synthesize(log: &EventLog, query: &Query, options: &DfgOptions) -> Result<Dfg, DfgError> {
    Ok(scan(log, Some(query), options.threads, &Synthesis::new(log, query, *options))?)
}

/// The pass that makes a [`Dfg`].
#[derive(Debug)]
pub struct Synthesis<'a> {
    sums: Summation,
    log: &'a EventLog,
    query: &'a Query,
    options: DfgOptions,
}

impl<'a> Synthesis<'a> {
    /// For the events that `query` selects in `log`.
    #[must_use]
    pub fn new(log: &'a EventLog, query: &'a Query, options: DfgOptions) -> Self {
        let plan = Plan::grouped(log.cases().len(), query.groups().len(), |case| query.group(case));
        Self { sums: Summation::new(log, plan), log, query, options }
    }
}

impl Pass for Synthesis<'_> {
    type Sums = Accumulator;
    type Boundary = OpenCases;
    type Closed = ClosedCases;
    type Output = Dfg;

    fn columns(&self) -> Columns {
        self.sums.columns()
    }

    fn sums(&self) -> Accumulator {
        self.sums.sums()
    }

    fn closed(&self) -> ClosedCases {
        self.sums.closed()
    }

    fn add(&self, accumulator: &mut Accumulator, rows: &Rows<'_>) -> OpenCases {
        self.sums.add(accumulator, rows)
    }

    fn merge(&self, accumulator: &mut Accumulator, other: Accumulator) {
        self.sums.merge(accumulator, other);
    }

    fn close(&self, closed: &mut ClosedCases, open_cases: OpenCases) {
        self.sums.close(closed, open_cases);
    }

    fn finish(&self, accumulator: Accumulator, closed: ClosedCases) -> Dfg {
        let totals = self.sums.finish(accumulator, closed);
        graph(self.log, self.query, totals, self.query.groups(), &self.options)
    }
}

/// The finished graph with everything that it says about the log and the query.
pub(crate) fn graph(
    log: &EventLog,
    query: &Query,
    totals: Totals,
    groups: &[String],
    options: &DfgOptions,
) -> Dfg {
    let activities = query.activities();
    let groups: Vec<Arc<str>> = groups.iter().map(|group| group.as_str().into()).collect();
    let labels = Labels { activities: &activities, groups: &groups, case_name: &|key| query.case_name(key) };
    let dfg = finish(totals, &labels, options.max_concurrency, options.threads);
    let mut coverage = log.coverage();
    coverage.merge(&dfg.coverage);
    coverage.notes.extend(clock_notes(log));
    Dfg {
        sources: log.trails().iter().map(|trail| trail.name()).collect(),
        mapping: query.mapping().to_owned(),
        case_by: query.case_by().name().to_owned(),
        selection: query.selection(),
        limitations: log.missing_events(),
        coverage,
        resolution: Case::resolution_of(log.cases()),
        ..dfg
    }
}

/// What the clocks of the cases mean for figures across cases.
fn clock_notes(log: &EventLog) -> impl Iterator<Item = Note> {
    let count = |clock: Clock| log.cases().iter().filter(|case| case.clock == clock).count() as u64;
    let (order, relative) = (count(Clock::Order), count(Clock::Relative));
    let without = (order > 0).then_some(Note::CasesWithoutTimes { cases: order });
    let unrelated = relative > 0 && log.cases().len() > 1;
    let unrelated = unrelated.then_some(Note::CasesWithRelativeTimes { cases: relative });
    without.into_iter().chain(Case::resolution_of(log.cases()).note()).chain(unrelated)
}
