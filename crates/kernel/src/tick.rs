//! The clock by which file systems note times: it goes on some hundred times a second (`CLOCK_REALTIME_COARSE`).

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// How often it is looked at, and for how long at most: no kernel's clock is slower than 100 ticks a second.
const PAUSE: Duration = Duration::from_micros(50);
const MOST: u32 = 400;

/// Waits until that clock goes on: a few milliseconds, at most 20 or what so many short pauses take.
pub fn next_tick() {
    let now = || clock_gettime(ClockId::RealtimeCoarse);
    let first = now();
    for _ in 0..MOST {
        if now() != first {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_has_gone_on_afterwards() {
        let before = clock_gettime(ClockId::RealtimeCoarse);
        next_tick();
        let after = clock_gettime(ClockId::RealtimeCoarse);
        assert!((after.tv_sec, after.tv_nsec) > (before.tv_sec, before.tv_nsec));
    }
}
