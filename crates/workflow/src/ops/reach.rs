//! What a vertex came from, and what came of it.

use crate::graph::{EdgeId, Graph, VertexId};
use crate::ops::adjacency::Adjacency;
use crate::ops::subgraph::subgraph;

/// The given vertices and everything that leads to them.
#[must_use]
pub fn ancestors(graph: &Graph, of: &[VertexId], named: &str) -> Graph {
    let incoming = Adjacency::incoming(graph);
    let reached = reached(graph, of, &incoming, |edge| graph.edge(edge).from);
    let sentence = format!("ancestors of {named}");
    subgraph(graph, "no ancestors", sentence, |vertex| reached[vertex.index()], |_| true)
}

/// The given vertices and everything that they lead to.
#[must_use]
pub fn descendants(graph: &Graph, of: &[VertexId], named: &str) -> Graph {
    let outgoing = Adjacency::outgoing(graph);
    let reached = reached(graph, of, &outgoing, |edge| graph.edge(edge).to);
    let sentence = format!("descendants of {named}");
    subgraph(graph, "no descendants", sentence, |vertex| reached[vertex.index()], |_| true)
}

/// The given vertices and all to which an edge leads from them, or from which one leads to them.
#[must_use]
pub fn neighbours(graph: &Graph, of: &[VertexId], named: &str) -> Graph {
    let mut chosen = vec![false; graph.vertices.len()];
    for vertex in of {
        chosen[vertex.index()] = true;
    }
    let mut kept = chosen.clone();
    for edge in &graph.edges {
        kept[edge.from.index()] |= chosen[edge.to.index()];
        kept[edge.to.index()] |= chosen[edge.from.index()];
    }
    let sentence = format!("neighbours of {named}");
    subgraph(graph, "no neighbours", sentence, |vertex| kept[vertex.index()], |_| true)
}

fn reached(
    graph: &Graph,
    of: &[VertexId],
    edges: &Adjacency,
    other: impl Fn(EdgeId) -> VertexId,
) -> Vec<bool> {
    let mut reached = vec![false; graph.vertices.len()];
    let mut waiting: Vec<VertexId> = of.to_vec();
    while let Some(vertex) = waiting.pop() {
        if !std::mem::replace(&mut reached[vertex.index()], true) {
            waiting.extend(edges.of(vertex).iter().map(|edge| other(*edge)));
        }
    }
    reached
}
