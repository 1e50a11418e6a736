//! Which part of a workflow is drawn: what stands out, then what moves the most bytes.

use super::FlowView;
use iotrail_model::units;
use iotrail_workflow::graph::{EdgeId, Graph, VertexId};
use std::cmp::Reverse;
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
        edges.sort_by_key(|index| (!stands_out(*index), Reverse(graph.edges[*index].bytes()), *index));
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

/// What stands out, and from there on always along the edge with the most bytes: what is drawn hangs together as far as it
/// can.
fn important(graph: &Graph, view: &FlowView) -> BTreeSet<VertexId> {
    let all = || (0..graph.vertices.len()).map(|index| VertexId(index as u32));
    if graph.vertices.len() <= view.max_vertices {
        return all().collect();
    }
    let mut beside: Vec<Vec<usize>> = vec![Vec::new(); graph.vertices.len()];
    for (index, edge) in graph.edges.iter().enumerate() {
        beside[edge.from.index()].push(index);
        beside[edge.to.index()].push(index);
    }
    let mut heaviest: Vec<usize> = (0..graph.edges.len()).collect();
    heaviest.sort_by_key(|index| (Reverse(graph.edges[*index].bytes()), *index));
    let seeds = view.highlight.iter().flat_map(|path| path.vertices.iter().copied());
    let seeds = seeds.filter(|vertex| vertex.index() < graph.vertices.len());
    let mut chosen: BTreeSet<VertexId> = seeds.take(view.max_vertices).collect();
    let mut border: BTreeSet<(Reverse<u64>, usize)> = BTreeSet::new();
    let reach = |vertex: VertexId, border: &mut BTreeSet<(Reverse<u64>, usize)>| {
        border.extend(beside[vertex.index()].iter().map(|edge| (Reverse(graph.edges[*edge].bytes()), *edge)));
    };
    chosen.iter().for_each(|vertex| reach(*vertex, &mut border));
    let mut heaviest = heaviest.into_iter();
    while chosen.len() < view.max_vertices {
        // Where nothing more hangs on what is chosen, the heaviest edge elsewhere begins the next part.
        let next = border.pop_first().map(|(_, edge)| edge).or_else(|| heaviest.next());
        let Some(edge) = next.map(|index| &graph.edges[index]) else { break };
        let new: BTreeSet<VertexId> =
            [edge.from, edge.to].into_iter().filter(|end| !chosen.contains(end)).collect();
        if chosen.len() + new.len() <= view.max_vertices {
            new.iter().for_each(|vertex| reach(*vertex, &mut border));
            chosen.extend(new);
        }
    }
    // Vertices without any edge, if there is still room.
    for vertex in all() {
        if chosen.len() >= view.max_vertices {
            break;
        }
        chosen.insert(vertex);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_workflow::graph::{Edge, Relation, Transfer, Vertex};
    use iotrail_workflow::graph::{Facts, ProcessVertex};
    use proptest::prelude::*;

    fn graph(vertices: usize, edges: &[(usize, usize, u64)]) -> Graph {
        let vertex = |index: usize| Vertex {
            key: index.to_string().into(),
            label: index.to_string().into(),
            phase: None,
            members: 1,
            time: None,
            facts: Facts::Process(ProcessVertex::default()),
        };
        let edge = |(from, to, bytes): &(usize, usize, u64)| Edge {
            from: VertexId(*from as u32),
            to: VertexId(*to as u32),
            relation: Relation::Read,
            read: Transfer { bytes: *bytes, ..Transfer::default() },
            written: Transfer::default(),
            first: None,
            last: None,
            members: 1,
        };
        Graph {
            vertices: (0..vertices).map(vertex).collect(),
            edges: edges.iter().map(edge).collect(),
            ..Graph::default()
        }
    }

    #[test]
    fn what_is_drawn_hangs_together_along_the_heaviest_edges() {
        let graph = graph(6, &[(0, 1, 5), (1, 2, 900), (2, 3, 800), (4, 5, 850), (0, 5, 1)]);
        let view = FlowView { max_vertices: 4, ..FlowView::default() };
        let selection = Selection::of(&graph, &view);
        assert_eq!(selection.vertices, [0, 1, 2, 3].map(VertexId));
        let hidden = selection.hidden(&graph);
        assert!(
            hidden.is_some_and(|said| said.contains("2 of 6 vertices, 2 of 5 edges (33.3 % of all bytes)"))
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_selection_is_as_large_as_it_may_be_and_holds_both_ends(edges in prop::collection::vec((0..30_usize, 0..30_usize, 0..9_u64), 0..60), limit in 0..40_usize) {
            let graph = graph(30, &edges);
            let selection = Selection::of(&graph, &FlowView { max_vertices: limit, ..FlowView::default() });
            prop_assert_eq!(selection.vertices.len(), limit.min(30));
            for edge in selection.edges.iter().map(|edge| graph.edge(*edge)) {
                prop_assert!(selection.vertices.contains(&edge.from) && selection.vertices.contains(&edge.to));
            }
        }
    }
}
