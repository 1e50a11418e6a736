//! Layered layout of directed graphs: boxes in ranks, edges as smooth curves, labels as part of the layout.
//!
//! Sugiyama's method as of Gansner, Koutsofios, North and Vo, "A Technique for Drawing Directed Graphs" (IEEE TSE 19(3),
//! 1993): edges that close cycles are turned round (`acyclic`), ranks are found by network simplex (`rank`, `simplex`),
//! edges over several ranks and labels get places of their own (`layers`), the order within ranks is that with the fewest
//! crossings found (`order`, `crossings`), coordinates within ranks are again a network simplex (`position`), and edges
//! are the shortest smooth curves between what is left and right of them (`route`, `curve`).
//!
//! Everything is deterministic: of equal choices the first in the order of the input is taken, and work is bounded by
//! counts, never by time.

mod acyclic;
mod component;
mod crossings;
mod curve;
mod geometry;
mod graph;
mod layers;
mod order;
mod pack;
mod ports;
mod position;
mod rank;
mod route;
mod self_loop;
mod simplex;

pub use geometry::{Point, Rect, Route};
pub use graph::{Direction, Edge, Graph, LayoutError, Node, RankLimit, Separation};

/// Where everything is: points, y downwards, the upper left corner of the whole at (0, 0).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// Extent from (0, 0).
    pub width: f64,
    /// Extent from (0, 0).
    pub height: f64,
    /// Of each of [`Graph::nodes`]. No two overlap.
    pub nodes: Vec<Rect>,
    /// Of each of [`Graph::edges`], from the border of one node to that of the other.
    pub routes: Vec<Route>,
    /// Of each edge the box of its label, which overlaps nothing else; `None` without a label.
    pub labels: Vec<Option<Rect>>,
}

/// Lays out `graph`.
///
/// # Errors
/// If a size is not finite, negative or beyond 10 million points, an edge names a node that is not there, or the graph is so large
/// that its layout would take minutes.
pub fn layout(graph: &Graph) -> Result<Layout, LayoutError> {
    graph.check()?;
    let turned = acyclic::turned(graph);
    let mut parts = Vec::new();
    for component in component::components(graph) {
        let layout = component.layout(graph, &turned)?;
        parts.push((component, layout));
    }
    Ok(pack::packed(graph, parts))
}
