//! Topological order, or a cycle.

use crate::graph::{Graph, VertexId};
use crate::ops::adjacency::{Adjacency, vertices};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// All vertices such that every edge leads forward, each as early in the order of the graph as that allows.
///
/// # Errors
/// The vertices of a cycle, in its order.
pub(crate) fn topological(graph: &Graph) -> Result<Vec<VertexId>, Vec<VertexId>> {
    let is_sorted = graph.edges.iter().all(|edge| edge.from < edge.to);
    if is_sorted {
        return Ok(vertices(graph).collect());
    }
    let outgoing = Adjacency::outgoing(graph);
    let mut waits_for = vec![0_u32; graph.vertices.len()];
    for edge in &graph.edges {
        waits_for[edge.to.index()] += 1;
    }
    let mut ready: BinaryHeap<Reverse<VertexId>> =
        vertices(graph).filter(|vertex| waits_for[vertex.index()] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(graph.vertices.len());
    while let Some(Reverse(vertex)) = ready.pop() {
        order.push(vertex);
        for edge in outgoing.of(vertex) {
            let to = graph.edge(*edge).to;
            waits_for[to.index()] -= 1;
            if waits_for[to.index()] == 0 {
                ready.push(Reverse(to));
            }
        }
    }
    if order.len() == graph.vertices.len() { Ok(order) } else { Err(cycle(graph, &waits_for)) }
}

/// A cycle among the vertices that still wait: each of them has a predecessor that waits too.
fn cycle(graph: &Graph, waits_for: &[u32]) -> Vec<VertexId> {
    let waits = |vertex: VertexId| waits_for[vertex.index()] > 0;
    let mut before: Vec<Option<VertexId>> = vec![None; graph.vertices.len()];
    for edge in graph.edges.iter().rev().filter(|edge| waits(edge.from) && waits(edge.to)) {
        before[edge.to.index()] = Some(edge.from);
    }
    let mut seen: Vec<Option<usize>> = vec![None; graph.vertices.len()];
    let mut walk: Vec<VertexId> = Vec::new();
    let mut at = vertices(graph).find(|vertex| waits(*vertex));
    while let Some(vertex) = at {
        if let Some(first) = seen[vertex.index()] {
            let mut cycle = walk.split_off(first);
            cycle.reverse();
            return cycle;
        }
        seen[vertex.index()] = Some(walk.len());
        walk.push(vertex);
        at = before[vertex.index()];
    }
    walk
}
