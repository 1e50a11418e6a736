//! The pass beneath graphs and comparisons: the sums over nodes, relations and cases.

use crate::accumulate::Accumulator;
use crate::open_cases::{ClosedCases, OpenCases};
use crate::plan::Plan;
use crate::totals::Totals;
use iotrail_model::Case;
use iotrail_model::calls::EventClasses;
use iotrail_query::{Pass, Rows};
use iotrail_trail::{Columns, EventLog};
use std::collections::HashSet;
use std::sync::Arc;

/// Sums up a whole log.
#[derive(Clone, Debug)]
pub(crate) struct Summation {
    plan: Arc<Plan>,
    classes: Arc<EventClasses>,
}

impl Summation {
    pub(crate) fn new(log: &EventLog, plan: Plan) -> Self {
        let is = |index: usize, wanted: fn(&Case) -> bool| log.cases().get(index).is_some_and(wanted);
        let plan = plan.without_times(|index| is(index, |case| !case.has_times()));
        let plan = plan.with_coarse_times(|index| is(index, |case| case.resolution.is_coarse()));
        let classes = EventClasses::new(log.names(), log.files(), HashSet::new());
        Self { plan: Arc::new(plan), classes: Arc::new(classes) }
    }
}

impl Pass for Summation {
    type Sums = Accumulator;
    type Boundary = OpenCases;
    type Closed = ClosedCases;
    type Output = Totals;

    fn columns(&self) -> Columns {
        let of_events =
            Columns::CASE | Columns::START | Columns::DUR | Columns::FILE | Columns::SIZE | Columns::ERRNO;
        of_events | Columns::CALL | Columns::PATH | Columns::PATH2 | Columns::FLAGS
    }

    fn sums(&self) -> Accumulator {
        Accumulator::new(Arc::clone(&self.plan)).with_classes(Arc::clone(&self.classes))
    }

    fn closed(&self) -> ClosedCases {
        ClosedCases::new(self.plan.slots())
    }

    fn add(&self, accumulator: &mut Accumulator, rows: &Rows<'_>) -> OpenCases {
        accumulator.add(rows.batch, rows.classified)
    }

    fn merge(&self, accumulator: &mut Accumulator, other: Accumulator) {
        accumulator.merge(other);
    }

    fn close(&self, closed: &mut ClosedCases, open_cases: OpenCases) {
        closed.push(open_cases);
    }

    fn finish(&self, accumulator: Accumulator, closed: ClosedCases) -> Totals {
        let mut totals = accumulator.into_totals();
        totals.merge(closed.close());
        totals
    }
}
