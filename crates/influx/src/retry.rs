//! How long to wait before the next try: exponential, with jitter, so that several uploads do not come back at the same time.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);

/// Waits since the last success.
#[derive(Debug)]
pub(crate) struct Backoff {
    tries: u32,
    since: Instant,
    patience: Duration,
}

impl Backoff {
    /// Gives up after `patience`.
    pub(crate) fn new(patience: Duration) -> Self {
        Self { tries: 0, since: Instant::now(), patience }
    }

    /// How long to wait, at least as long as the server asks for; nothing if that is beyond patience.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let longest = FIRST.saturating_mul(1 << self.tries.min(10)).min(LONGEST);
        self.tries += 1;
        let wait = longest.mul_f64(0.5 + 0.5 * random_share()).max(asked.unwrap_or_default());
        let end = self.since.elapsed().checked_add(wait)?;
        (end <= self.patience).then_some(wait)
    }
}

/// A random number from 0 to 1. Every state of the standard hasher has keys of its own.
fn random_share() -> f64 {
    let bits = RandomState::new().build_hasher().finish() >> 32;
    bits as f64 / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_with_jitter_and_end_with_patience() {
        let mut backoff = Backoff::new(Duration::from_secs(60));
        let mut longest = FIRST;
        for _ in 0..8 {
            let wait = backoff.next(None).unwrap();
            assert!(wait >= longest / 2 && wait <= longest, "{wait:?} of {longest:?}");
            longest = (longest * 2).min(LONGEST);
        }
        assert_eq!(backoff.next(Some(Duration::from_secs(31))), Some(Duration::from_secs(31)));
        assert_eq!(backoff.next(Some(Duration::from_secs(61))), None);
        assert_eq!(backoff.next(Some(Duration::MAX)), None);
    }
}
