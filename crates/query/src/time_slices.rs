//! Equal slices of time: what a result is in a part of its time.

use iotrail_model::{Case, Nanos, Nullable, Timestamp};
use iotrail_trail::EventLog;
use std::sync::Arc;

/// Equal slices of time, one after the other. What lies before the first or behind the last counts there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSlices {
    /// When the first one begins.
    pub origin: Timestamp,
    /// Length of each, at least a nanosecond.
    pub width_ns: u64,
    /// How many they are, at least one.
    pub count: usize,
    /// By recorded case, whether its time stamps mean anything.
    timed: Arc<[bool]>,
}

impl TimeSlices {
    /// `count` slices of `width_ns` from `origin` on, for the events of `log`.
    #[must_use]
    pub fn new(log: &EventLog, origin: Timestamp, width_ns: u64, count: usize) -> Self {
        let timed = log.cases().iter().map(Case::has_times).collect();
        Self { origin, width_ns: width_ns.max(1), count: count.max(1), timed }
    }

    /// The number of the slice in which an event of a case begins; NULL if its time stamps mean nothing.
    #[inline]
    #[must_use]
    pub fn of(&self, case: iotrail_model::CaseId, start: Timestamp) -> Option<usize> {
        let timed = self.timed.get(case.index()).copied().unwrap_or(true);
        timed.then(|| self.at(start.0))
    }

    #[inline]
    fn at(&self, time: i64) -> usize {
        let after = i128::from(time) - i128::from(self.origin.0);
        let slice = after.max(0) as u128 / u128::from(self.width_ns);
        usize::try_from(slice).map_or(self.count, |slice| slice).min(self.count - 1)
    }

    /// Calls `add` with each slice that an event lasts in, and how many ns of it.
    #[inline]
    pub fn spread(&self, start: Timestamp, duration: Nullable<Nanos>, mut add: impl FnMut(usize, u64)) {
        let Some(nanos) = duration.get().map(|nanos| nanos.0).filter(|nanos| *nanos > 0) else { return };
        let end = start.0.saturating_add(nanos);
        let (first, last) = (self.at(start.0), self.at(end - 1));
        let mut from = start.0;
        for slice in first..=last {
            let to = if slice == last { end } else { self.begin(slice + 1) };
            add(slice, to.saturating_sub(from).max(0) as u64);
            from = to;
        }
    }

    fn begin(&self, slice: usize) -> i64 {
        let after = i128::from(self.width_ns) * slice as i128;
        (i128::from(self.origin.0) + after).clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{CaseId, Clock};
    use iotrail_trail::memory::MemoryLog;
    use proptest::prelude::*;

    fn slices(origin: i64, width_ns: u64, count: usize) -> TimeSlices {
        let log =
            MemoryLog::new(vec![Case::default(), Case { clock: Clock::Order, ..Case::default() }]).build();
        TimeSlices::new(&log, Timestamp(origin), width_ns, count)
    }

    #[test]
    fn an_event_is_divided_where_slices_meet() {
        let slices = slices(100, 10, 3);
        let spread = |start, nanos| {
            let mut found = Vec::new();
            slices.spread(Timestamp(start), Nullable::some(Nanos(nanos)), |slice, nanos| {
                found.push((slice, nanos))
            });
            found
        };
        assert_eq!(spread(105, 10), [(0, 5), (1, 5)]);
        assert_eq!(spread(110, 10), [(1, 10)]);
        assert_eq!(spread(90, 100), [(0, 20), (1, 10), (2, 70)]);
        assert_eq!(spread(105, 0), []);
        assert_eq!(slices.of(CaseId(0), Timestamp(129)), Some(2));
        assert_eq!(slices.of(CaseId(0), Timestamp(i64::MAX)), Some(2));
        assert_eq!(slices.of(CaseId(0), Timestamp(i64::MIN)), Some(0));
        assert_eq!(slices.of(CaseId(1), Timestamp(105)), None);
    }

    proptest! {
        #[test]
        fn the_parts_of_an_event_are_the_whole_of_it(
            origin in any::<i64>(), width in 1..u64::MAX, count in 1..50_usize, start in any::<i64>(), nanos in any::<i64>(),
        ) {
            let nanos = nanos.max(0).min(i64::MAX.saturating_sub(start.max(0)));
            let mut sum = 0_u64;
            slices(origin, width, count).spread(Timestamp(start), Nullable::some(Nanos(nanos)), |slice, part| {
                assert!(slice < count);
                sum += part;
            });
            prop_assert_eq!(sum, nanos as u64);
        }
    }
}
