//! The time between operations of a stream.

use crate::engine::{NAP, Think};
use crate::outcome::Outcome;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What the pauses of a stream become.
pub(crate) struct Pacing {
    think: Think,
    /// How much longer than they should pauses took: it is taken off the next ones, so that their sum does not drift.
    owed: Duration,
}

impl Pacing {
    pub(crate) const fn new(think: Think) -> Self {
        Self { think, owed: Duration::ZERO }
    }

    /// Waits before an operation of a stream that began, and whose operation before ended, at these times; the time then.
    pub(crate) fn wait(
        &mut self,
        (begin, before): (Instant, Instant),
        think_ns: u64,
        outcome: &mut Outcome,
        cancel: &AtomicBool,
    ) -> Instant {
        let wanted = match self.think {
            Think::Dropped => return before,
            _ if think_ns == 0 => return before,
            Think::Scaled(factor) => {
                Duration::try_from_secs_f64(think_ns as f64 * factor / 1e9).unwrap_or_default()
            }
            Think::Busy | Think::Due => Duration::from_nanos(think_ns),
        };
        let due =
            if self.think == Think::Due { begin + wanted } else { before + wanted.saturating_sub(self.owed) };
        let asleep = self.think != Think::Busy;
        if asleep {
            sleep_until(due, cancel);
        }
        let mut now = Instant::now();
        while now < due && !asleep && !cancel.load(Ordering::Relaxed) {
            std::hint::spin_loop();
            now = Instant::now();
        }
        outcome.lateness.add(now.saturating_duration_since(due));
        if self.think != Think::Due {
            let waited = now.duration_since(before);
            self.owed = (self.owed + waited).saturating_sub(wanted);
            outcome.slack_ns[0] += nanos(wanted);
            outcome.slack_ns[1] += nanos(waited);
        }
        now
    }
}

/// To sleep for less takes longer than that.
const SHORT: Duration = Duration::from_micros(10);

/// Lets sleeps of this thread end when they shall: the kernel lets them last up to 50 us longer, else.
pub(crate) fn sleep_exactly() {
    // Without it pauses are longer, which is measured.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Returns at that time, or soon after `cancel` is set.
pub(crate) fn sleep_until(due: Instant, cancel: &AtomicBool) {
    while !cancel.load(Ordering::Relaxed)
        && let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    {
        if left < SHORT {
            std::hint::spin_loop();
        } else {
            thread::sleep(left.min(NAP));
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
