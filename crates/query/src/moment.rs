//! Points in time as people write them.

use iotrail_model::quantity::{self, UNIT, decimal};
use iotrail_model::time::{NANOS_PER_DAY, days_from_civil};
use iotrail_model::{Clock, Timestamp};

/// What may be written, for messages.
pub const ALLOWED: &str = "write 2026-11-21T08:15:30Z, a time of day 08:15:30.5, a span from the start of the log +1.5s, or a share of it 50%";

/// A point in time that may depend on the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Of a clock that tells the date.
    Absolute(Timestamp),
    /// Nanoseconds since midnight.
    TimeOfDay(i64),
    /// Nanoseconds since the first event.
    FromStart(i64),
    /// Billionths of a percent of the way from the first event to the last.
    Share(i128),
}

impl Moment {
    /// Parses a moment.
    ///
    /// # Errors
    /// With what is wrong; [`ALLOWED`] is what may be written.
    pub fn parse(word: &str) -> Result<Self, String> {
        if let Some(number) = word.strip_suffix('%') {
            return match decimal(number) {
                Some((share, "")) if share <= 100 * UNIT => Ok(Self::Share(share)),
                _ => Err("not a share between 0% and 100%".to_owned()),
            };
        }
        if let Some((date, time)) =
            word.split_once(['T', ' ']).or_else(|| is_date(word).then_some((word, "00:00:00")))
        {
            return absolute(date, time).map(Self::Absolute);
        }
        if word.contains(':') {
            return match time_of_day(word) {
                Some((nanos, "")) => Ok(Self::TimeOfDay(nanos)),
                _ => Err("not a time of day".to_owned()),
            };
        }
        quantity::span(word.strip_prefix('+').unwrap_or(word)).map(Self::FromStart)
    }

    /// The moment in a log whose events start in `span`. `after`: a time of day that is not later than this means the next day.
    ///
    /// # Errors
    /// If none of `clocks` tells the time of day that the moment needs.
    pub fn resolve(
        self,
        span: Option<(Timestamp, Timestamp)>,
        clocks: &[Clock],
        after: Option<Timestamp>,
    ) -> Result<Timestamp, String> {
        let has_times = |clock: &Clock| matches!(clock, Clock::Utc | Clock::TimeOfDay);
        if matches!(self, Self::Absolute(_) | Self::TimeOfDay(_))
            && !clocks.is_empty()
            && !clocks.iter().any(has_times)
        {
            return Err(
                "the log has no clock that tells the time of day, only times since its start".to_owned()
            );
        }
        let (first, last) = span.unwrap_or_default();
        Ok(match self {
            Self::Absolute(at) => at,
            Self::FromStart(nanos) => Timestamp(first.0.saturating_add(nanos)),
            Self::Share(share) => {
                let length = i128::from(last.0) - i128::from(first.0) + 1;
                let at = i128::from(first.0) + length * share / (100 * UNIT);
                Timestamp(i64::try_from(at).unwrap_or(i64::MAX))
            }
            Self::TimeOfDay(nanos) => {
                let midnight = first.0.saturating_sub(first.0.rem_euclid(NANOS_PER_DAY));
                let at = midnight.saturating_add(nanos);
                let next = after.is_some_and(|after| at <= after.0);
                Timestamp(if next { at.saturating_add(NANOS_PER_DAY) } else { at })
            }
        })
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.bytes().filter(|&byte| byte == b'-').count() == 2
}

fn absolute(date: &str, time: &str) -> Result<Timestamp, String> {
    let days = days(date).ok_or("not a date")?;
    let (nanos, zone) = time_of_day(time).ok_or("not a time of day after the date")?;
    let offset = offset(zone).ok_or("not a time zone after the time")?;
    let total = i128::from(days) * i128::from(NANOS_PER_DAY) + i128::from(nanos) - i128::from(offset);
    i64::try_from(total)
        .ok()
        .filter(|&t| t != i64::MIN)
        .map(Timestamp)
        .ok_or_else(|| "outside 1677 to 2262".to_owned())
}

fn days(date: &str) -> Option<i64> {
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4)?;
    let month = number(parts.next()?, 2).filter(|month| (1..=12).contains(month))?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let day = number(parts.next()?, 2).filter(|day| (1..=length).contains(day))?;
    parts.next().is_none().then(|| days_from_civil(year, month, day))
}

