//! Which threads issue calls: those of the recording, as far as they were at work at the same time.

use crate::calls::{Call, Thread};
use std::collections::HashMap;

/// Threads that issue calls at most.
pub(crate) const MAX_LANES: usize = 256;

/// A lane is a thread of the experiment. It stands for a thread of the recording, or for several that used the file one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lanes {
    of: HashMap<Thread, usize>,
    count: usize,
}

/// When a thread used the file.
struct Span {
    thread: Thread,
    first: i64,
    last: i64,
}

impl Lanes {
    /// The lanes of calls in the order of their starts. If no two calls overlapped, all are issued one after the other, as they were.
    ///
    /// # Errors
    /// If there are too many.
    pub fn of(calls: &[Call]) -> Result<Self, &'static str> {
        let spans = spans(calls);
        let mut lanes = Self::default();
        if !has_overlap(calls) {
            lanes.count = usize::from(!spans.is_empty());
            lanes.of = spans.into_iter().map(|span| (span.thread, 0)).collect();
            return Ok(lanes);
        }
        let mut ends: Vec<i64> = Vec::new();
        for span in spans {
            let free =
                (0..ends.len()).filter(|lane| ends[*lane] <= span.first).max_by_key(|lane| ends[*lane]);
            let lane = free.unwrap_or_else(|| {
                ends.push(0);
                ends.len() - 1
            });
            ends[lane] = span.last;
            lanes.of.insert(span.thread, lane);
            if ends.len() > MAX_LANES {
                return Err("more than 256 threads used the file at once");
            }
        }
        lanes.count = ends.len();
        Ok(lanes)
    }

    /// The lane of a call.
    #[must_use]
    pub fn lane(&self, call: &Call) -> usize {
        self.of.get(&call.thread()).copied().unwrap_or_default()
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// States the time between the calls of each lane.
    pub fn think(&self, calls: &mut [Call]) {
        let mut ends: Vec<Option<i64>> = vec![None; self.count];
        for call in calls {
            let before = ends[self.lane(call)].replace(call.end);
            let since = before.map_or(0, |before| call.start.saturating_sub(before));
            call.think = u64::try_from(since).unwrap_or_default();
        }
    }

    /// Adds the time before calls that are not made any more to that before the next one of their lane that is.
    pub(crate) fn keep_think(&self, recorded: &[Call], advised: &mut [Call]) {
        let mut first = HashMap::new();
        for (index, call) in advised.iter_mut().enumerate() {
            call.think = 0;
            first.entry(call.place).or_insert(index);
        }
        let mut pending = vec![0_u64; self.count];
        for call in recorded {
            let pending = &mut pending[self.lane(call)];
            *pending = pending.saturating_add(call.think);
            if let Some(index) = first.get(&call.place) {
                advised[*index].think = std::mem::take(pending);
            }
        }
    }
}

/// When each thread used the file, the first to begin first.
fn spans(calls: &[Call]) -> Vec<Span> {
    let mut index = HashMap::new();
    let mut spans: Vec<Span> = Vec::new();
    for call in calls {
        let thread = call.thread();
        let at = *index.entry(thread).or_insert(spans.len());
        match spans.get_mut(at) {
            Some(span) => span.last = span.last.max(call.end),
            None => spans.push(Span { thread, first: call.start, last: call.end }),
        }
    }
    spans
}

/// Whether two threads were in calls at the same time.
fn has_overlap(calls: &[Call]) -> bool {
    let mut last: Option<&Call> = None;
    calls.iter().any(|call| {
        let overlaps = last.is_some_and(|last| last.end > call.start && last.thread() != call.thread());
        if last.is_none_or(|last| last.end <= call.end) {
            last = Some(call);
        }
        overlaps
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::CallAction;
    use iotrail_model::{CaseId, FileId, Pid, Tid};

    fn calls(rows: &[(u32, i64, i64)]) -> Vec<Call> {
        let call = |(index, (pid, start, end)): (usize, &(u32, i64, i64))| Call {
            place: (CaseId(0), index as u64),
            start: *start,
            end: *end,
            think: 0,
            pid: Pid(*pid),
            tid: Tid(*pid),
            file: FileId(0),
            open: None,
            action: CallAction::Stat,
        };
        rows.iter().enumerate().map(call).collect()
    }

    fn lanes(rows: &[(u32, i64, i64)]) -> Vec<usize> {
        let calls = calls(rows);
        let lanes = Lanes::of(&calls).unwrap();
        calls.iter().map(|call| lanes.lane(call)).collect()
    }

    #[test]
    fn calls_that_never_overlapped_stay_one_after_the_other() {
        assert_eq!(lanes(&[(1, 0, 5), (2, 5, 9), (1, 9, 12), (3, 20, 21)]), [0, 0, 0, 0]);
        assert_eq!(Lanes::of(&[]).unwrap().count(), 0);
    }

    #[test]
    fn threads_at_work_at_once_have_lanes_of_their_own_and_leave_them_to_later_ones() {
        assert_eq!(lanes(&[(1, 0, 5), (2, 4, 9), (1, 9, 12), (3, 10, 11)]), [0, 1, 0, 1]);
        assert_eq!(lanes(&[(1, 0, 100), (2, 4, 9), (3, 10, 11), (2, 12, 13)]), [0, 1, 2, 1]);
    }

    #[test]
    fn more_threads_than_can_be_at_once_are_refused() {
        let rows: Vec<(u32, i64, i64)> = (0..257).map(|pid| (pid, i64::from(pid), 1000)).collect();
        assert_eq!(Lanes::of(&calls(&rows[1..])).unwrap().count(), 256);
        assert!(Lanes::of(&calls(&rows)).is_err());
    }

    #[test]
    fn time_between_calls_stays_where_calls_go() {
        let mut recorded = calls(&[(1, 0, 5), (2, 4, 9), (1, 10, 12), (2, 19, 20), (1, 15, 16)]);
        let lanes = Lanes::of(&recorded).unwrap();
        lanes.think(&mut recorded);
        let think = |calls: &[Call]| calls.iter().map(|call| call.think).collect::<Vec<_>>();
        assert_eq!(think(&recorded), [0, 0, 5, 10, 3]);
        let mut advised = vec![recorded[0], recorded[4], recorded[4], recorded[3]];
        lanes.keep_think(&recorded, &mut advised);
        assert_eq!(think(&advised), [0, 8, 0, 10]);
    }
}
