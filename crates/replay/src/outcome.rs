//! What an execution measured.

use crate::content::{Checked, Written};
use crate::program::{Action, Expected, Operation};
use rustix::io::Errno;
use std::collections::BTreeMap;
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

/// Operations that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationKind {
    /// `open`.
    Open,
    /// `close`.
    Close,
    /// Calls that move bytes into the process.
    Read,
    /// Calls that move bytes out of it.
    Write,
    /// `fsync` and `fdatasync`.
    Sync,
    /// All others.
    Metadata,
}

impl OperationKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [Self::Open, Self::Close, Self::Read, Self::Write, Self::Sync, Self::Metadata];

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Close => "close",
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Metadata => "metadata",
        }
    }

    /// That of a system call.
    pub(crate) const fn of(action: Action) -> Self {
        match action {
            Action::Open { .. } => Self::Open,
            Action::Close(_) => Self::Close,
            Action::Read(..) | Action::ReadAt(..) | Action::ReadVector(..) => Self::Read,
            Action::Write(..) | Action::WriteAt(..) | Action::WriteVector(..) => Self::Write,
            Action::Sync(_) | Action::SyncData(_) => Self::Sync,
            _ => Self::Metadata,
        }
    }
}

/// What the streams of a program did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How long the operations took.
    pub times: Times,
    /// The same by what they do, in the order of [`OperationKind::ALL`].
    pub by_kind: [Times; 6],
    /// How much later than they should operations with a time before them began.
    pub lateness: Times,
    /// Sum of the time that streams were to wait before operations and did, in ns.
    pub slack_ns: [u64; 2],
    /// Bytes that were read, and that were written.
    pub moved: [u64; 2],
    /// Errors that were expected and came.
    pub expected_errors: u64,
    /// Errors that were not expected, by their numbers.
    pub errors: BTreeMap<i32, u64>,
    /// What was found of the bytes that were read, where contents are checked.
    pub checked: Checked,
    /// Ranges that were written, where contents are checked.
    pub(crate) written: Written,
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
    /// The ranges that were written, where contents are checked: number of the file, begin and end of each, one after the other.
    #[must_use]
    pub fn written(&self) -> Vec<u64> {
        self.written.numbers()
    }

    /// The same with the ranges that [`Outcome::written`] gave of several.
    #[must_use]
    pub fn with_written(mut self, numbers: &[u64]) -> Self {
        self.written = Written::of_numbers(numbers);
        self
    }

    pub(crate) fn add(&mut self, kind: OperationKind, duration: Duration) {
        self.times.add(duration);
        self.by_kind[kind as usize].add(duration);
    }

    /// Compares what an operation returned with what was expected.
    pub(crate) fn judge(&mut self, operation: &Operation, result: Result<u64, Errno>) {
        let is_expected = match (operation.expected, result) {
            (Expected::Success, result) => result.is_ok(),
            (Expected::Bytes(expected), Ok(bytes)) => expected == bytes,
            (Expected::Error(expected), Err(error)) => expected == error.raw_os_error(),
            _ => false,
        };
        self.differences += u64::from(!is_expected);
        let direction = match OperationKind::of(operation.action) {
            OperationKind::Read => self.moved.first_mut(),
            OperationKind::Write => self.moved.last_mut(),
            _ => None,
        };
        if let (Some(moved), Ok(bytes)) = (direction, result) {
            *moved = moved.saturating_add(bytes);
        }
        if let Err(error) = result {
            if is_expected {
                self.expected_errors += 1;
            } else {
                *self.errors.entry(error.raw_os_error()).or_default() += 1;
            }
            self.is_full |= matches!(error, Errno::NOSPC | Errno::DQUOT);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.times.merge(&other.times);
        self.by_kind.iter_mut().zip(&other.by_kind).for_each(|(own, more)| own.merge(more));
        self.lateness.merge(&other.lateness);
        self.slack_ns = [self.slack_ns[0] + other.slack_ns[0], self.slack_ns[1] + other.slack_ns[1]];
        self.moved = [0, 1].map(|at| self.moved[at].saturating_add(other.moved[at]));
        self.expected_errors += other.expected_errors;
        for (number, count) in &other.errors {
            *self.errors.entry(*number).or_default() += count;
        }
        self.checked.merge(other.checked);
        self.written.merge(&other.written);
        self.elapsed = self.elapsed.max(other.elapsed);
        self.differences += other.differences;
        self.is_full |= other.is_full;
        self.cancelled |= other.cancelled;
    }
}
