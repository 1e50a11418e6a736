//! How far what a model does is from what was recorded, at the number of ranks of the recording.

use crate::program::{Modelled, Target};
use crate::sessions::RankSessions;
use iotrail_workload::{Action, RequestKind, synthesise};
use serde::Serialize;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// A model beside the recording that it is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Fit {
    /// Sessions that were recorded, and that the model has.
    pub sessions: [u64; 2],
    /// Reads.
    pub reads: [u64; 2],
    /// Writes.
    pub writes: [u64; 2],
    /// `fsync` and `fdatasync`.
    pub syncs: [u64; 2],
    /// Bytes that reads ask for.
    pub bytes_read: [u64; 2],
    /// Bytes that writes ask for.
    pub bytes_written: [u64; 2],
    /// Other requests through descriptors, and calls that name files.
    pub metadata: [u64; 2],
    /// Barriers of a rank, summed over ranks.
    pub barriers: [u64; 2],
    /// Recorded transfers that the model has at the same place: rank, file, kind, offset and size.
    pub exact_transfers: u64,
}

/// A transfer of a rank: file, kind, offset, size.
type Place = (usize, RequestKind, u64, u64);

impl Fit {
    pub(crate) fn of(modelled: &Modelled, ranks: &[RankSessions], barriers: u64) -> Self {
        let mut fit = Self { barriers: [barriers, 0], ..Self::default() };
        let count = ranks.len() as u32;
        let (mut recorded, mut made): (Vec<Place>, Vec<Place>) = (Vec::new(), Vec::new());
        for (rank, (sessions, targets)) in (0..).zip(ranks.iter().zip(&modelled.targets)) {
            recorded.clear();
            made.clear();
            fit.add_recorded(sessions, targets, &mut recorded);
            fit.add_made(modelled, (rank, count), &mut made);
            fit.exact_transfers += in_both(&mut recorded, &mut made);
        }
        fit
    }

    fn add_recorded(&mut self, sessions: &RankSessions, targets: &[Target], places: &mut Vec<Place>) {
        for (execution, target) in sessions.executions.iter().zip(targets) {
            if execution.shape.call.is_some() {
                self.metadata[0] += 1;
                continue;
            }
            self.sessions[0] += 1;
            for (kind, count) in &execution.shape.requests {
                self.count(*kind, 0, *count);
            }
            // Where the end of the file is, is not the model's to say.
            let appends = execution.shape.mode().append;
            for transfer in &*execution.transfers {
                self.bytes(transfer.kind, 0, transfer.size);
                let offset = if appends { 0 } else { transfer.offset.get().unwrap_or(u64::MAX) };
                places.push((target.file(), transfer.kind, offset, transfer.size));
            }
        }
    }

    fn add_made(&mut self, modelled: &Modelled, rank: (u32, u32), places: &mut Vec<Place>) {
        let mut appends: HashMap<u32, bool> = HashMap::new();
        let ended = synthesise(&modelled.model, rank, 0, &mut |step| {
            match step.action {
                Action::Open { mode, .. } => {
                    appends.insert(step.open, mode.append);
                    self.sessions[1] += 1;
                }
                Action::Transfer { kind, offset, size } => {
                    self.count(kind, 1, 1);
                    self.bytes(kind, 1, size);
                    let offset = if appends.get(&step.open) == Some(&true) { 0 } else { offset };
                    let (file, _) = step.of.unwrap_or_default();
                    places.push((file, kind, offset, size));
                }
                Action::Request(kind) => self.count(kind, 1, 1),
                Action::Barrier(_) => self.barriers[1] += 1,
                Action::Call { .. } => self.metadata[1] += 1,
                Action::Close | Action::Pause | Action::After { .. } | Action::Message { .. } => {}
            }
            ControlFlow::<()>::Continue(())
        });
        debug_assert_eq!(ended, ControlFlow::Continue(()));
    }

    fn count(&mut self, kind: RequestKind, side: usize, count: u64) {
        let counts = match kind {
            RequestKind::Read => &mut self.reads,
            RequestKind::Write => &mut self.writes,
            RequestKind::Fsync | RequestKind::Fdatasync => &mut self.syncs,
            RequestKind::Stat
            | RequestKind::Truncate
            | RequestKind::Lock
            | RequestKind::LockShared
            | RequestKind::Unlock => &mut self.metadata,
        };
        counts[side] += count;
    }

    fn bytes(&mut self, kind: RequestKind, side: usize, bytes: u64) {
        let sums = if kind == RequestKind::Read { &mut self.bytes_read } else { &mut self.bytes_written };
        sums[side] = sums[side].saturating_add(bytes);
    }

    /// Share of the recorded transfers that the model has at the same place; NULL without transfers.
    #[must_use]
    pub fn exact_share(&self) -> Option<f64> {
        let recorded = self.reads[0] + self.writes[0];
        (recorded > 0).then(|| self.exact_transfers as f64 / recorded as f64)
    }
}

/// How many places are in both lists, each as often as in the one that has it less often. Sorts them: a model that has all is in the same order.
fn in_both(one: &mut [Place], other: &mut [Place]) -> u64 {
    one.sort_unstable();
    other.sort_unstable();
    let (mut both, mut others) = (0, other.iter().peekable());
    for place in one.iter() {
        while others.next_if(|other| *other < place).is_some() {}
        both += u64::from(others.next_if_eq(&place).is_some());
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_as_often_as_both_have_them() {
        let place = |offset| (0, RequestKind::Read, offset, 1);
        let both = |one: &[u64], other: &[u64]| {
            let list = |offsets: &[u64]| offsets.iter().map(|offset| place(*offset)).collect::<Vec<_>>();
            in_both(&mut list(one), &mut list(other))
        };
        assert_eq!(both(&[3, 1, 1, 2], &[1, 2, 1, 1]), 3);
        assert_eq!(both(&[5, 5], &[5]), 1);
        assert_eq!(both(&[], &[5]), 0);
        assert_eq!(both(&[9, 4], &[1, 4, 7]), 1);
    }
}
