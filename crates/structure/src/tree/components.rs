//! Strongly connected components.

/// A directed graph of nodes that are numbered from 0.
pub(super) struct Graph {
    starts: Vec<usize>,
    targets: Vec<usize>,
}

impl Graph {
    /// The graph of these edges, none twice.
    pub(super) fn new(nodes: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut edges: Vec<(usize, usize)> = edges.into_iter().collect();
        edges.sort_unstable();
        let start = |node| edges.partition_point(|&(from, _)| from < node);
        Self { starts: (0..=nodes).map(start).collect(), targets: edges.iter().map(|&(_, to)| to).collect() }
    }

    /// Nodes to which there is an edge.
    pub(super) fn next(&self, node: usize) -> &[usize] {
        &self.targets[self.starts[node]..self.starts[node + 1]]
    }
}

/// The number of the component of each node. Source: Tarjan, Depth-first search and linear graph algorithms (1972),
/// with a stack of its own, as paths may be long.
pub(super) fn components(graph: &Graph) -> Vec<usize> {
    let nodes = graph.starts.len() - 1;
    let mut search = Search {
        entered: vec![None; nodes],
        low: vec![0; nodes],
        component: vec![None; nodes],
        ..Search::default()
    };
    for root in 0..nodes {
        if search.entered[root].is_none() {
            search.from(graph, root);
        }
    }
    search.component.into_iter().flatten().collect()
}

#[derive(Default)]
struct Search {
    /// In which order nodes are entered.
    entered: Vec<Option<usize>>,
    /// The first node entered that is known to be reached from a node.
    low: Vec<usize>,
    component: Vec<Option<usize>>,
    /// Nodes without a component.
    open: Vec<usize>,
    entries: usize,
    components: usize,
}

impl Search {
    fn from(&mut self, graph: &Graph, root: usize) {
        let mut path = vec![self.enter(root)];
        while let Some((node, edges)) = path.last_mut() {
            let node = *node;
            let Some(&target) = graph.next(node).get(*edges) else {
                path.pop();
                self.leave(node);
                if let Some(&(before, _)) = path.last() {
                    self.low[before] = self.low[before].min(self.low[node]);
                }
                continue;
            };
            *edges += 1;
            match self.entered[target] {
                None => path.push(self.enter(target)),
                Some(entered) if self.component[target].is_none() => {
                    self.low[node] = self.low[node].min(entered);
                }
                Some(_) => {}
            }
        }
    }

    /// The node and how many of its edges were followed.
    fn enter(&mut self, node: usize) -> (usize, usize) {
        self.entered[node] = Some(self.entries);
        self.low[node] = self.entries;
        self.entries += 1;
        self.open.push(node);
        (node, 0)
    }

    /// Closes the component of which the node was entered first.
    fn leave(&mut self, node: usize) {
        if self.entered[node] != Some(self.low[node]) {
            return;
        }
        while let Some(member) = self.open.pop() {
            self.component[member] = Some(self.components);
            if member == node {
                break;
            }
        }
        self.components += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reaches(edges: &[(usize, usize)], from: usize, to: usize) -> bool {
        let mut reached = vec![from];
        let mut index = 0;
        while index < reached.len() {
            let next = edges.iter().filter(|edge| edge.0 == reached[index]).map(|edge| edge.1);
            let new: Vec<usize> = next.filter(|node| !reached.contains(node)).collect();
            reached.extend(new);
            index += 1;
        }
        reached.contains(&to)
    }

    proptest! {
        #[test]
        fn nodes_of_a_component_reach_each_other(edges in prop::collection::btree_set((0_usize..7, 0_usize..7), 0..20)) {
            let edges: Vec<_> = edges.into_iter().collect();
            let found = components(&Graph::new(7, edges.iter().copied()));
            prop_assert_eq!(found.len(), 7);
            for (one, other) in (0..7).flat_map(|one| (0..7).map(move |other| (one, other))) {
                let joined = reaches(&edges, one, other) && reaches(&edges, other, one);
                prop_assert_eq!(found[one] == found[other], joined);
            }
        }
    }

    #[test]
    fn long_paths_need_no_stack() {
        let graph = Graph::new(100_000, (0..100_000).map(|node| (node, (node + 1) % 100_000)));
        assert!(components(&graph).iter().all(|&component| component == 0));
    }
}
