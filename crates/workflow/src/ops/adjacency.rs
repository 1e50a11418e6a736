//! Edges by vertex, in two arrays: what the linear algorithms walk over.

use crate::graph::{Edge, EdgeId, Graph, VertexId};

/// The edges out of, or into, each vertex, in the order of the graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Adjacency {
    first: Vec<u32>,
    edges: Vec<EdgeId>,
}

impl Adjacency {
    /// The edges that leave each vertex.
    pub(crate) fn outgoing(graph: &Graph) -> Self {
        Self::by(graph, |edge| edge.from)
    }

    /// The edges that enter each vertex.
    pub(crate) fn incoming(graph: &Graph) -> Self {
        Self::by(graph, |edge| edge.to)
    }

    fn by(graph: &Graph, end: impl Fn(&Edge) -> VertexId) -> Self {
        let mut first = vec![0_u32; graph.vertices.len() + 1];
        for edge in &graph.edges {
            first[end(edge).index() + 1] += 1;
        }
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut next = first.clone();
        let mut edges = vec![EdgeId(0); graph.edges.len()];
        for (index, edge) in graph.edges.iter().enumerate() {
            let slot = &mut next[end(edge).index()];
            edges[*slot as usize] = EdgeId(index as u32);
            *slot += 1;
        }
        Self { first, edges }
    }

    /// The edges of `vertex`.
    pub(crate) fn of(&self, vertex: VertexId) -> &[EdgeId] {
        &self.edges[self.first[vertex.index()] as usize..self.first[vertex.index() + 1] as usize]
    }

    /// How many edges `vertex` has.
    pub(crate) fn degree(&self, vertex: VertexId) -> u32 {
        self.first[vertex.index() + 1] - self.first[vertex.index()]
    }
}

/// The ids of all vertices.
pub(crate) fn vertices(graph: &Graph) -> impl DoubleEndedIterator<Item = VertexId> + use<> {
    (0..graph.vertices.len() as u32).map(VertexId)
}
