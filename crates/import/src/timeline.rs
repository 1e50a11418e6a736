//! From time stamps as printed to points in time.

use iotrail_model::time::{NANOS_PER_DAY, days_from_civil};
use iotrail_model::{Clock, Nanos, Resolution, Timestamp};

pub(crate) const SECOND: i64 = 1_000_000_000;

/// The time stamps in front of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// When, if the line says.
    pub absolute: Option<Absolute>,
    /// Nanoseconds since the line before it, if the line says.
    pub delta: Option<i64>,
    /// Whether `absolute` has a fraction of a second.
    pub fine: bool,
    /// The last digit of what the line says in nanoseconds, the finer one if it says both; 0 if it says neither.
    pub unit: i64,
}

/// A point in time as printed, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absolute {
    /// Since the epoch.
    Utc(i64),
    /// Since midnight.
    TimeOfDay(i64),
}

/// The time of the lines so far: what the stamps of the next ones refer to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timeline {
    clock: Option<Clock>,
    /// Midnight of the day of the last line.
    midnight: i64,
    last: i64,
    /// The coarsest unit of the stamps so far.
    unit: i64,
}

impl Timeline {
    /// Before the first line, on the given date.
    #[must_use]
    pub fn new(date: Option<(i64, i64, i64)>) -> Self {
        let days = date.map_or(0, |(year, month, day)| days_from_civil(year, month, day));
        Self { midnight: days.saturating_mul(NANOS_PER_DAY), ..Self::default() }
    }

    /// What the stamps mean.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock.unwrap_or(Clock::Order)
    }

    /// How fine they are: of numbers of lines nobody asks.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        Resolution(Nanos(self.unit))
    }

    /// The time of the next line.
    #[inline]
    pub fn advance(&mut self, stamp: &Stamp) -> Timestamp {
        let first = self.clock.is_none();
        self.unit = self.unit.max(stamp.unit);
        let now = match (stamp.absolute, stamp.delta) {
            (Some(Absolute::Utc(now)), _) => {
                self.clock = Some(Clock::Utc);
                self.refine(now, stamp, first)
            }
            (Some(Absolute::TimeOfDay(now)), _) => {
                if self.clock == Some(Clock::TimeOfDay) && now < self.last - self.midnight - NANOS_PER_DAY / 2
                {
                    self.midnight = self.midnight.saturating_add(NANOS_PER_DAY);
                }
                self.clock = Some(Clock::TimeOfDay);
                self.refine(self.midnight.saturating_add(now), stamp, first)
            }
            (None, Some(delta)) => {
                self.clock.get_or_insert(Clock::Relative);
                if first { 0 } else { self.last.saturating_add(delta) }
            }
            (None, None) => match self.clock {
                None => {
                    self.clock = Some(Clock::Order);
                    0
                }
                Some(Clock::Order) => self.last.saturating_add(1),
                Some(_) => self.last,
            },
        };
        self.last = now;
        Timestamp(now)
    }

    /// A stamp of whole seconds beside a finer difference: the difference decides as long as both agree.
    fn refine(&self, now: i64, stamp: &Stamp, first: bool) -> i64 {
        match stamp.delta {
            Some(delta) if !stamp.fine && !first => {
                let finer = self.last.saturating_add(delta);
                if finer.abs_diff(now) < SECOND as u64 { finer } else { now }
            }
            _ => now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: i64) -> Stamp {
        Stamp { absolute: Some(Absolute::TimeOfDay(time)), delta: None, fine: true, unit: 1 }
    }

    #[test]
    fn midnight_begins_the_next_day() {
        let mut timeline = Timeline::new(Some((2024, 2, 28)));
        let before = timeline.advance(&at(NANOS_PER_DAY - 1));
        let after = timeline.advance(&at(5));
        assert_eq!((after - before).0, 6);
        assert_eq!(before.to_rfc3339(), "2024-02-28T23:59:59.999999999Z");
        assert_eq!(timeline.advance(&at(4)).0, after.0 - 1, "a small step back is no new day");
        assert_eq!(timeline.clock(), Clock::TimeOfDay);
    }

    #[test]
    fn differences_add_up_from_zero() {
        let mut timeline = Timeline::new(None);
        let times =
            [0, 5, 7].map(|delta| timeline.advance(&Stamp { delta: Some(delta), ..Stamp::default() }).0);
        assert_eq!(times, [0, 5, 12]);
        assert_eq!(timeline.clock(), Clock::Relative);
    }

    #[test]
    fn differences_refine_whole_seconds() {
        let mut timeline = Timeline::new(None);
        let times = [(10, 0), (10, 400), (11, 300), (20, 9 * SECOND), (30, 1)].map(|(second, delta)| {
            let absolute = Some(Absolute::Utc(second * SECOND));
            timeline.advance(&Stamp { absolute, delta: Some(delta), fine: false, unit: 1000 }).0 - 10 * SECOND
        });
        assert_eq!(times, [0, 400, 700, 9 * SECOND + 700, 20 * SECOND]);
    }

    #[test]
    fn without_stamps_only_the_order_is_known() {
        let mut timeline = Timeline::new(None);
        assert_eq!([0, 1, 2].map(|_| timeline.advance(&Stamp::default()).0), [0, 1, 2]);
        assert_eq!(timeline.clock(), Clock::Order);
    }
}
