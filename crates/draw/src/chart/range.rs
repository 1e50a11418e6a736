//! From numbers to places on an axis: its ends, and the ticks between them.
//!
//! Ends are round numbers that hold every value. A logarithmic axis has no place for 0 and less, but data have them (reads
//! that find the end of a file): they get a place of their own before the others, marked `≤ 0`.

use super::number;
use super::{Axis, Unit};
use crate::view::Scale;

/// An axis with ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range {
    unit: Unit,
    scale: Scale,
    low: f64,
    high: f64,
    /// Whether values without a logarithm have a place.
    zero: bool,
    /// Whether there are values between whole numbers.
    whole: bool,
}

/// A marked place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Where, 0 to 1.
    pub(crate) place: f64,
    /// What it says; nothing for the small ticks between.
    pub(crate) label: Option<String>,
}

/// The share of a logarithmic axis that is kept for values without a logarithm.
const ZERO_BAND: f64 = 0.06;
const ZERO_PLACE: f64 = 0.02;
/// Beyond it nothing that is measured lies, and sums of such numbers are still finite.
const LARGEST: f64 = 1e24;
/// Less than that is nothing, whatever it is.
const SMALLEST: f64 = 1e-12;
const MANTISSAS: [f64; 4] = [1.0, 2.0, 5.0, 10.0];

impl Range {
    /// The axis that holds all finite ones of `values`.
    pub(crate) fn of(axis: &Axis, values: impl Iterator<Item = f64> + Clone) -> Self {
        let finite = values
            .filter(|value| value.is_finite())
            .map(|value| if value.abs() < SMALLEST { 0.0 } else { value.clamp(-LARGEST, LARGEST) });
        match axis.scale {
            Scale::Linear => Self::linear(axis.unit, finite),
            Scale::Log => Self::log(axis.unit, finite),
        }
    }

    /// An axis of proportion from 0 to exactly `high`.
    pub(crate) fn until(unit: Unit, high: f64) -> Self {
        let high = if high.is_finite() && high > 0.0 { high.min(LARGEST) } else { 1.0 };
        Self { unit, scale: Scale::Linear, low: 0.0, high, zero: false, whole: false }
    }

    /// An axis of `count` numbers from 0 on, of which each has as much room on both sides.
    pub(crate) fn numbers(unit: Unit, count: f64) -> Self {
        let Self { high, .. } = Self::until(unit, count);
        Self { unit, scale: Scale::Linear, low: -0.5, high: high - 0.5, zero: false, whole: true }
    }

    fn linear(unit: Unit, values: impl Iterator<Item = f64> + Clone) -> Self {
        let ends = |low, high| Self { unit, scale: Scale::Linear, low, high, zero: false, whole: false };
        let Some((least, most)) = ends_of(values) else { return ends(0.0, 1.0) };
        // Bars and areas are as long as their values, so an axis leaves out 0 only where the values differ by little; where
        // they hardly differ at all, 0 is what they can be compared with.
        let (spread, size) = (most - least, least.abs().max(most.abs()));
        let from_zero = spread > 0.2 * size || spread < 1e-6 * size;
        let (least, most) = if from_zero { (least.min(0.0), most.max(0.0)) } else { (least, most) };
        let most = if most == least { least + 1.0 } else { most };
        let step = number::step(unit, (most - least) / 6.0);
        ends((least / step).floor() * step, (most / step).ceil() * step)
    }

    fn log(unit: Unit, values: impl Iterator<Item = f64> + Clone) -> Self {
        let zero = values.clone().any(|value| value < number::LEAST);
        let ends = |low: f64, high: f64| Self { unit, scale: Scale::Log, low, high, zero, whole: false };
        let Some((least, most)) = ends_of(values.filter(|value| *value >= number::LEAST)) else {
            return ends(1.0, 10.0);
        };
        let (low, high) = (round_down(least), round_up(most));
        if low < high { ends(low, high) } else { ends(low / 2.0, high * 2.0) }
    }

    /// Where `value` is, from 0 to 1.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log if value < number::LEAST => return if self.zero { ZERO_PLACE } else { 0.0 },
            Scale::Log => {
                let share = (value / self.low).ln() / (self.high / self.low).ln();
                let band = if self.zero { ZERO_BAND } else { 0.0 };
                band + share.clamp(0.0, 1.0) * (1.0 - band)
            }
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Upper end.
    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    /// Lower end; of the values that have a logarithm if only these have one.
    pub(crate) fn low(&self) -> f64 {
        self.low
    }

    /// About `wanted` ticks. No label says the same as the one before it (shares that are all `<0.1 %`).
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        let mut ticks = match self.scale {
            Scale::Linear => self.linear_ticks(wanted),
            Scale::Log => self.log_ticks(wanted),
        };
        let mut said: Option<String> = None;
        for tick in ticks.iter_mut().filter(|tick| tick.label.is_some()) {
            match &tick.label {
                same if *same == said => tick.label = None,
                other => said.clone_from(other),
            }
        }
        ticks
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<Tick> {
        let (step, first, last) = self.multiples(wanted.max(1));
        let most = self.low.abs().max(self.high.abs());
        let mut ticks = Vec::new();
        // Without the sign of a negative zero.
        let mut at = first + 0.0;
        while at <= last && ticks.len() < MOST_TICKS {
            let value = at * step;
            let label = number::on_scale(self.unit, value, step, most);
            ticks.push(Tick { place: self.place(value), label: Some(label) });
            at += 1.0;
        }
        ticks
    }

