//! Conditions under which a comparison fails: `elapsed>+10%`.
//!
//! ```text
//! condition = figure op limit
//! figure    = elapsed | calls | processes | bytes | read | written | io | waiting
//! op        = ">" | "<"
//! limit     = ["+" | "-"] number "%"            the change, in parts of the baseline
//!           | ("+" | "-") number [unit]         the change
//!           | number [unit]                     the value of the other side
//! unit      = ns, us, ms, s, min, h, d of times; B, kB, MiB, ... of bytes
//! ```

use super::figures::{Figure, Quantity};
use super::verdict::Verdict;
use iotrail_model::quantity::{self, UNIT};
use std::fmt;
use std::str::FromStr;

/// A condition on a figure of the verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct FailOn {
    text: String,
    figure: Figure,
    above: bool,
    limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    /// Percent of the baseline.
    Share(f64),
    Difference(f64),
    /// The value of the other side.
    Value(f64),
}

/// Why a comparison fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Failed {
    /// The condition holds: the values of both sides.
    Holds(Figure, f64, f64),
    /// A side's figure is not known.
    Unknown(Figure),
}

impl FailOn {
    /// Whether the comparison fails, and why.
    #[must_use]
    pub fn check(&self, verdict: &Verdict) -> Option<Failed> {
        let change = verdict.of(self.figure);
        let Some((a, b)) = change.and_then(|change| change.a.zip(change.b)) else {
            return Some(Failed::Unknown(self.figure));
        };
        let (value, limit) = match self.limit {
            // In hundredths of the baseline, so that a baseline of 0 needs no division.
            Limit::Share(percent) => ((b - a) * 100.0, a * percent),
            Limit::Difference(limit) => (b - a, limit),
            Limit::Value(limit) => (b, limit),
        };
        let holds = if self.above { value > limit } else { value < limit };
        holds.then_some(Failed::Holds(self.figure, a, b))
    }
}

impl fmt::Display for FailOn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Figure::ALL.map(Figure::name).join(", ");
        let at =
            text.find(['>', '<']).ok_or("no `>` or `<`: write a figure and a limit, as in 'elapsed>+10%'")?;
        let (name, limit) = (text[..at].trim(), text[at + 1..].trim());
        let figure = Figure::ALL.into_iter().find(|figure| figure.name() == name).ok_or_else(|| {
            format!("there is no figure `{}`: use one of {}", iotrail_model::text::printable(name), names())
        })?;
        Ok(Self {
            text: text.to_owned(),
            figure,
            above: text[at..].starts_with('>'),
            limit: Limit::parse(limit, figure)?,
        })
    }
}

impl Limit {
    fn parse(text: &str, figure: Figure) -> Result<Self, String> {
        let (sign, number) = match text.as_bytes().first() {
            Some(b'+') => (Some(1.0), text[1..].trim()),
            Some(b'-') => (Some(-1.0), text[1..].trim()),
            _ => (None, text),
        };
        if let Some(percent) = number.strip_suffix('%') {
            return match quantity::decimal(percent.trim()) {
                Some((value, "")) => Ok(Self::Share(sign.unwrap_or(1.0) * value as f64 / UNIT as f64)),
                _ => Err(format!("`{}` is not a percentage", iotrail_model::text::printable(text))),
            };
        }
        let value = match figure.quantity() {
            Quantity::Time => quantity::span(number).map(|nanos| nanos as f64),
            Quantity::Bytes => quantity::bytes(number).map(|bytes| bytes as f64),
            Quantity::Number => match quantity::decimal(number) {
                Some((value, "")) => Ok(value as f64 / UNIT as f64),
                _ => Err("not a number".to_owned()),
            },
        };
        let value = value
            .map_err(|problem| format!("the limit `{}`: {problem}", iotrail_model::text::printable(text)))?;
        Ok(sign.map_or(Self::Value(value), |sign| Self::Difference(sign * value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::FigureChange;
    use proptest::prelude::*;

    fn verdict(figure: Figure, a: i64, b: i64) -> Verdict {
        Verdict { runs_a: 1, runs_b: 1, figures: vec![FigureChange::new(figure, &[Some(a)], &[Some(b)])] }
    }

    fn fails(condition: &str, figure: Figure, a: i64, b: i64) -> bool {
        condition.parse::<FailOn>().unwrap().check(&verdict(figure, a, b)).is_some()
    }

    #[test]
    fn limits_are_shares_differences_or_values() {
        let of = |condition: &str, a: i64, b: i64| fails(condition, Figure::Elapsed, a, b);
        assert!(
            of("elapsed>+10%", 100, 111) && !of("elapsed>+10%", 100, 110) && !of("elapsed > 10 %", 100, 90)
        );
        assert!(of("elapsed<-10%", 100, 89) && !of("elapsed<-10%", 100, 90));
        assert!(of("elapsed>-5%", 100, 96) && !of("elapsed>-5%", 100, 90), "less than 5 % gained");
        assert!(of("elapsed>+1us", 0, 1001) && !of("elapsed>+1us", 0, 1000));
        assert!(of("elapsed>2s", 0, 2_000_000_001) && !of("elapsed>2s", 9_000_000_000, 2_000_000_000));
        assert!(
            of("elapsed>+10%", 0, 1) && !of("elapsed>+10%", 0, 0),
            "any growth from 0 is more than a tenth"
        );
        assert!(fails("calls>+0", Figure::Calls, 7, 8) && !fails("calls>+0", Figure::Calls, 7, 7));
        assert!(
            fails("bytes>+1MiB", Figure::Bytes, 0, 1 << 21)
                && !fails("bytes>+1MiB", Figure::Bytes, 0, 1 << 20)
        );
    }

    #[test]
    fn what_is_not_known_fails() {
        let unknown = Verdict {
            figures: vec![FigureChange::new(Figure::Elapsed, &[None], &[Some(1)])],
            ..Verdict::default()
        };
        let condition: FailOn = "elapsed>+10%".parse().unwrap();
        assert_eq!(condition.check(&unknown), Some(Failed::Unknown(Figure::Elapsed)));
        assert_eq!(condition.check(&Verdict::default()), Some(Failed::Unknown(Figure::Elapsed)));
    }

    #[test]
    fn wrong_conditions_are_explained() {
        for (text, said) in [
            ("elapsed", "no `>` or `<`"),
            ("speed>1", "no figure `speed`: use one of elapsed, calls"),
            ("elapsed>10", "a number without a unit"),
            ("elapsed>+x%", "not a percentage"),
            ("calls>1s", "not a number"),
            ("bytes>+1 apple", "unknown unit"),
            (">1", "no figure ``"),
            ("calls>", "not a number"),
        ] {
            let error = text.parse::<FailOn>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_fatal(text in "(elapsed|calls|read)?[<>]?[+-]?[0-9.]{0,30}[a-zA-Z%é ]{0,4}", a in any::<i64>(), b in any::<i64>()) {
            if let Ok(condition) = text.parse::<FailOn>() {
                let _ = condition.check(&verdict(condition.figure, a / 2, b / 2));
            }
        }
    }
}
