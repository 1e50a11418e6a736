//! When whole processes began and ended, as well as it is known.
//!
//! A recording that was cut off, or a trace that began late, does not tell it. The first and the last sign stand in: the
//! process's own edges, else its parent's birth, else the end of the recording.

use crate::graph::{Graph, Relation, VertexId};
use crate::ops::whole::Wholes;
use iotrail_model::Timestamp;

/// Birth and death of each whole process, in ns since the epoch; birth is never after death.
pub(crate) struct Lifetimes {
    pub(crate) start: Vec<i64>,
    pub(crate) end: Vec<i64>,
    /// How many processes lack one of them.
    pub(crate) unknown: u64,
}

impl Lifetimes {
    pub(crate) fn new(graph: &Graph, wholes: &Wholes) -> Self {
        let signs = signs(graph, wholes);
        let start = (0..wholes.len()).map(|whole| known(graph, wholes, whole, |p| p.start).min()).collect();
        let end = (0..wholes.len()).map(|whole| known_end(graph, wholes, whole)).collect();
        let mut unknown = 0;
        let (starts, ends): (Vec<Option<i64>>, Vec<Option<i64>>) = (start, end);
        let first =
            starts.iter().chain(&ends).flatten().chain(signs.iter().flat_map(|s| s.iter().flatten())).min();
        let fallback = graph.span.map(|span| span.0.0).or(first.copied()).unwrap_or(0);
        let mut lifetimes = Self { start: Vec::new(), end: Vec::new(), unknown: 0 };
        for ((start, end), sign) in starts.into_iter().zip(ends).zip(&signs) {
            unknown += u64::from(start.is_none() || end.is_none());
            let from = start.or(sign.map(|sign| sign[0])).or(end).unwrap_or(fallback);
            let to = end.or(sign.map(|sign| sign[1])).unwrap_or(from).max(from);
            lifetimes.start.push(from);
            lifetimes.end.push(to);
        }
        lifetimes.unknown = unknown;
        lifetimes
    }
}

fn known<'a>(
    graph: &'a Graph,
    wholes: &'a Wholes,
    whole: usize,
    moment: impl Fn(&crate::graph::ProcessVertex) -> Option<Timestamp> + 'a,
) -> impl Iterator<Item = i64> + 'a {
    let parts = wholes.parts(whole as u32).iter();
    parts.filter_map(move |part| moment(graph.vertex(*part).process()?)).map(|at| at.0)
}

/// The end of the last part, if that is known: the ends of the others are only where the next part begins.
fn known_end(graph: &Graph, wholes: &Wholes, whole: usize) -> Option<i64> {
    let parts = wholes.parts(whole as u32).iter();
    let last = parts.filter_map(|part| graph.vertex(*part).process()).max_by_key(|process| process.part)?;
    Some(last.end?.0)
}

/// First and last sign of each process in its edges.
fn signs(graph: &Graph, wholes: &Wholes) -> Vec<Option<[i64; 2]>> {
    let mut signs: Vec<Option<[i64; 2]>> = vec![None; wholes.len()];
    let mut see = |vertex: VertexId, at: Option<Timestamp>| {
        if let (Some(whole), Some(at)) = (wholes.of(vertex), at) {
            let sign = signs[whole as usize].get_or_insert([at.0; 2]);
            *sign = [sign[0].min(at.0), sign[1].max(at.0)];
        }
    };
    for edge in &graph.edges {
        for at in [edge.first, edge.last] {
            see(edge.from, at);
            // A fork is the first thing of the child, whatever it was told to be.
            see(edge.to, if edge.relation == Relation::Fork { edge.first } else { at });
        }
    }
    signs
}
