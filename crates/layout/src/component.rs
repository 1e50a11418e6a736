//! Parts of a graph that nothing connects are laid out one by one.

use crate::graph::{Graph, LayoutError, RankLimit};
use crate::layers::Layers;
use crate::{Layout, order, position, rank, route};

/// A connected part of a graph: indices into the whole.
pub(crate) struct Component {
    pub(crate) nodes: Vec<usize>,
    pub(crate) edges: Vec<usize>,
}

/// Components by their first node. Nodes that are above or below all others connect everything.
pub(crate) fn components(graph: &Graph) -> Vec<Component> {
    let mut neighbours = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        neighbours[edge.from].push(edge.to);
        neighbours[edge.to].push(edge.from);
    }
    let is_limited = graph.nodes.iter().any(|node| node.limit != RankLimit::Free);
    let mut component = vec![usize::MAX; graph.nodes.len()];
    let mut components: Vec<Component> = Vec::new();
    for first in 0..graph.nodes.len() {
        if component[first] != usize::MAX {
            continue;
        }
        if components.is_empty() || !is_limited {
            components.push(Component { nodes: Vec::new(), edges: Vec::new() });
        }
        let own = components.len() - 1;
        let mut stack = vec![first];
        component[first] = own;
        while let Some(node) = stack.pop() {
            for next in &neighbours[node] {
                if component[*next] == usize::MAX {
                    component[*next] = own;
                    stack.push(*next);
                }
            }
        }
    }
    for (node, own) in component.iter().enumerate() {
        components[*own].nodes.push(node);
    }
    for (index, edge) in graph.edges.iter().enumerate() {
        components[component[edge.from]].edges.push(index);
    }
    components
}

impl Component {
    /// The layout of this part alone.
    pub(crate) fn layout(&self, graph: &Graph, turned: &[bool]) -> Result<Layout, LayoutError> {
        let mut local = vec![0; graph.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            local[*node] = index;
        }
        let edges = self.edges.iter().map(|index| {
            let mut edge = graph.edges[*index];
            (edge.from, edge.to) = (local[edge.from], local[edge.to]);
            edge
        });
        let part = Graph {
            nodes: self.nodes.iter().map(|node| graph.nodes[*node]).collect(),
            edges: edges.collect(),
            ..*graph
        };
        let turned: Vec<bool> = self.edges.iter().map(|index| turned[*index]).collect();
        let ranks = rank::ranks(&part, &turned);
        let mut layers = Layers::of(&part, &turned, &ranks)?;
        order::reduce_crossings(&mut layers);
        let positions = position::positions(&part, &layers);
        Ok(route::layout(&part, &turned, &layers, &positions))
    }
}
