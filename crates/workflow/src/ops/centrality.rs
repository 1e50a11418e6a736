//! Degrees and centrality: which vertices many others depend on.
//!
//! In and out degree count edges. `betweenness` is Brandes' ("A faster algorithm for betweenness centrality", 2001): the
//! number of pairs of vertices between which a shortest path leads through the vertex, shared between equally short paths.
//! It takes V × E steps; beyond a budget it is estimated from every n-th vertex as a start and scaled up, and the note says
//! so. `reach` is the number of vertices that come after a vertex, exact or unknown.

use crate::graph::{Graph, VertexId};
use crate::ops::adjacency::{Adjacency, vertices};
use crate::ops::order::topological;
use serde::Serialize;
use std::collections::VecDeque;

/// Steps that betweenness may take, and as many that reach may take.
const BUDGET: usize = 50_000_000;
/// Vertices that one pass of the search for reach looks for at once.
const BLOCK: usize = 64;

/// The table, by vertex.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Degrees {
    /// A row for each vertex of the graph, in its order.
    pub rows: Vec<DegreeRow>,
    /// What is estimated or missing, and why.
    pub notes: Vec<String>,
}

/// The figures of a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DegreeRow {
    /// The vertex that the figures are about.
    pub vertex: VertexId,
    /// Edges that enter it.
    pub incoming: u32,
    /// Edges that leave it.
    pub outgoing: u32,
    /// Pairs of other vertices whose shortest paths lead through it.
    pub betweenness: f64,
    /// Vertices that come after it; NULL if the graph is too large or has cycles.
    pub reach: Option<u64>,
}

/// Degrees and centrality of all vertices.
#[must_use]
pub fn degrees(graph: &Graph) -> Degrees {
    let (incoming, outgoing) = (Adjacency::incoming(graph), Adjacency::outgoing(graph));
    let mut notes = Vec::new();
    let betweenness = betweenness(graph, &outgoing, &mut notes);
    let reach = reach(graph, &mut notes);
    let row = |vertex: VertexId| DegreeRow {
        vertex,
        incoming: incoming.degree(vertex),
        outgoing: outgoing.degree(vertex),
        betweenness: betweenness[vertex.index()],
        reach: reach.as_ref().map(|reach| reach[vertex.index()]),
    };
    Degrees { rows: vertices(graph).map(row).collect(), notes }
}

fn size(graph: &Graph) -> usize {
    graph.vertices.len() + graph.edges.len()
}

fn betweenness(graph: &Graph, outgoing: &Adjacency, notes: &mut Vec<String>) -> Vec<f64> {
    let count = graph.vertices.len();
    let affordable = (BUDGET / size(graph).max(1)).max(1);
    let stride = count.div_ceil(affordable).max(1);
    if stride > 1 {
        notes.push(format!("betweenness is estimated from every {stride}th vertex as a start"));
    }
    let mut search = Search::new(count);
    let mut sums = vec![0.0; count];
    for source in vertices(graph).step_by(stride) {
        search.run(graph, outgoing, source, &mut sums);
    }
    let scale = count as f64 / count.div_ceil(stride).max(1) as f64;
    sums.iter_mut().for_each(|sum| *sum *= scale);
    sums
}

/// One breadth-first search of Brandes' algorithm; only what it touched is cleared afterwards.
struct Search {
    distance: Vec<u32>,
    paths: Vec<f64>,
    dependency: Vec<f64>,
    queue: VecDeque<VertexId>,
    order: Vec<VertexId>,
}

const FAR: u32 = u32::MAX;

impl Search {
    fn new(count: usize) -> Self {
        Self {
            distance: vec![FAR; count],
            paths: vec![0.0; count],
            dependency: vec![0.0; count],
            queue: VecDeque::new(),
            order: Vec::new(),
        }
    }

    fn run(&mut self, graph: &Graph, outgoing: &Adjacency, source: VertexId, sums: &mut [f64]) {
        self.distance[source.index()] = 0;
        self.paths[source.index()] = 1.0;
        self.queue.push_back(source);
        while let Some(vertex) = self.queue.pop_front() {
            self.order.push(vertex);
            let next = self.distance[vertex.index()] + 1;
            for edge in outgoing.of(vertex) {
                let to = graph.edge(*edge).to;
                if self.distance[to.index()] == FAR {
                    self.distance[to.index()] = next;
                    self.queue.push_back(to);
                }
                if self.distance[to.index()] == next {
                    self.paths[to.index()] += self.paths[vertex.index()];
                }
            }
        }
        for vertex in self.order.iter().rev() {
            let at = vertex.index();
            for edge in outgoing.of(*vertex) {
                let to = graph.edge(*edge).to.index();
                if self.distance[to] == self.distance[at] + 1 {
                    self.dependency[at] += self.paths[at] / self.paths[to] * (1.0 + self.dependency[to]);
                }
            }
            if *vertex != source {
                sums[at] += self.dependency[at];
            }
        }
        for vertex in self.order.drain(..) {
            (self.distance[vertex.index()], self.paths[vertex.index()]) = (FAR, 0.0);
            self.dependency[vertex.index()] = 0.0;
        }
    }
}

/// How many vertices come after each: 64 of them are looked for in one pass against the order.
fn reach(graph: &Graph, notes: &mut Vec<String>) -> Option<Vec<u64>> {
    let count = graph.vertices.len();
    if count.div_ceil(BLOCK).saturating_mul(size(graph)) > BUDGET {
        notes.push("reach is left out: the graph is too large to count it exactly".to_owned());
        return None;
    }
    let Ok(order) = topological(graph) else {
        notes.push("reach is left out: the graph has cycles".to_owned());
        return None;
    };
    let outgoing = Adjacency::outgoing(graph);
    let mut reach = vec![0_u64; count];
    for block in (0..count).step_by(BLOCK) {
        let mut seen = vec![0_u64; count];
        for vertex in order.iter().rev() {
            let mut after = 0;
            for edge in outgoing.of(*vertex) {
                let to = graph.edge(*edge).to.index();
                let own = if (block..block + BLOCK).contains(&to) { 1 << (to - block) } else { 0 };
                after |= seen[to] | own;
            }
            seen[vertex.index()] = after;
            reach[vertex.index()] += u64::from(after.count_ones());
        }
    }
    Some(reach)
}
