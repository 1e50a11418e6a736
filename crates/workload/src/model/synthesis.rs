//! What one rank does, request for request.
//!
//! Draws are stratified: of m draws a value with weight c of N is drawn ⌊mc/N⌋ times or once more, by the largest remainder, so
//! counts do not depend on chance. Their order is that of a generator keyed by seed, rank, file, session and occurrence:
//! more ranks change nothing that the others do.
//!
//! Source: PIONEER, algorithm 1, whose draws are independent.

use super::{Mode, Model, ModelSession, OffsetLaw, ProgramStep, RequestKind, Sharing};
use crate::random::Random;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// What is done to a file, or for synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The file of that index is opened.
    Open {
        /// Index of the file.
        file: usize,
        /// Which of the files of that name, from 0.
        number: u64,
        /// How.
        mode: Mode,
    },
    /// A transfer at an offset, of so many bytes.
    Transfer {
        /// Read or write.
        kind: RequestKind,
        /// In bytes.
        offset: u64,
        /// In bytes.
        size: u64,
    },
    /// Another request through the descriptor.
    Request(RequestKind),
    /// The file is closed.
    Close,
    /// The ranks of the group of that index wait for each other.
    Barrier(usize),
}

/// A step of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synthetic {
    /// What is done.
    pub action: Action,
    /// Time before it, in ns.
    pub slack: u64,
}

/// Hands the steps of a rank of so many over, in order, until `each` breaks. Offsets beyond 64 bits are those of 64 bits.
pub fn synthesise<B>(
    model: &Model,
    (rank, ranks): (u32, u32),
    seed: u64,
    each: &mut impl FnMut(Synthetic) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut occurrences = BTreeMap::new();
    Synthesis { model, rank, ranks, seed }.steps(&model.steps, &mut occurrences, each)
}

struct Synthesis<'a> {
    model: &'a Model,
    rank: u32,
    ranks: u32,
    seed: u64,
}

impl Synthesis<'_> {
    fn steps<B>(
        &self,
        steps: &[ProgramStep],
        occurrences: &mut BTreeMap<(usize, usize), u64>,
        each: &mut impl FnMut(Synthetic) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for step in steps {
            match step {
                ProgramStep::Repeat(_, steps) if !self.acts(steps) => {}
                ProgramStep::Repeat(times, steps) => {
                    (0..*times).try_for_each(|_| self.steps(steps, occurrences, each))?;
                }
                ProgramStep::Session { file, session, ranks } if self.does(*file, *ranks) => {
                    let occurrence = occurrences.entry((*file, *session)).or_insert(0);
                    let key = [self.seed, u64::from(self.rank), *file as u64, *session as u64, *occurrence];
                    *occurrence += 1;
                    self.session(*file, &self.model.files[*file].sessions[*session], &key, each)?;
                }
                ProgramStep::Barrier(group) if self.model.groups[*group].contains(self.rank) => {
                    each(Synthetic { action: Action::Barrier(*group), slack: 0 })?;
                }
                ProgramStep::Session { .. } | ProgramStep::Barrier(_) => {}
            }
        }
        ControlFlow::Continue(())
    }

    /// Whether the rank does any of these steps; loops of others are not gone through.
    fn acts(&self, steps: &[ProgramStep]) -> bool {
        steps.iter().any(|step| match step {
            ProgramStep::Repeat(times, steps) => *times > 0 && self.acts(steps),
            ProgramStep::Session { file, ranks, .. } => self.does(*file, *ranks),
            ProgramStep::Barrier(group) => self.model.groups[*group].contains(self.rank),
        })
    }

    fn does(&self, file: usize, ranks: Option<usize>) -> bool {
        (self.rank == 0 || self.model.files[file].class != Sharing::Root)
            && ranks.is_none_or(|group| self.model.groups[group].contains(self.rank))
    }

    fn session<B>(
        &self,
        file: usize,
        session: &ModelSession,
        key: &[u64; 5],
        each: &mut impl FnMut(Synthetic) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let (mut random, occurrence) = (Random::of(key), key[4]);
        let mut sizes: BTreeMap<RequestKind, Vec<u64>> = BTreeMap::new();
        for (&kind, &count) in session.requests.iter().filter(|(kind, _)| kind.is_transfer()) {
            let draws = stratified(session.sizes_of(kind), count).into_iter();
            let mut drawn: Vec<u64> = draws.flat_map(|(size, times)| (0..times).map(move |_| size)).collect();
            if session.runs.is_empty() {
                random.shuffle(&mut drawn);
            } else {
                let runs = session.runs.iter().rev();
                drawn = runs.flat_map(|(size, times)| (0..*times).map(move |_| *size)).collect();
            }
            sizes.insert(kind, drawn);
        }
        let mut put = |action| each(Synthetic { action, slack: session.slack });
        let number = occurrence % self.model.files[file].count.max(1);
        put(Action::Open { file, number, mode: session.mode })?;
        let (mut end, mut transfers) = (0_u64, 0_u64);
        for kind in spread(&session.requests) {
            let Some(size) = sizes.get_mut(&kind).and_then(Vec::pop) else {
                put(Action::Request(kind))?;
                continue;
            };
            let offset = match session.offset {
                OffsetLaw::Sequential => end,
                OffsetLaw::Affine { start, rank, step, again, every, jump } => start
                    .saturating_add(rank.saturating_mul(u64::from(self.rank)))
                    .saturating_add(step.at(self.ranks).saturating_mul(inner(transfers, every)))
                    .saturating_add(
                        jump.at(self.ranks).saturating_mul(transfers.checked_div(every).unwrap_or(0)),
                    )
                    .saturating_add(again.at(self.ranks).saturating_mul(occurrence)),
            };
            end = offset.saturating_add(size);
            transfers += 1;
            put(Action::Transfer { kind, offset, size })?;
        }
        put(Action::Close)
    }
}

