//! Bins of a histogram: as many as a page shows well, with round ends, the same for all series.

use super::{Histogram, Steps, Unit, number};
use crate::view::Scale;

/// About how many bins.
const WANTED: f64 = 40.0;

/// Histograms of `series` over common bins.
pub(super) fn histograms(series: &[Steps], unit: Unit, scale: Scale) -> Vec<Histogram> {
    let values = || series.iter().flat_map(|series| series.steps.iter().map(|step| step.0));
    let (Some(least), Some(most)) = (values().reduce(f64::min), values().reduce(f64::max)) else {
        return Vec::new();
    };
    let positive = values().filter(|value| *value >= number::LEAST).reduce(f64::min);
    let edges = match (scale, positive) {
        (Scale::Log, Some(positive)) => log(positive, most, least),
        _ => linear(unit, least, most),
    };
    series
        .iter()
        .map(|series| Histogram { name: series.name.clone(), bins: filled(series, &edges) })
        .collect()
}

fn linear(unit: Unit, least: f64, most: f64) -> Vec<f64> {
    let step = number::step(unit, (most - least) / WANTED);
    let first = (least / step).floor();
    let count = ((most / step).floor() - first) as usize + 1;
    (0..=count).map(|index| (first + index as f64) * step).collect()
}

/// Equal bins of the logarithm, a whole number of them for each power of ten; `least` of all may have no logarithm.
fn log(positive: f64, most: f64, least: f64) -> Vec<f64> {
    let (first, last) = (positive.log10().floor(), most.log10().floor() + 1.0);
    let each = [20.0, 10.0, 5.0, 4.0, 2.0, 1.0]
        .into_iter()
        .find(|each| (last - first) * each <= 1.6 * WANTED)
        .unwrap_or(1.0);
    let edge = |index: usize| 10_f64.powf(first + index as f64 / each);
    let mut edges: Vec<f64> = (0..=((last - first) * each) as usize).map(edge).collect();
    if least < number::LEAST {
        edges.insert(0, least.min(0.0));
    }
    edges
}

fn filled(series: &Steps, edges: &[f64]) -> Vec<(f64, f64, u64)> {
    let mut bins: Vec<(f64, f64, u64)> = edges.windows(2).map(|pair| (pair[0], pair[1], 0)).collect();
    let mut before = 0;
    for (value, below) in &series.steps {
        let at = bins.partition_point(|bin| bin.1 <= *value);
        let last = bins.len().saturating_sub(1);
        if let Some(bin) = bins.get_mut(at.min(last)) {
            bin.2 += below - before;
        }
        before = *below;
    }
    let (first, last) = (bins.iter().position(|bin| bin.2 > 0), bins.iter().rposition(|bin| bin.2 > 0));
    match (first, last) {
        (Some(first), Some(last)) => bins[first..=last].to_vec(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn every_value_is_in_the_bin_that_holds_it(values in prop::collection::btree_set(prop_oneof![0..50_i64, 0..5_000_000_000_i64], 1..60), log in any::<bool>()) {
            let steps: Vec<(f64, u64)> = values.iter().zip(1..).map(|(value, below)| (*value as f64, below)).collect();
            let scale = if log { Scale::Log } else { Scale::Linear };
            let found = histograms(&[Steps { name: String::new(), steps }], Unit::Bytes, scale);
            let bins = &found[0].bins;
            prop_assert_eq!(bins.iter().map(|bin| bin.2).sum::<u64>(), values.len() as u64);
            prop_assert!(bins.len() <= 80, "{}", bins.len());
            for (low, high, count) in bins {
                let held = values.iter().filter(|value| (*low..*high).contains(&(**value as f64))).count();
                prop_assert_eq!(held as u64, *count);
            }
        }
    }
}
