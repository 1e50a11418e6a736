//! The charts of a profile: distributions (Dun et al., Fig. 5 to 10 and 12), throughput, and the heat map of ranks.

use super::bins::histograms;
use super::plot::QUANTITIES;
use super::{Axis, Chart, FiveNumbers, Line, Marks, Over, Plot, PlotKind, Steps, Unit};
use crate::view::Scale;
use iotrail_model::text::shown;
use iotrail_model::units;
use iotrail_stats::Profile;
use iotrail_stats::result::{Distribution, Quantity, Series};

/// The charts of `profile` that `plot` asks for; none if the profile has nothing of the kind.
#[must_use]
pub fn of_profile(profile: &Profile, plot: Plot) -> Vec<Chart> {
    match plot.kind {
        PlotKind::Ecdf | PlotKind::Histogram | PlotKind::Box => {
            let wanted = QUANTITIES.map(|(quantity, _)| quantity).into_iter();
            let wanted = wanted.filter(|quantity| plot.quantity.is_none_or(|only| only == *quantity));
            wanted.filter_map(|quantity| distributed(profile, plot.kind, quantity)).collect()
        }
        PlotKind::Bytes => [READ, WRITTEN].iter().filter_map(|stream| throughput(profile, stream)).collect(),
        PlotKind::Calls => throughput(profile, &CALLS).into_iter().collect(),
        PlotKind::Heat => heat(profile).into_iter().collect(),
    }
}

/// What is said about a quantity: title, name of the axis, what a value is, layer.
struct Words {
    title: &'static str,
    axis: &'static str,
    value: &'static str,
    /// Whether its numbers are of calls, and not of processes.
    of_calls: bool,
}

fn words(quantity: Quantity) -> Words {
    let words = |title, axis, value, of_calls| Words { title, axis, value, of_calls };
    match quantity {
        Quantity::Latency => words("Latency of calls", "latency of a call", "call", true),
        Quantity::ReadLength => {
            words("Length of reads, by group of processes", "bytes moved by a read", "read", true)
        }
        Quantity::WriteLength => {
            words("Length of writes, by group of processes", "bytes moved by a write", "write", true)
        }
        Quantity::ProcessRead => {
            words("Bytes read by a process, by group", "bytes read by a process", "process", true)
        }
        Quantity::ProcessWritten => {
            words("Bytes written by a process, by group", "bytes written by a process", "process", true)
        }
        Quantity::FileReadLength => {
            words("Length of reads, by group of files", "bytes moved by a read", "read", true)
        }
        Quantity::FileWriteLength => {
            words("Length of writes, by group of files", "bytes moved by a write", "write", true)
        }
        Quantity::Lifetime => {
            words("Lifetime of processes, by group", "lifetime of a process", "process", false)
        }
    }
}

fn unit(quantity: Quantity) -> Unit {
    match quantity {
        Quantity::Latency | Quantity::Lifetime => Unit::Nanoseconds,
        _ => Unit::Bytes,
    }
}

fn distributed(profile: &Profile, kind: PlotKind, quantity: Quantity) -> Option<Chart> {
    let mut found: Vec<&Distribution> =
        profile.distributions.iter().filter(|found| found.quantity == quantity && found.count > 0).collect();
    // The largest first, because only so many can be told apart; the order of equals is that of the profile.
    found.sort_by_key(|distribution| std::cmp::Reverse(distribution.sum));
    if found.is_empty() {
        return None;
    }
    let series: Vec<Steps> = found.iter().map(|distribution| steps(distribution)).collect();
    let said = words(quantity);
    let x = Axis { label: said.axis.to_owned(), unit: unit(quantity), scale: scale(&series) };
    let layer = if said.of_calls { profile.kind_of_calls() } else { "processes".to_owned() };
    let mut notes = notes(profile, &layer);
    let (marks, prefix, shows) = match kind {
        PlotKind::Histogram => (
            Marks::Histograms(histograms(&series, x.unit, x.scale)),
            "Histogram",
            format!("How many {} are in each bin.", plural(said.value)),
        ),
        PlotKind::Box => (
            Marks::Boxes(series.iter().filter_map(five).collect()),
            "Spread",
            format!("Box: quartiles and median of {}; lines: smallest and largest.", plural(said.value)),
        ),
        _ => (
            Marks::Steps(series),
            "Distribution",
            format!("The share of {} at or below each value.", plural(said.value)),
        ),
    };
    notes.insert(0, format!("{shows} Each {} counts once; the largest sum is first.", said.value));
    let error = found.iter().map(|distribution| distribution.error).fold(0.0, f64::max);
    if error > 0.0 {
        notes.push(format!(
            "There were too many distinct values: each is known to {}.",
            units::percent(error)
        ));
    }
    Some(Chart { title: format!("{prefix}: {}", lower_first(said.title)), notes, x, marks })
}

fn plural(value: &str) -> String {
    if value.ends_with('s') { format!("{value}es") } else { format!("{value}s") }
}

