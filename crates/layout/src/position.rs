//! Where items are within their ranks, their order given: the least weighted length of all links, by network simplex.
//!
//! Consecutive passages of an edge share one position, so that long edges are straight; where two such chains cross, one of
//! them is cut. The auxiliary graph is that of Gansner et al., section 4.2, with one vertex for each such piece.

use crate::graph::Graph;
use crate::layers::{Kind, Layers};
use crate::rank::longest_paths;
use crate::simplex::{Constraint, minimise_and_centre};

/// Units to a point.
const SCALE: f64 = 4.0;
/// Looks at constraints that positions are worth.
const WORK: usize = 40_000_000;

/// The position of each item within its rank, points.
pub(crate) fn positions(graph: &Graph, layers: &Layers) -> Vec<f64> {
    let pieces = Pieces::of(graph, layers);
    let mut constraints = separations(graph, layers, &pieces.of_item);
    let mut found = longest_paths(pieces.count, &constraints);
    for (edge, chain) in layers.chains.iter().enumerate() {
        for link in chain.windows(2) {
            let ends = [pieces.of_item[link[0]], pieces.of_item[link[1]]];
            if ends[0] == ends[1] {
                continue;
            }
            let between = found.len();
            found.push(found[ends[0]].min(found[ends[1]]));
            let weight = graph.edges[edge].weight() * straightness(layers, link[0], link[1]);
            constraints.extend(ends.map(|to| Constraint { from: between, to, min: 0, weight }));
        }
    }
    minimise_and_centre(&mut found, &constraints, WORK);
    pieces.of_item.iter().map(|piece| found[*piece] as f64 / SCALE).collect()
}

/// How much more a link counts between items that should be above each other.
fn straightness(layers: &Layers, upper: usize, lower: usize) -> i64 {
    let is_node = |item: usize| layers.items[item].kind == Kind::Node;
    match (is_node(upper), is_node(lower)) {
        (true, true) => 1,
        (false, false) => 8,
        _ => 2,
    }
}

/// Neighbours keep apart. Piece 0 is a wall before all others, which connects what nothing else does.
fn separations(graph: &Graph, layers: &Layers, piece: &[usize]) -> Vec<Constraint> {
    let mut constraints = Vec::new();
    for rank in &layers.ranks {
        constraints.extend(rank.first().map(|first| Constraint {
            from: 0,
            to: piece[*first],
            min: 0,
            weight: 0,
        }));
        for pair in rank.windows(2) {
            let (first, second) = (&layers.items[pair[0]], &layers.items[pair[1]]);
            let gap = first.behind + gap(graph, first.kind, second.kind) + second.before;
            let min = (gap * SCALE).ceil() as i64;
            constraints.push(Constraint { from: piece[pair[0]], to: piece[pair[1]], min, weight: 0 });
        }
    }
    constraints.sort_by_key(|c| (c.from, c.to, std::cmp::Reverse(c.min)));
    constraints.dedup_by_key(|c| (c.from, c.to));
    constraints
}

fn gap(graph: &Graph, first: Kind, second: Kind) -> f64 {
    let separation = graph.separation;
    match (first, second) {
        (Kind::Node, Kind::Node) => separation.nodes,
        (Kind::Node, _) | (_, Kind::Node) => {
            separation.nodes.max(separation.lines) / 2.0 + separation.lines / 2.0
        }
        _ => separation.lines,
    }
}

/// Items that share a position.
struct Pieces {
    of_item: Vec<usize>,
    count: usize,
}

impl Pieces {
    fn of(graph: &Graph, layers: &Layers) -> Self {
        let mut weight = vec![0; layers.items.len()];
        for (edge, chain) in layers.chains.iter().enumerate() {
            chain.iter().for_each(|item| weight[*item] = graph.edges[edge].weight());
        }
        let mut pieces = Self { of_item: vec![0; layers.items.len()], count: 1 };
        let mut position = vec![0; layers.items.len()];
        for rank in &layers.ranks {
            rank.iter().enumerate().for_each(|(at, item)| position[*item] = at);
            // Links between passages, in the order of their upper ends.
            let is_passage = |item: &usize| layers.items[*item].kind != Kind::Node;
            let mut links: Vec<(usize, usize)> = rank
                .iter()
                .filter(|item| is_passage(item))
                .flat_map(|item| {
                    layers.above[*item].iter().filter(|above| is_passage(above)).map(|above| (*above, *item))
                })
                .collect();
            links.sort_by_key(|(above, _)| position[*above]);
            let places: Vec<(usize, i64)> =
                links.iter().map(|(_, item)| (position[*item], weight[*item])).collect();
            for kept in heaviest_ascending(&places, rank.len()) {
                let (above, item) = links[kept];
                pieces.of_item[item] = pieces.of_item[above];
            }
            for item in rank {
                if pieces.of_item[*item] == 0 {
                    pieces.of_item[*item] = pieces.count;
                    pieces.count += 1;
                }
            }
        }
        pieces
    }
}

/// The indices of the ascending subsequence of `places` with the most weight; places are below `bound`.
fn heaviest_ascending(places: &[(usize, i64)], bound: usize) -> Vec<usize> {
    // By place, in a Fenwick tree: the heaviest sequence that ends before or there, and its last index.
    let mut heaviest: Vec<(i64, Option<usize>)> = vec![(0, None); bound + 1];
    let mut before = Vec::with_capacity(places.len());
    let mut best = (0, None);
    for (index, (place, weight)) in places.iter().enumerate() {
        let mut prefix = (0, None);
        let mut node = *place;
        while node > 0 {
            if heaviest[node].0 > prefix.0 {
                prefix = heaviest[node];
            }
            node &= node - 1;
        }
        before.push(prefix.1);
        let own = (prefix.0 + weight, Some(index));
        let mut node = place + 1;
        while node <= bound {
            if own.0 > heaviest[node].0 {
                heaviest[node] = own;
            }
            node += node & node.wrapping_neg();
        }
        if own.0 > best.0 {
            best = own;
        }
    }
    let mut kept = Vec::new();
    while let Some(index) = best.1 {
        kept.push(index);
        best.1 = before[index];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_chains_that_do_not_cross_are_kept() {
        let mut kept = heaviest_ascending(&[(3, 1), (0, 1), (1, 1), (2, 5), (1, 1)], 4);
        kept.sort_unstable();
        assert_eq!(kept, [1, 2, 3]);
    }
}
