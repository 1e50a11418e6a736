//! Edges from a node to itself: beside the node, one outside the other, each label beyond its loop.

use crate::geometry::{Point, Rect, Route};
use crate::graph::Graph;

/// How far a loop reaches beyond the node, or beyond the label of the loop inside it.
const REACH: f64 = 24.0;
/// Distance of a label from lines.
const GAP: f64 = 3.0;
/// Half the distance of the ends of a loop is at most this.
const HALF_OPENING: f64 = 18.0;

/// What a node needs for its loops: beside it, and across ranks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    pub(crate) breadth: f64,
    pub(crate) depth: f64,
}

/// By node, the room for its loops.
pub(crate) fn rooms(graph: &Graph) -> Vec<Room> {
    let mut rooms = vec![Room::default(); graph.nodes.len()];
    for edge in graph.edges.iter().filter(|edge| edge.is_loop()) {
        let (breadth, depth) = graph.direction.breadth_and_depth(edge.label);
        let room = &mut rooms[edge.from];
        room.breadth += REACH + if edge.has_label() { breadth + 2.0 * GAP } else { 0.0 };
        room.depth = room.depth.max(depth + 4.0 * GAP);
    }
    rooms
}

/// A loop and the box of its label.
pub(crate) struct SelfLoop {
    pub(crate) edge: usize,
    pub(crate) route: Route,
    pub(crate) label: Option<Rect>,
}

/// The loops `edges` of a node that fills `rect`; everything as if ranks lay one below the other.
pub(crate) fn loops(graph: &Graph, edges: &[usize], rect: Rect) -> Vec<SelfLoop> {
    let Point { y: middle, .. } = rect.middle();
    let right = rect.x + rect.width;
    let opening = (rect.height / 4.0).min(HALF_OPENING);
    let mut outside = right;
    let mut bulge = opening;
    let mut loops = Vec::with_capacity(edges.len());
    for (index, edge) in edges.iter().enumerate() {
        let half = opening * (index + 1) as f64 / edges.len() as f64;
        bulge = bulge.max(half);
        outside += REACH;
        let route = around(right, middle, half, outside, bulge);
        let (breadth, depth) = graph.direction.breadth_and_depth(graph.edges[*edge].label);
        let label = graph.edges[*edge].has_label().then(|| {
            let rect = Rect { x: outside + GAP, y: middle - depth / 2.0, width: breadth, height: depth };
            outside += breadth + 2.0 * GAP;
            bulge = bulge.max(depth / 2.0 + 2.0 * GAP);
            rect
        });
        loops.push(SelfLoop { edge: *edge, route, label });
    }
    loops
}

/// From the upper to the lower end, `half` above and below the middle, by a turn at `outside`.
fn around(right: f64, middle: f64, half: f64, outside: f64, bulge: f64) -> Route {
    let point = Point::new;
    let bend = right + (outside - right) * 0.6;
    Route {
        start: point(right, middle - half),
        curves: vec![
            [point(bend, middle - bulge), point(outside, middle - bulge), point(outside, middle)],
            [point(outside, middle + bulge), point(bend, middle + bulge), point(right, middle + half)],
        ],
    }
}
