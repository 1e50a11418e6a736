//! In which rank each node is: the ranks with the least weighted length of all edges.

use crate::graph::{Graph, RankLimit};
use crate::simplex::{Constraint, minimise};

/// Looks at constraints that ranks are worth.
const WORK: usize = 60_000_000;

/// The rank of each node of a connected graph, from 0; where edges have labels, only every other rank has nodes.
pub(crate) fn ranks(graph: &Graph, turned: &[bool]) -> Vec<usize> {
    let edges = graph.edges.iter().zip(turned).filter(|(edge, _)| !edge.is_loop());
    let mut constraints: Vec<Constraint> = edges
        .map(|(edge, turned)| {
            let (from, to) = edge.downwards(*turned);
            Constraint { from, to, min: edge.min_length(), weight: edge.weight() }
        })
        .collect();
    let gates = limits(graph, &mut constraints);
    let mut ranks = longest_paths(graph.nodes.len() + gates, &constraints);
    minimise(&mut ranks, &constraints, WORK);
    let least = ranks[..graph.nodes.len()].iter().copied().min().unwrap_or(0);
    ranks.iter_mut().for_each(|rank| *rank -= least);
    balance(&mut ranks, &constraints);
    ranks.truncate(graph.nodes.len());
    ranks.into_iter().map(|rank| rank as usize * graph.rank_step()).collect()
}

/// Keeps nodes that must be first before a gate, nodes that must be last behind another, and all others between. Gives the
/// number of gates, which are numbered after the nodes.
fn limits(graph: &Graph, constraints: &mut Vec<Constraint>) -> usize {
    if graph.nodes.iter().all(|node| node.limit == RankLimit::Free) {
        return 0;
    }
    let (first, last) = (graph.nodes.len(), graph.nodes.len() + 1);
    let mut below = |from, to, min| constraints.push(Constraint { from, to, min, weight: 0 });
    below(first, last, 0);
    for (index, node) in graph.nodes.iter().enumerate() {
        match node.limit {
            RankLimit::First => below(index, first, 0),
            RankLimit::Last => below(last, index, 1),
            RankLimit::Free => {
                below(first, index, 1);
                below(index, last, 0);
            }
        }
    }
    2
}

/// The least position of each node that satisfies all constraints.
pub(crate) fn longest_paths(count: usize, constraints: &[Constraint]) -> Vec<i64> {
    let mut incoming = vec![0; count];
    let mut outgoing: Vec<Vec<&Constraint>> = vec![Vec::new(); count];
    for constraint in constraints {
        incoming[constraint.to] += 1;
        outgoing[constraint.from].push(constraint);
    }
    let mut positions = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|node| incoming[*node] == 0).collect();
    while let Some(node) = ready.pop() {
        for constraint in &outgoing[node] {
            let to = constraint.to;
            positions[to] = positions[to].max(positions[node] + constraint.min);
            incoming[to] -= 1;
            if incoming[to] == 0 {
                ready.push(to);
            }
        }
    }
    positions
}

/// Moves nodes that cost the same in several ranks to the one with the fewest nodes.
fn balance(ranks: &mut [i64], constraints: &[Constraint]) {
    let most = ranks.iter().copied().max().unwrap_or(0);
    let mut population = vec![0_usize; most as usize + 1];
    ranks.iter().for_each(|rank| population[*rank as usize] += 1);
    let mut pull = vec![0; ranks.len()];
    let mut incident: Vec<Vec<&Constraint>> = vec![Vec::new(); ranks.len()];
    for constraint in constraints {
        pull[constraint.from] += constraint.weight;
        pull[constraint.to] -= constraint.weight;
        incident[constraint.from].push(constraint);
        incident[constraint.to].push(constraint);
    }
    for node in (0..ranks.len()).filter(|node| pull[*node] == 0) {
        let (mut lowest, mut highest) = (0, most);
        for constraint in &incident[node] {
            if constraint.to == node {
                lowest = lowest.max(ranks[constraint.from] + constraint.min);
            } else {
                highest = highest.min(ranks[constraint.to] - constraint.min);
            }
        }
        let here = ranks[node];
        population[here as usize] -= 1;
        let best = (lowest..=highest).min_by_key(|rank| (population[*rank as usize], *rank != here, *rank));
        ranks[node] = best.unwrap_or(here);
        population[ranks[node] as usize] += 1;
    }
}
