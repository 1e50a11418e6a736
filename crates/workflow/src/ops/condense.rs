//! A graph that a person can read: joined until it is small enough.

use crate::graph::{Graph, VertexId};
use crate::ops::aggregate::{Aggregation, FileKey, ProcessKey, aggregate_mapped};

/// How many vertices a person can still read.
pub const READABLE: usize = 80;

/// The graph joined no more than it takes to have at most `limit` vertices, and what became of each vertex; none if it has
/// no more anyway. What cannot be joined further may still be more.
#[must_use]
pub fn condense(graph: &Graph, limit: usize) -> Option<(Graph, Vec<VertexId>)> {
    if graph.vertices.len() <= limit {
        return None;
    }
    let tries = [
        (None, FileKey::Template),
        (Some(ProcessKey::Exe), FileKey::Template),
        (Some(ProcessKey::Exe), FileKey::Dir),
        (Some(ProcessKey::Exe), FileKey::Ext),
        (Some(ProcessKey::Exe), FileKey::All),
    ];
    let mut joined = None;
    for (process, file) in tries {
        let tried = aggregate_mapped(graph, &Aggregation { process, file: Some(file) });
        let is_enough = tried.0.vertices.len() <= limit;
        joined = Some(tried);
        if is_enough {
            break;
        }
    }
    joined
}
