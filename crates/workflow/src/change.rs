//! What changed between two sides of runs: a verdict in totals of a run, and the difference of the elapsed time by cause.
//!
//! The elapsed time of each run is divided as [`crate::why()`] divides it; of a run that has ranks it is that of the slowest one.
//! Pieces of both sides meet by (kind, program, file or directory), files below the working directory by their place in it.
//! With several runs on a side every figure is the mean. The differences add up to the difference of the elapsed time exactly.

pub mod elapsed;
pub mod fail_on;
pub mod figures;
mod measure;
#[cfg(test)]
mod tests;
pub mod verdict;

pub use elapsed::{ElapsedCause, ElapsedChange};
pub use fail_on::{FailOn, Failed};
pub use figures::{Figure, FigureChange};
pub use measure::Measured;
pub use verdict::Verdict;
