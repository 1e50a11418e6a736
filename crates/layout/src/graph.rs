//! What is laid out.

/// A directed graph with the sizes of its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges; several between the same nodes and loops are welcome.
    pub edges: Vec<Edge>,
    /// Where edges lead.
    pub direction: Direction,
    /// Distances.
    pub separation: Separation,
}

/// A box.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Node {
    /// Extent, points.
    pub width: f64,
    /// Extent, points.
    pub height: f64,
    /// Whether it is above or below all others.
    pub limit: RankLimit,
}

/// Which ranks a node may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RankLimit {
    /// Before all nodes that are free.
    First,
    /// Any.
    #[default]
    Free,
    /// After all nodes that are free.
    Last,
}

/// A line from one node to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Index of the node where it begins.
    pub from: usize,
    /// Index of the node where it ends.
    pub to: usize,
    /// How much a short, straight route is worth; at least 1 counts.
    pub weight: u32,
    /// Extent of its label, points; none if either is 0.
    pub label: (f64, f64),
    /// Least number of ranks between its ends; at least 1 counts.
    pub min_length: u32,
}

/// Where edges lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From top to bottom.
    #[default]
    Down,
    /// From left to right.
    Right,
}

/// Distances in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Between neighbours in a rank.
    pub nodes: f64,
    /// Between ranks of nodes.
    pub ranks: f64,
    /// Between edges side by side.
    pub lines: f64,
}

impl Default for Separation {
    fn default() -> Self {
        Self { nodes: 21.6, ranks: 21.6, lines: 10.0 }
    }
}

/// Why there is no layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// A size that no picture has.
    #[error("{0} has a size that is not between 0 and 10,000,000 points")]
    Size(String),
    /// An edge to nowhere.
    #[error("edge {edge} leads from or to node {node}, which is not there")]
    NoNode {
        /// Its index.
        edge: usize,
        /// The index it names.
        node: usize,
    },
    /// A layout that would need too much time and memory.
    #[error("its edges pass through {0} ranks together, more than 800,000; draw fewer nodes or edges")]
    TooLarge(usize),
}

const LARGEST: f64 = 1e7;
/// The largest length of an edge that is kept.
const LONGEST: u32 = 100;

impl Graph {
    /// Ranks from one rank of nodes to the next: labels have ranks of their own between them.
    pub(crate) fn rank_step(&self) -> usize {
        if self.edges.iter().any(|edge| !edge.is_loop() && edge.has_label()) { 2 } else { 1 }
    }

    pub(crate) fn check(&self) -> Result<(), LayoutError> {
        let bad = |size: f64| !(0.0..=LARGEST).contains(&size);
        for (index, node) in self.nodes.iter().enumerate() {
            if bad(node.width) || bad(node.height) {
                return Err(LayoutError::Size(format!("node {index}")));
            }
        }
        for (index, edge) in self.edges.iter().enumerate() {
            if let Some(node) = [edge.from, edge.to].into_iter().find(|node| *node >= self.nodes.len()) {
                return Err(LayoutError::NoNode { edge: index, node });
            }
            if bad(edge.label.0) || bad(edge.label.1) {
                return Err(LayoutError::Size(format!("the label of edge {index}")));
            }
        }
        let Separation { nodes, ranks, lines } = self.separation;
        if [nodes, ranks, lines].into_iter().any(bad) {
            return Err(LayoutError::Size("the separation".to_owned()));
        }
        Ok(())
    }
}

impl Edge {
    /// An edge without a label.
    #[must_use]
    pub fn new(from: usize, to: usize) -> Self {
        Self { from, to, weight: 1, label: (0.0, 0.0), min_length: 1 }
    }

    pub(crate) fn is_loop(&self) -> bool {
        self.from == self.to
    }

    pub(crate) fn has_label(&self) -> bool {
        self.label.0 > 0.0 && self.label.1 > 0.0
    }

    /// Ends from top to bottom.
    pub(crate) fn downwards(&self, turned: bool) -> (usize, usize) {
        if turned { (self.to, self.from) } else { (self.from, self.to) }
    }

    pub(crate) fn weight(&self) -> i64 {
        i64::from(self.weight.clamp(1, 1000))
    }

    pub(crate) fn min_length(&self) -> i64 {
        i64::from(self.min_length.clamp(1, LONGEST))
    }
}

impl Direction {
    /// Extent within a rank and across ranks, of width and height.
    pub(crate) fn breadth_and_depth(self, (width, height): (f64, f64)) -> (f64, f64) {
        match self {
            Self::Down => (width, height),
            Self::Right => (height, width),
        }
    }
}