/// Number of a transfer since the last jump.
fn inner(transfer: u64, every: u64) -> u64 {
    transfer.checked_rem(every).unwrap_or(transfer)
}

/// Requests spread evenly among each other: the j-th of n is at j/n, equal places in the order of kinds.
fn spread(requests: &BTreeMap<RequestKind, u64>) -> impl Iterator<Item = RequestKind> {
    let mut left: Vec<(RequestKind, u64, u64)> =
        requests.iter().map(|(&kind, &all)| (kind, 1, all)).collect();
    std::iter::from_fn(move || {
        let place = |&(_, next, all): &(RequestKind, u64, u64)| (u128::from(next), u128::from(all));
        let open = left.iter_mut().filter(|(_, next, all)| next <= all);
        let first = open.min_by(|one, other| {
            let ((next, all), (other_next, other_all)) = (place(one), place(other));
            (next * other_all).cmp(&(other_next * all))
        })?;
        first.1 += 1;
        Some(first.0)
    })
}

/// How often each value is drawn in `draws` draws by weight. Equal remainders favour smaller values.
pub(super) fn stratified(weights: &BTreeMap<u64, u64>, draws: u64) -> Vec<(u64, u64)> {
    let total: u128 = weights.values().map(|&weight| u128::from(weight)).sum();
    if total == 0 {
        return Vec::new();
    }
    let parts = weights.iter().map(|(&value, &weight)| {
        let product = u128::from(weight) * u128::from(draws);
        (value, (product / total) as u64, product % total)
    });
    let mut parts: Vec<(u64, u64, u128)> = parts.collect();
    let missing = draws - parts.iter().map(|(_, count, _)| count).sum::<u64>();
    parts.sort_by_key(|&(value, _, remainder)| (std::cmp::Reverse(remainder), value));
    parts.iter_mut().take(missing as usize).for_each(|(_, count, _)| *count += 1);
    parts.sort_unstable();
    parts.into_iter().map(|(value, count, _)| (value, count)).collect()
}
