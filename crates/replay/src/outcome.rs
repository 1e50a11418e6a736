//! What an execution measured.

use std::time::Duration;

/// Durations of operations: their number by powers of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// Of each `n`, the operations that took from 2^n ns to less than 2^(n+1) ns; those of 0 ns count as 1 ns.
    pub counts: [u64; 64],
    /// Sum of all durations, in ns.
    pub total_ns: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self { counts: [0; 64], total_ns: 0 }
    }
}

impl Times {
    pub(crate) fn add(&mut self, duration: Duration) {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.counts[ns.max(1).ilog2() as usize] += 1;
        self.total_ns = self.total_ns.saturating_add(ns);
    }

    fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(own, more)| *own += more);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
    }

    /// How many operations.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// What the streams of a program did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How long the operations took.
    pub times: Times,
    /// From the common begin of the streams to the end of the last one.
    pub elapsed: Duration,
    /// Operations whose result was another one than expected.
    pub differences: u64,
    /// Whether an operation failed because there was no room left.
    pub is_full: bool,
    /// Whether it was cancelled before its end.
    pub cancelled: bool,
}

impl Outcome {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.elapsed = self.elapsed.max(other.elapsed);
        self.differences += other.differences;
        self.is_full |= other.is_full;
        self.cancelled |= other.cancelled;
    }
}
