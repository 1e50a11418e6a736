//! Which edges point downwards.
//!
//! Depth first from the nodes that are above all others, then from those without incoming edges, then from the rest; at each
//! node heavy edges first, equal ones in the order of the input. An edge back to a node that is still being visited is turned
//! round: so what is reached stays below what it is reached from.

use crate::graph::{Graph, RankLimit};

/// For each edge whether it has to be turned round; loops never.
pub(crate) fn turned(graph: &Graph) -> Vec<bool> {
    let limit = |node: usize| graph.nodes[node].limit;
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    let mut is_source = vec![true; graph.nodes.len()];
    let mut turned = vec![false; graph.edges.len()];
    for (index, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| !edge.is_loop()) {
        turned[index] = limit(edge.from) > limit(edge.to);
        if !turned[index] {
            outgoing[edge.from].push(index);
            is_source[edge.to] = false;
        }
    }
    for edges in &mut outgoing {
        edges.sort_by_key(|edge| std::cmp::Reverse(graph.edges[*edge].weight()));
    }
    let mut roots: Vec<usize> = (0..graph.nodes.len()).collect();
    roots.sort_by_key(|node| (limit(*node) != RankLimit::First, !is_source[*node]));
    let mut visits = vec![Visit::Pending; graph.nodes.len()];
    for root in roots {
        turn_back_edges(graph, &outgoing, root, &mut visits, &mut turned);
    }
    turned
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Pending,
    Open,
    Done,
}

fn turn_back_edges(
    graph: &Graph,
    outgoing: &[Vec<usize>],
    root: usize,
    visits: &mut [Visit],
    turned: &mut [bool],
) {
    if visits[root] != Visit::Pending {
        return;
    }
    visits[root] = Visit::Open;
    // Each node on the way from the root with the index of its next edge.
    let mut path = vec![(root, 0)];
    while let Some((node, next)) = path.last_mut() {
        let Some(edge) = outgoing[*node].get(*next) else {
            visits[*node] = Visit::Done;
            path.pop();
            continue;
        };
        *next += 1;
        let to = graph.edges[*edge].to;
        match visits[to] {
            Visit::Open => turned[*edge] = true,
            Visit::Pending => {
                visits[to] = Visit::Open;
                path.push((to, 0));
            }
            Visit::Done => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, Node};

    fn turned_of(count: usize, edges: &[(usize, usize, u32)]) -> Vec<bool> {
        let edges = edges.iter().map(|(from, to, weight)| Edge { weight: *weight, ..Edge::new(*from, *to) });
        turned(&Graph { nodes: vec![Node::default(); count], edges: edges.collect(), ..Graph::default() })
    }

    #[test]
    fn an_edge_back_to_where_it_was_reached_from_is_turned() {
        assert_eq!(turned_of(3, &[(1, 2, 1), (2, 1, 9), (0, 1, 1)]), [false, true, false]);
    }

    #[test]
    fn heavy_edges_are_followed_first() {
        assert_eq!(turned_of(3, &[(0, 2, 1), (2, 1, 1), (0, 1, 2), (1, 2, 3)]), [false, true, false, false]);
    }
}
