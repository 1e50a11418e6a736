//! What a trail does not tell of where the time went.

use super::account::{Amount, Images, Kind, Use};
use super::amounts::OfRun;
use super::result::{Limitation, LimitationKind};
use super::spending::InAll;
use crate::waits::Waits;
use iotrail_model::CallId;
use iotrail_trail::EventLog;
use std::collections::BTreeSet;

/// Calls of no class that are named.
const NAMED: usize = 5;

/// Collects what is not told.
#[derive(Debug)]
pub(super) struct Limitations {
    rows: Vec<Limitation>,
    causes: Amount,
    /// Images that computed on the path and whose CPU time is not known, and how long they did.
    without_cpu: (BTreeSet<u32>, i64),
}

impl Limitations {
    pub(super) fn new(log: &EventLog, waits: &Waits, all: &InAll) -> Self {
        let coverage = log.coverage();
        let mut rows = coverage.missing_events();
        let mut add = |what, number: Option<u64>, time_ns: Option<i64>, names: Vec<String>| {
            rows.push(Limitation { number, time_ns, names, ..Limitation::new(what) });
        };
        if let Some(recording) = &coverage.recording {
            let without: Vec<String> = recording.without().into_iter().map(str::to_owned).collect();
            if !without.is_empty() && !recording.selections.is_empty() {
                add(LimitationKind::NotRecorded, None, None, without);
            }
            let escaped: u64 = recording.escaped.values().sum();
            if escaped + recording.left_running > 0 {
                add(LimitationKind::NotFollowed, Some(escaped + recording.left_running), None, Vec::new());
            }
        }
        let is_measured = coverage.recording.as_ref().is_some_and(|recording| recording.cost.calibrated > 0);
        if !is_measured {
            add(LimitationKind::CostUnknown, None, None, Vec::new());
        }
        if log.cases().iter().any(|case| !case.times_calls()) {
            let unit = Limitation::of_clocks(log.cases()).and_then(|row| row.time_ns);
            add(LimitationKind::CoarseTimes, None, unit, Vec::new());
        }
        if waits.is_untimed() {
            add(LimitationKind::NoDurations, None, None, Vec::new());
        } else if all.unfinished > 0 {
            add(LimitationKind::Unfinished, Some(all.unfinished), None, Vec::new());
        }
        if let Some(amount) = all.classes.get(&Kind::Other) {
            add(LimitationKind::Unclassed, Some(amount.calls), Some(amount.time), largest(log, all));
        }
        Self { rows, causes: Amount::default(), without_cpu: (BTreeSet::new(), 0) }
    }

    /// Looks at the path of a run.
    pub(super) fn add(&mut self, amounts: &OfRun, images: &Images<'_>) {
        for (key, amount) in amounts.iter() {
            match key.used {
                Use::Call(Kind::Waiting) => {
                    self.causes.time += amount.time;
                    self.causes.calls += amount.calls;
                }
                Use::Compute if !images.has_cpu_time(key.image) => {
                    self.without_cpu.0.insert(key.image);
                    self.without_cpu.1 += amount.time;
                }
                _ => {}
            }
        }
    }

    pub(super) fn rows(mut self) -> Vec<Limitation> {
        let mut add = |what, number, time| {
            let (number, time_ns) = (Some(number), Some(time));
            self.rows.push(Limitation { number, time_ns, ..Limitation::new(what) });
        };
        if self.causes.calls > 0 {
            add(LimitationKind::UnknownCauses, self.causes.calls, self.causes.time);
        }
        if !self.without_cpu.0.is_empty() {
            add(LimitationKind::CpuUnknown, self.without_cpu.0.len() as u64, self.without_cpu.1);
        }
        self.rows.sort_by_key(|row| row.what);
        self.rows
    }
}

/// The calls of no class that took most time.
fn largest(log: &EventLog, all: &InAll) -> Vec<String> {
    let mut calls: Vec<(CallId, Amount)> =
        all.unclassed.iter().map(|(call, amount)| (*call, *amount)).collect();
    calls.sort_by_key(|(call, amount)| (std::cmp::Reverse(amount.time), *call));
    calls.iter().take(NAMED).map(|(call, _)| log.names().call(*call).to_owned()).collect()
}
