//! A ratio of two numbers, and what it makes of a sequence.

use std::fmt;

/// How many times each step is done, on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// So many times,
    pub numerator: u64,
    /// of so many; not 0.
    pub denominator: u64,
}

impl Default for Ratio {
    fn default() -> Self {
        Self::ONE
    }
}

impl Ratio {
    /// Each step once.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };
    /// Largest numerator and denominator.
    const MAX: u64 = 1 << 31;

    /// How often all of so many steps are done; NULL if that does not fit.
    #[must_use]
    pub fn of(self, steps: u64) -> Option<u64> {
        u64::try_from(u128::from(steps) * u128::from(self.numerator) / u128::from(self.denominator.max(1)))
            .ok()
    }

    /// How often the step after so many others is done.
    #[must_use]
    pub fn at(self, step: u64) -> u64 {
        let before = |steps| self.of(steps).unwrap_or(u64::MAX);
        before(step.saturating_add(1)) - before(step)
    }

    /// The product; NULL if it has too many digits.
    #[must_use]
    pub fn times(self, other: Self) -> Option<Self> {
        let one = self.numerator.checked_mul(other.numerator)?;
        Self::reduced(one, self.denominator.checked_mul(other.denominator)?)
    }

    /// A fraction in its lowest terms; NULL if it has too many digits, or is 0.
    #[must_use]
    pub fn reduced(numerator: u64, denominator: u64) -> Option<Self> {
        let divisor = common_divisor(numerator, denominator);
        let found = Self {
            numerator: numerator.checked_div(divisor)?,
            denominator: denominator.checked_div(divisor)?,
        };
        let fits = |number| (1..=Self::MAX).contains(&number);
        (fits(found.numerator) && fits(found.denominator)).then_some(found)
    }

    /// Of `3 / 2`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (numerator, denominator) = text.split_once(" / ").unwrap_or((text, "1"));
        Self::reduced(numerator.parse().ok()?, denominator.parse().ok()?)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {}", self.numerator, self.denominator)
    }
}

/// The greatest number that divides both; of 0 and another one that one.
#[must_use]
pub fn common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_done_so_often_on_average_and_exactly_in_all() {
        let ratio = Ratio { numerator: 3, denominator: 2 };
        assert_eq!((0..4).map(|step| ratio.at(step)).collect::<Vec<_>>(), [1, 2, 1, 2]);
        assert_eq!(ratio.of(4), Some(6));
        assert_eq!(Ratio::parse(&ratio.to_string()), Some(ratio));
        assert_eq!(Ratio::parse("6 / 4"), Some(ratio));
        for text in ["0 / 1", "1 / 0", "x", "5000000000"] {
            assert_eq!(Ratio::parse(text), None, "{text}");
        }
    }
}
