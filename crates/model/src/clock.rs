//! What may be told of time: what time stamps mean, and how fine they are.
//!
//! The difference of two time stamps is right to one unit of theirs. Of calls, which take microseconds, stamps of whole seconds
//! tell nothing: neither how long the time between two was nor whether two overlapped. Of what takes minutes they tell enough.
//! Durations that a tracer measured are none of their business.

use crate::notes::Note;
use crate::time::Nanos;
use serde::{Deserialize, Serialize};

/// What the time stamps of a case mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// Seconds since the epoch, UTC.
    #[default]
    Utc,
    /// Time of day in an unknown time zone; the date is 1970-01-01 or the one the user gave.
    TimeOfDay,
    /// Time since the first event of the case, which is at 0.
    Relative,
    /// The trace has no time stamps: `start` only counts events (1 ns each) and `dur` is all there is.
    Order,
}

impl Clock {
    /// The name in the column `clock`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Utc => "utc",
            Self::TimeOfDay => "time-of-day",
            Self::Relative => "relative",
            Self::Order => "order",
        }
    }

    /// The clock of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Utc, Self::TimeOfDay, Self::Relative, Self::Order]
            .into_iter()
            .find(|clock| clock.name() == name)
    }
}

/// The unit of time stamps: what happened within one of it has the same stamp. Zero where it is not known, as of trails that
/// were written before it was kept: then stamps are believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Option<i64>", into = "Option<i64>")]
pub struct Resolution(pub Nanos);

/// NULL is unknown.
impl From<Option<i64>> for Resolution {
    fn from(nanos: Option<i64>) -> Self {
        Self(Nanos(nanos.unwrap_or(0).max(0)))
    }
}

impl From<Resolution> for Option<i64> {
    fn from(resolution: Resolution) -> Self {
        resolution.known()
    }
}

impl Resolution {
    /// Stamps of this unit or a larger one tell nothing of single calls.
    const COARSE: Nanos = Nanos(1_000_000);

    /// In ns, if it is known.
    #[must_use]
    pub fn known(self) -> Option<i64> {
        Some(self.0.0).filter(|unit| *unit > 0)
    }

    /// Whether the stamps tell nothing of single calls: how long the time between two is, how many run at once.
    #[must_use]
    pub fn is_coarse(self) -> bool {
        self.0 >= Self::COARSE
    }

    /// A time that is the difference of two stamps, or a sum of such differences. Of coarse ones in whole units, and only if it
    /// is longer than what they leave open: two units.
    #[must_use]
    pub fn known_span(self, span: Nanos) -> Option<Nanos> {
        if !self.is_coarse() {
            return Some(span);
        }
        let unit = self.0.0;
        (span.0 >= unit.saturating_mul(2)).then(|| Nanos(span.0 / unit * unit))
    }

    /// What a reader of times must know; nothing if the stamps are fine.
    #[must_use]
    pub fn note(self) -> Option<Note> {
        self.is_coarse().then_some(Note::CoarseTimes { unit: self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_seconds_tell_of_minutes_and_not_of_moments() {
        let seconds = Resolution(Nanos(1_000_000_000));
        let known = |span: i64| seconds.known_span(Nanos(span)).map(|span| span.0);
        assert_eq!([0, 1_000_000_000, 1_999_999_999].map(known), [None; 3]);
        assert_eq!(known(2_500_000_000), Some(2_000_000_000));
        let micros = Resolution(Nanos(1000));
        assert_eq!((micros.known_span(Nanos(0)), micros.note()), (Some(Nanos(0)), None));
        assert!(seconds.note().unwrap().to_string().contains("multiples of 1.00 s"));
    }

    #[test]
    fn what_is_not_known_is_null() {
        let json = |resolution: Resolution| serde_json::to_string(&resolution).unwrap();
        assert_eq!(
            (json(Resolution::default()), json(Resolution(Nanos(5)))),
            ("null".to_owned(), "5".to_owned())
        );
        assert_eq!(serde_json::from_str::<Resolution>("null").unwrap(), Resolution::default());
    }
}
