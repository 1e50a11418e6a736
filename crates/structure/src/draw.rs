//! Values drawn from distributions: each value once, in an order that looks like none and is always the same.
//!
//! Source: Scala-H-Trace, section 5.1.1.

mod permutation;
mod urn;

pub use permutation::Permutation;
pub use urn::Urn;