fn lower_first(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// Where the numbers come from.
fn notes(profile: &Profile, layer: &str) -> Vec<String> {
    let mut facts = vec![format!("Layer: {layer}.")];
    if !profile.sources.is_empty() {
        let sources: Vec<String> = profile.sources.iter().take(4).map(|source| shown(source, 40)).collect();
        let more = profile.sources.len() - sources.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        facts.push(format!("Of {}{more}.", sources.join(", ")));
    }
    if !profile.by.is_empty() {
        facts.push(format!("Groups by {}.", shown(&profile.by, 40)));
    }
    if !profile.selection.is_empty() {
        facts.push(format!("Selected: {}.", shown(&profile.selection, 80)));
    }
    vec![facts.join(" ")]
}

fn steps(distribution: &Distribution) -> Steps {
    Steps {
        name: distribution.series.clone(),
        steps: distribution.steps.iter().map(|(value, below)| (*value as f64, *below)).collect(),
    }
}

fn five(series: &Steps) -> Option<FiveNumbers> {
    let at = |share: f64| series.quantile(share);
    let numbers = [at(0.0)?, at(0.25)?, at(0.5)?, at(0.75)?, at(1.0)?];
    Some(FiveNumbers { name: series.name.clone(), count: series.count(), numbers })
}

/// How much larger the largest value must be than the smallest one for an axis of orders of magnitude.
const WIDE: f64 = 100.0;

fn scale(series: &[Steps]) -> Scale {
    let values = || {
        series.iter().flat_map(|series| series.steps.iter().map(|step| step.0)).filter(|value| *value > 0.0)
    };
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    if most >= WIDE * least { Scale::Log } else { Scale::Linear }
}

/// What is counted over time.
struct Stream {
    title: &'static str,
    unit: Unit,
    axis: &'static str,
    counted: &'static str,
    values: fn(&Series) -> &[u64],
}

const READ: Stream = Stream {
    title: "Bytes read over time, by group",
    unit: Unit::BytesPerSecond,
    axis: "bytes read per second",
    counted: "Bytes read; those of a call are spread evenly over its time.",
    values: |series| &series.read,
};
const WRITTEN: Stream = Stream {
    title: "Bytes written over time, by group",
    unit: Unit::BytesPerSecond,
    axis: "bytes written per second",
    counted: "Bytes written; those of a call are spread evenly over its time.",
    values: |series| &series.written,
};
const CALLS: Stream = Stream {
    title: "Calls over time, by group",
    unit: Unit::PerSecond,
    axis: "calls per second",
    counted: "Calls that began.",
    values: |series| &series.calls,
};

fn throughput(profile: &Profile, stream: &Stream) -> Option<Chart> {
    let over = &profile.throughput;
    let sum = |series: &Series| (stream.values)(series).iter().map(|value| u128::from(*value)).sum::<u128>();
    let mut series: Vec<&Series> = over.groups.iter().filter(|series| sum(series) > 0).collect();
    series.sort_by_key(|series| std::cmp::Reverse(sum(series)));
    let bin_ns = over.bin_ns.filter(|_| !series.is_empty())?;
    let bin = units::duration(bin_ns as f64);
    let mut notes = notes(profile, &profile.kind_of_calls());
    notes.insert(
        0,
        format!("{} In bins of {bin}; groups upon each other, the largest first.", stream.counted),
    );
    let marks = Marks::Areas(Over {
        value: Axis { label: stream.axis.to_owned(), unit: stream.unit, scale: Scale::Linear },
        bin: bin_ns as f64,
        numbered: false,
        rows: "group".to_owned(),
        series: series.iter().map(|series| rates(&series.name, (stream.values)(series), bin_ns)).collect(),
    });
    Some(Chart { title: stream.title.to_owned(), notes, x: since_start(), marks })
}

fn rates(name: &str, values: &[u64], bin_ns: u64) -> Line {
    let per_second = 1e9 / bin_ns as f64;
    Line { name: name.to_owned(), values: values.iter().map(|value| *value as f64 * per_second).collect() }
}

fn since_start() -> Axis {
    Axis { label: "time since the start".to_owned(), unit: Unit::Nanoseconds, scale: Scale::Linear }
}

fn heat(profile: &Profile) -> Option<Chart> {
    let over = &profile.throughput;
    let bin_ns = over.bin_ns.filter(|_| !over.ranks.is_empty())?;
    let bytes = |series: &Series| -> Vec<u64> {
        series.read.iter().zip(&series.written).map(|(read, written)| read.saturating_add(*written)).collect()
    };
    let series: Vec<Line> =
        over.ranks.iter().map(|series| rates(&series.name, &bytes(series), bin_ns)).collect();
    let values = || series.iter().flat_map(|line| line.values.iter().copied()).filter(|value| *value > 0.0);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let scale = if most >= WIDE * least { Scale::Log } else { Scale::Linear };
    let mut notes = notes(profile, &profile.kind_of_calls());
    let bin = units::duration(bin_ns as f64);
    notes.insert(0, format!("Bytes read and written by each rank in each bin of {bin}, over its length."));
    let value = Axis { label: "bytes per second".to_owned(), unit: Unit::BytesPerSecond, scale };
    let marks =
        Marks::Heat(Over { value, bin: bin_ns as f64, numbered: false, rows: "rank".to_owned(), series });
    Some(Chart { title: "Bytes over time, by rank".to_owned(), notes, x: since_start(), marks })
}
