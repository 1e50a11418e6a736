//! Layouts of recorded graphs and of random ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod laws;

use iotrail_layout::{Edge, Graph, LayoutError, Node, layout};

const GRAPHS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graphs");

#[test]
fn recorded_graphs_obey_the_laws() {
    for (name, fixture) in fixture::all(GRAPHS) {
        let graph = fixture.graph();
        let layout = layout(&graph).unwrap();
        laws::check(&graph, &layout).unwrap_or_else(|broken| panic!("{name}: {broken}"));
    }
}

#[test]
fn small_changes_keep_what_they_do_not_concern() {
    let chain = |nodes: usize| Graph {
        nodes: vec![Node { width: 80.0, height: 30.0, ..Node::default() }; nodes],
        edges: (1..nodes).map(|to| Edge::new((to - 1) / 2, to)).collect(),
        ..Graph::default()
    };
    let (before, after) = (layout(&chain(14)).unwrap(), layout(&chain(15)).unwrap());
    let order = |rects: &[iotrail_layout::Rect]| {
        let mut order: Vec<usize> = (0..14).collect();
        order.sort_by(|a, b| (rects[*a].y, rects[*a].x).partial_cmp(&(rects[*b].y, rects[*b].x)).unwrap());
        order
    };
    assert_eq!(order(&before.nodes), order(&after.nodes));
}

#[test]
fn sizes_that_no_picture_has_are_refused() {
    for width in [f64::NAN, f64::INFINITY, -1.0, 1e9] {
        let graph = Graph { nodes: vec![Node { width, ..Node::default() }], ..Graph::default() };
        assert_eq!(layout(&graph), Err(LayoutError::Size("node 0".to_owned())));
    }
    let edges = vec![Edge { label: (f64::NAN, 1.0), ..Edge::new(0, 0) }];
    let graph = Graph { nodes: vec![Node::default()], edges, ..Graph::default() };
    assert_eq!(layout(&graph), Err(LayoutError::Size("the label of edge 0".to_owned())));
}

#[test]
fn an_edge_to_nowhere_is_refused() {
    let graph = Graph { nodes: vec![Node::default()], edges: vec![Edge::new(0, 3)], ..Graph::default() };
    assert_eq!(layout(&graph), Err(LayoutError::NoNode { edge: 0, node: 3 }));
}

#[test]
fn a_graph_that_would_take_minutes_is_refused_at_once() {
    let nodes = 3_000;
    let chain = (1..nodes).map(|to| Edge::new(to - 1, to));
    let long = (0..1_000).map(|from| Edge::new(from, nodes - 1));
    let graph =
        Graph { nodes: vec![Node::default(); nodes], edges: chain.chain(long).collect(), ..Graph::default() };
    assert!(matches!(layout(&graph), Err(LayoutError::TooLarge(_))));
}
