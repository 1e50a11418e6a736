//! Cycles of a graph of whole files, so that they are reported and never silently dropped.

use crate::graph::{Graph, VertexId};

const UNSEEN: u32 = u32::MAX;

/// The strongly connected components of more than one vertex, each sorted, the one with the first vertex first. A graph of
/// versions has none.
///
/// Tarjan, "Depth-First Search and Linear Graph Algorithms" (1972), with a stack of its own: a chain of a million files must
/// not need a million frames.
#[must_use]
pub fn cycles(graph: &Graph) -> Vec<Vec<VertexId>> {
    let count = graph.vertices.len();
    let mut first = vec![graph.edges.len(); count + 1];
    for (place, edge) in graph.edges.iter().enumerate().rev() {
        first[edge.from.index()] = place;
    }
    for vertex in (0..count).rev() {
        first[vertex] = first[vertex].min(first[vertex + 1]);
    }
    let mut search = Search {
        graph,
        first,
        index: vec![UNSEEN; count],
        low: vec![0; count],
        on_stack: vec![false; count],
        stack: Vec::new(),
        found: Vec::new(),
        next: 0,
    };
    for vertex in 0..count {
        if search.index[vertex] == UNSEEN {
            search.visit(vertex);
        }
    }
    let mut found = search.found;
    found.sort_unstable();
    found
}

struct Search<'a> {
    graph: &'a Graph,
    /// The first edge that leaves each vertex; edges are sorted by where they begin.
    first: Vec<usize>,
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    found: Vec<Vec<VertexId>>,
    next: u32,
}

impl Search<'_> {
    fn enter(&mut self, vertex: usize) -> (usize, usize) {
        self.index[vertex] = self.next;
        self.low[vertex] = self.next;
        self.next += 1;
        self.stack.push(vertex);
        self.on_stack[vertex] = true;
        (vertex, self.first[vertex])
    }

    fn visit(&mut self, root: usize) {
        let mut calls = vec![self.enter(root)];
        while let Some((vertex, edge)) = calls.last_mut() {
            let vertex = *vertex;
            if *edge < self.first[vertex + 1] {
                let to = self.graph.edges[*edge].to.index();
                *edge += 1;
                if self.index[to] == UNSEEN {
                    calls.push(self.enter(to));
                } else if self.on_stack[to] {
                    self.low[vertex] = self.low[vertex].min(self.index[to]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                self.low[*parent] = self.low[*parent].min(self.low[vertex]);
            }
            if self.low[vertex] == self.index[vertex] {
                self.leave(vertex);
            }
        }
    }

    /// Takes a component off the stack; `root` is its first vertex there.
    fn leave(&mut self, root: usize) {
        let start = self.stack.iter().rposition(|vertex| *vertex == root).unwrap_or(0);
        let mut members: Vec<VertexId> =
            self.stack.drain(start..).map(|vertex| VertexId(vertex as u32)).collect();
        members.iter().for_each(|member| self.on_stack[member.index()] = false);
        if members.len() > 1 {
            members.sort_unstable();
            self.found.push(members);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Edge, Facts, FileVertex, Relation, Transfer, Vertex};

    fn graph(count: u32, edges: &[(u32, u32)]) -> Graph {
        let vertex = |n: u32| Vertex {
            key: n.to_string().into(),
            label: n.to_string().into(),
            phase: None,
            members: 1,
            time: None,
            facts: Facts::File(FileVertex::default()),
        };
        let edge = |&(from, to): &(u32, u32)| Edge {
            from: VertexId(from),
            to: VertexId(to),
            relation: Relation::Write,
            read: Transfer::default(),
            written: Transfer::default(),
            first: None,
            last: None,
            members: 1,
        };
        let mut edges: Vec<Edge> = edges.iter().map(edge).collect();
        edges.sort_by_key(|edge| (edge.from, edge.to));
        Graph { vertices: (0..count).map(vertex).collect(), edges, ..Graph::default() }
    }

    #[test]
    fn each_component_is_reported_once_and_what_only_leads_to_it_is_not() {
        let graph = graph(8, &[(0, 1), (1, 2), (2, 0), (2, 3), (4, 5), (5, 6), (6, 5), (7, 4), (3, 4)]);
        let found: Vec<Vec<u32>> = cycles(&graph)
            .into_iter()
            .map(|cycle| cycle.into_iter().map(|vertex| vertex.0).collect())
            .collect();
        assert_eq!(found, [vec![0, 1, 2], vec![5, 6]]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let mut edges: Vec<(u32, u32)> = (0..200_000).map(|n| (n, n + 1)).collect();
        assert!(cycles(&graph(200_001, &edges)).is_empty());
        edges.push((200_000, 0));
        assert_eq!(cycles(&graph(200_001, &edges))[0].len(), 200_001);
    }
}
