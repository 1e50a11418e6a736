//! The picture of a workflow: processes, files, and what flows between them.
//!
//! Dun et al., section 6.3.4, Fig. 13 and 14: processes are ellipses with command and lifetime, files are boxes with
//! their base name, edges of data are solid and say bytes and rate, edges between processes are dotted, the head of an
//! arrow tells the operation, and a critical path has a colour of its own.

mod ellipse;
mod heads;
mod label;
mod place;
mod scene;
mod select;
mod widths;

pub use scene::scene;

use crate::view::{Direction, choices};
use iotrail_workflow::graph::{EdgeId, VertexId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

choices! {
    /// What the width of an edge means.
    EdgeWidth {
        /// Bytes: wide edges carry much.
        Bytes = "bytes",
        /// Inverse of the rate: wide edges are slow (Dun et al., section 6.3.4).
        InverseRate = "inverse-rate",
    }
}

/// Vertices and edges that stand out: a critical path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlight {
    /// What it is, for the legend: `critical path, 12.3 s`.
    pub name: String,
    /// Vertices on it.
    pub vertices: BTreeSet<VertexId>,
    /// Edges on it.
    pub edges: BTreeSet<EdgeId>,
}

/// How somebody wants to see a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowView {
    /// Printed above the picture.
    pub title: String,
    /// What stands out.
    pub highlight: Option<Highlight>,
    /// What the width of edges means.
    pub width: EdgeWidth,
    /// Draw at most this many vertices: what stands out first, then what hangs on it by the most bytes.
    pub max_vertices: usize,
    /// Where the graph grows to; without a wish the way that fits a page better.
    pub direction: Option<Direction>,
}

impl Default for FlowView {
    fn default() -> Self {
        Self {
            title: "Workflow".to_owned(),
            highlight: None,
            width: EdgeWidth::Bytes,
            max_vertices: 80,
            direction: None,
        }
    }
}

/// Whether `edge` is on the path that stands out.
fn stands_out(view: &FlowView, edge: EdgeId) -> bool {
    view.highlight.as_ref().is_some_and(|path| path.edges.contains(&edge))
}
