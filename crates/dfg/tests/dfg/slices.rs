//! Graphs in slices of time: sums over slices are the whole graph, however the log is cut.
#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use iotrail_dfg::result::{END, START};
use iotrail_dfg::{ActivitySet, ConcurrencyRule, DfgOptions, Slicing, synthesize};
use iotrail_model::{Case, CaseId, Event, Nanos, Nullable, Timestamp};
use iotrail_query::{ActivityId, Query, QuerySpec, TimeSlices, scan};
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

const CALLS: [&str; 3] = ["openat", "read", "write"];

/// Case, call, duration and bytes of each event; events of a case begin 7 ns apart.
type Calls = Vec<(u32, usize, i64, i64)>;

fn log(calls: &Calls, row_group: usize) -> EventLog {
    let cases = (0..3).map(|id| Case { id: CaseId(id), ..Case::default() }).collect();
    let mut log = MemoryLog::new(cases).row_group_rows(row_group);
    let mut sorted = calls.clone();
    sorted.sort_by_key(|call| call.0);
    for (seq, (case, call, nanos, size)) in sorted.into_iter().enumerate() {
        let event = Event {
            case: CaseId(case),
            seq: seq as u64,
            call: log.call(CALLS[call]),
            path: log.path("/f"),
            start: Timestamp(seq as i64 * 7),
            dur: Nullable::some(Nanos(nanos)),
            size: Nullable::some(size),
            ..Event::default()
        };
        log.push(event);
    }
    log.build()
}

/// By activity events, time and bytes of each slice, and by transition the counts of each.
type Found = (BTreeMap<String, [Vec<u64>; 3]>, BTreeMap<(String, String), Vec<u64>>);

fn found(log: &EventLog, threads: usize, slices: usize) -> Found {
    let query = Query::new(QuerySpec { map: Some("call".to_owned()), ..QuerySpec::default() }, log).unwrap();
    // Activities are numbered as a scan meets them.
    let options = DfgOptions { max_concurrency: ConcurrencyRule::Exact, threads: NonZeroUsize::MIN };
    synthesize(log, &query, &options).unwrap();
    let names: Vec<_> = query.activities();
    let ids = || (0..).map(ActivityId).take(names.len());
    let slicing = Slicing::new(TimeSlices::new(log, Timestamp(0), 10, slices), ActivitySet::only(ids()));
    let graph = scan(log, Some(&query), NonZeroUsize::new(threads).unwrap(), &slicing).unwrap();
    let mut nodes = BTreeMap::new();
    for (id, name) in ids().zip(&names) {
        let Some(node) = graph.activity(id) else { continue };
        nodes.insert(name.to_string(), [node.events.clone(), node.busy_ns.clone(), node.bytes.clone()]);
    }
    let ends = || std::iter::once(None).chain(ids().map(Some));
    let name = |end: Option<ActivityId>, none: &str| {
        end.and_then(ActivityId::index).map_or(none.to_owned(), |index| names[index].to_string())
    };
    let mut edges = BTreeMap::new();
    for (from, to) in ends().flat_map(|from| ends().map(move |to| (from, to))) {
        if let Some(counts) = graph.transition(from, to) {
            edges.insert((name(from, START), name(to, END)), counts.to_vec());
        }
    }
    (nodes, edges)
}

#[test]
fn each_slice_has_what_happened_in_it() {
    // Starts 0, 7, 14, 21.
    let calls = vec![(0, 0, 2, 0), (0, 1, 9, 5), (0, 1, 1, 6), (0, 2, 100, 7)];
    let (nodes, edges) = found(&log(&calls, 2), 1, 3);
    assert_eq!(nodes["read"], [vec![1, 1, 0], vec![3, 7, 0], vec![5, 6, 0]]);
    assert_eq!(nodes["write"], [vec![0, 0, 1], vec![0, 0, 100], vec![0, 0, 7]]);
    let edge = |from: &str, to: &str| edges[&(from.to_owned(), to.to_owned())].clone();
    assert_eq!((edge(START, "openat"), edge("openat", "read")), (vec![1, 0, 0], vec![1, 0, 0]));
    assert_eq!((edge("read", "read"), edge("read", "write")), (vec![0, 1, 0], vec![0, 0, 1]));
    assert_eq!((edge("write", END), edges.len()), (vec![0, 0, 1], 5));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_slices_of_a_graph_are_the_graph_however_the_log_is_cut(
        calls in prop::collection::vec((0..3_u32, 0..3_usize, 0..40_i64, 0..9_i64), 0..50),
        pieces in 1..9_usize, threads in 1..4_usize, slices in 1..30_usize,
    ) {
        let whole = log(&calls, 1000);
        let (nodes, edges) = found(&whole, 1, slices);
        prop_assert_eq!((&nodes, &edges), (&found(&log(&calls, pieces), threads, slices).0, &found(&log(&calls, pieces), threads, slices).1));

        let query = Query::new(QuerySpec { map: Some("call".to_owned()), ..QuerySpec::default() }, &whole).unwrap();
        let options = DfgOptions { max_concurrency: ConcurrencyRule::Exact, threads: NonZeroUsize::MIN };
        let dfg = synthesize(&whole, &query, &options).unwrap();
        let sum = |values: &[u64]| values.iter().sum::<u64>();
        prop_assert_eq!(nodes.len(), dfg.nodes.len());
        for node in &dfg.nodes {
            let [events, busy, bytes] = &nodes[&*node.activity];
            prop_assert_eq!((sum(events), Some(sum(busy)), sum(bytes)), (node.count, node.duration_ns, node.bytes));
        }
        prop_assert_eq!(edges.len(), dfg.edges.len());
        for edge in &dfg.edges {
            prop_assert_eq!(sum(&edges[&(edge.from.to_string(), edge.to.to_string())]), edge.count);
        }
    }
}
