//! What vertices and edges weigh (Dun et al., section 5.3.2, "Node weight", "Edge weight").
//!
//! | weight | vertex | edge | along a path |
//! |---|---|---|---|
//! | `time` | life of a process that none of its children covers | – | ns |
//! | `bytes` | – | bytes moved | bytes |
//! | `calls` | – | calls that moved them | calls |
//! | `rate` | – | time in these calls: bytes / rate | ns |
//!
//! Life that a child covers weighs nothing in its parent: a shell that waits for an hour did not work for an hour, and a
//! path from the shell to its child would count the hour twice. Of a vertex that stands for several processes only the sum
//! of their lives is known: from it the sum of the lives of its children is subtracted, down to 0, and what one of its
//! processes waits for another of them counts twice.
//! Rates do not add up along a path; what does is the time that the bytes took.

use crate::graph::{Edge, Graph, Relation, Vertex, VertexId};
use crate::ops::OpError;
use crate::ops::whole::Wholes;
use serde::Serialize;

/// A weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Life time.
    #[default]
    Time,
    /// Bytes moved.
    Bytes,
    /// Time that moving them took.
    Rate,
    /// Calls that moved bytes.
    Calls,
}

impl Weight {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Time, Self::Bytes, Self::Rate, Self::Calls];

    /// Parses a name.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(word: &str) -> Result<Self, OpError> {
        let found = Self::ALL.into_iter().find(|weight| weight.name() == word);
        found.ok_or_else(|| OpError::word("--weight", word, "no weight", "write time, bytes, rate or calls"))
    }

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Bytes => "bytes",
            Self::Rate => "rate",
            Self::Calls => "calls",
        }
    }

    /// Whether it is measured in nanoseconds.
    #[must_use]
    pub const fn is_time(self) -> bool {
        matches!(self, Self::Time | Self::Rate)
    }

    /// What an edge weighs.
    #[must_use]
    pub fn of_edge(self, edge: &Edge) -> u64 {
        match self {
            Self::Time => 0,
            Self::Bytes => edge.bytes(),
            Self::Rate => u64::try_from(edge.elapsed().0).unwrap_or(0),
            Self::Calls => edge.calls(),
        }
    }

    /// What each vertex weighs.
    #[must_use]
    pub fn of_vertices(self, graph: &Graph) -> Vec<u64> {
        match self {
            Self::Time => own_times(graph),
            Self::Bytes | Self::Rate | Self::Calls => vec![0; graph.vertices.len()],
        }
    }
}

/// The life of each vertex that none of its children covers, in ns; 0 for files and where nothing is known.
fn own_times(graph: &Graph) -> Vec<u64> {
    let wholes = Wholes::new(graph);
    let mut children: Vec<Vec<VertexId>> = vec![Vec::new(); wholes.len()];
    for edge in graph.edges.iter().filter(|edge| edge.relation == Relation::Fork) {
        if let (Some(parent), Some(child)) = (wholes.of(edge.from), wholes.of(edge.to)) {
            children[parent as usize].extend(wholes.parts(child));
        }
    }
    let mut own = vec![0; graph.vertices.len()];
    for (whole, children) in children.iter().enumerate() {
        let parts = wholes.parts(whole as u32);
        let single = parts.iter().chain(children).all(|vertex| graph.vertex(*vertex).members == 1);
        if single {
            let covered = union(children.iter().filter_map(|child| span(graph.vertex(*child))).collect());
            for part in parts {
                own[part.index()] = uncovered(graph.vertex(*part), &covered);
            }
        } else {
            let below =
                children.iter().fold(0, |sum: u64, child| sum.saturating_add(time(graph.vertex(*child))));
            let mut rest = below;
            for part in parts {
                let time = time(graph.vertex(*part));
                own[part.index()] = time.saturating_sub(rest);
                rest = rest.saturating_sub(time);
            }
        }
    }
    own
}

fn time(vertex: &Vertex) -> u64 {
    u64::try_from(vertex.time.0).unwrap_or(0)
}

fn span(vertex: &Vertex) -> Option<(i64, i64)> {
    let process = vertex.process()?;
    let (start, end) = (process.start?.0, process.end?.0);
    (start < end).then_some((start, end))
}

/// Spans that overlap or touch become one; sorted.
fn union(mut spans: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    spans.sort_unstable();
    spans.dedup_by(|next, kept| {
        let meets = next.0 <= kept.1;
        if meets {
            kept.1 = kept.1.max(next.1);
        }
        meets
    });
    spans
}

/// The life of a vertex outside `covered`, which is a union.
fn uncovered(vertex: &Vertex, covered: &[(i64, i64)]) -> u64 {
    let Some((start, end)) = span(vertex) else { return time(vertex) };
    let first = covered.partition_point(|span| span.1 <= start);
    let inside = covered[first..]
        .iter()
        .take_while(|span| span.0 < end)
        .fold(0_u64, |sum, span| sum.saturating_add(span.1.min(end).abs_diff(span.0.max(start))));
    end.abs_diff(start).saturating_sub(inside)
}
