//! The engine that is always there: `dugong`, a layered layout in pure Rust (Sugiyama's method, network simplex ranks).

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
        let mut layers = layers(graph);
        dugong::layout(&mut layers).map_err(|error| DrawError::BuiltIn(error.to_string()))?;
        let vertices = (graph.sizes.iter().enumerate())
            .map(|(index, size)| vertex(&layers, index, *size))
            .collect::<Result<Vec<_>, _>>()?;
        let mut placement = Placement { vertices, ..Placement::default() };
        for (index, link) in graph.edges.iter().enumerate() {
            let (route, label) = route(&layers, index, link)?;
            placement.routes.push(route);
            placement.labels.push(label);
        }
        Ok(placement)
    }
}

/// A letter first, because dugong sorts names that look like numbers before all others.
fn name(vertex: usize) -> String {
    format!("v{vertex}")
}

fn layers(graph: &Graph) -> Layers {
    let mut layers =
        Layers::new(GraphOptions { directed: true, multigraph: true, ..GraphOptions::default() });
    layers.set_graph(GraphLabel {
        rankdir: if graph.sideways { RankDir::LR } else { RankDir::TB },
        nodesep: 26.0,
        ranksep: 22.0,
        edgesep: 10.0,
        ranker: Some("network-simplex".to_owned()),
        ..GraphLabel::default()
    });
    for (index, (width, height)) in graph.sizes.iter().enumerate() {
        layers.set_node(name(index), NodeLabel { width: *width, height: *height, ..NodeLabel::default() });
    }
    for (index, link) in graph.edges.iter().enumerate() {
        let label = EdgeLabel {
            width: link.label.0,
            height: link.label.1,
            weight: f64::from(link.weight),
            ..EdgeLabel::default()
        };
        layers.set_edge_named(name(link.from), name(link.to), Some(index.to_string()), Some(label));
    }
    layers
}

fn vertex(layers: &Layers, index: usize, size: (f64, f64)) -> Result<Rect, DrawError> {
    let node = layers.node(&name(index));
    match node.and_then(|node| Some((node.x?, node.y?))) {
        Some((x, y)) => Ok(Rect::around(Point::new(x, y), size)),
        None => Err(DrawError::BuiltIn(format!("vertex {index} has no place"))),
    }
}

fn route(layers: &Layers, index: usize, link: &Link) -> Result<(Route, Point), DrawError> {
    let edge = layers.edge(&name(link.from), &name(link.to), Some(&index.to_string()));
    let edge = edge.filter(|edge| edge.points.len() > 1);
    let Some(edge) = edge else { return Err(DrawError::BuiltIn(format!("edge {index} has no route"))) };
    let points: Vec<Point> = edge.points.iter().map(|point| Point::new(point.x, point.y)).collect();
    let route = Route::through(&points);
    let label = edge.x.zip(edge.y).map_or_else(|| route.at(0.5), |(x, y)| Point::new(x, y));
    Ok((route, label))
}