    /// A round step, and its first and last multiple on the axis. An axis that begins above 0 may hold no multiple of a large
    /// step; then the step is one of more ticks than `wanted`.
    fn multiples(&self, wanted: usize) -> (f64, f64, f64) {
        let of = |ticks: usize| {
            let step = number::step(self.unit, (self.high - self.low) / ticks as f64);
            let step = if self.whole { step.max(1.0) } else { step };
            (step, (self.low / step).ceil(), (self.high / step + 1e-9).floor())
        };
        let mut ticks = wanted;
        while of(ticks).1 > of(ticks).2 && ticks < MOST_TICKS {
            ticks *= 2;
        }
        of(ticks)
    }

    fn log_ticks(&self, wanted: usize) -> Vec<Tick> {
        let mut ticks = Vec::new();
        if self.zero {
            ticks.push(Tick { place: ZERO_PLACE, label: Some("≤ 0".to_owned()) });
        }
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let decades = (last - first).max(1) as usize;
        // Where not every power of ten has a label, every thousandth has: these are the ones with a unit of their own.
        let every = match decades.div_ceil(2 * wanted.max(1)) as i32 {
            0 | 1 => 1,
            more => more.div_euclid(3).max(1) * 3,
        };
        for decade in first..=last {
            for mantissa in 1..10 {
                let value = f64::from(mantissa) * 10_f64.powi(decade);
                // Powers of ten are not exact: an end must not fall out of its own axis.
                if value < self.low * (1.0 - 1e-9) || value > self.high * (1.0 + 1e-9) {
                    continue;
                }
                let labelled = match mantissa {
                    1 => decade.rem_euclid(every) == 0 || decade == first && every > 6,
                    2 | 5 => decades <= 2,
                    _ => false,
                };
                if labelled || decades <= 6 || mantissa == 1 {
                    let label = labelled.then(|| number::alone(self.unit, value));
                    ticks.push(Tick { place: self.place(value), label });
                }
            }
        }
        // A short axis may lie between two places that would have labels.
        if ticks.iter().all(|tick| tick.label.is_none())
            && let Some(lowest) = ticks.first_mut()
        {
            lowest.label = Some(number::alone(self.unit, self.low));
        }
        ticks
    }
}

const MOST_TICKS: usize = 100;

fn ends_of(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, value| match ends {
        None => Some((value, value)),
        Some((least, most)) => Some((f64::min(least, value), f64::max(most, value))),
    })
}

/// The largest of 1, 2, 5 times a power of ten that is not larger.
fn round_down(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let rounded = MANTISSAS.iter().rev().map(|mantissa| mantissa * decade);
    rounded.into_iter().find(|rounded| *rounded <= value).unwrap_or(decade / 10.0 * 5.0)
}

