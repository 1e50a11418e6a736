//! Times of birth are coarse: what is made in one tick of a file system's clock is born at one time.

use iotrail_model::Timestamp;

/// A file's time of birth is that of the last tick of the kernel's clock, in ns: with 100 ticks a second no longer ago.
const TICK: i64 = 10_000_000;
const SECOND: i64 = 1_000_000_000;

/// How long after a birth, in ns, a file may be made that gets the same one. Some file systems keep whole seconds, every
/// second one.
const fn tick_of(birth: i64) -> i64 {
    if birth % SECOND == 0 { TICK + 2 * SECOND } else { TICK }
}

/// Whether a call that began then, and makes a file unless it is there, may have made one with this birth.
pub(crate) const fn may_be_made_by(birth: i64, start: Timestamp) -> bool {
    birth >= start.0.saturating_sub(tick_of(birth))
}

/// Whether what is made at `later` is born later than a file with this birth that was there at `seen`, also where the file
/// system has another clock than the tracer.
pub(crate) const fn is_over(birth: i64, seen: Timestamp, later: Timestamp) -> bool {
    let last = if seen.0 > birth { seen.0 } else { birth };
    later.0 > last.saturating_add(tick_of(birth))
}
