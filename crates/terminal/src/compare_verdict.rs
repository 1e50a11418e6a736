//! The answer of a comparison in one line.

use iotrail_dfg::comparison::Unit;
use iotrail_dfg::{Chance, Comparison};
use iotrail_model::{text, units};
use iotrail_workflow::change::figures::Quantity;
use iotrail_workflow::change::{Failed, Figure, FigureChange, Verdict};

/// Elapsed times of single runs that differ by less than this share are called alike if the runs do the same.
const ALIKE: f64 = 0.1;
/// Below this share nobody is called faster or slower.
const SAME: f64 = 0.005;

/// `after is 318 ms (40 %) faster: 482 instead of 800 ms; 5,366 fewer calls, 40 fewer processes; bytes equal.`
#[must_use]
pub fn verdict_line(verdict: &Verdict, comparison: &Comparison) -> String {
    let [a, b] = [&comparison.a, &comparison.b].map(|name| text::shown(name, 40));
    let means = match (verdict.runs_a, verdict.runs_b) {
        (1, 1) => String::new(),
        (runs_a, runs_b) => format!(" (means of {runs_b} and {})", units::counted(runs_a, "run", "runs")),
    };
    let elapsed = verdict.of(Figure::Elapsed).and_then(|change| Some((change.a?, change.b?)));
    let is_noise = elapsed.is_none() || takes_as_long(verdict, comparison.elapsed_chance);
    if verdict.does_the_same() && is_noise {
        let time = elapsed.map(|(from, to)| {
            let change =
                if from > 0.0 { format!(" ({:+.1} %)", (to / from - 1.0) * 100.0) } else { String::new() };
            format!(", and {b} takes {}{change}{means}", instead(from, to, units::duration))
        });
        return format!("No change: {}{}.", same(verdict), time.unwrap_or_default());
    }
    let mut parts = Vec::new();
    parts.push(match (elapsed, verdict.of(Figure::Elapsed)) {
        (Some(_), Some(change)) if is_noise => format!("{}{means}", as_long(&a, &b, change)),
        (Some(times), _) => format!("{}{means}", speed(&a, &b, times)),
        (None, _) => format!("{b} against {a}{means}, elapsed time unknown"),
    });
    let (alike, different): (Vec<&FigureChange>, Vec<&FigureChange>) =
        reported(verdict).partition(|change| change.is_alike());
    let different: Vec<String> = different.into_iter().filter_map(difference).collect();
    if !different.is_empty() {
        parts.push(different.join(", "));
    }
    parts.extend(about_alike(&alike, ""));
    format!("{}.", parts.join("; "))
}

/// Whether noise may explain the difference of the elapsed time: by the test, and where there are too few runs for one by its size.
fn takes_as_long(verdict: &Verdict, chance: Option<Chance>) -> bool {
    let is_small = |change: &FigureChange| change.is_alike() || is_less_than(change, ALIKE);
    match chance {
        Some(chance) => !chance.significant,
        None => verdict.of(Figure::Elapsed).is_some_and(is_small),
    }
}

/// Whether the difference is below this share of the larger side.
fn is_less_than(change: &FigureChange, share: f64) -> bool {
    let (Some(from), Some(to)) = (change.a, change.b) else { return false };
    (to - from).abs() < from.max(to) * share
}

/// The elapsed time where noise may explain that it differs.
fn as_long(a: &str, b: &str, change: &FigureChange) -> String {
    let times = instead(change.a.unwrap_or_default(), change.b.unwrap_or_default(), units::duration);
    match is_less_than(change, ALIKE) {
        true => format!("{b} takes about as long as {a}: {times}"),
        false => format!("Noise may explain the elapsed time of {b}: {times}"),
    }
}

fn speed(a: &str, b: &str, (from, to): (f64, f64)) -> String {
    let times = instead(from, to, units::duration);
    let share = if from > 0.0 { (to - from).abs() / from } else { f64::INFINITY };
    if share < SAME {
        return format!("{b} takes as long as {a}: {times}");
    }
    let by = if share.is_finite() { format!(" ({})", share_text(share)) } else { String::new() };
    let way = if to < from { "faster" } else { "slower" };
    format!("{b} is {}{by} {way}: {times}", units::duration((to - from).abs()))
}

fn share_text(share: f64) -> String {
    if share >= 0.1 {
        format!("{} %", units::count((share * 100.0).round() as u64))
    } else {
        units::percent(share)
    }
}

/// `482 instead of 800 ms`; both units if they differ.
fn instead(from: f64, to: f64, show: impl Fn(f64) -> String) -> String {
    let (from, to) = (show(from), show(to));
    match (from.split_once(' '), to.split_once(' ')) {
        (Some((_, unit)), Some((number, same))) if unit == same && !unit.contains(' ') => {
            format!("{number} instead of {from}")
        }
        _ => format!("{to} instead of {from}"),
    }
}

/// What the line says beside the time: bytes in one word if both ways are equal.
fn reported(verdict: &Verdict) -> impl Iterator<Item = &FigureChange> {
    let alike = |figure: Figure| verdict.of(figure).is_none_or(FigureChange::is_alike);
    let bytes = if alike(Figure::Read) && alike(Figure::Written) {
        vec![Figure::Bytes]
    } else {
        vec![Figure::Read, Figure::Written]
    };
    let figures = [Figure::Calls, Figure::Processes].into_iter().chain(bytes);
    figures.filter_map(|figure| verdict.of(figure)).filter(|change| change.difference.is_some())
}

