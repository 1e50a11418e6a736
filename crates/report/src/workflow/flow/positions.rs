//! Positions of the joined graph from left to right, in whole points. What the page opens makes room for itself and keeps this order.

use super::join::{Group, Joined};
use crate::positions::{rect, route};
use iotrail_draw::DrawError;
use iotrail_layout::{Direction, Edge, Graph, Node, layout};
use std::cmp::Reverse;

const HEIGHT: f64 = 44.0;
const WIDTHS: (f64, f64) = (104.0, 250.0);
const CHARACTER: f64 = 7.2;
const PADDING: f64 = 22.0;

/// Boxes of the groups, and routes of the links: empty for those that the layout makes no room for.
type Positions = (Vec<[i32; 4]>, Vec<Vec<i32>>);

pub(super) fn positions(joined: &Joined, room: usize) -> Result<Positions, DrawError> {
    let boxes = joined.groups.iter();
    let nodes = boxes.map(|group| Node { width: width(group), height: HEIGHT, ..Node::default() }).collect();
    let most =
        joined.links.iter().map(|link| link.edge.read.saturating_add(link.edge.written)).max().unwrap_or(0);
    let mut routed: Vec<usize> = (0..joined.links.len()).collect();
    let bytes = |at: &usize| joined.links[*at].edge.read.saturating_add(joined.links[*at].edge.written);
    routed.sort_by_key(|at| (!joined.links[*at].edge.critical, Reverse(bytes(at)), *at));
    routed.truncate(room);
    routed.sort_unstable();
    let link = |at: &usize| {
        let edge = &joined.links[*at].edge;
        let share = (bytes(at) as f64 + 1.0).ln() / (most as f64 + 2.0).ln();
        let weight = if edge.critical { 8 } else { 1 + (share.clamp(0.0, 1.0) * 5.0) as u32 };
        Edge { weight, ..Edge::new(edge.from as usize, edge.to as usize) }
    };
    let edges = routed.iter().map(link).collect();
    let graph = Graph { nodes, edges, direction: Direction::Right, ..Graph::default() };
    let placed = layout(&graph).map_err(DrawError::from)?;
    let mut routes = vec![Vec::new(); joined.links.len()];
    for (at, way) in routed.into_iter().zip(&placed.routes) {
        routes[at] = route(way);
    }
    Ok((placed.nodes.iter().map(rect).collect(), routes))
}

fn width(group: &Group) -> f64 {
    let characters = iotrail_model::text::printable(&group.label).chars().count() as f64;
    characters.mul_add(CHARACTER, PADDING).clamp(WIDTHS.0, WIDTHS.1)
}
