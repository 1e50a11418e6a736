//! Transfers of a session that follow each other from one place on, wherever the run of another rank or execution begins.

use super::offsets::{Stride, shifted};

/// So many transfers of an execution, the first at `start + behind · n + rank · r + again · k` in execution k of n ranks, all from 0, where r is the rank
/// that comes `shift` later, counted round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceRun {
    /// In bytes.
    pub start: u64,
    /// Bytes more for each rank that there is: the run lies behind parts of all ranks.
    pub behind: u64,
    /// From rank to rank, in bytes.
    pub rank: u64,
    /// From execution to execution of the session.
    pub again: Stride,
    /// From transfer to transfer; NULL where each begins at the end of the one before.
    pub step: Option<Stride>,
    /// How many ranks later.
    pub shift: i32,
    /// How many transfers; never 0.
    pub count: u64,
}

impl PlaceRun {
    /// So many transfers that follow each other, at the same places in each rank and execution.
    #[must_use]
    pub fn fixed(start: u64, count: u64) -> Self {
        Self { start, count, ..Self::default() }
    }

    /// Whether each rank and execution has it at the same places, and its transfers follow each other.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        *self == Self::fixed(self.start, self.count)
    }

    /// Where the first transfer begins in that execution of a rank of so many.
    #[must_use]
    pub fn first(&self, (rank, ranks): (u32, u32), execution: u64) -> i128 {
        let times = |bytes: u64, count: u32| i128::from(bytes.saturating_mul(u64::from(count)));
        let turned = shifted(rank, self.shift, ranks);
        let of_rank = i128::from(self.start) + times(self.behind, ranks) + times(self.rank, turned);
        of_rank.saturating_add(self.again.times(ranks, execution))
    }

    /// The same in a file of its own of each rank.
    pub(super) fn alone(self) -> Self {
        let own = |stride: Stride| Stride::fixed(stride.bytes);
        Self {
            start: self.start.saturating_add(self.behind),
            behind: 0,
            rank: 0,
            shift: 0,
            again: own(self.again),
            step: self.step.map(own),
            ..self
        }
    }
}
