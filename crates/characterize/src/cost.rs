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

/// The time between two calls that follow each other at once, in ns; 0 if no program begins in the recording, or nobody traced calls of the system.
///
/// # Errors
/// If the log cannot be read.
pub(crate) fn between_calls(log: &EventLog) -> Result<i64, TrailError> {
    let kinds = PerCall::new(&log.names().calls, |call| call.kind());
    let mut begins: HashMap<(CaseId, Tid), Begin> = HashMap::new();
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
            if let Some(begin) = begins.get_mut(&thread) {
                begin.add(start, end);
            } else if begins.len() < PROGRAMS
                && kinds.of(batch.call[at]) == CallKind::Exec
                && batch.errno[at].is_null()
            {
                begins.insert(thread, Begin { gaps: Vec::with_capacity(GAPS), ended: end });
            }
        }
    }
    let mut costs: Vec<i64> = begins.into_values().filter_map(Begin::cost).collect();
    costs.sort_unstable();
    Ok(costs.get(costs.len() / 2).copied().filter(|cost| *cost <= MOST).unwrap_or(0))
}

/// The begin of a program in a thread.
struct Begin {
    gaps: Vec<i64>,
    ended: Option<i64>,
}

impl Begin {
    fn add(&mut self, start: i64, end: Option<i64>) {
        if let Some(ended) = self.ended.filter(|_| self.gaps.len() < GAPS) {
            self.gaps.push(start.saturating_sub(ended).max(0));
        }
        self.ended = end;
    }

    /// NULL if its first calls are too few to tell.
    fn cost(mut self) -> Option<i64> {
        self.gaps.sort_unstable();
        self.gaps.get(BELOW).copied().filter(|_| self.gaps.len() >= GAPS / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_what_nearly_all_first_calls_of_a_program_have_between_them() {
        let mut begin = Begin { gaps: Vec::new(), ended: Some(100) };
        let mut now = 100;
        for gap in [900, 3000, 3100, 3050, 2000].into_iter().chain(std::iter::repeat_n(4000, 40)) {
            begin.add(now + gap, Some(now + gap + 10));
            now += gap + 10;
        }
        assert_eq!(begin.gaps.len(), GAPS);
        assert_eq!(begin.cost(), Some(2000), "the least but one");
        assert_eq!(Begin { gaps: vec![3; 15], ended: None }.cost(), None);
    }
}
