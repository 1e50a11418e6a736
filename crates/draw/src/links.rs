//! What joins the drawn vertices of a graph, and which of it keeps the drawing together.

use iotrail_dfg::Dfg;
use iotrail_dfg::result::{END, START};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// For each vertex by its [`Vertex::index`] those that an edge leads to, the strongest edge first.
pub(crate) type Neighbours = Vec<Vec<usize>>;

/// An end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vertex {
    /// ●
    Start,
    /// By index into [`Dfg::nodes`].
    Activity(usize),
    /// ■
    End,
}

impl Vertex {
    /// Its number in a graph with `count` activities, which come first.
    pub(crate) fn index(self, count: usize) -> usize {
        match self {
            Self::Activity(index) => index,
            Self::Start => count,
            Self::End => count + 1,
        }
    }

    /// The vertex with this [`Vertex::index`].
    pub(crate) fn at(index: usize, count: usize) -> Self {
        match index.checked_sub(count) {
            None => Self::Activity(index),
            Some(0) => Self::Start,
            Some(_) => Self::End,
        }
    }
}

/// Edges between drawn vertices by number, strongest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    list: Vec<(usize, (Vertex, Vertex))>,
}

impl Links {
    /// The transitions between `nodes`, ● and ■ by index into [`Dfg::edges`].
    pub(crate) fn of(dfg: &Dfg, nodes: &BTreeSet<usize>) -> Self {
        let mut vertices: HashMap<&str, Vertex> =
            nodes.iter().map(|index| (&*dfg.nodes[*index].activity, Vertex::Activity(*index))).collect();
        vertices.insert(START, Vertex::Start);
        vertices.insert(END, Vertex::End);
        let ends = |(index, edge): (usize, &iotrail_dfg::result::Edge)| {
            Some((index, edge.count, (*vertices.get(&*edge.from)?, *vertices.get(&*edge.to)?)))
        };
        Self::new(dfg.edges.iter().enumerate().filter_map(ends).collect())
    }

    /// Number, strength and ends of each; of equal strength the one between heavier activities counts as stronger, so that names decide
    /// nothing.
    pub(crate) fn new(mut links: Vec<(usize, u64, (Vertex, Vertex))>) -> Self {
        links.sort_by_key(|(number, strength, ends)| (Reverse(*strength), *ends, *number));
        Self { list: links.into_iter().map(|(number, _, ends)| (number, ends)).collect() }
    }

    /// Of a graph with `count` activities.
    pub(crate) fn neighbours(
        &self,
        count: usize,
        turn: impl Fn((Vertex, Vertex)) -> (Vertex, Vertex),
    ) -> Neighbours {
        let mut neighbours = vec![Vec::new(); count + 2];
        for (_, ends) in &self.list {
            let (from, to) = turn(*ends);
            neighbours[from.index(count)].push(to.index(count));
        }
        neighbours
    }

    /// The [`Links::backbone`], then by strength. If the backbone is too much, ways come before strength, and the weakest go.
    pub(crate) fn important(&self, limit: usize) -> BTreeSet<usize> {
        let mut kept = self.backbone();
        if kept.len() > limit {
            kept.clear();
            self.span(&mut kept);
            kept = self.numbers().filter(|number| kept.contains(number)).take(limit).collect();
        }
        self.fill(&mut kept, limit);
        kept
    }

    /// The strongest edge into and out of every drawn node, a way from the start to each and from each to the end.
    pub(crate) fn backbone(&self) -> BTreeSet<usize> {
        let mut kept = BTreeSet::new();
        self.strongest(|(from, _)| from, &mut kept);
        self.strongest(|(_, to)| to, &mut kept);
        self.span(&mut kept);
        kept
    }

    /// Keeps the strongest that are not kept, until there are `limit`.
    pub(crate) fn fill(&self, kept: &mut BTreeSet<usize>, limit: usize) {
        for number in self.numbers() {
            if kept.len() >= limit {
                break;
            }
            kept.insert(number);
        }
    }

    /// Number and ends of each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, (Vertex, Vertex))> {
        self.list.iter().copied()
    }

    /// Their numbers, strongest first.
    fn numbers(&self) -> impl Iterator<Item = usize> {
        self.list.iter().map(|(number, _)| *number)
    }

    fn strongest(&self, key: impl Fn((Vertex, Vertex)) -> Vertex, kept: &mut BTreeSet<usize>) {
        let mut seen = BTreeSet::new();
        for (number, ends) in &self.list {
            if ends.0 != ends.1 && seen.insert(key(*ends)) {
                kept.insert(*number);
            }
        }
    }

    fn span(&self, kept: &mut BTreeSet<usize>) {
        self.spanning(Vertex::Start, |ends| ends, kept);
        self.spanning(Vertex::End, |(from, to)| (to, from), kept);
    }

    /// Keeps what makes every vertex reachable from `root` over kept edges, always taking the strongest edge that
    /// reaches a new vertex (Prim's order). Vertices that no path reaches stay as they are.
    fn spanning(
        &self,
        root: Vertex,
        turn: impl Fn((Vertex, Vertex)) -> (Vertex, Vertex),
        kept: &mut BTreeSet<usize>,
    ) {
        let mut out: HashMap<Vertex, Vec<(usize, usize, Vertex)>> = HashMap::new();
        for (strength, (index, ends)) in self.list.iter().enumerate() {
            let (from, to) = turn(*ends);
            // Kept edges are free, so they come before all others.
            let cost = if kept.contains(index) { 0 } else { strength + 1 };
            out.entry(from).or_default().push((cost, *index, to));
        }
        let mut reached = BTreeSet::from([root]);
        let mut border: BTreeSet<(usize, usize, Vertex)> = out.remove(&root).into_iter().flatten().collect();
        while let Some((_, index, to)) = border.pop_first() {
            if reached.insert(to) {
                kept.insert(index);
                border.extend(out.remove(&to).into_iter().flatten());
            }
        }
    }
}
