//! Positions: one trait, two engines behind it, and a pass after them that keeps labels apart.
//!
//! An engine sees sizes and numbers only, never a name, so that nothing a trace contains reaches another program.

mod acyclic;
mod built_in;
mod geometry;
mod graphviz;
mod labels;
mod straighten;

pub use geometry::{Point, Rect, Route};

use crate::error::DrawError;
use crate::label;
use crate::picture::Picture;
use crate::view::{Direction, EngineChoice, View};
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{END, START};
use std::collections::HashMap;

/// A graph as an engine sees it.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Width and height of each vertex, points.
    pub sizes: Vec<(f64, f64)>,
    /// The edges.
    pub edges: Vec<Link>,
    /// Where the graph grows to.
    pub sideways: bool,
    /// Whether vertex 0 is the start, before all others, and vertex 1 the end.
    pub framed: bool,
}

/// An edge as an engine sees it.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Vertex before.
    pub from: usize,
    /// Vertex after.
    pub to: usize,
    /// Width and height of its label.
    pub label: (f64, f64),
    /// How much a short, straight route is worth, from 1.
    pub weight: u32,
}

/// What an engine found: a rectangle for each vertex, a route for each edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Of each vertex, in the order of [`Graph::sizes`].
    pub vertices: Vec<Rect>,
    /// Of each edge, in the order of [`Graph::edges`].
    pub routes: Vec<Route>,
    /// Where the engine would put the middle of each label.
    pub labels: Vec<Point>,
}

/// Finds positions.
pub trait LayoutEngine {
    /// The name a user knows it by.
    fn name(&self) -> &'static str;

    /// Positions for `graph`.
    ///
    /// # Errors
    /// If the engine is not there, fails, or takes too long.
    fn place(&self, graph: &Graph) -> Result<Placement, DrawError>;
}

/// A drawn graph: everything in points, origin at the top left, y downwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The engine that found it.
    pub engine: &'static str,
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

/// Positions for the drawn part of `dfg`.
///
/// # Errors
/// If the engine that `view` asks for gives none.
pub fn layout(dfg: &Dfg, picture: &Picture, view: &View) -> Result<Layout, DrawError> {
    let graph = graph_of(dfg, picture, view);
    let (engine, mut placement) = place(&graph, view.engine)?;
    let labels = labels::keep_apart(&graph, &placement);
    let (width, height, shift) = extent(&placement, &labels);
    placement.vertices.iter_mut().for_each(|rect| *rect = rect.moved(shift));
    let mut vertices = placement.vertices.into_iter();
    let (start, end) = (vertices.next().unwrap_or_default(), vertices.next().unwrap_or_default());
    let edges = (placement.routes.into_iter().zip(labels))
        .map(|(route, label)| PlacedEdge { route: route.moved(shift), label: label.moved(shift) })
        .collect();
    Ok(Layout { engine, width, height, start, end, nodes: vertices.collect(), edges })
}

/// Positions for any graph by the engine of choice, and that engine's name.
///
/// # Errors
/// If the engine of choice gives none; `auto` always has one to fall back to.
pub fn place(graph: &Graph, choice: EngineChoice) -> Result<(&'static str, Placement), DrawError> {
    let by = |engine: &dyn LayoutEngine| engine.place(graph).map(|placement| (engine.name(), placement));
    let (dot, built_in) = (graphviz::Graphviz::default(), built_in::BuiltIn);
    match choice {
        EngineChoice::Dot => by(&dot),
        EngineChoice::Dugong => by(&built_in),
        EngineChoice::Auto => by(&dot).or_else(|_| by(&built_in)),
    }
}

/// Label rectangles that overlap neither each other nor a vertex.
#[must_use]
pub fn place_labels(graph: &Graph, placement: &Placement) -> Vec<Rect> {
    labels::keep_apart(graph, placement)
}

const START_VERTEX: usize = 0;
const END_VERTEX: usize = 1;
const TERMINAL: (f64, f64) = (22.0, 22.0);

fn graph_of(dfg: &Dfg, picture: &Picture, view: &View) -> Graph {
    let mut vertices = HashMap::from([(START, START_VERTEX), (END, END_VERTEX)]);
    let mut sizes = vec![TERMINAL, TERMINAL];
    for index in &picture.nodes {
        let node = &dfg.nodes[*index];
        vertices.insert(&node.activity, sizes.len());
        sizes.push(label::NodeLabel::of(node, dfg, view).size());
    }
    let most = picture.edges.iter().map(|index| dfg.edges[*index].count).max().unwrap_or(1);
    let edges = (picture.edges.iter())
        .filter_map(|index| {
            let edge = &dfg.edges[*index];
            Some(Link {
                from: *vertices.get(&*edge.from)?,
                to: *vertices.get(&*edge.to)?,
                label: label::edge_label_size(&label::edge_label(edge, view.edge_measure)),
                weight: weight(edge.count, most),
            })
        })
        .collect();
    Graph { sizes, edges, sideways: view.direction == Direction::Right, framed: true }
}

/// 1 to 8 by orders of magnitude.
fn weight(count: u64, most: u64) -> u32 {
    let share = (count as f64 + 1.0).ln() / (most as f64 + 1.0).ln();
    1 + (share.clamp(0.0, 1.0) * 7.0) as u32
}

/// Width, height, and the shift that brings the top left corner to (0, 0).
fn extent(placement: &Placement, labels: &[Rect]) -> (f64, f64, Point) {
    let rects = placement.vertices.iter().chain(labels).copied();
    let routes = placement.routes.iter().map(Route::bounds);
    let all = rects.chain(routes).reduce(Rect::union).unwrap_or_default();
    (all.width, all.height, Point { x: -all.x, y: -all.y })
}
