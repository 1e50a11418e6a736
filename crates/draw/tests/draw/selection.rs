//! What is drawn of a graph that is too large, and what is said about the rest.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking and skips aloud")]

use iotrail_dfg::result::{END, START};
use iotrail_draw::{Dfg, Direction, Picture, View, call_graph};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};

/// A graph counted from random walks, so that every activity is on a way from ● to ■.
fn walked(seed: u64, activities: u64, cases: usize) -> Dfg {
    let mut random = crate::graphs::Random(seed);
    let traces: Vec<crate::graphs::Trace> = (0..cases)
        .map(|case| {
            let mut place = random.below(activities / 4 + 1);
            let steps = 3 + random.below(12);
            let events = (0..steps).map(|_| {
                place = (place + random.below(5)) % activities;
                (format!("read:/dir{place}"), random.heavy(1_000_000), Some(4096))
            });
            crate::graphs::Trace { case: format!("c{case}"), group: "all", events: events.collect() }
        })
        .collect();
    crate::graphs::of_traces(&["walks"], &traces)
}

fn reached(dfg: &Dfg, picture: &Picture, root: &str, forward: bool) -> usize {
    let mut out: HashMap<&str, Vec<&str>> = HashMap::new();
    for index in &picture.edges {
        let edge = &dfg.edges[*index];
        let (from, to) = if forward { (&edge.from, &edge.to) } else { (&edge.to, &edge.from) };
        out.entry(from).or_default().push(to);
    }
    let mut seen = BTreeSet::from([root.to_owned()]);
    let mut stack = vec![root.to_owned()];
    while let Some(here) = stack.pop() {
        for next in out.get(here.as_str()).into_iter().flatten() {
            if seen.insert((*next).to_owned()) {
                stack.push((*next).to_owned());
            }
        }
    }
    seen.iter().filter(|name| *name != START && *name != END).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_drawn_activity_has_a_way_from_the_start_and_to_the_end(seed in any::<u64>(), max_nodes in 1usize..30) {
        let dfg = walked(seed, 40, 30);
        let (drawn, picture) = Picture::of(&dfg, &View { max_nodes: Some(max_nodes), max_edges: 2 * max_nodes + 2, ..View::default() });
        prop_assert_eq!(picture.nodes.len(), max_nodes.min(dfg.nodes.len()));
        prop_assert_eq!(reached(&drawn, &picture, START, true), picture.nodes.len());
        prop_assert_eq!(reached(&drawn, &picture, END, false), picture.nodes.len());
    }

    #[test]
    fn a_limit_is_a_limit_and_nothing_is_lost(seed in any::<u64>(), max_nodes in 1usize..50, max_edges in 0usize..200) {
        let dfg = walked(seed, 40, 30);
        let (drawn, picture) = Picture::of(&dfg, &View { max_nodes: Some(max_nodes), max_edges, ..View::default() });
        prop_assert!(picture.nodes.len() <= max_nodes && picture.edges.len() <= max_edges);
        let events: u64 = picture.nodes.iter().map(|index| drawn.nodes[*index].count).sum();
        let time: u64 = picture.nodes.iter().filter_map(|index| drawn.nodes[*index].duration_ns).sum();
        prop_assert_eq!((events, Some(time)), (dfg.events.mapped, dfg.duration_ns));
        let taken = |dfg: &Dfg| dfg.edges.iter().map(|edge| edge.count).sum::<u64>();
        prop_assert_eq!(taken(&drawn), taken(&dfg));
    }

    #[test]
    fn drawn_and_hidden_make_the_whole(seed in any::<u64>(), max_nodes in 1usize..50, max_edges in 0usize..200) {
        let dfg = walked(seed, 40, 30);
        let picture = Picture::select(&dfg, &View { max_nodes: Some(max_nodes), max_edges, ..View::default() });
        let hidden = picture.hidden;
        let events: u64 = picture.nodes.iter().map(|index| dfg.nodes[*index].count).sum();
        prop_assert_eq!(picture.nodes.len() + hidden.activities, dfg.nodes.len());
        prop_assert_eq!(picture.edges.len() + hidden.transitions, dfg.edges.len());
        prop_assert_eq!(events + hidden.events, dfg.events.mapped);
        prop_assert_eq!(hidden.is_nothing(), hidden.statement().is_none());
    }
}

