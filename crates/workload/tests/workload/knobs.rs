//! Knobs: what each changes, and what stays exactly (definitions, section 4).

use iotrail_workload::{Action, KnobError, Knobs, Model, RequestKind, Synthetic, synthesise};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

const MODEL: &str = r#"
iotrail_workload = 1
ranks = 4
[[group]]
name = "all"
ranks = "0.."
[[file]]
name = "out.%r"
class = "private"
  [[file.session]]
  name = "write"
  mode = "wo create"
  requests = { write = 16, fsync = 1 }
  size = "64 KiB"
  slack = { "100 us" = 3, "900 us" = 1 }
[[file]]
name = "in"
class = "shared"
size = "1 MiB"
  [[file.session]]
  name = "read"
  mode = "ro"
  requests = { read = 8 }
  size = "4 KiB"
  offset = { rank = "4 KiB", step = "4 KiB * ranks" }
[program]
steps = [{ repeat = 10, steps = [{ call = "stat", file = "in" }, { session = "in/read" }, { session = "out.%r/write" }, { barrier = "all" }] }, { call = "unlink", file = "out.%r" }]
"#;

fn model() -> Model {
    Model::parse(MODEL).expect("a model")
}

fn turned(words: &str) -> Model {
    try_turned(words).expect("a model")
}

fn try_turned(words: &str) -> Result<Model, KnobError> {
    let mut knobs = Knobs::default();
    knobs.set(words)?;
    let model = knobs.apply(&model())?;
    assert_eq!(Model::parse(&model.to_string()).as_ref(), Ok(&model), "{model}");
    Ok(model)
}

