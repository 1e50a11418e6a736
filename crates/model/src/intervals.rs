//! Sets of bytes of a file, as half-open intervals that neither overlap nor touch.
//!
//! [`IntervalSet`] collects and answers at the end: adding is cheap, memory is limited. [`OrderedIntervals`] answers after every
//! step and takes bytes away again.

mod collected;
mod ordered;

pub use collected::IntervalSet;
pub use ordered::OrderedIntervals;

/// The longest runs of bytes that are `true`, ascending: what a set of intervals is compared with.
#[cfg(test)]
fn runs(bytes: &[bool]) -> Vec<std::ops::Range<u64>> {
    let mut runs: Vec<std::ops::Range<u64>> = Vec::new();
    for (at, _) in (0_u64..).zip(bytes).filter(|(_, held)| **held) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}
