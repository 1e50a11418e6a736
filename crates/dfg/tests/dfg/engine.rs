//! From logs to graphs and comparisons, the whole way.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail anywhere")]

use iotrail_dfg::comparison::Unit;
use iotrail_dfg::result::Edge;
use iotrail_dfg::{
    Change, ChangeKind, Comparison, ConcurrencyRule, Contrast, Dfg, DfgError, DfgOptions, compare, synthesize,
};
use iotrail_model::recording_coverage::Selection;
use iotrail_model::{
    Case, CaseId, CaseName, Clock, Coverage, Event, Nanos, Nullable, RecordingCoverage, Timestamp,
};
use iotrail_query::{Query, QuerySpec, SelectSpec, scan};
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;
use proptest::prelude::*;
use std::num::NonZeroUsize;

#[derive(Clone, Copy, Debug)]
struct Call {
    case: u32,
    name: &'static str,
    start: i64,
    dur: i64,
    size: i64,
}

/// Cases of two commands, `a` below `first_b` and `b` from there on.
fn log(cases: u32, first_b: u32, calls: &[Call], row_group: usize) -> EventLog {
    let case = |id: u32| Case {
        id: CaseId(id),
        name: CaseName {
            cid: Some(if id < first_b { "a" } else { "b" }.to_owned()),
            host: None,
            rid: Some(id.to_string()),
        },
        ..Case::default()
    };
    build((0..cases).map(case).collect(), calls, row_group)
}

fn build(cases: Vec<Case>, calls: &[Call], row_group: usize) -> EventLog {
    let mut log = MemoryLog::new(cases).row_group_rows(row_group);
    for (seq, call) in calls.iter().enumerate() {
        let event = Event {
            case: CaseId(call.case),
            seq: seq as u64,
            call: log.call(call.name),
            path: log.path("/data/file"),
            start: Timestamp(call.start),
            dur: Nullable::some(Nanos(call.dur)),
            size: Nullable::some(call.size),
            ..Event::default()
        };
        log.push(event);
    }
    log.build()
}

fn query(log: &EventLog) -> Query {
    let spec =
        QuerySpec { map: Some("call".to_owned()), group_by: Some("cid".to_owned()), ..QuerySpec::default() };
    Query::new(spec, log).unwrap()
}

fn options(threads: usize) -> DfgOptions {
    DfgOptions { max_concurrency: ConcurrencyRule::Exact, threads: NonZeroUsize::new(threads).unwrap() }
}

fn graph(log: &EventLog, threads: usize) -> Dfg {
    synthesize(log, &query(log), &options(threads)).unwrap()
}

fn compared(log: &EventLog, a: &str, b: &str) -> Comparison {
    compare(log, &query(log), a, b, &options(1)).unwrap()
}

fn find<'a>(comparison: &'a Comparison, kind: ChangeKind, activity: &str, to: Option<&str>) -> &'a Change {
    let found = comparison
        .changes
        .iter()
        .find(|change| change.kind == kind && &*change.activity == activity && change.to.as_deref() == to);
    found.unwrap_or_else(|| panic!("no {kind:?} {activity} {to:?} in {:#?}", comparison.changes))
}

/// `count` calls of each case, one after the other with gaps of 100 ns.
fn calls(
    case: u32,
    name: &'static str,
    from: i64,
    count: i64,
    dur: i64,
    size: i64,
) -> impl Iterator<Item = Call> {
    (0..count).map(move |n| Call { case, name, start: from + n * (dur + 100), dur, size })
}

#[test]
fn a_log_gives_its_names_its_groups_and_its_graph() {
    let calls: Vec<Call> = (0..4).flat_map(|case| calls(case, "read", 0, 3, 50, 10)).collect();
    let dfg = graph(&log(4, 2, &calls, 100), 1);
    assert_eq!(
        (dfg.format.as_str(), dfg.mapping.as_str(), dfg.case_by.as_str()),
        ("iotrail-dfg/1", "call", "rank")
    );
    assert_eq!((dfg.cases, dfg.events.mapped), (4, 12));
    assert_eq!(
        dfg.groups.iter().map(|group| (&*group.name, group.cases)).collect::<Vec<_>>(),
        [("a", 2), ("b", 2)]
    );
    assert_eq!(dfg.nodes[0].max_concurrency, Some(4));
    let inner: Vec<&Edge> = dfg.edges.iter().filter(|edge| edge.from == edge.to).collect();
    assert_eq!((inner[0].count, inner[0].gap_ns.p50), (8, Some(100)));
    assert_eq!(dfg.variants[0].cases, ["a/0", "a/1", "b/2", "b/3"]);
}

