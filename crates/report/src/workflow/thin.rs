//! Long series for drawing: empirical distribution functions with fewer steps, series with their zeros counted.

/// Steps that a drawn distribution keeps, but for its first and its last.
pub(crate) const STEPS: u64 = 300;

/// The steps that keep a distribution function within 1/[`STEPS`] of the exact one: the first, the last, and each at which
/// a [`STEPS`]th of the values was added since the one kept before. A large jump is kept as it is, as the values before it
/// lie within the bound of the step before.
pub(crate) fn thin(steps: &[(i64, u64)]) -> Vec<(i64, u64)> {
    let count = steps.last().map_or(0, |step| step.1);
    let mut kept: Vec<(i64, u64)> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let grown = kept.last().map_or(count, |before| step.1.saturating_sub(before.1));
        if u128::from(grown) * u128::from(STEPS) >= u128::from(count) || index + 1 == steps.len() {
            kept.push(*step);
        }
    }
    kept
}

/// Values as differences from the one before; the first stays.
pub(crate) fn differences(values: impl IntoIterator<Item = i64>) -> Vec<i64> {
    let mut before = 0_i64;
    values.into_iter().map(|value| value.wrapping_sub(std::mem::replace(&mut before, value))).collect()
}

/// `values`, with `-n` for n zeros in a row.
pub(crate) fn without_zeros(values: &[u64]) -> Vec<i64> {
    let mut short: Vec<i64> = Vec::new();
    for value in values {
        match (value, short.last_mut()) {
            (0, Some(run)) if *run < 0 => *run -= 1,
            (0, _) => short.push(-1),
            _ => short.push(i64::try_from(*value).unwrap_or(i64::MAX)),
        }
    }
    short
}

/// Sums of `join` values each, of the last what is left.
pub(crate) fn joined(values: &[u64], join: usize) -> Vec<u64> {
    let sum = |part: &[u64]| part.iter().fold(0_u64, |sum, value| sum.saturating_add(*value));
    values.chunks(join.max(1)).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(steps: &[(i64, u64)], value: i64) -> f64 {
        let below = steps.partition_point(|step| step.0 <= value);
        let count = steps.last().map_or(1, |step| step.1);
        below.checked_sub(1).map_or(0.0, |at| steps[at].1 as f64 / count as f64)
    }

    #[test]
    fn a_thinned_distribution_is_nowhere_further_off_than_it_says() {
        let mut state = 1_u64;
        let mut sum = 0;
        let steps: Vec<(i64, u64)> = (0..20_000)
            .map(|value| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                sum += if state >> 58 == 0 { 5_000 } else { state >> 60 };
                (value * 3, sum)
            })
            .skip_while(|step| step.1 == 0)
            .collect();
        let thinned = thin(&steps);
        assert!(thinned.len() as u64 <= STEPS + 2, "{}", thinned.len());
        assert_eq!((thinned.first(), thinned.last()), (steps.first(), steps.last()));
        let error = |value| (share(&steps, value) - share(&thinned, value)).abs();
        let worst = (0..60_001).map(error).fold(0.0, f64::max);
        assert!(worst < 1.0 / STEPS as f64 && worst > 0.0, "{worst}");
    }

    #[test]
    fn few_steps_stay_as_they_are_and_none_stay_none() {
        let few = [(1, 4), (2, 5), (9, 1000)];
        assert_eq!(
            thin(&few),
            [(1, 4), (2, 5), (9, 1000)].into_iter().filter(|s| s.0 != 2).collect::<Vec<_>>()
        );
        assert_eq!(thin(&[(7, 1)]), [(7, 1)]);
        assert_eq!(thin(&[]), []);
    }

    #[test]
    fn zeros_are_counted_and_joined_bins_keep_their_sum() {
        assert_eq!(without_zeros(&[0, 0, 0, 5, 0, 7, u64::MAX]), [-3, 5, -1, 7, i64::MAX]);
        assert_eq!(joined(&[1, 2, 3, 4, 5], 2), [3, 7, 5]);
        assert_eq!(differences([3, 10, 4]), [3, 7, -6]);
    }
}
