//! The subgraph of a time window.

use crate::graph::{Edge, Graph, Vertex, VertexId};
use crate::ops::OpError;
use crate::ops::adjacency::vertices;
use crate::ops::subgraph::subgraph;
use iotrail_model::text::printable;
use iotrail_model::{Timestamp, units};
use iotrail_query::moment::{self, Moment};

/// From a moment on, and before another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    since: Option<Moment>,
    until: Option<Moment>,
}

impl Window {
    /// Parses `T1..T2`; either may be missing.
    ///
    /// # Errors
    /// If there is no `..`, or one of the moments makes no sense.
    pub fn parse(word: &str) -> Result<Self, OpError> {
        let Some((since, until)) = word.split_once("..") else {
            let allowed = format!("write T1..T2, ..T2 or T1..; for T1 and T2 {}", moment::ALLOWED);
            return Err(OpError::word("window", word, "no `..` between two times", allowed));
        };
        let parse = |part: &str| match part.trim() {
            "" => Ok(None),
            part => Moment::parse(part).map(Some).map_err(|problem| {
                let problem = format!("`{}` is {problem}", printable(part));
                OpError::word("window", word, problem, moment::ALLOWED)
            }),
        };
        Ok(Self { since: parse(since)?, until: parse(until)? })
    }

    /// The window of a graph as points of time; relative moments are of the span of the whole recording.
    fn resolve(self, graph: &Graph) -> Result<(Timestamp, Timestamp), String> {
        let resolve = |moment: Moment, after| moment.resolve(graph.span, &[], after);
        let since = self.since.map(|moment| resolve(moment, None)).transpose()?;
        let until = self.until.map(|moment| resolve(moment, since)).transpose()?;
        Ok((since.unwrap_or(Timestamp(i64::MIN)), until.unwrap_or(Timestamp(i64::MAX))))
    }
}

/// What happened in the window: processes that lived in it, edges with a sign in it, files that have such an edge. The end
/// does not belong to it. A bound that is unknown is no reason to leave something out.
///
/// What a process reads once more after another part of it has begun stays on the edge to the part that read it first: such a
/// part is there as long as its edges have signs.
///
/// # Errors
/// If the window ends before it begins.
pub fn window(graph: &Graph, word: &str, window: Window) -> Result<Graph, OpError> {
    let bad = |problem: String| OpError::word("window", word, problem, moment::ALLOWED);
    let (since, until) = window.resolve(graph).map_err(bad)?;
    if until < since {
        return Err(bad("the window ends before it begins".to_owned()));
    }
    let within = |first: Option<Timestamp>, last: Option<Timestamp>| {
        first.is_none_or(|first| first < until) && last.is_none_or(|last| last >= since)
    };
    let lived = |vertex: &Vertex| vertex.process().is_none_or(|process| within(process.start, process.end));
    let mut kept: Vec<bool> = graph.vertices.iter().map(lived).collect();
    let happened = |edge: &Edge| within(edge.first, edge.last);
    let moved = || graph.edges.iter().filter(|edge| happened(edge) && edge.relation.moves_data());
    for edge in moved().filter(|edge| edge.first.is_some() && edge.last.is_some()) {
        kept[edge.from.index()] = true;
        kept[edge.to.index()] = true;
    }
    let mut used = vec![false; graph.vertices.len()];
    for edge in moved() {
        if kept[edge.from.index()] && kept[edge.to.index()] {
            used[edge.from.index()] = true;
            used[edge.to.index()] = true;
        }
    }
    for vertex in vertices(graph).filter(|vertex| graph.vertex(*vertex).file().is_some()) {
        kept[vertex.index()] = used[vertex.index()];
    }
    let sentence = format!("window {}", describe(graph, since, until));
    Ok(subgraph(graph, "outside the window", sentence, |v: VertexId| kept[v.index()], happened))
}

/// The window in words, from the start of the recording if that is known.
fn describe(graph: &Graph, since: Timestamp, until: Timestamp) -> String {
    let show = |at: Timestamp, open: &str| match (at.0, graph.span) {
        (i64::MIN | i64::MAX, _) => open.to_owned(),
        (_, Some((first, _))) => format!("+{}", units::duration(at.0.saturating_sub(first.0) as f64)),
        (_, None) => at.to_rfc3339(),
    };
    format!("{} to {}", show(since, "the start"), show(until, "the end"))
}
