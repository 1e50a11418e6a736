//! New threads of which nobody said who made them.
//!
//! A new thread is held at its first stop until its maker reports it. A maker that is killed between the two reports
//! nothing, and its child would be held for ever.

use iotrail_model::{Nanos, Timestamp};

/// How long a new thread waits for somebody to say who made it.
const PATIENCE: Nanos = Nanos(50_000_000);

/// Since when there are such threads.
#[derive(Debug, Default)]
pub(crate) struct Orphans {
    since: Option<Timestamp>,
}

/// What is to be done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    /// Waits shall be interrupted now and then, or need not be any more.
    Remind(bool),
    /// They have waited long enough, by now.
    Release(Timestamp),
}

impl Orphans {
    /// Sees to it that no thread is held for ever: the kernel says nothing of a maker that was killed at the wrong moment.
    #[inline]
    pub(crate) fn watch(&mut self, are_there: bool, now: impl FnOnce() -> Timestamp) -> Due {
        match (are_there, self.since) {
            (false, None) => Due::Nothing,
            (false, Some(_)) => {
                self.since = None;
                Due::Remind(false)
            }
            (true, None) => {
                self.since = Some(now());
                Due::Remind(true)
            }
            (true, Some(since)) => match now() {
                now if now - since > PATIENCE => Due::Release(now),
                _ => Due::Nothing,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orphans_are_released_when_they_have_waited_and_not_before() {
        let mut orphans = Orphans::default();
        let late = Timestamp(PATIENCE.0 + 2);
        let mut watch = |are_there, now| orphans.watch(are_there, || Timestamp(now));
        assert_eq!(
            [watch(false, 0), watch(true, 1), watch(true, PATIENCE.0)],
            [Due::Nothing, Due::Remind(true), Due::Nothing]
        );
        assert_eq!(
            [watch(true, late.0), watch(false, late.0), watch(false, late.0)],
            [Due::Release(late), Due::Remind(false), Due::Nothing]
        );
    }
}
