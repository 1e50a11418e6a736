//! Whole processes: the parts that edges `continue` link are one.

use crate::graph::{Graph, Relation, VertexId};
use crate::ops::adjacency::vertices;

/// The whole processes of a graph, numbered in the order of their first parts.
pub(crate) struct Wholes {
    of: Vec<Option<u32>>,
    parts: Vec<Vec<VertexId>>,
}

impl Wholes {
    pub(crate) fn new(graph: &Graph) -> Self {
        let mut before: Vec<VertexId> = vertices(graph).collect();
        for edge in graph.edges.iter().filter(|edge| edge.relation == Relation::Continue) {
            let (from, to) = (root(&mut before, edge.from), root(&mut before, edge.to));
            let (first, other) = (from.min(to), from.max(to));
            before[other.index()] = first;
        }
        let mut wholes = Self { of: vec![None; graph.vertices.len()], parts: Vec::new() };
        for vertex in vertices(graph).filter(|vertex| graph.vertex(*vertex).process().is_some()) {
            let first = root(&mut before, vertex);
            let whole = match wholes.of[first.index()] {
                Some(whole) => whole,
                None => {
                    wholes.parts.push(Vec::new());
                    wholes.parts.len() as u32 - 1
                }
            };
            wholes.of[vertex.index()] = Some(whole);
            wholes.parts[whole as usize].push(vertex);
        }
        wholes
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The whole process that a vertex is part of; none for a file.
    pub(crate) fn of(&self, vertex: VertexId) -> Option<u32> {
        self.of[vertex.index()]
    }

    /// The parts of a whole process; never empty.
    pub(crate) fn parts(&self, whole: u32) -> &[VertexId] {
        &self.parts[whole as usize]
    }
}

fn root(before: &mut [VertexId], vertex: VertexId) -> VertexId {
    let mut at = vertex;
    while before[at.index()] != at {
        before[at.index()] = before[before[at.index()].index()];
        at = before[at.index()];
    }
    at
}
