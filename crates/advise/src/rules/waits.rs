//! When the processes of a parallel program waited for somebody.

use super::habit::{Context, First, Seen};
use super::peers::{MANY_PROCESSES, at_once};
use iotrail_model::calls::Class;
use iotrail_query::ProcessId;
use std::collections::BTreeMap;

/// Shorter waits are part of any exchange, in ns.
const LONG: u64 = 1_000_000;

/// What the main thread of each process did that counts here.
#[derive(Default)]
pub(crate) struct Waits(BTreeMap<ProcessId, WaitsOf>);

/// Waits and work of a process.
pub(crate) struct WaitsOf {
    pub(crate) first: First,
    pub(crate) waits: Vec<Wait>,
    /// Time of its calls on files.
    pub(crate) io: u64,
    /// How many of them.
    pub(crate) calls: u64,
}

/// A wait for somebody, from when to when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// How much of it explains the elapsed time.
    pub(crate) on_path: u64,
}

/// A stretch of time in which all processes but one wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    /// Who does not: its place in the group.
    pub(crate) who: usize,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

impl Waits {
    pub(crate) fn see(&mut self, call: &Seen) {
        let (Some(process), Some(class)) = (call.process.filter(|_| call.selected), call.class) else {
            return;
        };
        if call.tid.0 != call.pid.0 {
            return;
        }
        let of = self.0.entry(process).or_insert_with(|| WaitsOf {
            first: call.first(),
            waits: Vec::new(),
            io: 0,
            calls: 0,
        });
        if class.is_io() && call.file.is_some() {
            of.io = of.io.saturating_add(call.spent.unwrap_or_default());
            of.calls += 1;
        } else if class == Class::Wait && !call.is_request && call.time.is_some_and(|time| time >= LONG) {
            of.waits.push(Wait { from: call.start, to: call.end(), on_path: call.on_path });
        }
    }

    /// Processes of one program that all lived at the same moment, and the time from the last start to the first end.
    pub(crate) fn groups(&self, log: &Context) -> Vec<(Vec<&WaitsOf>, (i64, i64))> {
        let processes: Vec<ProcessId> = self.0.keys().copied().collect();
        let groups = at_once(log, &processes, MANY_PROCESSES).into_iter().filter_map(|group| {
            let start = group.iter().filter_map(|process| log.process_table.get(*process).start).max()?;
            let end = group.iter().filter_map(|process| log.process_table.get(*process).end).min()?;
            Some((group.iter().map(|process| &self.0[process]).collect(), (start.0, end.0)))
        });
        groups.collect()
    }
}

/// The phases of a group between two moments that last so long at least, in ns.
pub(crate) fn phases(group: &[&WaitsOf], (start, end): (i64, i64), shortest: i64) -> Vec<Phase> {
    let mut changes: Vec<(i64, bool, usize)> = Vec::new();
    for (who, of) in group.iter().enumerate() {
        for wait in &of.waits {
            let (from, to) = (wait.from.max(start), wait.to.min(end));
            if from < to {
                changes.extend([(from, true, who), (to, false, who)]);
            }
        }
    }
    changes.sort_unstable();
    let mut waiting = vec![0_u32; group.len()];
    let mut found: Vec<Phase> = Vec::new();
    let mut since = start;
    for (at, begins, who) in changes {
        let active = waiting.iter().enumerate().filter(|(_, waits)| **waits == 0).map(|(who, _)| who);
        let mut active = active.take(2);
        if let (Some(who), None, true) = (active.next(), active.next(), since < at) {
            match found.last_mut().filter(|phase| phase.who == who && phase.to == since) {
                Some(phase) => phase.to = at,
                None => found.push(Phase { who, from: since, to: at }),
            }
        }
        waiting[who] = if begins { waiting[who] + 1 } else { waiting[who].saturating_sub(1) };
        since = at;
    }
    found.retain(|phase| phase.to - phase.from >= shortest);
    found
}