#[test]
fn cases_without_time_stamps_have_no_gaps_and_no_concurrency() {
    let calls: Vec<Call> = calls(0, "read", 0, 3, 50, 10).collect();
    let case = Case { clock: Clock::Order, ..Case::default() };
    let dfg = graph(&build(vec![case], &calls, 2), 1);
    assert_eq!((dfg.nodes[0].max_concurrency, dfg.span.start_ns, dfg.duration_ns), (None, None, Some(150)));
    assert!(dfg.edges.iter().all(|edge| edge.gap_ns.sum.is_none()));
    assert!(dfg.coverage.notes.sentences().next().unwrap().contains("no time stamps"));
}

#[test]
fn what_only_one_group_has_is_new_or_gone() {
    let (a, b) = (calls(0, "read", 0, 2, 50, 10), calls(1, "write", 0, 2, 70, 10));
    let comparison = compared(&log(2, 1, &a.chain(b).collect::<Vec<_>>(), 100), "a", "b");
    let (gone, new) = (
        find(&comparison, ChangeKind::Gone, "read", None),
        find(&comparison, ChangeKind::New, "write", None),
    );
    assert_eq!(
        (gone.value_a, gone.value_b, gone.ratio, gone.time_at_stake_ns),
        (2.0, 0.0, Some(0.0), Some(-100.0))
    );
    assert_eq!((new.value_a, new.value_b, new.ratio, new.time_at_stake_ns), (0.0, 2.0, None, Some(140.0)));
    assert_eq!(find(&comparison, ChangeKind::New, "write", Some("write")).time_at_stake_ns, Some(100.0));
    assert_eq!((comparison.permutations, new.p_value, new.significant), (0, None, None));
}

#[test]
fn the_time_at_stake_is_divided_between_more_and_slower() {
    // Two events of 50 ns against four of 80 ns: 220 ns more, of which 2 x 65 by count and 30 x 3 by time.
    let (a, b) = (calls(0, "read", 0, 2, 50, 10), calls(1, "read", 0, 4, 80, 20));
    let comparison = compared(&log(2, 1, &a.chain(b).collect::<Vec<_>>(), 100), "a", "b");
    let more = find(&comparison, ChangeKind::More, "read", None);
    let slower = find(&comparison, ChangeKind::Slower, "read", None);
    let larger = find(&comparison, ChangeKind::Larger, "read", None);
    assert_eq!((more.value_a, more.value_b, more.time_at_stake_ns), (2.0, 4.0, Some(130.0)));
    assert_eq!((slower.value_a, slower.value_b, slower.time_at_stake_ns), (50.0, 80.0, Some(90.0)));
    assert_eq!((larger.value_a, larger.value_b, larger.ratio), (10.0, 20.0, Some(2.0)));
    assert_eq!(comparison.changes[0].kind, ChangeKind::More);
}

#[test]
fn values_are_per_rank_when_runs_differ_in_their_number_of_ranks() {
    let one = calls(0, "read", 0, 4, 50, 10);
    let rest = (1..4).flat_map(|case| calls(case, "read", 0, 6, 50, 10));
    let comparison = compared(&log(4, 1, &one.chain(rest).collect::<Vec<_>>(), 100), "a", "b");
    assert_eq!((comparison.per, comparison.unit), (Unit::Rank, Unit::Rank));
    let more = find(&comparison, ChangeKind::More, "read", None);
    // Two more of 50 ns each.
    assert_eq!((more.value_a, more.value_b, more.time_at_stake_ns), (4.0, 6.0, Some(100.0)));
}

#[test]
fn three_cases_against_three_are_too_few_to_tell() {
    let calls: Vec<Call> =
        (0..6).flat_map(|case| calls(case, "read", 0, if case < 3 { 2 } else { 20 }, 50, 10)).collect();
    let comparison = compared(&log(6, 3, &calls, 100), "a", "b");
    assert_eq!(
        (comparison.permutations, comparison.runs_a, comparison.runs_b, comparison.runs_needed),
        (0, 3, 3, 5)
    );
    let more = find(&comparison, ChangeKind::More, "read", None);
    assert_eq!((more.p_value, more.q_value, more.significant), (None, None, None));
}

