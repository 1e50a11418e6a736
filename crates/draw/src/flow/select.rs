//! Which part of a workflow is drawn: what stands out, then what moves the most bytes.

use super::FlowView;
use iotrail_model::units;
use iotrail_workflow::graph::{EdgeId, Graph, VertexId};
use std::collections::BTreeSet;

/// The drawn part, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    pub(super) vertices: Vec<VertexId>,
    /// Both ends of each are drawn.
    pub(super) edges: Vec<EdgeId>,
}

/// At most so many edges for each drawn vertex: more are a black square.
const EDGES_PER_VERTEX: usize = 4;

impl Selection {
    pub(super) fn of(graph: &Graph, view: &FlowView) -> Self {
        let vertices = important(graph, view);
        let stands_out = |edge: usize| {
            view.highlight.as_ref().is_some_and(|path| path.edges.contains(&EdgeId(edge as u32)))
        };
        let mut edges: Vec<usize> = (0..graph.edges.len())
            .filter(|index| {
                let edge = &graph.edges[*index];
                vertices.contains(&edge.from) && vertices.contains(&edge.to)
            })
            .collect();
        edges.sort_by_key(|index| {
            (!stands_out(*index), std::cmp::Reverse(graph.edges[*index].bytes()), *index)
        });
        edges.truncate(EDGES_PER_VERTEX * view.max_vertices.max(1));
        edges.sort_unstable();
        let edges = edges.into_iter().map(|index| EdgeId(index as u32)).collect();
        Self { vertices: vertices.into_iter().collect(), edges }
    }

    /// What is not drawn, in words; nothing if all is.
    pub(super) fn hidden(&self, graph: &Graph) -> Option<String> {
        let bytes = |edges: &mut dyn Iterator<Item = u64>| edges.fold(0_u64, u64::saturating_add);
        let all = bytes(&mut graph.edges.iter().map(|edge| edge.bytes()));
        let drawn = bytes(&mut self.edges.iter().map(|edge| graph.edge(*edge).bytes()));
        let vertices = graph.vertices.len() - self.vertices.len();
        let edges = graph.edges.len() - self.edges.len();
        let share = if all == 0 { 0.0 } else { (all - drawn) as f64 / all as f64 };
        (vertices + edges > 0).then(|| {
            format!(
                "Hidden, because they are too many to be read: {} of {} vertices, {} of {} edges ({} of all bytes). Aggregate the graph to see it whole.",
                units::count(vertices as u64),
                units::count(graph.vertices.len() as u64),
                units::count(edges as u64),
                units::count(graph.edges.len() as u64),
                units::percent(share)
            )
        })
    }
}

fn important(graph: &Graph, view: &FlowView) -> BTreeSet<VertexId> {
    let all = (0..graph.vertices.len()).map(|index| VertexId(index as u32));
    if graph.vertices.len() <= view.max_vertices {
        return all.collect();
    }
    let mut bytes = vec![0_u64; graph.vertices.len()];
    for edge in &graph.edges {
        for end in [edge.from, edge.to] {
            bytes[end.index()] = bytes[end.index()].saturating_add(edge.bytes());
        }
    }
    let stands_out =
        |vertex: &VertexId| view.highlight.as_ref().is_some_and(|path| path.vertices.contains(vertex));
    let mut order: Vec<VertexId> = all.collect();
    order.sort_by_key(|vertex| (!stands_out(vertex), std::cmp::Reverse(bytes[vertex.index()]), *vertex));
    order.truncate(view.max_vertices);
    order.into_iter().collect()
}
