//! Who waited for whom.

use super::account::{Cost, Kind, Use};
use super::amounts::OfRun;
use super::path::{Awaited, channel_of};
use super::pieces::Naming;
use super::result::{WaitCause, WaitRow, WaitTime};
use crate::waits::ranks::NamedWait;
use crate::waits::{Act, Ended, LineId};
use iotrail_model::calls::AT_ONCE;
use iotrail_model::{FileKind, PathId};
use std::collections::BTreeMap;

type Edge = (String, WaitCause, Option<String>, Option<String>);

/// The rows of one run, sorted by time.
pub(super) struct Who<'a> {
    naming: &'a Naming<'a>,
    kind: &'a dyn Fn(PathId) -> Option<FileKind>,
    rows: BTreeMap<Edge, [WaitTime; 2]>,
}

fn add(time: &mut WaitTime, number: u64, span: i64) {
    time.number += number;
    time.time_ns = time.time_ns.saturating_add(span);
}

impl<'a> Who<'a> {
    pub(super) fn new(naming: &'a Naming<'a>, kind: &'a dyn Fn(PathId) -> Option<FileKind>) -> Self {
        Self { naming, kind, rows: BTreeMap::new() }
    }

    fn edge(&self, awaited: &Awaited) -> Edge {
        let Awaited { line, start, cause, channel } = awaited;
        let through = match (cause.what, channel.and_then(|path| (self.kind)(path))) {
            (Ended::Child, _) => WaitCause::Child,
            (Ended::Executed, _) => WaitCause::Exec,
            (Ended::Unlocked, _) => WaitCause::Lock,
            (Ended::Woken, _) => WaitCause::Futex,
            (Ended::Called, _) => WaitCause::Mpi,
            (Ended::Made, _) => WaitCause::File,
            (Ended::Killed, _) => WaitCause::Signal,
            (Ended::Connected, _) | (_, Some(FileKind::Socket)) => WaitCause::Socket,
            _ => WaitCause::Pipe,
        };
        let path = channel
            .filter(|_| matches!(through, WaitCause::Lock | WaitCause::File))
            .map(|path| self.path(path));
        let by = self.naming.program_of(cause.line, cause.at);
        let rank = self.naming.rank_of(cause.line, cause.at).filter(|_| through == WaitCause::Mpi);
        let by = rank.map_or(by.clone(), |rank| format!("{by} rank {rank}"));
        (self.naming.program_of(*line, *start), through, Some(by), path)
    }

    fn path(&self, path: PathId) -> String {
        self.naming.awaited(path)
    }

    /// The waits that the walk left to their causes.
    pub(super) fn on_path(&mut self, awaited: &[Awaited]) {
        for wait in awaited {
            let edge = self.edge(wait);
            add(&mut self.rows.entry(edge).or_default()[0], 1, wait.cause.at - wait.start);
        }
    }

    /// The waits on the path of which nobody knows the cause, and sleeps.
    pub(super) fn without_cause(&mut self, amounts: &OfRun) {
        for (key, amount) in amounts.iter() {
            let (cause, path) = match key.used {
                Use::Call(Kind::Sleep) => (WaitCause::Sleep, None),
                Use::Call(Kind::Waiting) => (WaitCause::Unknown, key.path.map(|path| self.path(path))),
                _ => continue,
            };
            let edge = (self.naming.program(key.image), cause, None, path);
            add(&mut self.rows.entry(edge).or_default()[0], amount.calls, amount.time);
        }
    }

    /// Each wait of a thread alone.
    pub(super) fn in_all(&mut self, line: LineId, cost: Cost) {
        let waits = self.naming.waits;
        for NamedWait { start, cause, path, .. } in waits.named_waits(line) {
            let edge = self.edge(&Awaited { line, start: *start, cause: *cause, channel: *path });
            add(&mut self.rows.entry(edge).or_default()[1], 1, cause.at - start);
        }
        for number in 0..waits.number_of_waits(line) {
            let Some((start, end, act)) = waits.wait(line, number) else { continue };
            if waits.is_part(line, start, end) {
                continue;
            }
            let channel = channel_of(act);
            let (edge, span) = match waits.cause(line, number, end) {
                Some(cause) => (self.edge(&Awaited { line, start, cause, channel }), cause.at - start),
                None => {
                    let cause = match act {
                        Act::Slept => WaitCause::Sleep,
                        Act::Child(Some(pid))
                            if waits.child_ended_before(waits.process(line), pid, start) =>
                        {
                            continue;
                        }
                        _ => WaitCause::Unknown,
                    };
                    if end - start <= AT_ONCE + cost.inside {
                        continue;
                    }
                    let path = channel.filter(|_| cause == WaitCause::Unknown).map(|path| self.path(path));
                    ((self.naming.program_of(line, start), cause, None, path), end - start)
                }
            };
            add(&mut self.rows.entry(edge).or_default()[1], 1, span);
        }
    }

    pub(super) fn rows(self) -> Vec<WaitRow> {
        let rows = self.rows.into_iter().map(|((waiter, cause, by, path), [on_path, in_all])| WaitRow {
            waiter,
            cause,
            by,
            path,
            on_path,
            in_all,
        });
        let mut rows: Vec<WaitRow> = rows.collect();
        rows.sort_by_key(|row| {
            std::cmp::Reverse((row.on_path.time_ns.max(row.in_all.time_ns), row.on_path.time_ns))
        });
        rows
    }
}