/// The smallest of 1, 2, 5 times a power of ten that is not smaller.
fn round_up(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    MANTISSAS
        .iter()
        .map(|mantissa| mantissa * decade)
        .find(|rounded| *rounded >= value)
        .unwrap_or(decade * 20.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn axis(unit: Unit, scale: Scale) -> Axis {
        Axis { label: String::new(), unit, scale }
    }

    fn labels(unit: Unit, scale: Scale, values: &[f64]) -> String {
        let range = Range::of(&axis(unit, scale), values.iter().copied());
        let labels: Vec<String> = range.ticks(6).into_iter().filter_map(|tick| tick.label).collect();
        labels.join(" | ")
    }

    #[test]
    fn ticks_are_round_in_the_unit_of_the_axis() {
        use Scale::{Linear, Log};
        let cases: [(Unit, Scale, &[f64], &str); 10] = [
            (Unit::Count, Linear, &[0.0, 57.0], "0 | 10 | 20 | 30 | 40 | 50 | 60"),
            (Unit::Share, Linear, &[0.0, 1.0], "0 % | 20 % | 40 % | 60 % | 80 % | 100 %"),
            (Unit::Bytes, Linear, &[0.0, 1.2e6], "0 | 0.2 MB | 0.4 MB | 0.6 MB | 0.8 MB | 1.0 MB | 1.2 MB"),
            (Unit::Nanoseconds, Linear, &[0.0, 600e9], "0 | 2 min | 4 min | 6 min | 8 min | 10 min"),
            (Unit::Nanoseconds, Linear, &[0.0, 130e9], "0 | 30 s | 1 min | 1 min 30 s | 2 min | 2 min 30 s"),
            (Unit::Nanoseconds, Linear, &[0.0, 2.1e9], "0 | 0.5 s | 1.0 s | 1.5 s | 2.0 s | 2.5 s"),
            (Unit::Nanoseconds, Log, &[900.0, 2.5e9], "1 us | 10 us | 100 us | 1 ms | 10 ms | 100 ms | 1 s"),
            (Unit::Bytes, Log, &[0.0, 4.0, 70_000.0], "≤ 0 | 10 B | 100 B | 1 kB | 10 kB | 100 kB"),
            (Unit::Bytes, Log, &[300.0, 4096.0], "200 B | 500 B | 1 kB | 2 kB | 5 kB"),
            (Unit::Count, Linear, &[0.0, 1.0], "0 | 1"),
        ];
        for (unit, scale, values, expected) in cases {
            assert_eq!(labels(unit, scale, values), expected, "{unit:?} {scale:?} {values:?}");
        }
    }

    #[test]
    fn numbers_stand_at_the_middle_of_their_columns() {
        let ticks = |count: f64| {
            let ticks = Range::numbers(Unit::Count, count).ticks(7).into_iter();
            ticks
                .map(|tick| (tick.label.unwrap_or_default(), (tick.place * count * 2.0).round()))
                .collect::<Vec<_>>()
        };
        let expected = |places: &[(&str, f64)]| {
            places.iter().map(|&(label, place)| (label.to_owned(), place)).collect::<Vec<_>>()
        };
        assert_eq!(ticks(2.0), expected(&[("0", 1.0), ("1", 3.0)]));
        assert_eq!(ticks(4.0), expected(&[("0", 1.0), ("1", 3.0), ("2", 5.0), ("3", 7.0)]));
        assert_eq!(ticks(16.0)[..2], expected(&[("0", 1.0), ("5", 11.0)]));
    }

    #[test]
    fn an_axis_without_values_and_one_with_a_single_value_have_ends() {
        for scale in [Scale::Linear, Scale::Log] {
            for values in [&[][..], &[0.0], &[4096.0], &[f64::NAN, f64::INFINITY], &[-5.0]] {
                let range = Range::of(&axis(Unit::Bytes, scale), values.iter().copied());
                assert!(range.low < range.high, "{scale:?} {values:?} {range:?}");
                assert!(!range.ticks(5).is_empty());
            }
        }
    }

    #[test]
    fn an_axis_far_above_zero_has_a_tick_even_if_one_is_wanted() {
        let range = Range::of(&axis(Unit::Bytes, Scale::Linear), [1.16e19, 1.04e19].into_iter());
        assert_eq!(range.ticks(1).into_iter().filter_map(|tick| tick.label).collect::<Vec<_>>(), ["11 EB"]);
    }

    const UNITS: [Unit; 6] =
        [Unit::Nanoseconds, Unit::Bytes, Unit::BytesPerSecond, Unit::PerSecond, Unit::Count, Unit::Share];

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        let number = prop_oneof![
            any::<f64>(),
            Just(0.0),
            0.0..1e3_f64,
            1e3..1e18_f64,
            (0_u64..u64::MAX).prop_map(|n| n as f64)
        ];
        prop::collection::vec(number, 0..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn axes_hold_every_value_in_order(values in numbers(), log in any::<bool>(), unit in 0..6_usize) {
            let scale = if log { Scale::Log } else { Scale::Linear };
            let range = Range::of(&axis(UNITS[unit], scale), values.iter().copied());
            prop_assert!(range.low.is_finite() && range.high.is_finite() && range.low < range.high, "{:?}", range);
            let mut sorted: Vec<f64> = values.into_iter().filter(|v| v.is_finite() && v.abs() < LARGEST).collect();
            sorted.sort_by(f64::total_cmp);
            let places: Vec<f64> = sorted.iter().map(|value| range.place(*value)).collect();
            prop_assert!(places.iter().all(|place| (0.0..=1.0).contains(place)), "{:?}", places);
            prop_assert!(places.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", places);
            if scale == Scale::Linear && let (Some(first), Some(last)) = (sorted.first(), sorted.last()) {
                prop_assert!(range.low <= first + SMALLEST && last - SMALLEST <= range.high, "{:?}", range);
            }
        }

        #[test]
        fn ticks_ascend_within_the_axis_and_are_few(values in numbers(), log in any::<bool>(), unit in 0..6_usize, wanted in 1..12_usize) {
            let scale = if log { Scale::Log } else { Scale::Linear };
            let ticks = Range::of(&axis(UNITS[unit], scale), values.into_iter()).ticks(wanted);
            prop_assert!(!ticks.is_empty() && ticks.len() <= MOST_TICKS, "{}", ticks.len());
            prop_assert!(ticks.windows(2).all(|pair| pair[0].place < pair[1].place), "{:?}", ticks);
            prop_assert!(ticks.iter().all(|tick| (0.0..=1.0).contains(&tick.place)), "{:?}", ticks);
            let labels: Vec<&String> = ticks.iter().filter_map(|tick| tick.label.as_ref()).collect();
            prop_assert!(!labels.is_empty() && labels.windows(2).all(|pair| pair[0] != pair[1]), "{:?}", labels);
        }
    }
}
