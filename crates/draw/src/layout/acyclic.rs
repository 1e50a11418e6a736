//! Which edges point downwards.
//!
//! A layered layout needs a graph without cycles. The edges are taken in the order given, most frequent first, and one
//! that would close a cycle is turned round: so the main flow runs from top to bottom and rare ways back run upwards.

use super::{END_VERTEX, Graph, START_VERTEX};

/// For each edge whether it has to be turned round; loops never.
pub(super) fn turned(graph: &Graph) -> Vec<bool> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); graph.sizes.len()];
    let mut turned = vec![false; graph.edges.len()];
    let mut order: Vec<usize> = (0..graph.edges.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(graph.edges[*index].weight));
    for index in order {
        let link = &graph.edges[index];
        if link.from == link.to {
            continue;
        }
        turned[index] = is_reachable(&below, link.to, link.from);
        let (from, to) = if turned[index] { (link.to, link.from) } else { (link.from, link.to) };
        below[from].push(to);
    }
    turned
}

fn is_reachable(below: &[Vec<usize>], from: usize, goal: usize) -> bool {
    let mut seen = vec![false; below.len()];
    let mut stack = vec![from];
    while let Some(here) = stack.pop() {
        if here == goal {
            return true;
        }
        if !std::mem::replace(&mut seen[here], true) {
            stack.extend(&below[here]);
        }
    }
    false
}

/// Edges, beside those of `graph`, that keep the start above and the end below everything.
pub(super) fn framing(graph: &Graph, turned: &[bool]) -> Vec<(usize, usize)> {
    if !graph.framed {
        return Vec::new();
    }
    let mut has_upper = vec![false; graph.sizes.len()];
    let mut has_lower = vec![false; graph.sizes.len()];
    for (link, turned) in graph.edges.iter().zip(turned).filter(|(link, _)| link.from != link.to) {
        let (from, to) = if *turned { (link.to, link.from) } else { (link.from, link.to) };
        has_lower[from] = true;
        has_upper[to] = true;
    }
    let inner = || (0..graph.sizes.len()).filter(|vertex| *vertex != START_VERTEX && *vertex != END_VERTEX);
    let tops = inner().filter(|vertex| !has_upper[*vertex]).map(|vertex| (START_VERTEX, vertex));
    let bottoms = inner().filter(|vertex| !has_lower[*vertex]).map(|vertex| (vertex, END_VERTEX));
    tops.chain(bottoms).collect()
}