/// One long way through thousands of files, as `tar` takes it: nothing can be left out of it without a gap.
#[test]
fn a_chain_of_two_thousand_files_is_drawn_small_with_what_carries_the_time() {
    let events = (0..2_000)
        .map(|file| (format!("read:/data/{file}"), if file % 100 == 7 { 1_000_000 } else { 10 }, None));
    let trace = crate::graphs::Trace { case: "tar".to_owned(), group: "all", events: events.collect() };
    let dfg = crate::graphs::of_traces(&["tar"], &[trace]);
    let (drawn, picture) = Picture::of(&dfg, &View::default());
    assert_eq!((picture.nodes.len(), drawn.nodes.len()), (50, 50));
    assert!(picture.edges.len() <= 100);
    assert!(drawn.nodes.last().unwrap().activity.starts_with("… 1,951 other activities"));
    assert!(picture.hidden.duration_share.unwrap() < 0.01, "{:?}", picture.hidden);
    assert_eq!(reached(&drawn, &picture, START, true), 50);
    let svg = crate::svg(&dfg);
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
}

#[test]
fn a_small_graph_is_drawn_whole() {
    let dfg = crate::graphs::paper();
    let (picture, whole) = (Picture::select(&dfg, &View::default()), Picture::whole(&dfg));
    assert_eq!((&picture.nodes, &picture.edges), (&whole.nodes, &whole.edges));
    assert!(picture.hidden.is_nothing());
}

#[test]
fn the_statement_names_numbers_and_shares() {
    let dfg = crate::graphs::random(76, 1312, 9, false);
    let picture = Picture::select(&dfg, &View { max_nodes: Some(20), max_edges: 40, ..View::default() });
    let statement = picture.hidden.statement().unwrap();
    assert_eq!(
        statement,
        "hidden: 56 activities (20.5 % of events, 14.2 % of time), 1,272 transitions (91.8 % of all taken)"
    );
}

mod stops {
    use super::*;
    use iotrail_draw::{Level, StopLimits, Stops, Vertex};

    const LIMITS: StopLimits = StopLimits { activities: 12, transitions: 4, lines: 60 };

    /// From and to of everything that joins vertices of a stop.
    fn joined(dfg: &Dfg, level: &Level) -> Vec<(Vertex, Vertex)> {
        let vertex = |name: &str| match name {
            START => Vertex::Start,
            END => Vertex::End,
            name => Vertex::Activity(dfg.nodes.iter().position(|node| &*node.activity == name).unwrap()),
        };
        let edges = level.edges.iter().map(|edge| &dfg.edges[*edge]);
        let edges = edges.map(|edge| (vertex(&edge.from), vertex(&edge.to)));
        edges.chain(level.ways.iter().map(|way| (way.from, way.to))).collect()
    }

