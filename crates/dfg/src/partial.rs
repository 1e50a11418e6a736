//! A mergeable part of a result: what threads and, some day, machines exchange.

use crate::accumulate::Accumulator;
use crate::plan::Plan;
use crate::seams::Seams;
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
    seams: Seams,
}

impl Partial {
    /// The result for one batch. It must have the columns start, dur, path, size and errno.
    #[must_use]
    pub fn of(batch: &EventBatch, classified: &Classified, plan: &Arc<Plan>) -> Self {
        let mut accumulator = Accumulator::new(Arc::clone(plan));
        let seams = accumulator.add(batch, classified);
        Self { totals: accumulator.into_totals(), seams }
    }

    /// The result of several workers: the sums of all of them, and the seams of all pieces in the order of their rows.
    #[must_use]
    pub fn assemble(
        workers: impl IntoIterator<Item = Accumulator>,
        seams: impl IntoIterator<Item = Seams>,
        plan: &Plan,
    ) -> Self {
        let totals = workers.into_iter().map(Accumulator::into_totals).reduce(|mut all, totals| {
            all.merge(totals);
            all
        });
        let mut partial =
            Self { totals: totals.unwrap_or_else(|| Totals::new(plan.slots())), seams: Seams::default() };
        seams.into_iter().for_each(|next| partial.seams.join(next, &mut partial.totals));
        partial
    }

    /// Joins the result for the rows that follow.
    #[must_use]
    pub fn merge(mut self, next: Self) -> Self {
        self.totals.merge(next.totals);
        self.seams.join(next.seams, &mut self.totals);
        self
    }

    /// The totals when no more rows come on either side.
    pub(crate) fn close(mut self) -> Totals {
        self.seams.close(&mut self.totals);
        self.totals
    }
}
