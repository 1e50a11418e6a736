//! Time: the monotonic clock, placed on UTC once.
//!
//! A clock that is set while the program runs would tear spans apart, so the distance of the two clocks is taken at the
//! start and kept.

use iotrail_model::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// How often the two clocks are compared; the closest pair of readings counts.
const READINGS: usize = 16;

/// Tells the time of stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// UTC less monotonic time.
    distance: i64,
}

impl Clock {
    /// Places the monotonic clock on UTC.
    pub(crate) fn start() -> Self {
        let reading = || {
            let before = read(ClockId::Monotonic);
            let utc = read(ClockId::Realtime);
            let after = read(ClockId::Monotonic);
            (after - before, utc - before - (after - before) / 2)
        };
        let closest = (0..READINGS).map(|_| reading()).min_by_key(|(width, _)| *width);
        Self { distance: closest.map_or(0, |(_, distance)| distance) }
    }

    /// Now.
    #[inline]
    pub(crate) fn now(self) -> Timestamp {
        self.at(read(ClockId::Monotonic))
    }

    /// The time at which the monotonic clock showed this.
    #[inline]
    pub(crate) fn at(self, monotonic: i64) -> Timestamp {
        Timestamp(monotonic.saturating_add(self.distance))
    }
}

#[inline]
fn read(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
