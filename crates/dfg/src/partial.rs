//! A mergeable part of a result: what threads and, some day, machines exchange.

use crate::accumulate::Accumulator;
use crate::open_cases::OpenCases;
use crate::plan::Plan;
use crate::totals::Totals;
use iotrail_model::EventBatch;
use iotrail_query::Classified;
use std::sync::Arc;

/// The result for consecutive rows of a log.
///
/// The law: however the rows are cut into consecutive pieces and in whatever grouping neighbours are merged, the finished
/// result is the same; and logs that share no case may be merged in any order.
#[derive(Clone, Debug)]
pub struct Partial {
    totals: Totals,
    open_cases: OpenCases,
}

impl Partial {
    /// The result for one batch. It must have the columns start, dur, path, size and errno.
    #[must_use]
    pub fn of(batch: &EventBatch, classified: &Classified, plan: &Arc<Plan>) -> Self {
        let mut accumulator = Accumulator::new(Arc::clone(plan));
        let open_cases = accumulator.add(batch, classified);
        Self { totals: accumulator.into_totals(), open_cases }
    }

    /// The result of several workers: the sums of all of them, and the boundaries of all pieces in the order of their rows.
    #[must_use]
    pub fn assemble(
        workers: impl IntoIterator<Item = Accumulator>,
        open_cases: impl IntoIterator<Item = OpenCases>,
        plan: &Plan,
    ) -> Self {
        let totals = workers.into_iter().map(Accumulator::into_totals).reduce(|mut all, totals| {
            all.merge(totals);
            all
        });
        let mut partial = Self {
            totals: totals.unwrap_or_else(|| Totals::new(plan.slots())),
            open_cases: OpenCases::default(),
        };
        open_cases.into_iter().for_each(|next| partial.open_cases.join(next, &mut partial.totals));
        partial
    }

    /// Joins the result for the rows that follow.
    #[must_use]
    pub fn merge(mut self, next: Self) -> Self {
        self.totals.merge(next.totals);
        self.open_cases.join(next.open_cases, &mut self.totals);
        self
    }

    /// The totals when no more rows come on either side.
    pub(crate) fn close(mut self) -> Totals {
        self.open_cases.close(&mut self.totals);
        self.totals
    }
}
