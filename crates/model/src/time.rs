//! Points in time and spans, in nanoseconds.

use crate::nullable::Sentinel;
use serde::{Deserialize, Serialize};

/// Nanoseconds since 1970-01-01T00:00:00 UTC; what the origin really is says the case's [`crate::Clock`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
#[repr(transparent)]
pub struct Timestamp(pub i64);

/// What is written as a time is within this of 1970, so that any two are less than 2^63 ns apart.
const FURTHEST: i64 = i64::MAX / 2;

impl TryFrom<i64> for Timestamp {
    type Error = String;

    fn try_from(ns: i64) -> Result<Self, String> {
        if (-FURTHEST..=FURTHEST).contains(&ns) {
            return Ok(Self(ns));
        }
        Err(format!("{ns} ns since 1970 is no time: expected {} to {FURTHEST} (1823 to 2116)", -FURTHEST))
    }
}

impl From<Timestamp> for i64 {
    fn from(time: Timestamp) -> Self {
        time.0
    }
}

/// A span of time in nanoseconds; negative only where two points are subtracted the wrong way round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Nanos(pub i64);

impl Sentinel for Nanos {
    const NULL: Self = Self(i64::MIN);
}

impl Sentinel for Timestamp {
    const NULL: Self = Self(i64::MIN);
}

impl std::ops::Add<Nanos> for Timestamp {
    type Output = Self;

    fn add(self, span: Nanos) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl std::ops::Sub for Timestamp {
    type Output = Nanos;

    fn sub(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Timestamp {
    /// `2026-11-21T08:15:30.000000001Z`: RFC 3339 in UTC with nanoseconds.
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        let (days, within) = (self.0.div_euclid(NANOS_PER_DAY), self.0.rem_euclid(NANOS_PER_DAY));
        let (year, month, day) = civil_from_days(days);
        let (seconds, nanos) = (within / 1_000_000_000, within % 1_000_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
    }
}

/// Nanoseconds of a day without leap seconds.
pub const NANOS_PER_DAY: i64 = 86_400_000_000_000;

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
#[must_use]
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date (year, month, day) that lies `days` after 1970-01-01.
#[must_use]
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prints_utc() {
        assert_eq!(Timestamp(0).to_rfc3339(), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(Timestamp(1_709_210_096_000_000_007).to_rfc3339(), "2024-02-29T12:34:56.000000007Z");
        assert_eq!(Timestamp(-1).to_rfc3339(), "1969-12-31T23:59:59.999999999Z");
    }

    proptest! {
        #[test]
        fn dates_round_trip(days in -1_000_000_i64..1_000_000) {
            let (year, month, day) = civil_from_days(days);
            prop_assert_eq!(days_from_civil(year, month, day), days);
        }
    }
}