/// `HH:MM[:SS[.fff]]` in nanoseconds, and what follows.
fn time_of_day(text: &str) -> Option<(i64, &str)> {
    let hour = number(text.get(..2)?, 2).filter(|&hour| hour < 24)?;
    let minute = number(text.get(2..5)?.strip_prefix(':')?, 2).filter(|&minute| minute < 60)?;
    let whole = (hour * 60 + minute) * 60 * UNIT as i64;
    match text[5..].strip_prefix(':') {
        None => Some((whole, &text[5..])),
        Some(seconds) => {
            number(seconds.get(..2)?, 2).filter(|&second| second <= 60)?;
            let (nanos, rest) = decimal(seconds)?;
            i64::try_from(nanos).ok().filter(|&n| n < 61 * UNIT as i64).map(|nanos| (whole + nanos, rest))
        }
    }
}

/// `Z`, nothing (UTC), `+HH:MM` or `-HH:MM` in nanoseconds east of UTC.
fn offset(zone: &str) -> Option<i64> {
    let (sign, rest) = match zone.as_bytes().first() {
        None | Some(b'Z' | b'z') if zone.len() < 2 => return Some(0),
        Some(b'+') => (1, &zone[1..]),
        Some(b'-') => (-1, &zone[1..]),
        _ => return None,
    };
    match time_of_day(rest) {
        Some((nanos, "")) if rest.len() == 5 => Some(sign * nanos),
        _ => None,
    }
}

fn number(text: &str, digits: usize) -> Option<i64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SPAN: Option<(Timestamp, Timestamp)> =
        Some((Timestamp(NANOS_PER_DAY + 10), Timestamp(NANOS_PER_DAY + 109)));

    fn at(word: &str) -> i64 {
        Moment::parse(word).unwrap().resolve(SPAN, &[Clock::Utc], None).unwrap().0
    }

    #[test]
    fn every_way_of_writing_a_moment() {
        assert_eq!(Timestamp(at("2026-11-21T08:15:30.5Z")).to_rfc3339(), "2026-11-21T08:15:30.500000000Z");
        assert_eq!(at("2026-11-21 08:15:30+01:30"), at("2026-11-21T06:45:30Z"));
        assert_eq!(at("2026-11-21"), at("2026-11-21T00:00"));
        assert_eq!(at("00:00:01.25"), NANOS_PER_DAY + 1_250_000_000);
        assert_eq!(at("+10ns"), NANOS_PER_DAY + 20);
        assert_eq!(at("10ns"), NANOS_PER_DAY + 20);
        assert_eq!(at("0%"), NANOS_PER_DAY + 10);
        assert_eq!(at("50%"), NANOS_PER_DAY + 60);
        assert_eq!(at("100%"), NANOS_PER_DAY + 110);
    }

    #[test]
    fn a_time_of_day_that_is_not_after_the_other_is_on_the_next_day() {
        let moment = Moment::parse("00:10:00").unwrap();
        let late = Timestamp(NANOS_PER_DAY + 80_000_000_000_000);
        let next = moment.resolve(SPAN, &[Clock::TimeOfDay], Some(late)).unwrap();
        assert_eq!(next.0, 2 * NANOS_PER_DAY + 600_000_000_000);
    }

    #[test]
    fn nonsense_is_refused() {
        for word in [
            "",
            "5",
            "x",
            "101%",
            "-1%",
            "2026-02-30",
            "2026-1-1",
            "25:00:00",
            "08:61",
            "2026-11-21T",
            "2026-11-21T08:00:00X",
            "9999-01-01",
            "08:15:99",
            "é8:15",
        ] {
            assert!(Moment::parse(word).is_err(), "{word}");
        }
        assert!(Moment::parse("08:15").unwrap().resolve(SPAN, &[Clock::Relative], None).is_err());
    }

    proptest! {
        #[test]
        fn no_word_panics(word in "[0-9:.%+TZ\\- smué]{0,24}") {
            if let Ok(moment) = Moment::parse(&word) {
                let _ = moment.resolve(SPAN, &[Clock::Utc], None);
            }
        }
    }
}
