//! What changed about an activity: one row, with everything that differs about it.

use crate::comparison::ChangeKind;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Ratio from which on, in whichever direction, a mean counts as another one.
pub const APART: f64 = 1.1;

/// An activity on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActivityChange {
    /// Name of the activity.
    pub activity: Arc<str>,
    /// What most of its difference comes from.
    pub cause: ChangeKind,
    /// I/O time (data, sync and metadata) of the first side; NULL if no duration is known of calls that are there.
    pub io_a_ns: Option<f64>,
    /// The same of the second side.
    pub io_b_ns: Option<f64>,
    /// Second minus first; NULL if either is.
    pub difference_ns: Option<f64>,
    /// Calls.
    pub count: Pair,
    /// Mean time of a call; NULL without one whose time is known.
    pub duration_ns: Pair,
    /// Mean bytes of a call.
    pub bytes: Pair,
    /// Mean gap between the call before in the same case and this one.
    pub gap_ns: Pair,
    /// As of [`crate::Change`].
    pub p_value: Option<f64>,
    /// As of [`crate::Change`].
    pub q_value: Option<f64>,
    /// As of [`crate::Change`].
    pub significant: Option<bool>,
}

/// A figure of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Of the first.
    pub a: Option<f64>,
    /// Of the second.
    pub b: Option<f64>,
}

impl Pair {
    /// Second over first, if both are known and the first is not 0.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let (a, b) = self.a.zip(self.b)?;
        (a > 0.0).then(|| b / a)
    }

    /// Second minus first.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        self.a.zip(self.b).map(|(a, b)| b - a)
    }

    /// Whether the second is larger, smaller or neither by [`APART`].
    #[must_use]
    pub fn trend(&self) -> i8 {
        match self.ratio() {
            Some(ratio) if ratio >= APART => 1,
            Some(ratio) if ratio <= 1.0 / APART => -1,
            Some(_) => 0,
            None => i8::from(self.difference().is_some_and(|more| more > 0.0)),
        }
    }
}

impl ActivityChange {
    /// Names the cause: how often it happens or, if the time of each call makes more of the difference, how long it takes,
    /// which is its size if that grew or shrank as much.
    #[must_use]
    pub fn with_cause(mut self) -> Self {
        let counts = [self.count.a, self.count.b].map(Option::unwrap_or_default);
        let means = [self.duration_ns.a.or(self.duration_ns.b), self.duration_ns.b.or(self.duration_ns.a)];
        let [mean_a, mean_b] = means.map(Option::unwrap_or_default);
        let by_count = ((counts[1] - counts[0]) * (mean_a + mean_b)).abs();
        let by_time = ((mean_b - mean_a) * (counts[0] + counts[1])).abs();
        let size = self.bytes.trend();
        self.cause = if counts[0] == 0.0 {
            ChangeKind::New
        } else if counts[1] == 0.0 {
            ChangeKind::Gone
        } else if counts[0] != counts[1] && by_count >= by_time {
            if counts[1] > counts[0] { ChangeKind::More } else { ChangeKind::Fewer }
        } else if size != 0 && (by_time == 0.0 || (size > 0) == (mean_b > mean_a)) {
            if size > 0 { ChangeKind::Larger } else { ChangeKind::Smaller }
        } else if mean_b > mean_a {
            ChangeKind::Slower
        } else {
            ChangeKind::Faster
        };
        self
    }

    /// Whether anything about it differs.
    #[must_use]
    pub fn differs(&self) -> bool {
        let differ = |pair: &Pair| pair.a != pair.b;
        [&self.count, &self.duration_ns, &self.bytes].into_iter().any(differ) || self.io_a_ns != self.io_b_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: f64, b: f64) -> Pair {
        Pair { a: Some(a), b: Some(b) }
    }

    fn cause(count: (f64, f64), time: (f64, f64), bytes: (f64, f64)) -> ChangeKind {
        let change = ActivityChange {
            activity: "read".into(),
            cause: ChangeKind::New,
            io_a_ns: None,
            io_b_ns: None,
            difference_ns: None,
            count: pair(count.0, count.1),
            duration_ns: pair(time.0, time.1),
            bytes: pair(bytes.0, bytes.1),
            gap_ns: Pair::default(),
            p_value: None,
            q_value: None,
            significant: None,
        };
        change.with_cause().cause
    }

    #[test]
    fn the_cause_is_what_makes_most_of_the_difference() {
        assert_eq!(cause((0.0, 5.0), (0.0, 7.0), (1.0, 1.0)), ChangeKind::New);
        assert_eq!(cause((5.0, 0.0), (7.0, 0.0), (1.0, 1.0)), ChangeKind::Gone);
        assert_eq!(cause((10.0, 40.0), (5.0, 6.0), (1.0, 1.0)), ChangeKind::More);
        assert_eq!(cause((40.0, 10.0), (5.0, 5.0), (1.0, 1.0)), ChangeKind::Fewer);
        assert_eq!(cause((10.0, 11.0), (5.0, 50.0), (8.0, 8.0)), ChangeKind::Slower);
        assert_eq!(cause((10.0, 10.0), (50.0, 5.0), (8.0, 8.0)), ChangeKind::Faster);
        assert_eq!(cause((10.0, 10.0), (5.0, 50.0), (8.0, 80.0)), ChangeKind::Larger);
        assert_eq!(cause((10.0, 10.0), (5.0, 5.0), (8.0, 4.0)), ChangeKind::Smaller);
        assert_eq!(cause((10.0, 10.0), (5.0, 50.0), (8.0, 4.0)), ChangeKind::Slower, "smaller does not slow");
    }
}
