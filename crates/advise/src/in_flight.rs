//! Requests that are in flight at the same time: in sums of what a thread spends each moment counts once.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Tid};

/// Until when requests of each thread are in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight(HashMap<(CaseId, Tid), i64, RandomState>);

impl InFlight {
    /// The part of a request, from when to when, in which none that its thread began before is in flight.
    pub(crate) fn own(&mut self, thread: (CaseId, Tid), (start, end): (i64, i64)) -> (i64, i64) {
        let until = self.0.entry(thread).or_insert(start);
        let from = start.max(*until).min(end);
        *until = end.max(*until);
        (from, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_moment_counts_once_in_each_thread() {
        let mut in_flight = InFlight::default();
        let [one, other] = [1, 2].map(|tid| (CaseId(0), Tid(tid)));
        assert_eq!(in_flight.own(one, (0, 10)), (0, 10));
        assert_eq!(in_flight.own(one, (2, 8)), (8, 8));
        assert_eq!(in_flight.own(other, (2, 8)), (2, 8));
        assert_eq!(in_flight.own(one, (9, 15)), (10, 15));
        assert_eq!(in_flight.own(one, (20, 21)), (20, 21));
    }
}
