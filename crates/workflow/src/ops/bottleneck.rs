//! Bottlenecks: edges along which data moved far slower than along others of their kind (Dun et al., section 5.3.2).
//!
//! Edges are of one kind if they have the same relation and their processes the same phase. An edge is a bottleneck if its
//! rate is below a quarter of the median of its kind, and lies further below it than the spread of the kind explains:
//! ln(median) − ln(rate) > 3 × 1.4826 × MAD, where MAD is the median of |ln(rate) − ln(median)|. Rates spread over orders of
//! magnitude, which is why both are taken of logarithms. Kinds of fewer than five edges have no usual rate. The time lost is
//! what the calls took beyond what the bytes would have taken at the median; edges are ranked by it.

use crate::graph::{EdgeId, Graph, Relation};
use serde::Serialize;
use std::collections::BTreeMap;

/// The fewest edges that have a usual rate.
const FEWEST: usize = 5;
/// How far below the median a rate must be.
const FACTOR: f64 = 4.0;
/// How many standard deviations, as estimated by the MAD, a logarithm must be below.
const DEVIATIONS: f64 = 3.0;
/// The standard deviation of a normal distribution in units of its MAD.
const MAD_TO_SD: f64 = 1.4826;

/// Relation and phase.
type Kind = (Relation, Option<u32>);

/// Slow edges, and what is usual.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bottlenecks {
    /// The edges, most time lost first.
    pub edges: Vec<Bottleneck>,
    /// The kinds of edges that have a usual rate.
    pub kinds: Vec<EdgeKind>,
    /// Edges that moved bytes in known time, which is what is compared.
    pub compared: u64,
    /// Edges of kinds with too few of them.
    pub too_few: u64,
}

/// Edges of the same relation and phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EdgeKind {
    /// What they mean.
    pub relation: Relation,
    /// The phase of their processes.
    pub phase: Option<u32>,
    /// Number of edges of the kind.
    pub edges: u64,
    /// Median of their rates in bytes/s.
    pub median_rate: f64,
    /// Median absolute deviation of the natural logarithms of the rates.
    pub mad_log: f64,
}

/// A slow edge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bottleneck {
    /// The edge that is slower than others of its kind.
    pub edge: EdgeId,
    /// Its rate in bytes/s.
    pub rate: f64,
    /// The median of its kind.
    pub median_rate: f64,
    /// Time in its calls beyond that at the median, in ns.
    pub lost_ns: u64,
}

/// Finds the bottlenecks.
#[must_use]
pub fn bottlenecks(graph: &Graph) -> Bottlenecks {
    let mut kinds: BTreeMap<Kind, Vec<(EdgeId, f64)>> = BTreeMap::new();
    for (index, edge) in graph.edges.iter().enumerate() {
        let Some(rate) = edge.rate().filter(|_| edge.relation.moves_data()) else { continue };
        let ends = [edge.from, edge.to].map(|end| graph.vertex(end));
        let phase = ends.iter().find(|vertex| vertex.process().is_some()).and_then(|vertex| vertex.phase);
        kinds.entry((edge.relation, phase)).or_default().push((EdgeId(index as u32), rate));
    }
    let mut result = Bottlenecks::default();
    for ((relation, phase), rates) in kinds {
        result.compared += rates.len() as u64;
        if rates.len() < FEWEST {
            result.too_few += rates.len() as u64;
            continue;
        }
        let median_rate = median(rates.iter().map(|(_, rate)| *rate).collect());
        let mad_log = median(rates.iter().map(|(_, rate)| (rate.ln() - median_rate.ln()).abs()).collect());
        let is_slow = |rate: f64| {
            rate < median_rate / FACTOR && median_rate.ln() - rate.ln() > DEVIATIONS * MAD_TO_SD * mad_log
        };
        let slow = rates.iter().filter(|(_, rate)| is_slow(*rate)).map(|(edge, rate)| Bottleneck {
            edge: *edge,
            rate: *rate,
            median_rate,
            lost_ns: lost(graph, *edge, median_rate),
        });
        result.edges.extend(slow);
        result.kinds.push(EdgeKind { relation, phase, edges: rates.len() as u64, median_rate, mad_log });
    }
    result.edges.sort_by(|a, b| b.lost_ns.cmp(&a.lost_ns).then(a.edge.cmp(&b.edge)));
    result
}

fn lost(graph: &Graph, edge: EdgeId, usual: f64) -> u64 {
    let edge = graph.edge(edge);
    let expected = edge.bytes() as f64 / usual * 1e9;
    let elapsed = edge.elapsed().unwrap_or_default().0 as f64;
    (elapsed - expected).max(0.0) as u64
}

/// The median, of an even number the mean of the middle two; of nothing 0.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        many if many % 2 == 1 => values[many / 2],
        many => values[many / 2 - 1].midpoint(values[many / 2]),
    }
}