#[test]
fn a_clear_difference_is_told_from_noise() {
    let calls: Vec<Call> = (0..12)
        .flat_map(|case| {
            let slow = if case < 6 { 0 } else { 1_000 };
            let reads = calls(case, "read", 0, 5, 100 + slow + i64::from(case), 10);
            reads.chain(calls(case, "write", 50_000, 5, 100 + i64::from(case * 7 % 5), 10))
        })
        .collect();
    let comparison = compared(&log(12, 6, &calls, 100), "a", "b");
    assert_eq!(comparison.permutations, 924);
    let read = find(&comparison, ChangeKind::Slower, "read", None);
    assert_eq!((read.p_value, read.significant), (Some(2.0 / 924.0), Some(true)));
    let write =
        comparison.changes.iter().find(|change| &*change.activity == "write" && change.to.is_none()).unwrap();
    assert_eq!(write.significant, Some(false));
    assert_eq!(&*comparison.changes[0].activity, "read");
}

/// `runs` runs of one command on each side: three activities with random counts and times, an elapsed time, and what is planted
/// on the other side.
fn simulated(runs: u32, seed: u64, plant: impl Fn(u32, &mut Vec<Call>)) -> Comparison {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut calls = Vec::new();
    let mut elapsed = Vec::new();
    for case in 0..2 * runs {
        let mut start = 0;
        for name in ["read", "write", "openat"] {
            for _ in 0..5 + random(4) {
                let dur = 1_000 + random(600) as i64;
                calls.push(Call { case, name, start, dur, size: 10 });
                start += dur + random(50) as i64;
            }
        }
        elapsed.push(Some(start + random(5_000) as i64));
        if case >= runs {
            plant(case, &mut calls);
        }
    }
    let case = |id: u32| Case {
        id: CaseId(id),
        name: CaseName { cid: Some(id.to_string()), host: None, rid: None },
        label: Some(if id < runs { "a" } else { "b" }.to_owned()),
        ..Case::default()
    };
    let log = build((0..2 * runs).map(case).collect(), &calls, 1_000);
    let spec = QuerySpec {
        map: Some("call".to_owned()),
        group_by: Some("label".to_owned()),
        ..QuerySpec::default()
    };
    let query = Query::new(spec, &log).unwrap();
    let contrast = Contrast::new(&log, &query, "a", "b", options(1)).unwrap().with_elapsed(elapsed);
    scan(&log, Some(&query), NonZeroUsize::MIN, &contrast).unwrap()
}

#[test]
fn at_most_five_of_a_hundred_comparisons_of_one_distribution_mark_anything() {
    for runs in [4, 6] {
        let marks = |seed: &u64| {
            let comparison = simulated(runs, *seed, |_, _| ());
            assert_eq!((comparison.runs_a, comparison.unit), (u64::from(runs), Unit::Run));
            comparison.elapsed_chance.is_some_and(|chance| chance.significant)
                || comparison.changes.iter().any(|change| change.significant == Some(true))
        };
        let marked = (1..=200).filter(marks).count();
        assert!(marked <= 10, "{marked} of 200 with {runs} runs a side");
    }
}

#[test]
fn planted_changes_come_first() {
    let slower = simulated(8, 7, |case, calls| {
        calls
            .iter_mut()
            .filter(|call| call.case == case && call.name == "write")
            .for_each(|call| call.dur *= 2);
    });
    let first = &slower.activities[0];
    assert_eq!((&*first.activity, first.cause, first.significant), ("write", ChangeKind::Slower, Some(true)));
    assert_eq!(slower.activities.iter().filter(|row| row.significant == Some(true)).count(), 1);
    let one_more = simulated(8, 8, |case, calls| {
        calls.push(Call { case, name: "unlink", start: 90_000, dur: 1_000, size: 0 });
    });
    let first = &one_more.activities[0];
    assert_eq!((&*first.activity, first.cause, first.significant), ("unlink", ChangeKind::New, Some(true)));
    assert_eq!((first.count.a, first.count.b), (Some(0.0), Some(1.0)));
}

