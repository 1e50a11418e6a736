//! Numbers of axes: round steps, and short labels with their unit.
//!
//! The labels of one axis share one unit and one number of decimals, so that they are compared at a glance.

use super::Unit;
use iotrail_model::units;

/// The smallest number that an axis of orders of magnitude shows; less is shown with 0.
pub(super) const LEAST: f64 = 1e-9;

const BYTES: [(f64, &str); 7] =
    [(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB"), (1e18, "EB")];
const TIMES: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")];
const COUNTS: [(f64, &str); 5] = [(1.0, ""), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P")];

const SECOND: f64 = 1e9;
/// Round steps of times, in seconds; longer ones are decimal steps of days.
const TIME_STEPS: [f64; 14] = [
    20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0,
    86_400.0,
];
const DAY: f64 = 86_400.0;

/// The smallest round step that is not smaller than `least`.
pub(super) fn step(unit: Unit, least: f64) -> f64 {
    let whole = matches!(unit, Unit::Count | Unit::Bytes | Unit::Nanoseconds);
    let least = if whole { least.max(1.0) } else { least.max(LEAST) };
    if unit == Unit::Nanoseconds && least > 10.0 * SECOND {
        let seconds = least / SECOND;
        let known = TIME_STEPS.iter().find(|step| **step >= seconds * (1.0 - 1e-9));
        return SECOND * known.copied().unwrap_or_else(|| DAY * decimal(seconds / DAY));
    }
    decimal(least)
}

/// The smallest of 1, 2, 5 times a power of ten that is not smaller, but for errors of rounding.
fn decimal(least: f64) -> f64 {
    let decade = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|mantissa| mantissa * decade);
    steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * decade)
}

/// The label of `value` on an axis with steps of `step` whose largest number is `most`.
pub(super) fn on_scale(unit: Unit, value: f64, step: f64, most: f64) -> String {
    if unit == Unit::Share {
        return format!("{:.*} %", decimals(step * 100.0), value * 100.0 + 0.0);
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if unit == Unit::Nanoseconds && step >= 20.0 * SECOND {
        return clock(value / SECOND);
    }
    let (divisor, name) = unit_for(unit, most);
    with_unit(value / divisor, decimals(step / divisor), name, unit)
}

/// The label of `value` with the unit that suits it best.
pub(super) fn alone(unit: Unit, value: f64) -> String {
    if unit == Unit::Share {
        return units::percent(value);
    }
    let (divisor, name) = unit_for(unit, value.abs());
    let scaled = value / divisor;
    let decimals = if scaled.abs() >= 1.0 { 0 } else { decimals(scaled.abs()) };
    with_unit(scaled, decimals, name, unit)
}

/// `value` with three significant digits, for sentences and tooltips.
pub(super) fn precise(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Nanoseconds => units::duration(value),
        Unit::Bytes => units::bytes(value),
        Unit::BytesPerSecond => units::rate(value),
        Unit::PerSecond => format!("{value:.1} /s"),
        Unit::Count => units::count(value.max(0.0) as u64),
        Unit::Share => units::percent(value),
    }
}

fn unit_for(unit: Unit, most: f64) -> (f64, &'static str) {
    let known: &[(f64, &str)] = match unit {
        Unit::Nanoseconds => &TIMES,
        Unit::Bytes | Unit::BytesPerSecond => &BYTES,
        Unit::PerSecond | Unit::Count | Unit::Share => &COUNTS,
    };
    let fits = known.iter().rev().find(|(size, _)| *size <= most * (1.0 + 1e-9));
    fits.or(known.first()).copied().unwrap_or((1.0, ""))
}

fn with_unit(scaled: f64, decimals: usize, name: &str, unit: Unit) -> String {
    let digits = if decimals == 0 && scaled.abs() < 1e15 {
        thousands(scaled.round())
    } else {
        format!("{scaled:.decimals$}")
    };
    let per = if matches!(unit, Unit::BytesPerSecond | Unit::PerSecond) { "/s" } else { "" };
    if name.is_empty() && per.is_empty() { digits } else { format!("{digits} {name}{per}") }
}

fn thousands(whole: f64) -> String {
    let sign = if whole < 0.0 { "-" } else { "" };
    format!("{sign}{}", units::count(whole.abs() as u64))
}

/// How many decimals show a step.
fn decimals(step: f64) -> usize {
    if step > 0.0 { (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 12.0) as usize } else { 0 }
}

/// `1 min 30 s`, `2 h`, `1 d 12 h` of whole seconds.
fn clock(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    let seconds = seconds.abs().round() as u64;
    let (days, hours, minutes, rest) =
        (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, unit)| format!("{number} {unit}"))
        .collect();
    format!("{sign}{}", parts.join(" "))
}
