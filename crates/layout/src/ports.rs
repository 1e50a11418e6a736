//! Where on the sides of nodes edges begin and end: as near to where they lead as their order and distances allow.

use crate::graph::{Graph, Node};
use crate::layers::{Kind, Layers};

/// Distance of edges from the corners of a box.
const CORNER: f64 = 8.0;

/// For each edge where within the rank it leaves its upper node, and where it reaches its lower one.
pub(crate) fn ports(graph: &Graph, layers: &Layers, positions: &[f64]) -> Vec<(f64, f64)> {
    let mut ports = vec![(0.0, 0.0); layers.chains.len()];
    let mut order = vec![0; layers.items.len()];
    for rank in &layers.ranks {
        rank.iter().enumerate().for_each(|(at, item)| order[*item] = at);
    }
    let sides = Sides { graph, layers, positions };
    let mut leaving: Vec<Vec<(usize, usize)>> = vec![Vec::new(); graph.nodes.len()];
    let mut arriving = leaving.clone();
    for (edge, chain) in layers.chains.iter().enumerate() {
        if let ([upper, next, ..], [.., previous, lower]) = (chain.as_slice(), chain.as_slice()) {
            leaving[*upper].push((edge, *next));
            arriving[*lower].push((edge, *previous));
        }
    }
    for (node, (leaving, arriving)) in leaving.iter_mut().zip(&mut arriving).enumerate() {
        for (side, is_upper) in [(leaving, true), (arriving, false)] {
            side.sort_by_key(|(edge, next)| (order[*next], *edge));
            for (port, (edge, _)) in sides.spread(node, side).into_iter().zip(side.iter()) {
                if is_upper {
                    ports[*edge].0 = port;
                } else {
                    ports[*edge].1 = port;
                }
            }
        }
    }
    ports
}

struct Sides<'a> {
    graph: &'a Graph,
    layers: &'a Layers,
    positions: &'a [f64],
}

impl Sides<'_> {
    /// The ports of edges in their order on one side of a node; each is given with its next item.
    fn spread(&self, node: usize, edges: &[(usize, usize)]) -> Vec<f64> {
        let (low, high) = self.reach(node);
        let gaps = edges.len().saturating_sub(1) as f64;
        let gap = if gaps > 0.0 { ((high - low) / gaps).min(self.graph.separation.lines) } else { 0.0 };
        let wishes = edges.iter().enumerate().map(|(at, (_, next))| self.wish(node, *next) - at as f64 * gap);
        (ascending_means(wishes).into_iter().enumerate())
            .map(|(at, port)| port.clamp(low, (high - gaps * gap).max(low)) + at as f64 * gap)
            .collect()
    }

    fn reach(&self, node: usize) -> (f64, f64) {
        let Node { width, height, .. } = self.graph.nodes[node];
        let half = self.graph.direction.breadth_and_depth((width, height)).0 / 2.0;
        let half = (half - CORNER).max(half / 4.0);
        (self.positions[node] - half, self.positions[node] + half)
    }

    /// Straight across if the two face each other, else as near as possible.
    fn wish(&self, node: usize, next: usize) -> f64 {
        let (low, high) = self.reach(node);
        if self.layers.items[next].kind != Kind::Node {
            return self.positions[next].clamp(low, high);
        }
        let (other_low, other_high) = self.reach(next);
        if low.max(other_low) <= high.min(other_high) {
            f64::midpoint(low.max(other_low), high.min(other_high))
        } else {
            self.positions[next].clamp(low, high)
        }
    }
}

/// The ascending numbers with the least squared distance from `wishes` (pool adjacent violators).
fn ascending_means(wishes: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for wish in wishes {
        let mut pool = (wish, 1);
        while let Some(last) =
            pools.last().copied().filter(|last| last.0 / last.1 as f64 >= pool.0 / pool.1 as f64)
        {
            pools.pop();
            pool = (pool.0 + last.0, pool.1 + last.1);
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(sum, count)| std::iter::repeat_n(sum / count as f64, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_in_the_wrong_order_meet_in_the_middle() {
        assert_eq!(ascending_means([1.0, 5.0, 3.0, 9.0].into_iter()), [1.0, 4.0, 4.0, 9.0]);
    }
}
