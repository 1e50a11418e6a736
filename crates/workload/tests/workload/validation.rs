use iotrail_workload::{Comparison, Runs, RunsError, Verdict, compare};
use proptest::prelude::*;

fn totals(application: &[f64], clone: &[f64]) -> Comparison {
    compare(&Runs::of_totals(application, clone).expect("runs"))
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

#[test]
fn the_example_has_an_energy_of_29_ms_that_chance_explains() {
    let found = totals(&[10.0, 10.4, 9.8, 10.2], &[10.3, 10.6, 10.1, 10.5]);
    assert!(near(found.median, 0.3) && near(found.noise, 0.3), "{found:?}");
    assert!(found.ratio.is_some_and(|ratio| near(ratio, 1.0)), "{found:?}");
    assert!(near(found.energy, 0.3375 - (2.0 / 6.0 + 1.7 / 6.0) / 2.0), "{found:?}");
    assert!(near(found.p_value, 18.0 / 70.0), "{found:?}");
}

#[test]
fn verdicts_are_the_first_that_applies() {
    let verdict = |found: Comparison| found.verdict(0.05, found.p_value);
    assert_eq!(verdict(totals(&[5.0, 5.0], &[5.0])), Verdict::Equal);
    assert_eq!(verdict(totals(&[5.0, 5.0], &[5.01])), Verdict::WithinTolerance);
    assert_eq!(verdict(totals(&[5.0, 5.0], &[6.0])), Verdict::Differs);
    let spread: Vec<f64> = (0..7).map(f64::from).collect();
    let moved: Vec<f64> = spread.iter().map(|total| total + 100.0).collect();
    assert_eq!(verdict(totals(&spread, &moved)), Verdict::Differs);
    assert_eq!(verdict(totals(&[1.0, 2.0], &[5.0])), Verdict::Undecided);
}

#[test]
fn many_runs_of_one_kind_are_within_noise() {
    let found =
        totals(&(0..12).map(f64::from).collect::<Vec<_>>(), &(0..12).map(f64::from).collect::<Vec<_>>());
    assert_eq!(found.verdict(0.05, found.p_value), Verdict::WithinNoise, "{found:?}");
    assert!(found.p_value > 0.5, "{found:?}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    assert_eq!(Runs::of_totals(&[1.0], &[1.0]), Err(RunsError::TooFew));
    assert_eq!(Runs::of_totals(&[1.0, 2.0], &[]), Err(RunsError::TooFew));
    assert_eq!(Runs::of_totals(&[1.0, f64::NAN], &[1.0]), Err(RunsError::NotDistances));
    assert_eq!(Runs::new(vec![vec![0.0], vec![0.0; 3], vec![0.0; 3]], 2), Err(RunsError::NotDistances));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_order_of_runs_does_not_matter_for_energy_and_chance(
        mut application in prop::collection::vec(0_u8..20, 2..5), clone in prop::collection::vec(0_u8..20, 1..5),
    ) {
        let figures = |application: &[u8]| {
            let totals_of = |runs: &[u8]| runs.iter().map(|&total| f64::from(total)).collect::<Vec<_>>();
            let found = totals(&totals_of(application), &totals_of(&clone));
            (found.energy, found.p_value, found.median)
        };
        let before = figures(&application);
        application.reverse();
        let after = figures(&application);
        prop_assert!(near(before.0, after.0) && near(before.1, after.1) && near(before.2, after.2));
        prop_assert!(before.1 > 0.0 && before.1 <= 1.0);
    }
}