fn steps(model: &Model, rank: u32, ranks: u32) -> Vec<Synthetic> {
    let mut steps = Vec::new();
    let ended = synthesise(model, (rank, ranks), 0, &mut |step| {
        steps.push(step);
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(ended, ControlFlow::Continue(()));
    steps
}

/// Where a rank transfers, by file: with the kind, or whatever it is.
fn places(model: &Model, rank: u32, kinds: bool) -> BTreeMap<(usize, Option<RequestKind>, u64, u64), u64> {
    let mut places = BTreeMap::new();
    for step in steps(model, rank, 4) {
        if let (Action::Transfer { kind, offset, size }, Some((file, _))) = (step.action, step.of) {
            *places.entry((file, kinds.then_some(kind), offset, size)).or_default() += 1;
        }
    }
    places
}

#[test]
fn factors_of_one_word_multiply_before_they_are_applied() {
    assert_eq!(turned("files=3,files=0.5"), turned("files=1.5"));
    assert_eq!(turned("size=0.000001,size=1000000"), model(), "one byte of a million would not be whole");
    assert_eq!(turned("metadata=0.3,metadata=0.5"), turned("metadata=0.15"));
}

#[test]
fn more_files_have_as_many_sessions_each() {
    let more = turned("files=3");
    let opened = |model: &Model| {
        let mut files: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        for step in steps(model, 1, 4) {
            if let Action::Open { file, number, .. } = step.action {
                *files.entry((file, number)).or_default() += 1;
            }
        }
        files
    };
    assert_eq!(opened(&model()), BTreeMap::from([((0, 0), 10), ((1, 0), 10)]));
    let all = |file: usize| (0..3).map(move |number| ((file, number), 10));
    assert_eq!(opened(&more), all(0).chain(all(1)).collect());
    let (before, totals) = (model().totals(4).expect("small"), more.totals(4).expect("small"));
    assert_eq!((totals.files, totals.sessions), (3 * before.files, 3 * before.sessions));
    assert_eq!(totals.bytes_written, 3 * before.bytes_written);
    let removed = steps(&more, 1, 4).into_iter().filter_map(|step| match step.action {
        Action::Call { file: 0, number, .. } => Some(number),
        _ => None,
    });
    assert_eq!(removed.collect::<BTreeSet<_>>(), BTreeSet::from([0, 1, 2]), "each of them once");
    assert_eq!(turned("files=0.1"), model(), "one file stays one");
}

#[test]
fn metadata_changes_calls_that_change_no_names() {
    let calls = |words: &str| turned(words).totals(4).expect("small").calls;
    assert_eq!(calls("metadata=1"), 4 * 11);
    assert_eq!(calls("metadata=2.5"), 4 * (25 + 1));
    assert_eq!(calls("metadata=0.1"), 4 * (1 + 1));
}

#[test]
fn a_share_of_reads_keeps_bytes_counts_and_places() {
    for share in ["0", "0.25", "0.5", "1"] {
        let now = turned(&format!("reads={share}"));
        for rank in 0..4 {
            assert_eq!(places(&now, rank, false), places(&model(), rank, false), "{share}");
        }
        let totals = now.totals(4).expect("small");
        let (reads, all) =
            (totals.requests.get(&RequestKind::Read).copied().unwrap_or_default(), 4 * 10 * 24);
        assert_eq!(reads as f64 / f64::from(all), share.parse::<f64>().expect("a number"), "{share}");
        assert_eq!(now.files.iter().all(|file| file.filled), share != "0");
    }
}

#[test]
fn what_is_read_is_not_emptied_before() {
    let mut model = model();
    model.files[0].sessions[0].mode.truncate = true;
    let truncates = |words: &str| {
        let mut knobs = Knobs::default();
        knobs.set(words).unwrap();
        knobs.apply(&model).unwrap().files[0].sessions[0].mode.truncate
    };
    assert!(truncates("reads=0") && !truncates("reads=0.5"));
}

#[test]
fn transfers_at_random_places_are_the_same_in_another_order() {
    let random = turned("random=0.5");
    for rank in 0..4 {
        assert_eq!(places(&random, rank, true), places(&model(), rank, true));
    }
    let in_order = |model: &Model| -> Vec<u64> {
        let offset = |step: &Synthetic| match step.action {
            Action::Transfer { offset, .. } => Some(offset),
            _ => None,
        };
        steps(model, 1, 4).iter().filter_map(offset).collect()
    };
    assert_ne!(in_order(&random), in_order(&model()));
    let moved =
        in_order(&random).iter().zip(in_order(&model())).filter(|(one, other)| **one != *other).count();
    assert!((40..=120).contains(&moved), "at most half of 240 change places: {moved}");
    assert_eq!(turned("random=0"), model());
}

#[test]
fn burst_keeps_the_mean_of_slack_and_all_else() {
    let burst = turned("burst=8");
    assert_ne!(burst, model());
    let mut same = burst.clone();
    same.files[0].sessions[0].slack = model().files[0].sessions[0].slack.clone();
    assert_eq!(same, model());
    let mean = |model: &Model| model.files[0].sessions[0].mean_slack();
    assert!(mean(&burst).abs_diff(mean(&model())) <= mean(&model()) / 100);
}

#[test]
fn files_of_each_rank_become_one_and_back() {
    let shared = turned("sharing=shared");
    let bytes = |model: &Model| model.totals(4).expect("small").bytes_written;
    assert_eq!(bytes(&shared), bytes(&model()));
    let mut taken = BTreeSet::new();
    for rank in 0..4 {
        for (file, _, offset, _) in places(&shared, rank, true).into_keys().filter(|(file, ..)| *file == 0) {
            assert!(taken.insert((file, offset)), "rank {rank} has a place of another one: {offset}");
        }
    }
    let private = turned("sharing=private");
    assert_eq!(private.totals(4).expect("small").files, 8);
    let offsets: Vec<u64> =
        places(&private, 3, true).into_keys().filter(|(file, ..)| *file == 1).map(|place| place.2).collect();
    assert_eq!(offsets, (0..8).map(|at| at * 4096).collect::<Vec<_>>(), "one behind the other");
    let varied = MODEL.replace("size = \"64 KiB\"", "size = { \"64 KiB\" = 1, \"1 KiB\" = 1 }");
    let mut knobs = Knobs::default();
    knobs.set("sharing=shared").expect("a knob");
    let refused = knobs.apply(&Model::parse(&varied).expect("a model"));
    assert!(matches!(refused, Err(KnobError::NotShared(..))), "{refused:?}");
}

#[test]
fn words_that_are_none_are_refused() {
    for word in ["reads=2", "reads=x", "sharing=all", "files=0", "colour=2"] {
        let error = try_turned(word).expect_err(word).to_string();
        assert!(error.contains("does not set a knob") && error.contains("sharing=private"), "{error}");
    }
}

proptest! {
    /// Strong scaling keeps the bytes touched.
    #[test]
    fn strong_scaling_touches_the_same_bytes(ranks in 1_u32..9) {
        let mut strong = model();
        strong.strong = true;
        let touched = |model: &Model, ranks: u32| {
            let mut touched: BTreeMap<(u64, u64), u64> = BTreeMap::new();
            for rank in 0..ranks {
                for step in steps(model, rank, ranks) {
                    if let (Action::Transfer { offset, size, .. }, Some((1, _))) = (step.action, step.of) {
                        *touched.entry((offset, size)).or_default() += 1;
                    }
                }
            }
            touched
        };
        prop_assert_eq!(touched(&strong, ranks), touched(&model(), 4));
    }
}