#[test]
fn values_are_those_of_a_run_however_many_there_are() {
    let calls: Vec<Call> =
        (0..6).flat_map(|case| calls(case, "read", 0, if case < 4 { 3 } else { 9 }, 50, 10)).collect();
    let case = |id: u32| Case {
        id: CaseId(id),
        // Two processes of each run, which a tracer named apart.
        name: CaseName { cid: Some((id / 2).to_string()), host: None, rid: None },
        label: Some(if id < 4 { "a" } else { "b" }.to_owned()),
        ..Case::default()
    };
    let log = build((0..6).map(case).collect(), &calls, 100);
    let spec = QuerySpec {
        map: Some("call".to_owned()),
        group_by: Some("label".to_owned()),
        ..QuerySpec::default()
    };
    let comparison = compare(&log, &Query::new(spec, &log).unwrap(), "a", "b", &options(1)).unwrap();
    assert_eq!((comparison.runs_a, comparison.runs_b, comparison.per), (2, 1, Unit::Run));
    let row = &comparison.activities[0];
    assert_eq!((row.count.a, row.count.b, row.cause), (Some(6.0), Some(18.0), ChangeKind::More));
    assert_eq!((row.io_a_ns, row.io_b_ns, row.difference_ns), (Some(300.0), Some(900.0), Some(600.0)));
}

#[test]
fn unknown_groups_are_named() {
    let log = log(2, 1, &[], 10);
    let error = compare(&log, &query(&log), "a", "c", &options(1)).unwrap_err();
    assert_eq!(error.to_string(), "there is no group `c`: the groups are `a`, `b`");
    assert!(matches!(compare(&log, &query(&log), "a", "a", &options(1)), Err(DfgError::SameGroup(_))));
}

