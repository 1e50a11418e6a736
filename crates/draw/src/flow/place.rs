//! Where vertices and edges of a workflow are.

use super::select::Selection;
use super::{FlowView, label};
use crate::error::DrawError;
use crate::layout::Rect;
use crate::view::Direction;
use iotrail_layout::{Edge, Layout, Node};
use iotrail_workflow::graph::{EdgeId, Graph, Vertex, VertexId};
use std::collections::HashMap;

/// How much wider an ellipse is than the text in it, and how much higher.
const AROUND: (f64, f64) = (1.24, 1.5);
const INSIDE: (f64, f64) = (9.0, 6.0);
/// An ellipse is at least so much wider than high.
const FLAT: f64 = 1.5;

/// Positions in the direction that is wished for, else in the one that fits a page better.
pub(super) fn place(graph: &Graph, selection: &Selection, view: &FlowView) -> Result<Layout, DrawError> {
    let in_direction = |direction: Direction| {
        iotrail_layout::layout(&iotrail_layout::Graph {
            nodes: selection.vertices.iter().map(|vertex| node(graph.vertex(*vertex))).collect(),
            edges: edges(graph, selection, view),
            direction: direction.of_layout(),
            ..Default::default()
        })
    };
    let first = in_direction(view.direction.unwrap_or(Direction::Down))?;
    if view.direction.is_some() || squareness(&first) > WIDE_ENOUGH {
        return Ok(first);
    }
    let other = in_direction(Direction::Right)?;
    Ok(if squareness(&other) > squareness(&first) { other } else { first })
}

/// How near to a square a picture must be to be taken without looking at the other one.
const WIDE_ENOUGH: f64 = 0.4;

/// The shorter side over the longer one; small pictures fit any page.
fn squareness(layout: &Layout) -> f64 {
    let all = layout.nodes.iter().copied().reduce(Rect::union).unwrap_or_default();
    let (shorter, longer) = (all.width.min(all.height), all.width.max(all.height));
    if longer <= FITS { 1.0 } else { shorter / longer }
}

/// So wide a picture is read without looking closely.
const FITS: f64 = 1600.0;

fn node(vertex: &Vertex) -> Node {
    let (width, height) = label::extent(&label::lines(vertex));
    let (width, height) = if vertex.process().is_some() {
        let height = height * AROUND.1 + 4.0;
        ((width * AROUND.0 + 14.0).max(FLAT * height), height)
    } else {
        (width + 2.0 * INSIDE.0, height + 2.0 * INSIDE.1)
    };
    Node { width: width.max(40.0).ceil(), height: height.max(24.0).ceil(), ..Node::default() }
}

fn edges(graph: &Graph, selection: &Selection, view: &FlowView) -> Vec<Edge> {
    let places: HashMap<VertexId, usize> =
        selection.vertices.iter().enumerate().map(|(index, vertex)| (*vertex, index)).collect();
    let most = selection.edges.iter().map(|edge| graph.edge(*edge).bytes()).max().unwrap_or(0);
    let link = |id: &EdgeId| {
        let edge = graph.edge(*id);
        let share = (edge.bytes() as f64 + 1.0).ln() / (most as f64 + 2.0).ln();
        Some(Edge {
            label: label::edge(edge).map_or((0.0, 0.0), |label| label::edge_size(&label)),
            weight: if super::stands_out(view, *id) { 8 } else { 1 + (share * 4.0) as u32 },
            ..Edge::new(*places.get(&edge.from)?, *places.get(&edge.to)?)
        })
    };
    selection.edges.iter().filter_map(link).collect()
}
