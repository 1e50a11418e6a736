//! Sums over the edges of each vertex.

use crate::graph::Graph;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Total {
    pub(super) bytes: u64,
    pub(super) calls: u64,
    pub(super) degree: u64,
}

/// The sums of all vertices.
pub(super) struct Totals(Vec<Total>);

impl Totals {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut totals = vec![Total::default(); graph.vertices.len()];
        for edge in &graph.edges {
            for end in [edge.from, edge.to] {
                let total = &mut totals[end.index()];
                total.bytes = total.bytes.saturating_add(edge.bytes());
                total.calls = total.calls.saturating_add(edge.calls());
                total.degree += 1;
            }
        }
        Self(totals)
    }

    pub(super) fn of(&self, vertex: crate::graph::VertexId) -> Total {
        self.0[vertex.index()]
    }
}
