//! The static critical path: the heaviest path through the graph, and the slack of each vertex.
//!
//! The critical path method: `earliest` of a vertex is the weight of the heaviest path to it, `latest` the total less the
//! weight of the heaviest path from it on, its slack the difference. A vertex of slack 0 lies on a heaviest path; one with
//! more could weigh so much more before the total grows. It says what the dependencies would allow, not what happened:
//! for that see [`crate::ops::critical_executed()`]. Linear in the size of the graph. By time processes that live at the same
//! time must not be added up, see [`crate::ops::timed_path`]; only where vertices stand for several processes, of which no single
//! times are known, the sums of their lifetimes are.

use crate::graph::{EdgeId, Graph, VertexId};
use crate::ops::OpError;
use crate::ops::adjacency::{Adjacency, vertices};
use crate::ops::order::topological;
use crate::ops::timed_path::timed_path;
use crate::ops::weight::Weight;
use serde::Serialize;

/// The heaviest path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Critical {
    /// What was weighed.
    pub weight: Weight,
    /// The weight of the path: ns, bytes or calls.
    pub total: u64,
    /// Vertices of the path, from its start to its end.
    pub steps: Vec<CriticalStep>,
    /// The slack of each vertex of the graph, in the unit of the weight.
    pub slack: Vec<u64>,
}

/// A vertex of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CriticalStep {
    /// The vertex of the step.
    pub vertex: VertexId,
    /// The edge by which the path comes to it; none at its start.
    pub edge: Option<EdgeId>,
    /// What the vertex and the edge weigh.
    pub weight: u64,
    /// The weight of the path up to here.
    pub sum: u64,
}

/// The heaviest path of `graph`; of several the one that leads through the first vertices.
///
/// # Errors
/// If the graph has a cycle, or time is weighed and time stamps are too coarse for it.
pub fn critical_static(graph: &Graph, weight: Weight) -> Result<Critical, OpError> {
    if weight == Weight::Time && graph.resolution.is_coarse() {
        return Err(OpError::CoarseTimes);
    }
    let order = topological(graph).map_err(|cycle| OpError::Cyclic {
        what: "the heaviest path",
        cycle: cycle
            .iter()
            .chain(cycle.first())
            .map(|vertex| graph.vertex(*vertex).key.to_string())
            .collect(),
    })?;
    let single = |vertex: &crate::graph::Vertex| vertex.process().is_none() || vertex.members == 1;
    if weight == Weight::Time && graph.vertices.iter().all(single) {
        return Ok(timed_path(graph, &order));
    }
    let own = weight.of_vertices(graph);
    let reached = Reached::new(graph, weight, &own, &order);
    let below = below(graph, weight, &own, &order);
    let total = vertices(graph).map(|vertex| reached.sum[vertex.index()]).max().unwrap_or(0);
    let slack = vertices(graph)
        .map(|vertex| {
            let at = vertex.index();
            let through = reached.sum[at].saturating_add(below[at]).saturating_sub(own[at]);
            total.saturating_sub(through)
        })
        .collect();
    let steps = reached.path(graph, weight, &own, total);
    Ok(Critical { weight, total, steps, slack })
}

/// The heaviest path to each vertex, with it.
struct Reached {
    sum: Vec<u64>,
    by: Vec<Option<EdgeId>>,
}

impl Reached {
    fn new(graph: &Graph, weight: Weight, own: &[u64], order: &[VertexId]) -> Self {
        let incoming = Adjacency::incoming(graph);
        let mut reached = Self { sum: own.to_vec(), by: vec![None; own.len()] };
        for vertex in order {
            let at = vertex.index();
            for id in incoming.of(*vertex) {
                let edge = graph.edge(*id);
                let sum = reached.sum[edge.from.index()]
                    .saturating_add(weight.of_edge(edge))
                    .saturating_add(own[at]);
                if sum > reached.sum[at] {
                    (reached.sum[at], reached.by[at]) = (sum, Some(*id));
                }
            }
        }
        reached
    }

    fn path(&self, graph: &Graph, weight: Weight, own: &[u64], total: u64) -> Vec<CriticalStep> {
        let mut steps = Vec::new();
        let mut at = vertices(graph).find(|vertex| total > 0 && self.sum[vertex.index()] == total);
        while let Some(vertex) = at {
            let edge = self.by[vertex.index()];
            let came = edge.map_or(0, |edge| weight.of_edge(graph.edge(edge)));
            let weight = own[vertex.index()].saturating_add(came);
            steps.push(CriticalStep { vertex, edge, weight, sum: self.sum[vertex.index()] });
            at = edge.map(|edge| graph.edge(edge).from);
        }
        steps.reverse();
        steps
    }
}

/// The weight of the heaviest path from each vertex on, with it.
fn below(graph: &Graph, weight: Weight, own: &[u64], order: &[VertexId]) -> Vec<u64> {
    let outgoing = Adjacency::outgoing(graph);
    let mut below = own.to_vec();
    for vertex in order.iter().rev() {
        for id in outgoing.of(*vertex) {
            let edge = graph.edge(*id);
            let sum = below[edge.to.index()]
                .saturating_add(weight.of_edge(edge))
                .saturating_add(own[vertex.index()]);
            below[vertex.index()] = below[vertex.index()].max(sum);
        }
    }
    below
}
