//! What vertices and edges weigh (Dun et al., section 5.3.2, "Node weight", "Edge weight").
//!
//! | weight | vertex | edge | along a path |
//! |---|---|---|---|
//! | `time` | life of a process that none of its children covers | – | ns, see [`crate::ops::timed_path`] |
//! | `bytes` | – | bytes moved | bytes |
//! | `calls` | – | calls that moved them | calls |
//! | `rate` | – | time in these calls: bytes / rate | ns |
//!
//! Life that a child covers weighs nothing in its parent: a shell that waits for an hour did not work for an hour, and a
//! path from the shell to its child would count the hour twice. Of a vertex that stands for several processes only the sum
//! of their lifetimes is known: from it the sum of the processes of its children is subtracted, down to 0, and what one of its
//! processes waits for another of them counts twice.
//! Rates do not add up along a path; what does is the time that the bytes took.

use crate::graph::{Edge, Graph, Relation, Vertex, VertexId};
use crate::ops::OpError;
use crate::ops::whole::Wholes;
use serde::Serialize;

/// What a vertex or an edge weighs in operations and pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Lifetime.
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
        found.ok_or_else(|| OpError::word("weight", word, "no weight", "write time, bytes, rate or calls"))
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

    /// A weight that adds up from those of `graph`, unless it is the time in calls and no call has a duration.
    #[must_use]
    pub fn if_known(self, graph: &Graph, weight: u64) -> Option<u64> {
        match self {
            Self::Bytes | Self::Calls | Self::Time => Some(weight),
            Self::Rate => graph.edges.iter().any(|edge| edge.elapsed().is_some()).then_some(weight),
        }
    }

    /// What an edge weighs.
    #[must_use]
    pub fn of_edge(self, edge: &Edge) -> u64 {
        match self {
            Self::Time => 0,
            Self::Bytes => edge.bytes(),
            Self::Rate => edge.elapsed().and_then(|time| u64::try_from(time.0).ok()).unwrap_or(0),
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
    let mut own = vec![0; graph.vertices.len()];
    for (parts, children) in families(graph) {
        let single = parts.iter().chain(&children).all(|vertex| graph.vertex(*vertex).members == 1);
        if single {
            let covered = union(children.iter().filter_map(|child| span(graph.vertex(*child))).collect());
            for part in parts {
                own[part.index()] = match span(graph.vertex(part)) {
                    Some(span) => length(&outside(span, &covered)),
                    None => time(graph.vertex(part)),
                };
            }
        } else {
            let below =
                children.iter().fold(0, |sum: u64, child| sum.saturating_add(time(graph.vertex(*child))));
            let mut rest = below;
            for part in parts {
                let time = time(graph.vertex(part));
                own[part.index()] = time.saturating_sub(rest);
                rest = rest.saturating_sub(time);
            }
        }
    }
    own
}

/// The parts of each whole process, and those of its children.
fn families(graph: &Graph) -> impl Iterator<Item = (Vec<VertexId>, Vec<VertexId>)> {
    let wholes = Wholes::new(graph);
    let mut children: Vec<Vec<VertexId>> = vec![Vec::new(); wholes.len()];
    for edge in graph.edges.iter().filter(|edge| edge.relation == Relation::Fork) {
        if let (Some(parent), Some(child)) = (wholes.of(edge.from), wholes.of(edge.to)) {
            children[parent as usize].extend(wholes.parts(child));
        }
    }
    let family = move |(whole, children)| (wholes.parts(whole as u32).to_vec(), children);
    children.into_iter().enumerate().map(family)
}

/// When each vertex was at work: the spans of its life in which no child of it lived and it waited for no other process,
/// sorted and disjoint; none of files and where birth or death is unknown. For graphs of single processes. Waits are known
/// of processes of one thread only: of others another thread may have worked.
pub(crate) fn busy(graph: &Graph) -> Vec<Vec<(i64, i64)>> {
    let mut busy = vec![Vec::new(); graph.vertices.len()];
    for (parts, children) in families(graph) {
        let mut idle: Vec<(i64, i64)> =
            children.iter().filter_map(|child| span(graph.vertex(*child))).collect();
        let process =
            parts.first().and_then(|part| graph.vertex(*part).process()).map(|process| process.process);
        idle.extend(process.map(|process| graph.waits.caused_by_others(process)).unwrap_or_default());
        let idle = union(idle);
        for part in parts {
            if let Some(span) = span(graph.vertex(part)) {
                busy[part.index()] = outside(span, &idle);
            }
        }
    }
    busy
}

fn time(vertex: &Vertex) -> u64 {
    vertex.time.and_then(|time| u64::try_from(time.0).ok()).unwrap_or(0)
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

/// What of a span lies outside `covered`, which is a union.
fn outside((start, end): (i64, i64), covered: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let first = covered.partition_point(|span| span.1 <= start);
    let mut rest = Vec::new();
    let mut from = start;
    for span in covered[first..].iter().take_while(|span| span.0 < end) {
        if from < span.0 {
            rest.push((from, span.0));
        }
        from = span.1;
    }
    if from < end {
        rest.push((from, end));
    }
    rest
}

fn length(spans: &[(i64, i64)]) -> u64 {
    spans.iter().fold(0_u64, |sum, span| sum.saturating_add(span.1.abs_diff(span.0)))
}
