//! The workflow DAG (Dun et al., section 5.3): a joined graph that is laid out here, and what stands behind each of its
//! vertices, which the page opens on demand.

mod critical;
mod data;
mod join;
mod overview;
mod positions;

pub(crate) use critical::CriticalPath;
pub use data::{FlowEdge, FlowGroup, FlowLink, FlowPath, FlowVertex, MoreFlow, PageFlow};
pub(crate) use overview::Overview;

use crate::name_table::NameTable;
use iotrail_model::Timestamp;
use iotrail_workflow::graph::{Edge, Facts, Graph, Relation, Vertex, VertexId};
use iotrail_workflow::ops::Executed;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Segments of the critical path that are listed.
const PATH_STEPS: usize = 1000;

/// What the graph is drawn from.
pub(crate) struct Subject<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) critical: &'a CriticalPath,
    pub(crate) overview: &'a Overview,
    /// Where each process is in the list of processes.
    pub(crate) processes: &'a [Option<u32>],
    pub(crate) origin: Timestamp,
    /// Vertices and edges that the page holds.
    pub(crate) room: (usize, usize),
}

/// The graph of the page; nothing if there is no vertex.
pub(crate) fn flow(subject: &Subject<'_>, names: &mut NameTable) -> Option<PageFlow> {
    let Subject { graph, critical, overview, .. } = subject;
    if graph.vertices.is_empty() {
        return None;
    }
    let kept = kept(graph, critical, subject.room.0);
    let mut page = PageFlow {
        relations: Relation::ALL.iter().map(|relation| relation.name()).collect(),
        left_out: graph.left_out.counted(),
        left_out_bytes: graph.left_out.bytes,
        notes: graph.notes.clone(),
        path_unknown: critical.why_not.clone(),
        ..PageFlow::default()
    };
    page.groups = overview.groups(names);
    page.links = overview.links();
    let mut numbers: Vec<Option<u32>> = vec![None; graph.vertices.len()];
    for at in kept {
        numbers[at] = Some(page.vertices.len() as u32);
        page.vertices.push(vertex(subject, at, names));
    }
    page.more.vertices = (graph.vertices.len() - page.vertices.len()) as u64;
    edges(graph, &numbers, &critical.edges, subject.room.1, &mut page);
    page.path = critical.executed.as_ref().map(|executed| path(executed, &numbers, subject.origin));
    Some(page)
}

/// The vertices of the critical path, then those that moved most bytes or lived longest, in the order of the graph.
fn kept(graph: &Graph, critical: &CriticalPath, limit: usize) -> Vec<usize> {
    let count = graph.vertices.len();
    if count <= limit {
        return (0..count).collect();
    }
    let mut bytes = vec![0_u64; count];
    for edge in &graph.edges {
        for end in [edge.from, edge.to] {
            bytes[end.index()] = bytes[end.index()].saturating_add(edge.bytes());
        }
    }
    let mut kept = vec![false; count];
    let mut room = limit;
    let mut keep = |index: usize, room: &mut usize| {
        if *room > 0 && !std::mem::replace(&mut kept[index], true) {
            *room -= 1;
        }
    };
    critical.vertices.iter().for_each(|vertex| keep(vertex.index(), &mut room));
    let mut by_time: Vec<usize> =
        (0..count).filter(|index| graph.vertices[*index].process().is_some()).collect();
    by_time.sort_by_key(|index| Reverse(graph.vertices[*index].time));
    by_time.iter().take(limit / 2).for_each(|index| keep(*index, &mut room));
    let mut by_bytes: Vec<usize> = (0..count).collect();
    by_bytes.sort_by_key(|index| Reverse(bytes[*index]));
    by_bytes.iter().for_each(|index| keep(*index, &mut room));
    (0..count).filter(|index| kept[*index]).collect()
}

fn vertex(subject: &Subject<'_>, index: usize, names: &mut NameTable) -> FlowVertex {
    let vertex: &Vertex = &subject.graph.vertices[index];
    let (group, critical) = subject.overview.of(index);
    let base = FlowVertex { group, time: vertex.time.map(|time| time.0), critical, ..FlowVertex::default() };
    match &vertex.facts {
        Facts::Process(process) => FlowVertex {
            name: names.id(&vertex.label),
            part: process.part,
            about: subject.processes.get(process.process.index()).copied().flatten().map(i64::from),
            ..base
        },
        Facts::File(file) => FlowVertex {
            name: names.id(&file.path),
            part: file.version,
            about: file.size,
            readers: file.readers,
            writers: file.writers,
            ..base
        },
    }
}

fn path(executed: &Executed, numbers: &[Option<u32>], origin: Timestamp) -> FlowPath {
    let number =
        |vertex: Option<VertexId>| vertex.map_or(-1, |vertex| numbers[vertex.index()].map_or(-2, i64::from));
    let steps = executed.steps.iter().take(PATH_STEPS).map(|step| {
        (number(step.vertex), (step.from - origin).0, step.span().0, step.why.describe(), number(step.after))
    });
    FlowPath {
        makespan: executed.makespan.0,
        steps: steps.collect(),
        more: executed.steps.len().saturating_sub(PATH_STEPS) as u64,
        unknown_times: executed.unknown_times,
        unknown_ends: (executed.unknown_ends, executed.unknown_ends_time.0),
    }
}

/// The edges between vertices of the page, most bytes first if there are too many.
fn edges(
    graph: &Graph,
    numbers: &[Option<u32>],
    steps: &HashSet<(VertexId, VertexId)>,
    limit: usize,
    page: &mut PageFlow,
) {
    let mut inner = Vec::new();
    let mut count_out = |edge: &Edge| {
        page.more.edges += 1;
        page.more.bytes = page.more.bytes.saturating_add(edge.bytes());
    };
    for edge in &graph.edges {
        match numbers[edge.from.index()].zip(numbers[edge.to.index()]) {
            Some((from, to)) => {
                inner.push((edge, figures(edge, from, to, steps.contains(&(edge.from, edge.to)))))
            }
            None => count_out(edge),
        }
    }
    if inner.len() > limit {
        inner.sort_by_key(|(edge, row)| (!row.critical, Reverse(edge.bytes())));
        inner.drain(limit..).for_each(|(edge, _)| count_out(edge));
        inner.sort_by_key(|(_, row)| (row.from, row.to, row.relation));
    }
    page.edges = inner.into_iter().map(|(_, row)| row).collect();
}

fn figures(edge: &Edge, from: u32, to: u32, critical: bool) -> FlowEdge {
    FlowEdge {
        from,
        to,
        relation: Relation::ALL.iter().position(|one| *one == edge.relation).unwrap_or(0) as u8,
        read: edge.read.bytes,
        written: edge.written.bytes,
        calls: edge.calls(),
        elapsed: edge.elapsed().map(|time| time.0),
        critical,
    }
}

#[cfg(test)]
mod tests;
