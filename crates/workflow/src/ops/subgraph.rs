//! The part of a graph that some vertices and edges make, with an account of the rest.

use crate::graph::{Edge, Graph, VertexId};
use crate::ops::adjacency::vertices;
use std::sync::Arc;

/// The subgraph of the vertices for which `keep` holds and of the edges between them for which `keep_edge` holds.
/// What falls away is counted under `reason`; `sentence` is added to the history.
///
/// The span and the names of the phases stay those of the whole, so that a share of the time or a phase means the same in
/// every subgraph; so do the numbers of readers and writers of a file.
pub(crate) fn subgraph(
    graph: &Graph,
    reason: &str,
    sentence: String,
    keep: impl Fn(VertexId) -> bool,
    keep_edge: impl Fn(&Edge) -> bool,
) -> Graph {
    let mut result = empty_like(graph);
    let mut places: Vec<Option<VertexId>> = vec![None; graph.vertices.len()];
    let mut gone = 0_u64;
    for vertex in vertices(graph) {
        if keep(vertex) {
            places[vertex.index()] = Some(VertexId(result.vertices.len() as u32));
            result.vertices.push(graph.vertex(vertex).clone());
        } else {
            gone += u64::from(graph.vertex(vertex).members);
        }
    }
    for edge in &graph.edges {
        let ends = places[edge.from.index()].zip(places[edge.to.index()]);
        match ends.filter(|_| keep_edge(edge)) {
            Some((from, to)) => result.edges.push(Edge { from, to, ..edge.clone() }),
            None => leave_out_edge(&mut result, edge),
        }
    }
    leave_out_vertices(&mut result, reason, gone);
    result.history.push(sentence);
    result
}

/// A graph of no vertices that is otherwise as `graph`.
pub(crate) fn empty_like(graph: &Graph) -> Graph {
    Graph {
        view: graph.view,
        vertices: Vec::new(),
        edges: Vec::new(),
        phases: graph.phases.clone(),
        span: graph.span,
        resolution: graph.resolution,
        left_out: graph.left_out.clone(),
        notes: graph.notes.clone(),
        history: graph.history.clone(),
        waits: Arc::clone(&graph.waits),
    }
}

/// Counts an edge that is not in the graph any more.
pub(crate) fn leave_out_edge(graph: &mut Graph, edge: &Edge) {
    let left_out = &mut graph.left_out;
    left_out.bytes = left_out.bytes.saturating_add(edge.bytes());
    left_out.edges += u64::from(edge.members);
}

/// Counts vertices that are not in the graph any more.
pub(crate) fn leave_out_vertices(graph: &mut Graph, reason: &str, count: u64) {
    if count == 0 {
        return;
    }
    let reasons = &mut graph.left_out.vertices;
    match reasons.iter_mut().find(|(known, _)| known == reason) {
        Some((_, total)) => *total += count,
        None => reasons.push((reason.to_owned(), count)),
    }
}
