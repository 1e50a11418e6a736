//! A graph in which every link leads from one rank to the next: edges over several ranks are chains of items.

use crate::graph::{Graph, LayoutError};
use crate::self_loop;

/// More items than these would need minutes.
const MOST_ITEMS: usize = 800_000;

/// What an item stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The node with the index of the item.
    Node,
    /// A passage of an edge.
    Bend,
    /// The label of an edge, through which the edge passes.
    Label,
}

/// Something in a rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    pub(crate) rank: usize,
    /// Extent before and behind its position in the rank.
    pub(crate) before: f64,
    pub(crate) behind: f64,
    /// Extent across ranks.
    pub(crate) depth: f64,
}

/// Items in ranks. Items with the smallest indices are the nodes, in their order.
pub(crate) struct Layers {
    pub(crate) items: Vec<Item>,
    /// The items of each rank in their order.
    pub(crate) ranks: Vec<Vec<usize>>,
    /// By item: its neighbours in the rank above, once for each link.
    pub(crate) above: Vec<Vec<usize>>,
    /// By item: its neighbours in the rank below, once for each link.
    pub(crate) below: Vec<Vec<usize>>,
    /// By edge: its items from the upper node to the lower one; nothing for loops.
    pub(crate) chains: Vec<Vec<usize>>,
}

impl Layers {
    /// The items of `graph`, in no particular order within ranks.
    pub(crate) fn of(graph: &Graph, turned: &[bool], ranks: &[usize]) -> Result<Self, LayoutError> {
        let ends: Vec<(usize, usize)> =
            graph.edges.iter().zip(turned).map(|(edge, turned)| edge.downwards(*turned)).collect();
        let span = |(from, to): &(usize, usize)| ranks[*to].saturating_sub(ranks[*from]);
        let count = ends.iter().map(span).sum();
        if count > MOST_ITEMS {
            return Err(LayoutError::TooLarge(count));
        }
        let mut layers = Self::nodes(graph, ranks);
        let label_ranks = label_ranks(graph, &ends, ranks);
        for (index, (from, to)) in ends.iter().enumerate() {
            let mut chain = Vec::new();
            if from != to {
                chain.push(*from);
                for rank in ranks[*from] + 1..ranks[*to] {
                    let item = if label_ranks[index] == Some(rank) {
                        let (breadth, depth) = graph.direction.breadth_and_depth(graph.edges[index].label);
                        Item { kind: Kind::Label, rank, before: breadth / 2.0, behind: breadth / 2.0, depth }
                    } else {
                        Item { kind: Kind::Bend, rank, before: 0.0, behind: 0.0, depth: 0.0 }
                    };
                    chain.push(layers.add(item));
                }
                chain.push(*to);
            }
            for link in chain.windows(2) {
                layers.below[link[0]].push(link[1]);
                layers.above[link[1]].push(link[0]);
            }
            layers.chains.push(chain);
        }
        Ok(layers)
    }

    fn nodes(graph: &Graph, ranks: &[usize]) -> Self {
        let count = ranks.iter().max().map_or(0, |rank| rank + 1);
        let mut layers = Self {
            items: Vec::new(),
            ranks: vec![Vec::new(); count],
            above: Vec::new(),
            below: Vec::new(),
            chains: Vec::new(),
        };
        let rooms = self_loop::rooms(graph);
        for ((node, rank), room) in graph.nodes.iter().zip(ranks).zip(rooms) {
            let (breadth, depth) = graph.direction.breadth_and_depth((node.width, node.height));
            layers.add(Item {
                kind: Kind::Node,
                rank: *rank,
                before: breadth / 2.0,
                behind: breadth / 2.0 + room.breadth,
                depth: depth.max(room.depth),
            });
        }
        layers
    }

    fn add(&mut self, item: Item) -> usize {
        let index = self.items.len();
        self.ranks[item.rank].push(index);
        self.items.push(item);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        index
    }

    /// The label's place in the chain of an edge.
    pub(crate) fn label_of(&self, edge: usize) -> Option<usize> {
        self.chains[edge].iter().copied().find(|item| self.items[*item].kind == Kind::Label)
    }
}

/// For each edge with a label the rank of it: of those between its ends the emptiest, of equal ones the most central.
fn label_ranks(graph: &Graph, ends: &[(usize, usize)], ranks: &[usize]) -> Vec<Option<usize>> {
    let mut filled = vec![0.0_f64; ranks.iter().max().map_or(0, |rank| rank + 1)];
    let mut chosen = vec![None; ends.len()];
    let span = |edge: usize| ranks[ends[edge].1].saturating_sub(ranks[ends[edge].0]);
    let mut shortest_first: Vec<usize> = (0..ends.len())
        .filter(|edge| !graph.edges[*edge].is_loop() && graph.edges[*edge].has_label())
        .collect();
    shortest_first.sort_by_key(|edge| span(*edge));
    for edge in shortest_first {
        let (upper, lower) = (ranks[ends[edge].0], ranks[ends[edge].1]);
        let off_centre = |rank: usize| (2 * rank).abs_diff(upper + lower);
        let rank = (upper + 1..lower).step_by(2).min_by(|a, b| {
            filled[*a].total_cmp(&filled[*b]).then(off_centre(*a).cmp(&off_centre(*b))).then(a.cmp(b))
        });
        if let Some(rank) = rank {
            filled[rank] += graph.direction.breadth_and_depth(graph.edges[edge].label).0;
        }
        chosen[edge] = rank;
    }
    chosen
}
