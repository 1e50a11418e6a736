//! Of several ways to keep a column the smallest.

use super::gather::ByLine;
use hashbrown::HashMap;
use iotrail_structure::{
    Affine, Class, Column, Distribution, Drawn, Folded, NameTable, Precision, Quantities, RankList,
    Resolution, Value, Values, clusters, fold, unfold,
};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A column of numbers of distributions.
type Found = (Column, Drawn);

/// The smallest clusters of a column that are as precise; NULL: the column as it is, of that weight, is no larger.
pub(super) fn quantities(
    values: &ByLine,
    depth: usize,
    precision: Precision,
    resolution: Resolution,
    exact: Option<usize>,
) -> Option<Found> {
    let mut different: Vec<i64> = values.known().map(|(_, value)| value).collect();
    different.sort_unstable();
    different.dedup();
    let common = values.is_common();
    let mut smallest: Option<(usize, Found)> = None;
    let mut tried: Vec<Vec<RangeInclusive<i64>>> = Vec::new();
    for percent in u64::from(precision.percent())..100 {
        let Ok(finer) = Precision::new(percent) else { continue };
        let cut = clusters(different.iter().copied(), finer);
        if tried.last() == Some(&cut) {
            continue;
        }
        let one = cut.len() == 1;
        let found = clustered(values, depth, &cut, common, resolution);
        let weight = found.0.weight() + found.1.weight();
        // Of equal ones the finest.
        if smallest.as_ref().is_none_or(|(least, _)| weight <= *least) {
            smallest = Some((weight, found));
        }
        tried.push(cut);
        // Several clusters are larger than one.
        if one {
            break;
        }
    }
    let (weight, found) = smallest?;
    exact.is_none_or(|exact| weight < exact).then_some(found)
}

fn clustered(
    values: &ByLine,
    depth: usize,
    cut: &[RangeInclusive<i64>],
    common: bool,
    resolution: Resolution,
) -> Found {
    let number = |value: i64| cut.partition_point(|cluster| *cluster.end() < value);
    let numbers = column(values, depth, |value| value.map(|value| number(value) as i64));
    let mut counts = vec![BTreeMap::<i64, (u64, u32)>::new(); cut.len()];
    let first = values.lines().next();
    for (line, value) in values.known().filter(|(line, _)| !common || Some(*line) == first) {
        counts[number(value)].entry(value).or_insert((0, line)).0 += 1;
    }
    let distributions =
        counts.iter().map(|counts| Distribution::Quantities(distribution(counts, resolution)));
    (numbers, Drawn { common, draw: 0, distributions: distributions.collect() })
}

/// Values with their number and the first line that had them.
fn distribution(counts: &BTreeMap<i64, (u64, u32)>, resolution: Resolution) -> Quantities {
    let values: BTreeMap<i64, u64> = counts.iter().map(|(&value, &(count, _))| (value, count)).collect();
    let line = |entry: Option<(&i64, &(u64, u32))>| entry.map_or(0, |(_, &(_, line))| line);
    let ranks = (line(counts.first_key_value()), line(counts.last_key_value()));
    let distinct = values.len() <= Quantities::MAX_DISTINCT;
    if let Some(kept) = Quantities::of_values(resolution, values.clone(), ranks).filter(|_| distinct) {
        return kept;
    }
    let histogram = iotrail_structure::Histogram::of_values(resolution, &values, ranks);
    Quantities::of_histogram(histogram.unwrap_or_else(|| iotrail_structure::Histogram::new(resolution)))
}

/// A table of the names of a column; NULL: the column as it is, of that weight, is no larger.
pub(super) fn names(
    values: &ByLine,
    depth: usize,
    name: impl Fn(u32, i64) -> i64,
    exact: usize,
) -> Option<Found> {
    let table = NameTable::new(values.known().map(|(line, value)| name(line, value)));
    let numbers = column(values, depth, |value| value.map(|_| 0));
    let distributions = vec![Distribution::Names(table)];
    let drawn = Drawn { common: false, draw: 0, distributions };
    (numbers.weight() + drawn.weight() < exact).then_some((numbers, drawn))
}

/// 0 wherever a column has a value.
pub(super) fn zero(of: &Column, depth: usize) -> Column {
    let class = |class: &Class| {
        let zero = Values::Affine(Affine { constant: 0, coefficients: vec![0; depth] });
        let values = match &class.values {
            Values::Null => Values::Null,
            Values::Affine(_) => zero,
            Values::Sequence(folded) => match fold(unfold(folded).map(|value| value.map(|_| 0))) {
                parts if matches!(&parts[..], [Folded::Run { value: Some(0), .. }]) => zero,
                parts => Values::Sequence(parts),
            },
        };
        Class { ranks: Arc::clone(&class.ranks), strides: Vec::new(), values }
    };
    Column::of_classes(of.classes().iter().map(class).collect())
}

/// Values as a column of an item with so many items around, with itself.
pub(super) fn column(values: &ByLine, depth: usize, of: impl Fn(Value) -> Value) -> Column {
    let mut groups: HashMap<Values, Vec<u32>> = HashMap::new();
    for (line, values) in &values.0 {
        let mut all = values.iter().map(|&value| of(value));
        let first = all.next().flatten();
        let same = all.all(|value| value == first);
        let kept = match (same, first) {
            (true, None) => Values::Null,
            (true, Some(constant)) => Values::Affine(Affine { constant, coefficients: vec![0; depth] }),
            (false, _) => Values::Sequence(fold(values.iter().map(|&value| of(value)))),
        };
        groups.entry(kept).or_default().push(*line);
    }
    let class =
        |(values, lines)| Class { ranks: Arc::new(RankList::new(lines)), strides: Vec::new(), values };
    let mut classes: Vec<Class> = groups.into_iter().map(class).collect();
    classes.sort_by_key(|class| class.ranks.first());
    Column::of_classes(classes)
}