/// `5,366 fewer calls`, `1.20 MB (30 %) more written`.
fn difference(change: &FigureChange) -> Option<String> {
    let by = change.difference?;
    let way = |less: &'static str| if by < 0.0 { less } else { "more" };
    let share = change.ratio.map(|ratio| (ratio - 1.0).abs());
    let share = share.filter(|share| share.is_finite() && *share >= 0.001);
    let share = share.map(|share| format!(" ({})", share_text(share))).unwrap_or_default();
    Some(match change.figure.quantity() {
        Quantity::Number => {
            let name = if by.abs() == 1.0 { one(change.figure) } else { change.figure.name() };
            format!("{} {} {name}", number(by.abs()), way("fewer"))
        }
        _ => format!("{}{share} {} {}", shown(change.figure, by.abs()), way("less"), change.figure.name()),
    })
}

const fn one(figure: Figure) -> &'static str {
    match figure {
        Figure::Calls => "call",
        Figure::Processes => "process",
        other => other.name(),
    }
}

/// A mean number of things.
pub(crate) fn number(value: f64) -> String {
    match value {
        value if value.fract() == 0.0 && value >= 0.0 => units::count(value as u64),
        value if value.abs() >= 100.0 => units::count(value.round().abs() as u64),
        value => format!("{value:.1}"),
    }
}

/// A value of a figure.
fn shown(figure: Figure, value: f64) -> String {
    match figure.quantity() {
        Quantity::Time => units::duration(value),
        Quantity::Bytes => units::bytes(value),
        Quantity::Number => number(value),
    }
}

fn same(verdict: &Verdict) -> String {
    let known: Vec<&FigureChange> = reported(verdict).collect();
    let parts = about_alike(&known, "are ");
    if parts.is_empty() { "nothing is known of either".to_owned() } else { parts.join(", ") }
}

/// `calls and processes are equal`, `bytes are nearly equal`.
fn about_alike(figures: &[&FigureChange], are: &str) -> Vec<String> {
    let (equal, nearly): (Vec<&FigureChange>, Vec<&FigureChange>) =
        figures.iter().partition(|change| change.is_equal());
    let words = [(equal, "equal"), (nearly, "nearly equal")];
    let reported = words.into_iter().filter(|(figures, _)| !figures.is_empty());
    reported.map(|(figures, how)| format!("{} {are}{how}", names(&figures))).collect()
}

/// `calls, processes and bytes`.
fn names(changes: &[&FigureChange]) -> String {
    let names: Vec<&str> = changes.iter().map(|change| change.figure.name()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Why a condition fails: `elapsed>+10%: 960 instead of 800 ms (+20.0 %)`.
#[must_use]
pub fn failure_line(condition: &str, failed: &Failed) -> String {
    let condition = text::printable(condition);
    match *failed {
        Failed::Unknown(figure) => format!("{condition}: {} of a run is not known", figure.name()),
        Failed::Holds(figure, a, b) => {
            let change = if a > 0.0 { format!(" ({:+.1} %)", (b / a - 1.0) * 100.0) } else { String::new() };
            format!("{condition}: {} {}{change}", figure.name(), instead(a, b, |value| shown(figure, value)))
        }
    }
}

/// What the numbers of runs allow to say about chance.
#[must_use]
pub fn about_chance(verdict: &Verdict, comparison: &Comparison) -> String {
    let (a, b) = (comparison.runs_a, comparison.runs_b);
    let (needed, many) = (units::count(comparison.runs_needed), comparison.unit.plural());
    if comparison.permutations == 0 {
        let how = match comparison.unit {
            Unit::Run => "record each side at least 4 times",
            Unit::Rank => "compare at least 4 ranks of each side",
        };
        let few = match (a, b) {
            (1, 1) => format!("One {} of each", comparison.unit.name()),
            _ => format!("{} against {} {many}", units::count(a), units::count(b)),
        };
        let range = range(verdict).map(|range| format!("Elapsed: {range}. ")).unwrap_or_default();
        return format!(
            "{range}{few} cannot tell a change from noise: {how} ({needed} to find a change of one activity)."
        );
    }
    let elapsed = match comparison.elapsed_chance {
        Some(Chance { significant: true, p_value, .. }) => {
            format!("The elapsed time differs by more than noise (p = {}). ", p(p_value))
        }
        Some(Chance { p_value, .. }) => {
            format!("Noise may explain the difference of the elapsed time (p = {}). ", p(p_value))
        }
        None => String::new(),
    };
    let range = range(verdict).map(|range| format!("Elapsed: {range}. ")).unwrap_or_default();
    let marked = comparison.activities.iter().any(|row| row.significant == Some(true));
    let rows = match (marked, a.min(b) < comparison.runs_needed) {
        (true, _) => "* marks activities that differ by more than noise".to_owned(),
        (false, true) => format!(
            "No single activity differs by more than noise; finding one takes {needed} {many} of each"
        ),
        (false, false) => "No single activity differs by more than noise".to_owned(),
    };
    format!(
        "{range}{elapsed}{rows} (permutation test of {} against {} {many}).",
        units::count(a),
        units::count(b)
    )
}

pub(crate) fn p(value: f64) -> String {
    if value < 0.001 { "<0.001".to_owned() } else { format!("{value:.3}") }
}

/// The elapsed times of several runs: `780 to 820 ms against 470 to 490 ms`.
fn range(verdict: &Verdict) -> Option<String> {
    let elapsed = verdict.of(Figure::Elapsed).filter(|_| verdict.runs_a.max(verdict.runs_b) > 1)?;
    let text = |(least, most): (f64, f64)| format!("{} to {}", units::duration(least), units::duration(most));
    Some(format!("{} against {}", text(elapsed.range_a?), text(elapsed.range_b?)))
}
