use iotrail_workload::{Distribution, share, total_variation};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn of(values: &[i64]) -> Distribution {
    values.iter().copied().collect()
}

#[test]
fn gaps_that_the_merging_of_classes_made_longer_differ_by_a_half() {
    let (wanted, realised) = (of(&[3, 2, 2, 1]), of(&[3, 3, 3, 1]));
    assert_eq!(wanted.kolmogorov_smirnov(&realised), Some(0.5));
    assert_eq!(wanted.wasserstein(&realised), Some(0.5));
    assert_eq!((wanted.mean(), wanted.min(), wanted.max()), (Some(2.0), Some(1), Some(3)));
}

#[test]
fn nothing_has_no_mean_and_no_distance() {
    let nothing = Distribution::default();
    assert_eq!((nothing.mean(), nothing.min(), nothing.max()), (None, None, None));
    assert_eq!(nothing.kolmogorov_smirnov(&of(&[1])), None);
    assert_eq!(of(&[1]).wasserstein(&nothing), None);
    assert_eq!(share(&BTreeMap::new(), &1), None);
}

#[test]
fn extreme_values_do_not_overflow() {
    let extremes = of(&[i64::MIN, i64::MAX]);
    assert_eq!(extremes.mean(), Some(-0.5));
    assert_eq!(extremes.wasserstein(&of(&[i64::MIN])), Some(u64::MAX as f64 / 2.0));
}

#[test]
fn mixes_without_anything_in_common_are_at_1() {
    let (one, other) = (BTreeMap::from([("read", 3)]), BTreeMap::from([("write", 1)]));
    assert_eq!(total_variation(&one, &other), 1.0);
    assert_eq!(total_variation(&one, &BTreeMap::new()), 1.0);
    assert_eq!(total_variation::<&str>(&BTreeMap::new(), &BTreeMap::new()), 0.0);
}

proptest! {
    #[test]
    fn distances_are_symmetric_and_0_from_itself(
        one in prop::collection::vec(-9_i64..9, 1..20), other in prop::collection::vec(-9_i64..9, 1..20),
    ) {
        let (one, other) = (of(&one), of(&other));
        prop_assert_eq!(one.kolmogorov_smirnov(&one), Some(0.0));
        prop_assert_eq!(one.kolmogorov_smirnov(&other), other.kolmogorov_smirnov(&one));
        prop_assert_eq!(one.wasserstein(&other), other.wasserstein(&one));
        let means = (one.mean().unwrap_or_default() - other.mean().unwrap_or_default()).abs();
        prop_assert!(one.wasserstein(&other).unwrap_or_default() >= means - 1e-9);
    }

    #[test]
    fn parts_merge_to_the_whole(values in prop::collection::vec(-9_i64..9, 0..20), cut in 0_usize..20) {
        let (one, other) = values.split_at(cut.min(values.len()));
        let mut merged = of(one);
        merged.merge(&of(other));
        prop_assert_eq!(merged, of(&values));
    }
}
