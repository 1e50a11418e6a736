//! The processes of a parallel program wait for each other far longer than they access files.

use super::Rule;
use super::habit::{Context, First, ProcessHabit, Saved, Seen, Tally};
use super::serial_phase::PHASE;
use super::waits::{Wait, Waits, WaitsOf, phases};
use std::sync::Arc;

/// So many times the I/O time.
const TIMES: u64 = 5;
/// In a hundred of the time that the processes share.
const SHARE: u64 = 30;
/// From so many waits on, and so many calls on files.
const MANY: u64 = 5;
/// What a better balance would save of the waits, in a hundred: half of them, if each waits for each.
const SAVED: u64 = 50;

#[derive(Default)]
pub(crate) struct SyncBound(Waits);

impl Rule for SyncBound {
    fn see(&mut self, call: &Seen) {
        self.0.see(call);
    }

    fn found(&self, log: &Context) -> Vec<ProcessHabit> {
        self.0.groups(log).into_iter().filter_map(|(group, span)| habit(log, &group, span)).collect()
    }
}

/// Of the member with the median of waiting, less what [`super::serial_phase`] tells.
fn habit(log: &Context, group: &[&WaitsOf], span: (i64, i64)) -> Option<ProcessHabit> {
    let serial = phases(group, span, PHASE);
    let is_serial = |wait: &Wait| serial.iter().any(|phase| wait.from < phase.to && phase.from < wait.to);
    let mut members: Vec<(Saved, &WaitsOf)> = group
        .iter()
        .map(|of| {
            let mut waited = Saved::default();
            for wait in of.waits.iter().filter(|wait| !is_serial(wait)) {
                let time = Some((wait.to - wait.from).unsigned_abs());
                waited.join(Saved { calls: 1, timed: 1, time, on_path: awaited(log, &of.first, wait) });
            }
            (waited, *of)
        })
        .collect();
    members.sort_by_key(|(waited, of)| (waited.time, of.first.seq));
    let (waited, of) = members.get((members.len() - 1) / 2)?;
    let time = waited.time?;
    let together = span.1.saturating_sub(span.0).unsigned_abs();
    let is_habit = waited.calls >= MANY
        && of.calls >= MANY
        && time >= of.io.saturating_mul(TIMES)
        && time.saturating_mul(100) >= together.saturating_mul(SHARE);
    is_habit.then(|| ProcessHabit {
        rule: "sync-bound",
        file: Arc::from(log.program(of.first.process.unwrap_or_default())),
        tally: Tally {
            first: of.first,
            calls: waited.calls,
            saved: Saved { calls: 0, ..waited.percent(SAVED) },
            amount: time,
        },
        places: Vec::new(),
        fix: "the files are not what takes the time: synchronise less often (larger steps, no barrier after each write, MPI_Iallreduce or MPI_Ibarrier completed a step later), divide the work more evenly, or let who is free take the next piece",
        assumes: "the waits are for each other, not for input from elsewhere",
    })
}

/// How much of the elapsed time the main thread waited, or what it waited for took.
fn awaited(log: &Context, first: &First, wait: &Wait) -> u64 {
    let Some(process) = first.process else { return 0 };
    let awaited = log.path.awaited(process, first.tid, (wait.from, wait.to));
    wait.on_path.saturating_add(awaited).min((wait.to - wait.from).unsigned_abs())
}
