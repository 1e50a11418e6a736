//! What every layout obeys.

use iotrail_layout::{Direction, Edge, Graph, Layout, Node, Point, RankLimit, Rect, Separation, layout};
use proptest::prelude::*;

/// The first law that is broken.
pub(crate) fn check(graph: &Graph, layout: &Layout) -> Result<(), String> {
    inside(layout)?;
    apart(layout)?;
    ends(graph, layout)?;
    labels(graph, layout)?;
    ranks(graph, layout)
}

const ROUNDING: f64 = 0.01;

fn inside(layout: &Layout) -> Result<(), String> {
    let whole = Rect { x: 0.0, y: 0.0, width: layout.width, height: layout.height }.grown(ROUNDING);
    let lines = layout.routes.iter().map(iotrail_layout::Route::bounds);
    for rect in layout.nodes.iter().chain(layout.labels.iter().flatten()).copied().chain(lines) {
        if rect.union(whole) != whole {
            return Err(format!("{rect:?} is outside {whole:?}"));
        }
    }
    Ok(())
}

fn apart(layout: &Layout) -> Result<(), String> {
    let all: Vec<&Rect> = layout.nodes.iter().chain(layout.labels.iter().flatten()).collect();
    for (index, rect) in all.iter().enumerate() {
        if let Some(other) = all[index + 1..].iter().find(|other| rect.grown(-ROUNDING).overlaps(other)) {
            return Err(format!("{rect:?} and {other:?} overlap"));
        }
    }
    Ok(())
}

fn ends(graph: &Graph, layout: &Layout) -> Result<(), String> {
    for (edge, route) in graph.edges.iter().zip(&layout.routes) {
        for (node, at) in [(edge.from, route.start), (edge.to, route.end())] {
            if !is_on_border(&layout.nodes[node], at) {
                return Err(format!("{edge:?} ends at {at:?}, off {:?}", layout.nodes[node]));
            }
        }
    }
    Ok(())
}

fn is_on_border(rect: &Rect, at: Point) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() < ROUNDING;
    let (right, bottom) = (rect.x + rect.width, rect.y + rect.height);
    let within = |low: f64, value: f64, high: f64| value > low - ROUNDING && value < high + ROUNDING;
    let beside = near(at.x, rect.x) || near(at.x, right);
    let above = near(at.y, rect.y) || near(at.y, bottom);
    (beside && within(rect.y, at.y, bottom)) || (above && within(rect.x, at.x, right))
}

/// Labels lie on their lines, or beside their loops.
fn labels(graph: &Graph, layout: &Layout) -> Result<(), String> {
    for ((edge, route), label) in graph.edges.iter().zip(&layout.routes).zip(&layout.labels) {
        let has_label = edge.label.0 > 0.0 && edge.label.1 > 0.0;
        if has_label != label.is_some() {
            return Err(format!("{edge:?} has {label:?}"));
        }
        let Some(label) = label.filter(|_| edge.from != edge.to) else { continue };
        let pieces = 400 * route.curves.len();
        let points = (0..=pieces).map(|piece| route.at(piece as f64 / pieces as f64));
        let mut boxes = points
            .clone()
            .zip(points.skip(1))
            .map(|(a, b)| Rect::around(a, (0.0, 0.0)).union(Rect::around(b, (0.0, 0.0))).grown(1.0));
        if !boxes.any(|step| step.overlaps(&label)) {
            return Err(format!("{edge:?} passes by {label:?}"));
        }
    }
    Ok(())
}

/// Ends of edges are in different ranks, the first rank before and the last one behind all others.
fn ranks(graph: &Graph, layout: &Layout) -> Result<(), String> {
    let span = |node: usize| {
        let rect = &layout.nodes[node];
        match graph.direction {
            Direction::Down => (rect.y, rect.y + rect.height),
            Direction::Right => (rect.x, rect.x + rect.width),
        }
    };
    let is_before = |first: usize, second: usize| span(first).1 <= span(second).0 + ROUNDING;
    for edge in graph.edges.iter().filter(|edge| edge.from != edge.to) {
        if !is_before(edge.from, edge.to) && !is_before(edge.to, edge.from) {
            return Err(format!("{edge:?} joins nodes side by side"));
        }
    }
    for first in 0..graph.nodes.len() {
        for second in 0..graph.nodes.len() {
            if graph.nodes[first].limit < graph.nodes[second].limit && !is_before(first, second) {
                return Err(format!("node {first} is not before node {second}"));
            }
        }
    }
    Ok(())
}

fn node() -> impl Strategy<Value = Node> {
    let size = || prop_oneof![Just(0.0), 1.0..200.0_f64, Just(5_000.0)];
    (size(), size()).prop_map(|(width, height)| Node { width, height, ..Node::default() })
}

fn edge(nodes: usize) -> impl Strategy<Value = Edge> {
    let label = prop_oneof![Just((0.0, 0.0)), (1.0..90.0_f64, 1.0..30.0_f64)];
    (0..nodes, 0..nodes, 0..9_u32, label, 0..4_u32).prop_map(|(from, to, weight, label, min_length)| Edge {
        from,
        to,
        weight,
        label,
        min_length,
    })
}

fn graph() -> impl Strategy<Value = Graph> {
    let nodes = prop::collection::vec(node(), 1..18);
    (nodes, any::<bool>(), any::<bool>()).prop_flat_map(|(mut nodes, sideways, framed)| {
        if framed && nodes.len() > 2 {
            nodes[0].limit = RankLimit::First;
            nodes[1].limit = RankLimit::Last;
        }
        let edges = prop::collection::vec(edge(nodes.len()), 0..40);
        let direction = if sideways { Direction::Right } else { Direction::Down };
        edges.prop_map(move |edges| Graph {
            nodes: nodes.clone(),
            edges,
            direction,
            separation: Separation::default(),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn random_graphs_obey_the_laws(graph in graph()) {
        let found = layout(&graph).unwrap();
        prop_assert_eq!(check(&graph, &found), Ok(()));
        prop_assert_eq!(layout(&graph).unwrap(), found);
    }
}

#[test]
fn an_empty_graph_has_an_empty_layout() {
    assert_eq!(layout(&Graph::default()).unwrap(), Layout::default());
}