fn any_calls() -> impl Strategy<Value = Vec<Call>> {
    let name = prop::sample::select(vec!["read", "write", "openat", "lseek"]);
    let call = (0_u32..6, name, 0_i64..5_000, 0_i64..300, 0_i64..100);
    let call = call.prop_map(|(case, name, start, dur, size)| Call { case, name, start, dur, size });
    prop::collection::vec(call, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn threads_and_row_groups_do_not_matter(calls in any_calls(), row_group in 1_usize..20, threads in 1_usize..4) {
        let whole = graph(&log(6, 3, &calls, 1_000), 1);
        let log = log(6, 3, &calls, row_group);
        prop_assert_eq!(&graph(&log, threads), &whole);
        let of = |threads| compare(&log, &query(&log), "a", "b", &options(threads)).map(|c| c.changes).ok();
        prop_assert_eq!(of(1), of(threads));
    }

    #[test]
    fn exchanging_the_groups_exchanges_the_signs(calls in any_calls()) {
        // One call in every case, so that both groups have three traces.
        let ends = (0..6).map(|case| Call { case, name: "close", start: 9_000, dur: 10, size: 0 });
        let log = log(6, 3, &calls.into_iter().chain(ends).collect::<Vec<_>>(), 1_000);
        let (there, back) = (compared(&log, "a", "b"), compared(&log, "b", "a"));
        prop_assert_eq!(there.changes.len(), back.changes.len());
        for change in &there.changes {
            let other = find(&back, opposite(change.kind), &change.activity, change.to.as_deref());
            prop_assert_eq!(change.difference, -other.difference);
            prop_assert!((change.time_at_stake_ns.unwrap_or(0.0) + other.time_at_stake_ns.unwrap_or(0.0)).abs() < 1e-6);
            prop_assert_eq!(change.p_value, other.p_value);
        }
    }
}

fn opposite(kind: ChangeKind) -> ChangeKind {
    match kind {
        ChangeKind::New => ChangeKind::Gone,
        ChangeKind::Gone => ChangeKind::New,
        ChangeKind::Slower => ChangeKind::Faster,
        ChangeKind::Faster => ChangeKind::Slower,
        ChangeKind::Larger => ChangeKind::Smaller,
        ChangeKind::Smaller => ChangeKind::Larger,
        ChangeKind::More => ChangeKind::Fewer,
        ChangeKind::Fewer => ChangeKind::More,
    }
}

/// Every field that a schema names is written, and nothing else: `tests/interop/check_json.py` checks the values.
#[test]
fn the_schemas_name_the_fields_that_are_written() {
    let calls: Vec<Call> = (0..4).flat_map(|case| calls(case, "read", i64::from(case), 3, 50, 10)).collect();
    let comparison = compared(&log(4, 2, &calls, 100), "a", "b");
    let written = serde_json::to_value(&comparison).unwrap();
    let schema = |name: &str| -> serde_json::Value {
        let path = format!("{}/../../schema/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let (compare_schema, dfg_schema) = (schema("compare"), schema("dfg"));
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let agree = |value: &serde_json::Value, schema: &serde_json::Value, optional: &str| {
        let mut named = keys(&schema["properties"]);
        named.sort();
        let mut found = keys(value);
        found.sort();
        assert_eq!(found, named);
        let mut required: Vec<String> = serde_json::from_value(schema["required"].clone()).unwrap();
        required.sort();
        named.retain(|name| name != optional);
        assert_eq!(required, named);
        assert_eq!(schema["additionalProperties"], false);
    };
    let same = |value: &serde_json::Value, schema: &serde_json::Value| agree(value, schema, "");
    // The comparison of the profiles is added by another part.
    let mut of_graphs = compare_schema.clone();
    for other in ["phases", "verdict", "elapsed", "limitations"] {
        of_graphs["properties"].as_object_mut().unwrap().remove(other).unwrap();
        of_graphs["required"].as_array_mut().unwrap().retain(|name| name != other);
    }
    same(&written, &of_graphs);
    let (a, b) = (self::calls(0, "read", 0, 2, 50, 10), self::calls(1, "read", 0, 4, 80, 20));
    let changed = compared(&log(2, 1, &a.chain(b).collect::<Vec<_>>(), 100), "a", "b");
    let activity = serde_json::to_value(&changed.activities[0]).unwrap();
    same(&activity, &compare_schema["$defs"]["activity"]);
    same(&activity["count"], &compare_schema["$defs"]["pair"]);
    same(&written["dfg"], &dfg_schema);
    let parts = [
        ("event_counts", "/events"),
        ("span", "/span"),
        ("group", "/groups/0"),
        ("variant", "/variants/0"),
        ("node", "/nodes/0"),
        ("bin", "/nodes/0/duration_histogram/0"),
        ("duration_stats", "/nodes/0/duration"),
        ("size_stats", "/nodes/0/size"),
        ("node_in_group", "/nodes/0/groups/a"),
        ("edge", "/edges/0"),
        ("gap_stats", "/edges/0/gap_ns"),
        ("edge_in_group", "/edges/0/groups/a"),
        ("lines", "/coverage/lines"),
    ];
    for (name, place) in parts {
        same(written["dfg"].pointer(place).unwrap(), &dfg_schema["$defs"][name]);
    }
    let mut recording = RecordingCoverage { left_at: Some(Timestamp(0)), ..RecordingCoverage::default() };
    recording.selections.insert(Selection::default());
    let coverage = serde_json::to_value(Coverage::of_recording(recording)).unwrap();
    let recording = &coverage["recording"];
    agree(&coverage, &dfg_schema["$defs"]["coverage"], "recording");
    agree(recording, &dfg_schema["$defs"]["recording"], "left_at");
    same(&recording["selections"][0], &dfg_schema["$defs"]["selection"]);
    same(&recording["cost"], &dfg_schema["$defs"]["tracer_cost"]);
    let change = serde_json::to_value(Change {
        kind: ChangeKind::New,
        activity: "".into(),
        to: None,
        measure: "".into(),
        value_a: 0.0,
        value_b: 0.0,
        difference: 0.0,
        ratio: None,
        time_at_stake_ns: None,
        p_value: None,
        q_value: None,
        significant: None,
    });
    same(&change.unwrap(), &compare_schema["$defs"]["change"]);
}

/// A log on disk whose row groups hold all of it or a few rows each gives the same graph, whatever the selection skips.
#[test]
fn skipped_row_groups_change_no_figure() {
    let calls: Vec<Call> = (0..600)
        .map(|number| Call {
            case: number / 100,
            name: ["read", "write", "openat"][(number % 3) as usize],
            start: i64::from(number % 100) * 1_000_000,
            dur: i64::from(number % 7) * 1_000,
            size: i64::from(number),
        })
        .collect();
    let windows = [("+20ms", "+40ms"), ("+0ms", "+1ms"), ("+99ms", "+200ms")];
    for (since, until) in windows {
        let select = SelectSpec {
            since: Some(since.to_owned()),
            until: Some(until.to_owned()),
            ..SelectSpec::default()
        };
        for cases in [Vec::new(), vec!["rid=2".to_owned()]] {
            let select = SelectSpec { case: cases, ..select.clone() };
            let graph = |row_group: usize| {
                let log = log(6, 3, &calls, row_group);
                let spec = QuerySpec {
                    map: Some("call".to_owned()),
                    select: select.clone(),
                    ..QuerySpec::default()
                };
                let query = Query::new(spec, &log).unwrap();
                synthesize(&log, &query, &DfgOptions::default()).unwrap()
            };
            let whole = graph(1 << 17);
            assert!(whole.events.total > 0, "{select:?} selects nothing");
            assert_eq!(graph(10), whole, "{select:?}");
        }
    }
}
