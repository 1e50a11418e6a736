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
    pub(crate) totals: Totals,
    seams: Seams,
}

impl Partial {
    /// The result for one batch. It must have the columns start, dur, path, size and errno.
    #[must_use]
    pub fn of(batch: &EventBatch, classified: &Classified, plan: &Arc<Plan>) -> Self {
        let mut accumulator = Accumulator::new(Arc::clone(plan));
        let seams = accumulator.add(batch, classified);
        Self { totals: accumulator.totals, seams }
    }

    pub(crate) fn from_parts(totals: Totals, seams: Seams) -> Self {
        Self { totals, seams }
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
