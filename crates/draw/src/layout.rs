//! Where the parts of a drawn graph are.

use crate::error::DrawError;
use crate::label;
use crate::picture::Picture;
use crate::view::{Direction, View};
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{END, START};
use iotrail_layout::{Edge, Graph, Node, RankLimit};
pub use iotrail_layout::{Point, Rect, Route};
use std::collections::HashMap;

/// A drawn graph: everything in points, origin at the top left, y downwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Extent, from (0, 0).
    pub width: f64,
    /// Extent, from (0, 0).
    pub height: f64,
    /// ●
    pub start: Rect,
    /// ■
    pub end: Rect,
    /// Of each of [`Picture::nodes`].
    pub nodes: Vec<Rect>,
    /// Of each of [`Picture::edges`].
    pub edges: Vec<PlacedEdge>,
}

/// An edge and its label.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedEdge {
    /// From the border of one node to the border of the other, arrow head included.
    pub route: Route,
    /// Its label; overlaps no node and no other label.
    pub label: Rect,
}

/// Positions for the drawn part of `dfg`, which grows in `direction`.
///
/// # Errors
/// If the drawn part is too large.
pub fn layout(dfg: &Dfg, picture: &Picture, view: &View, direction: Direction) -> Result<Layout, DrawError> {
    let graph = Graph { direction: direction.of_layout(), ..graph_of(dfg, picture, view) };
    let placed = iotrail_layout::layout(&graph)?;
    let mut nodes = placed.nodes.into_iter();
    let (start, end) = (nodes.next().unwrap_or_default(), nodes.next().unwrap_or_default());
    let edges = (placed.routes.into_iter().zip(placed.labels))
        .map(|(route, label)| PlacedEdge { route, label: label.unwrap_or_default() })
        .collect();
    Ok(Layout { width: placed.width, height: placed.height, start, end, nodes: nodes.collect(), edges })
}

const TERMINAL: (f64, f64) = (22.0, 22.0);

fn graph_of(dfg: &Dfg, picture: &Picture, view: &View) -> Graph {
    let mut vertices = HashMap::from([(START, 0), (END, 1)]);
    let mut nodes = terminals(TERMINAL);
    for index in &picture.nodes {
        let node = &dfg.nodes[*index];
        vertices.insert(&node.activity, nodes.len());
        let (width, height) = label::NodeLabel::of(node, dfg, view).size();
        nodes.push(Node { width, height, ..Node::default() });
    }
    let most = picture.edges.iter().map(|index| dfg.edges[*index].count).max().unwrap_or(1);
    let edges = (picture.edges.iter())
        .filter_map(|index| {
            let edge = &dfg.edges[*index];
            Some(Edge {
                label: label::edge_label_size(&label::edge_label(edge, view.edge_measure)),
                weight: weight(edge.count, most),
                ..Edge::new(*vertices.get(&*edge.from)?, *vertices.get(&*edge.to)?)
            })
        })
        .collect();
    Graph { nodes, edges, ..Graph::default() }
}

/// The start, above all other nodes, and the end, below them.
#[must_use]
pub fn terminals((width, height): (f64, f64)) -> Vec<Node> {
    [RankLimit::First, RankLimit::Last].map(|limit| Node { width, height, limit }).to_vec()
}

/// 1 to 8 by orders of magnitude.
fn weight(count: u64, most: u64) -> u32 {
    let share = (count as f64 + 1.0).ln() / (most as f64 + 1.0).ln();
    1 + (share.clamp(0.0, 1.0) * 7.0) as u32
}
