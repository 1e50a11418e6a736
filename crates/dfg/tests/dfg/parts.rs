//! A case may lie in several parts that follow each other in time, as recorders write it: the graph is the same.
#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use iotrail_dfg::{ConcurrencyRule, DfgOptions, synthesize};
use iotrail_model::{
    CallId, Case, CaseId, CaseName, Coverage, Dictionaries, Event, Nanos, Nullable, PathId, Pid, Tid,
    Timestamp,
};
use iotrail_query::{Query, QuerySpec};
use iotrail_trail::{Capture, CreateOptions, EventLog, TrailWriter};
use proptest::prelude::*;
use std::num::NonZeroUsize;
use std::path::Path;

/// Call and file of each event of a case, in order.
type Calls = Vec<(u32, u32)>;

fn event(case: usize, place: usize, (call, path): (u32, u32), names: &mut Dictionaries) -> Event {
    let name = ["read", "write", "openat", "close"][call as usize];
    Event {
        case: CaseId::from_index(case),
        seq: place as u64,
        pid: Pid(1),
        tid: Tid(1),
        call: CallId(names.calls.intern(name.as_bytes())),
        path: Nullable::some(PathId(names.paths.intern(format!("/{path}").as_bytes()))),
        start: Timestamp(place as i64 * 10),
        dur: Nullable::some(Nanos(15)),
        ..Event::default()
    }
}

/// Writes pieces of cases (case, first and last place), each as a part of its own, and answers the graph as JSON.
fn graph(
    directory: &Path,
    cases: &[Calls],
    pieces: &[(usize, std::ops::Range<usize>)],
    threads: usize,
) -> String {
    let target = directory.join(format!("{}-{threads}.trail", pieces.len()));
    let writer = TrailWriter::create(&target, CreateOptions { overwrite: true }).unwrap();
    let mut summaries = Vec::new();
    for (case, places) in pieces {
        let mut part = writer.part().unwrap();
        let mut names = Dictionaries::default();
        for index in places.clone() {
            let event = event(*case, index, cases[*case][index], &mut names);
            part.push(&event, &names).unwrap();
        }
        summaries.push(part.finish(&names).unwrap());
    }
    let row = |case: usize| Case {
        id: CaseId::from_index(case),
        name: CaseName { rid: Some(case.to_string()), ..CaseName::default() },
        ..Case::default()
    };
    let rows: Vec<Case> = (0..cases.len()).map(row).collect();
    writer.finish(&rows, summaries, Capture::default(), &Coverage::default()).unwrap();
    let log = EventLog::open(&[target]).unwrap();
    let spec = QuerySpec { map: Some("dir2".to_owned()), ..QuerySpec::default() };
    let query = Query::new(spec, &log).unwrap();
    let threads = NonZeroUsize::new(threads).unwrap();
    let dfg =
        synthesize(&log, &query, &DfgOptions { max_concurrency: ConcurrencyRule::Exact, threads }).unwrap();
    assert!(dfg.coverage.notes.is_empty(), "{:?}", dfg.coverage.notes);
    let mut json = serde_json::to_value(&dfg).unwrap();
    // The name of the trail is not the question.
    json.as_object_mut().unwrap().remove("sources");
    json.to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn parts_that_follow_each_other_in_time_are_as_good_as_one(
        cases in prop::collection::vec(prop::collection::vec((0_u32..4, 0_u32..3), 1..40), 1..4),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let whole: Vec<_> = cases.iter().enumerate().map(|(case, calls)| (case, 0..calls.len())).collect();
        let mut pieces = Vec::new();
        // Recorders finish in any order; their parts stay together.
        for (case, calls) in cases.iter().enumerate().rev() {
            let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut.index(calls.len() + 1)).collect();
            bounds.extend([0, calls.len()]);
            bounds.sort_unstable();
            pieces.extend(bounds.windows(2).map(|pair| (case, pair[0]..pair[1])));
        }
        let expected = graph(directory.path(), &cases, &whole, 1);
        for threads in [1, 3] {
            prop_assert_eq!(&graph(directory.path(), &cases, &pieces, threads), &expected);
        }
    }
}