    fn reached(ends: &[(Vertex, Vertex)], root: Vertex) -> BTreeSet<Vertex> {
        let mut seen = BTreeSet::from([root]);
        loop {
            let before = seen.len();
            seen.extend(
                ends.iter().filter(|(from, _)| seen.contains(from)).map(|(_, to)| *to).collect::<Vec<_>>(),
            );
            if seen.len() == before {
                return seen;
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

        #[test]
        fn at_every_stop_every_activity_has_a_way_from_the_start_and_to_the_end(
            seed in any::<u64>(), max_nodes in 1usize..40,
        ) {
            let dfg = walked(seed, 40, 30);
            let picture = Picture::select(&dfg, &View { max_nodes: Some(max_nodes), max_edges: 200, ..View::default() });
            let stops = Stops::of(&dfg, &picture, LIMITS);
            prop_assert!(stops.list.len() <= LIMITS.activities);
            prop_assert_eq!(stops.list.last().unwrap().activities, picture.nodes.len());
            for stop in &stops.list {
                let nodes: BTreeSet<Vertex> =
                    stops.order[..stop.activities].iter().map(|node| Vertex::Activity(*node)).collect();
                prop_assert!(!stop.levels.is_empty() && stop.levels.len() <= LIMITS.transitions);
                for level in &stop.levels {
                    let ends = joined(&dfg, level);
                    let back: Vec<_> = ends.iter().map(|(from, to)| (*to, *from)).collect();
                    for found in [reached(&ends, Vertex::Start), reached(&back, Vertex::End)] {
                        prop_assert!(nodes.is_subset(&found), "{:?} of {:?}", found, nodes);
                    }
                    let known = |vertex: &Vertex| !matches!(vertex, Vertex::Activity(_)) || nodes.contains(vertex);
                    prop_assert!(ends.iter().all(|(from, to)| known(from) && known(to)));
                    let hidden = |node: &usize| !nodes.contains(&Vertex::Activity(*node));
                    prop_assert!(level.ways.iter().all(|way| !way.hidden.is_empty() && way.hidden.iter().all(hidden)));
                }
                let sizes: Vec<usize> = stop.levels.iter().map(|level| joined(&dfg, level).len()).collect();
                prop_assert!(sizes.is_sorted_by(|a, b| a < b), "{:?}", sizes);
            }
        }
    }

    #[test]
    fn the_last_stop_of_a_small_graph_is_the_whole_graph() {
        let dfg = crate::graphs::paper();
        let stops = Stops::of(&dfg, &Picture::whole(&dfg), LIMITS);
        let last = stops.list.last().unwrap().levels.last().unwrap();
        assert_eq!((last.edges.len(), last.ways.len()), (dfg.edges.len(), 0));
    }

    #[test]
    fn a_chain_of_which_one_activity_is_shown_is_projected_to_both_sides() {
        let events =
            (0..5).map(|file| (format!("read:/data/{file}"), if file == 2 { 1_000_000 } else { 10 }, None));
        let trace = crate::graphs::Trace { case: "tar".to_owned(), group: "all", events: events.collect() };
        let dfg = crate::graphs::of_traces(&["tar"], &[trace]);
        let stops = Stops::of(&dfg, &Picture::whole(&dfg), LIMITS);
        let [level] = &stops.list[0].levels[..] else { panic!("{:?}", stops.list[0]) };
        assert!(level.edges.is_empty());
        let ways: Vec<_> =
            level.ways.iter().map(|way| (way.from, way.to, way.count, way.hidden.len())).collect();
        let shown = Vertex::Activity(stops.order[0]);
        assert_eq!(ways, [(shown, Vertex::End, 1, 2), (Vertex::Start, shown, 1, 2)]);
    }
}

/// A chain of activities with so many events each, of which the first takes nearly all time.
fn chain(counts: &[u64]) -> Dfg {
    use iotrail_dfg::result::{END, Edge, Node, START};
    let name = |at: usize| std::sync::Arc::from(format!("call {at}"));
    let mapped: u64 = counts.iter().sum();
    let node = |(at, count): (usize, &u64)| Node {
        activity: name(at),
        count: *count,
        relative_duration: Some(if at == 0 { 1.0 } else { 0.0 }),
        ..Node::default()
    };
    let link = |from, to| Edge { from, to, count: 1, ..Edge::default() };
    let mut edges: Vec<Edge> = (1..counts.len()).map(|at| link(name(at - 1), name(at))).collect();
    edges.push(link(START.into(), name(0)));
    edges.push(link(name(counts.len() - 1), END.into()));
    let mut dfg = Dfg { nodes: counts.iter().enumerate().map(node).collect(), edges, ..Dfg::default() };
    dfg.events.mapped = mapped;
    dfg
}

fn drawn(dfg: &Dfg, view: &View) -> (usize, usize) {
    let (_, picture) = Picture::of(dfg, view);
    (picture.nodes.len(), picture.hidden.activities)
}

#[test]
fn what_is_small_in_time_and_in_events_is_drawn_as_one() {
    let dfg = chain(&[1, 9_000, 5, 4, 3, 988]);
    assert_eq!(drawn(&dfg, &View::default()), (4, 3), "the first has all the time");
    assert_eq!(drawn(&dfg, &View { max_nodes: Some(50), ..View::default() }), (6, 0), "it was asked for");
    assert_eq!(
        drawn(&chain(&[1, 9_000, 5, 988]), &View::default()),
        (4, 0),
        "one is no smaller than one for it"
    );
    assert_eq!(drawn(&chain(&[1; 300]), &View::default()), (50, 251), "together they are most of it");
}

#[test]
fn a_picture_is_no_higher_than_a_page_unless_that_is_asked_for() {
    let high = chain(&[1; 12]);
    let extent = |direction| {
        let scene = call_graph(&high, &View { direction, ..View::default() }).unwrap();
        scene.height / scene.width
    };
    assert!(extent(None) < 0.5 && extent(Some(Direction::Right)) == extent(None));
    assert!(extent(Some(Direction::Down)) > 1.5);
    let low = call_graph(&chain(&[1; 2]), &View::default()).unwrap();
    assert!(low.height > 0.5 * low.width && low.height <= 1.5 * low.width, "down, as it fits");
}
