//! How far what a model does is from what was recorded, at the number of ranks of the recording.

use crate::program::Modelled;
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

/// A transfer of a rank.
type Place = (u32, usize, RequestKind, u64, u64);

impl Fit {
    pub(crate) fn of(modelled: &Modelled, ranks: &[RankSessions], barriers: u64) -> Self {
        let mut fit = Self { barriers: [barriers, 0], ..Self::default() };
        let mut places: HashMap<Place, u64> = HashMap::new();
        for (rank, (sessions, numbers)) in (0..).zip(ranks.iter().zip(&modelled.targets)) {
            for (execution, target) in sessions.executions.iter().zip(numbers) {
                if execution.shape.call.is_some() {
                    fit.metadata[0] += 1;
                    continue;
                }
                fit.sessions[0] += 1;
                for (kind, count) in &execution.shape.requests {
                    fit.count(*kind, 0, *count);
                }
                for transfer in &execution.transfers {
                    fit.bytes(transfer.kind, 0, transfer.size);
                    // Where the end of the file is, is not the model's to say.
                    let appends = execution.shape.mode().append;
                    let offset = if appends { 0 } else { transfer.offset.unwrap_or(u64::MAX) };
                    *places
                        .entry((rank, target.file(), transfer.kind, offset, transfer.size))
                        .or_default() += 1;
                }
            }
        }
        for rank in 0..ranks.len() as u32 {
            let mut appends: HashMap<u32, bool> = HashMap::new();
            let ended = synthesise(&modelled.model, (rank, ranks.len() as u32), 0, &mut |step| {
                let of = step.of.unwrap_or_default();
                match step.action {
                    Action::Open { mode, .. } => {
                        appends.insert(step.open, mode.append);
                        fit.sessions[1] += 1;
                    }
                    Action::Transfer { kind, offset, size } => {
                        fit.count(kind, 1, 1);
                        fit.bytes(kind, 1, size);
                        let offset = if appends.get(&step.open) == Some(&true) { 0 } else { offset };
                        if let Some(left) = places.get_mut(&(rank, of.0, kind, offset, size))
                            && *left > 0
                        {
                            *left -= 1;
                            fit.exact_transfers += 1;
                        }
                    }
                    Action::Request(kind) => fit.count(kind, 1, 1),
                    Action::Barrier(_) => fit.barriers[1] += 1,
                    Action::Call { .. } => fit.metadata[1] += 1,
                    Action::Close | Action::After { .. } => {}
                }
                ControlFlow::<()>::Continue(())
            });
            debug_assert_eq!(ended, ControlFlow::Continue(()));
        }
        fit
    }

    fn count(&mut self, kind: RequestKind, side: usize, count: u64) {
        let counts = match kind {
            RequestKind::Read => &mut self.reads,
            RequestKind::Write => &mut self.writes,
            RequestKind::Fsync | RequestKind::Fdatasync => &mut self.syncs,
            RequestKind::Stat | RequestKind::Truncate => &mut self.metadata,
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
