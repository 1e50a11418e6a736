//! The engine that is always there: `dugong`, a layered layout in pure Rust (Sugiyama's method, network simplex ranks).

use super::acyclic;
use super::geometry::{Point, Rect, Route};
use super::{Graph, LayoutEngine, Link, Placement};
use crate::error::DrawError;
use dugong::graphlib::{Graph as Dagre, GraphOptions};
use dugong::{EdgeLabel, GraphLabel, NodeLabel, RankDir};

pub(super) struct BuiltIn;

type Layers = Dagre<NodeLabel, EdgeLabel, GraphLabel>;

impl LayoutEngine for BuiltIn {
    fn name(&self) -> &'static str {
        "dugong"
    }

    fn place(&self, graph: &Graph) -> Result<Placement, DrawError> {
        let turned = acyclic::turned(graph);
        let mut layers = layers(graph, &turned);
        dugong::layout(&mut layers).map_err(|error| DrawError::BuiltIn(error.to_string()))?;
        let vertices = (graph.sizes.iter().enumerate())
            .map(|(index, size)| vertex(&layers, index, *size))
            .collect::<Result<Vec<_>, _>>()?;
        let mut placement = Placement { vertices, ..Placement::default() };
        for (index, link) in graph.edges.iter().enumerate() {
            let (route, label) = if link.from == link.to {
                beside(placement.vertices[link.from], link)
            } else {
                route(&layers, index, link, turned[index], &placement.vertices)?
            };
            placement.routes.push(route);
            placement.labels.push(label);
        }
        Ok(placement)
    }
}

/// How far a loop reaches beyond its vertex.
const LOOP: f64 = 26.0;

/// A letter first, because dugong sorts names that look like numbers before all others.
fn name(vertex: usize) -> String {
    format!("v{vertex}")
}

fn layers(graph: &Graph, turned: &[bool]) -> Layers {
    let mut layers =
        Layers::new(GraphOptions { directed: true, multigraph: true, ..GraphOptions::default() });
    layers.set_graph(GraphLabel {
        rankdir: if graph.sideways { RankDir::LR } else { RankDir::TB },
        nodesep: 24.0,
        ranksep: 20.0,
        edgesep: 9.0,
        ranker: Some("network-simplex".to_owned()),
        ..GraphLabel::default()
    });
    let loops = loop_widths(graph);
    for (index, (width, height)) in graph.sizes.iter().enumerate() {
        // A loop is drawn at the right; the same room at the left keeps the box in the middle.
        let width = width + 2.0 * loops[index];
        layers.set_node(name(index), NodeLabel { width, height: *height, ..NodeLabel::default() });
    }
    for (index, link) in graph.edges.iter().enumerate().filter(|(_, link)| link.from != link.to) {
        let (width, height) = link.label;
        let label = EdgeLabel { width, height, weight: f64::from(link.weight), ..EdgeLabel::default() };
        let (from, to) = ends(link, turned[index]);
        layers.set_edge_named(name(from), name(to), Some(index.to_string()), Some(label));
    }
    for (from, to) in acyclic::framing(graph, turned) {
        // A weight of 0 would make a barycentre 0/0, which dugong's ordering does not survive.
        let label = EdgeLabel { weight: 0.001, ..EdgeLabel::default() };
        layers.set_edge_named(name(from), name(to), Some("frame".to_owned()), Some(label));
    }
    layers
}

fn loop_widths(graph: &Graph) -> Vec<f64> {
    let mut widths = vec![0.0; graph.sizes.len()];
    for link in graph.edges.iter().filter(|link| link.from == link.to) {
        widths[link.from] = LOOP + link.label.0;
    }
    widths
}

fn ends(link: &Link, turned: bool) -> (usize, usize) {
    if turned { (link.to, link.from) } else { (link.from, link.to) }
}

fn vertex(layers: &Layers, index: usize, size: (f64, f64)) -> Result<Rect, DrawError> {
    let node = layers.node(&name(index));
    match node.and_then(|node| Some((node.x?, node.y?))) {
        Some((x, y)) => Ok(Rect::around(Point::new(x, y), size)),
        None => Err(DrawError::BuiltIn(format!("vertex {index} has no place"))),
    }
}

fn beside(rect: Rect, link: &Link) -> (Route, Point) {
    let label = Point::new(rect.x + rect.width + LOOP + link.label.0 / 2.0 + 2.0, rect.middle().y);
    (Route::loop_beside(rect, LOOP), label)
}

fn route(
    layers: &Layers,
    index: usize,
    link: &Link,
    turned: bool,
    vertices: &[Rect],
) -> Result<(Route, Point), DrawError> {
    let (from, to) = ends(link, turned);
    let edge = layers.edge(&name(from), &name(to), Some(&index.to_string()));
    let Some(edge) = edge.filter(|edge| edge.points.len() > 1) else {
        return Err(DrawError::BuiltIn(format!("edge {index} has no route")));
    };
    let mut points: Vec<Point> = edge.points.iter().map(|point| Point::new(point.x, point.y)).collect();
    // Both ends are where dugong's boxes end, which have room for loops.
    let last = points.len() - 1;
    points[0] = vertices[from].border_towards(points[1]);
    points[last] = vertices[to].border_towards(points[last - 1]);
    let route = Route::through(&points);
    let label = edge.x.zip(edge.y).map_or_else(|| route.at(0.5), |(x, y)| Point::new(x, y));
    Ok((if turned { route.reversed() } else { route }, label))
}
