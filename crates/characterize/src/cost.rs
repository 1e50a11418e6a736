//! What a tracer adds between two calls, which is no time of the program.
//!
//! Source: `spec/workload.md`, section 2: ST is slack without the recorder's cost between calls. Every program begins with calls of its loader that
//! follow each other at once: the time between these is the tracer's.

use iotrail_model::calls::{CallKind, PerCall};
use iotrail_model::{CaseId, Layer, Tid};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::collections::HashMap;

/// So many row groups tell enough: the cost is that of a machine.
const ROW_GROUPS: usize = 4;
/// So many of the times between the first calls of a program are looked at, of so many programs.
const GAPS: usize = 32;
const PROGRAMS: usize = 256;
/// Of these the one that so many are below: the least ones are chance.
const BELOW: usize = 1;
/// Longer ones are no tracer's.
const MOST: i64 = 100_000;

/// Calls of the begin of a thread, of which the times are known.
const CALLS: usize = 4096;

/// The thread of a case in which a program begins.
type Thread = (CaseId, Tid);

/// What a tracer takes, in ns; 0 if no program begins in the recording, or nobody traced calls of the system.
#[derive(Default)]
pub(crate) struct TracerCost {
    /// Between two calls that follow each other at once.
    pub(crate) between: i64,
    /// Within a call: what the shortest ones take.
    call: i64,
    begins: HashMap<Thread, Begin>,
}

impl TracerCost {
    /// That of a recording.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(crate) fn of(log: &EventLog) -> Result<Self, TrailError> {
        let begins = begins(log)?;
        let median = |of: fn(&Begin) -> &[i64]| {
            let mut costs: Vec<i64> = begins.values().filter_map(|begin| cost(of(begin))).collect();
            costs.sort_unstable();
            costs.get(costs.len() / 2).copied().filter(|cost| *cost <= MOST).unwrap_or(0)
        };
        let (between, call) = (median(|begin| &begin.gaps), median(|begin| &begin.durations));
        Ok(Self { between, call, begins })
    }

    /// What it took in a thread from one time to another one: for each call, and while programs were loaded, before which the tracer looks at them.
    pub(crate) fn within(&self, thread: Thread, (from, to): (i64, i64)) -> i64 {
        let Some(begin) = self.begins.get(&thread) else { return 0 };
        let is_within = |at: i64| from <= at && at < to;
        let calls = begin.starts.iter().filter(|start| is_within(**start)).count() as i64;
        let loaded = begin.loads.iter().filter(|(end, start)| is_within(*end) && is_within(*start));
        calls * (self.between + self.call) + loaded.map(|(end, start)| start - end).sum::<i64>()
    }
}

/// The begins of so many programs.
fn begins(log: &EventLog) -> Result<HashMap<Thread, Begin>, TrailError> {
    let kinds = PerCall::new(&log.names().calls, |call| call.kind());
    let mut begins: HashMap<Thread, Begin> = HashMap::new();
    for row_group in 0..log.row_groups().min(ROW_GROUPS) {
        let columns = Columns::CASE
            | Columns::TID
            | Columns::LAYER
            | Columns::CALL
            | Columns::START
            | Columns::DUR
            | Columns::ERRNO;
        let batch = log.read(row_group, columns)?;
        for at in (0..batch.len).filter(|at| batch.layer[*at] == Layer::Syscall) {
            let (thread, start) = ((batch.case[at], batch.tid[at]), batch.start[at].0);
            let end = batch.dur[at].get().map(|dur| start.saturating_add(dur.0.max(0)));
            let loads = kinds.of(batch.call[at]) == CallKind::Exec && batch.errno[at].is_null();
            if let Some(begin) = begins.get_mut(&thread) {
                begin.add(start, end, loads);
            } else if begins.len() < PROGRAMS && loads {
                begins.insert(thread, Begin { ended: end, loading: true, ..Begin::default() });
            }
        }
    }
    Ok(begins)
}

/// The begin of a program in a thread.
#[derive(Default)]
struct Begin {
    gaps: Vec<i64>,
    durations: Vec<i64>,
    /// When its calls began.
    starts: Vec<i64>,
    /// Ends of the calls that loaded a program, and when it made its first call.
    loads: Vec<(i64, i64)>,
    ended: Option<i64>,
    /// Whether the last call loaded a program.
    loading: bool,
}

impl Begin {
    fn add(&mut self, start: i64, end: Option<i64>, loads: bool) {
        if let Some(ended) = self.ended.filter(|_| self.gaps.len() < GAPS) {
            self.gaps.push(start.saturating_sub(ended).max(0));
            self.durations.extend(end.map(|end| end - start));
        }
        if self.starts.len() < CALLS {
            self.starts.push(start);
            self.loads.extend(self.ended.filter(|_| self.loading).map(|ended| (ended, start.max(ended))));
        }
        (self.ended, self.loading) = (end, loads);
    }
}

/// The least of these but one; NULL if they are too few to tell.
fn cost(all: &[i64]) -> Option<i64> {
    let mut sorted = all.to_vec();
    sorted.sort_unstable();
    sorted.get(BELOW).copied().filter(|_| sorted.len() >= GAPS / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_what_nearly_all_first_calls_of_a_program_have_between_them() {
        let mut begin = Begin { ended: Some(100), loading: true, ..Begin::default() };
        let mut now = 100;
        for gap in [900, 3000, 3100, 3050, 2000].into_iter().chain(std::iter::repeat_n(4000, 40)) {
            begin.add(now + gap, Some(now + gap + 10), false);
            now += gap + 10;
        }
        assert_eq!(begin.gaps.len(), GAPS);
        assert_eq!(cost(&begin.gaps), Some(2000), "the least but one");
        assert_eq!(cost(&[3; 15]), None);
        let thread = (CaseId(0), Tid(7));
        let tracer = TracerCost { between: 2000, call: 10, begins: HashMap::from([(thread, begin)]) };
        // Two calls, and the time until the first one.
        assert_eq!(tracer.within(thread, (0, 4011)), 900 + 2 * 2010);
        assert_eq!(tracer.within(thread, (4010, 4011)), 2010);
        assert_eq!(tracer.within((CaseId(0), Tid(8)), (0, 4020)), 0);
    }
}
