//! Times that vary more, or less, around the same mean.

use std::collections::BTreeMap;

/// Nodes and weights of Gauss and Laguerre for four points (Abramowitz, Stegun 1964, table 25.9): they have the first seven moments of the
/// exponential distribution.
const LAGUERRE: [(f64, f64); 4] = [
    (0.322_547_689_619_392, 0.603_154_104_341_634),
    (1.745_761_101_158_347, 0.357_418_692_437_800),
    (4.536_620_296_921_128, 0.038_887_908_515_005),
    (9.395_070_912_301_133, 0.000_539_294_705_561),
];
/// Sum of the weights that are made.
const WEIGHTS: f64 = 1_000_000.0;

/// Times whose squared coefficient of variation is multiplied, and whose mean stays: from 1 on a hyperexponential distribution of two phases with
/// balanced means, below that the same values nearer to the mean or further away, or two values.
pub(super) fn burst(times: &BTreeMap<u64, u64>, factor: f64) -> BTreeMap<u64, u64> {
    let all: f64 = times.values().map(|weight| *weight as f64).sum();
    let moment = |power: i32| -> f64 {
        times.iter().map(|(time, weight)| (*time as f64).powi(power) * *weight as f64).sum::<f64>()
            / all.max(1.0)
    };
    let mean = moment(1);
    let before = moment(2) / (mean * mean) - 1.0;
    let wanted = before * factor;
    if times.len() < 2 || mean <= 0.0 || before <= 0.0 {
        return times.clone();
    }
    let values = if wanted >= 1.0 {
        hyperexponential(mean, wanted)
    } else {
        let scale = factor.sqrt();
        let least = times.keys().next().map_or(0.0, |least| *least as f64);
        if scale * (mean - least) <= mean {
            times
                .iter()
                .map(|(time, weight)| (mean + scale * (*time as f64 - mean), *weight as f64 / all))
                .collect()
        } else {
            vec![(0.0, wanted / (1.0 + wanted)), (mean * (1.0 + wanted), 1.0 / (1.0 + wanted))]
        }
    };
    let mut burst: BTreeMap<u64, u64> = BTreeMap::new();
    for (value, share) in values {
        *burst.entry(value.round().max(0.0) as u64).or_default() += ((share * WEIGHTS).round() as u64).max(1);
    }
    burst
}

/// Two exponential distributions, each of half of the mean, by points that have their moments.
fn hyperexponential(mean: f64, variation: f64) -> Vec<(f64, f64)> {
    let first = 0.5 * (1.0 + ((variation - 1.0) / (variation + 1.0)).sqrt());
    let phases = [first, 1.0 - first].into_iter().filter(|share| *share > 0.0);
    let points =
        phases.flat_map(|share| LAGUERRE.map(|(node, weight)| (node * mean / (2.0 * share), weight * share)));
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(times: &BTreeMap<u64, u64>) -> (f64, f64) {
        let all: f64 = times.values().map(|weight| *weight as f64).sum();
        let mean = times.iter().map(|(time, weight)| *time as f64 * *weight as f64).sum::<f64>() / all;
        let square =
            times.iter().map(|(time, weight)| (*time as f64).powi(2) * *weight as f64).sum::<f64>() / all;
        (mean, square / (mean * mean) - 1.0)
    }

    #[test]
    fn the_mean_stays_and_the_squared_variation_is_multiplied() {
        let times = BTreeMap::from([(1_000_000, 3), (3_000_000, 1)]);
        let (mean, variation) = moments(&times);
        for factor in [0.25, 0.9, 2.0, 5.0, 20.0] {
            let (same, more) = moments(&burst(&times, factor));
            assert!((same / mean - 1.0).abs() < 0.01, "{factor}: {same}");
            assert!((more / (variation * factor) - 1.0).abs() < 0.02, "{factor}: {more}");
        }
        let one = BTreeMap::from([(7, 1)]);
        assert_eq!(burst(&one, 3.0), one, "what does not vary stays as it is");
    }
}
