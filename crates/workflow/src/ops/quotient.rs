//! A graph in which vertices of the same name have become one.
//!
//! Figures are summed and times span all members, so no byte is lost. Edges between two vertices that lead the same way
//! become one, whose relation is the first in the order of [`Relation`] (Dun et al., equation 5). Edges inside one vertex
//! (only forks and successions can be: data move between a process and a file, which never join) are left out and counted.

use crate::graph::{Edge, Facts, FileVertex, Graph, ProcessVertex, Relation, Vertex, VertexId};
use crate::ops::adjacency::vertices;
use crate::ops::order::topological;
use crate::ops::subgraph::{empty_like, leave_out_edge, leave_out_vertices};
use crate::ops::whole::Wholes;
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use iotrail_model::text::printable;
use iotrail_model::{Nanos, units};
use std::sync::Arc;

/// What a vertex is called in the quotient.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    /// Vertices of one kind and key become one.
    pub(crate) key: Arc<str>,
    /// What is drawn.
    pub(crate) label: Arc<str>,
}

/// Joins the vertices of each kind that have the same name; one without a name stays as it is. With it, what became of each.
pub(crate) fn quotient(graph: &Graph, names: &[Option<Name>], sentence: String) -> (Graph, Vec<VertexId>) {
    let classes = Classes::new(graph, names);
    let mut joined = empty_like(graph);
    let parts;
    (joined.vertices, parts) = merged_vertices(graph, &classes, names);
    leave_out_vertices(&mut joined, "parts joined with their process", parts);
    let inside = merged_edges(graph, &classes, &mut joined);
    if inside > 0 {
        let (edges, are) = if inside == 1 { ("edge", "is") } else { ("edges", "are") };
        joined.notes.push(format!(
            "{} {edges} inside joined vertices (forks, parts and versions that follow each other) {are} not shown",
            units::count(inside)
        ));
    }
    let order = topological(&joined).unwrap_or_else(|cycle| {
        joined.notes.push(of_cycle(&joined, &cycle, &sentence));
        vertices(&joined).collect()
    });
    joined.history.push(sentence);
    let places = places(&order);
    let mapped = classes.of.iter().map(|class| places[*class as usize]).collect();
    (permuted(joined, &order, &places), mapped)
}

fn of_cycle(graph: &Graph, cycle: &[VertexId], sentence: &str) -> String {
    const SHOWN: usize = 6;
    let mut keys: Vec<String> = cycle.iter().take(SHOWN).map(|v| shown(&graph.vertex(*v).key)).collect();
    if cycle.len() > SHOWN {
        keys.push("…".to_owned());
    }
    keys.extend(keys.first().cloned());
    format!(
        "after `{sentence}` there are cycles, for example {}: merging created a cycle (the merged vertices alternate)",
        keys.join(" -> ")
    )
}

fn shown(key: &str) -> String {
    format!("`{}`", printable(key))
}

/// The class of each vertex, and its members.
struct Classes {
    of: Vec<u32>,
    members: Vec<Vec<VertexId>>,
}

impl Classes {
    fn new(graph: &Graph, names: &[Option<Name>]) -> Self {
        let mut known: HashMap<(bool, &str), u32, RandomState> = HashMap::default();
        let mut classes = Self { of: Vec::with_capacity(names.len()), members: Vec::new() };
        for (vertex, name) in vertices(graph).zip(names) {
            let fresh = classes.members.len() as u32;
            let class = match name {
                None => fresh,
                Some(name) => {
                    let is_file = graph.vertex(vertex).file().is_some();
                    *known.entry((is_file, &*name.key)).or_insert(fresh)
                }
            };
            if class == fresh {
                classes.members.push(Vec::new());
            }
            classes.members[class as usize].push(vertex);
            classes.of.push(class);
        }
        classes
    }
}

/// The vertices, and how many parts of processes count no more because their process counts once.
fn merged_vertices(graph: &Graph, classes: &Classes, names: &[Option<Name>]) -> (Vec<Vertex>, u64) {
    let wholes = Wholes::new(graph);
    let mut parts = 0;
    let users = Users::count(graph, classes);
    let mut used: HashSet<Arc<str>, RandomState> = HashSet::default();
    let mut merged = Vec::with_capacity(classes.members.len());
    for (class, members) in classes.members.iter().enumerate() {
        let first = members[0];
        let mut vertex = match &names[first.index()] {
            None => graph.vertex(first).clone(),
            Some(name) => {
                let mut vertex = merge(graph, members, name);
                (vertex.members, parts) = count(graph, &wholes, members, parts);
                vertex
            }
        };
        if let (Facts::File(file), true) = (&mut vertex.facts, members.len() > 1) {
            file.readers = users.readers[class];
            file.writers = users.writers[class];
        }
        vertex.key = unique(&mut used, &vertex.key);
        merged.push(vertex);
    }
    (merged, parts)
}

/// How many vertices of the original graph `members` stand for, further parts of a process not counted but added to `parts`.
fn count(graph: &Graph, wholes: &Wholes, members: &[VertexId], mut parts: u64) -> (u32, u64) {
    let mut seen: HashSet<u32, RandomState> = HashSet::default();
    let mut sum = 0_u32;
    for member in members {
        let own = graph.vertex(*member).members;
        if wholes.of(*member).is_some_and(|whole| !seen.insert(whole)) {
            parts += u64::from(own);
        } else {
            sum = sum.saturating_add(own);
        }
    }
    (sum, parts)
}

fn unique(used: &mut HashSet<Arc<str>, RandomState>, key: &Arc<str>) -> Arc<str> {
    let mut candidate = Arc::clone(key);
    let mut number = 1;
    while !used.insert(Arc::clone(&candidate)) {
        number += 1;
        candidate = format!("{key} ({number})").into();
    }
    candidate
}

fn merge(graph: &Graph, members: &[VertexId], name: &Name) -> Vertex {
    let first = graph.vertex(members[0]);
    let all = || members.iter().map(|member| graph.vertex(*member));
    let facts = match &first.facts {
        Facts::Process(process) => {
            Facts::Process(merge_processes(process, || all().filter_map(Vertex::process)))
        }
        Facts::File(file) => Facts::File(merge_files(file, name, || all().filter_map(Vertex::file))),
    };
    Vertex {
        key: Arc::clone(&name.key),
        label: Arc::clone(&name.label),
        phase: common(all().map(|vertex| vertex.phase)).flatten(),
        members: first.members,
        time: all().try_fold(Nanos(0), |sum, vertex| Some(Nanos(sum.0.saturating_add(vertex.time?.0)))),
        facts,
    }
}

/// The value that all have, if they have the same.
fn common<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

fn merge_processes<'a, I>(first: &ProcessVertex, all: impl Fn() -> I) -> ProcessVertex
where
    I: Iterator<Item = &'a ProcessVertex>,
{
    ProcessVertex {
        exe: common(all().map(|p| p.exe.clone())).flatten(),
        cmdline: common(all().map(|p| p.cmdline.clone())).flatten(),
        cwd: common(all().map(|p| p.cwd.clone())).flatten(),
        host: common(all().map(|p| p.host.clone())).flatten(),
        env: common(all().map(|p| Arc::clone(&p.env))).unwrap_or_default(),
        start: all().filter_map(|p| p.start).min(),
        end: all().filter_map(|p| p.end).max(),
        cpu: all().filter_map(|p| p.cpu).reduce(|sum, cpu| Nanos(sum.0.saturating_add(cpu.0))),
        exit_code: common(all().map(|p| p.exit_code)).flatten(),
        signal: common(all().map(|p| p.signal.clone())).flatten(),
        ..first.clone()
    }
}

fn merge_files<'a, I>(first: &FileVertex, name: &Name, all: impl Fn() -> I) -> FileVertex
where
    I: Iterator<Item = &'a FileVertex>,
{
    FileVertex {
        path: Arc::clone(&name.key),
        names: Vec::new(),
        kind: common(all().map(|file| file.kind)).flatten(),
        last: all().any(|file| file.last),
        size: all().filter_map(|file| file.size).reduce(i64::saturating_add),
        ..first.clone()
    }
}

/// How many processes read and wrote the files of each class.
struct Users {
    readers: Vec<u32>,
    writers: Vec<u32>,
}

impl Users {
    fn count(graph: &Graph, classes: &Classes) -> Self {
        let (mut readers, mut writers) = (Vec::new(), Vec::new());
        for edge in graph.edges.iter().filter(|edge| edge.relation.moves_data()) {
            let out_of_file = matches!(edge.relation, Relation::Read | Relation::Map);
            let (file, process) = if out_of_file { (edge.from, edge.to) } else { (edge.to, edge.from) };
            let Some(facts) = graph.vertex(process).process() else { continue };
            let user = (classes.of[file.index()], facts.process, graph.vertex(process).members);
            if out_of_file || edge.read.calls > 0 {
                readers.push(user);
            }
            if !out_of_file || edge.written.calls > 0 {
                writers.push(user);
            }
        }
        let count = |mut users: Vec<(u32, iotrail_query::ProcessId, u32)>| {
            users.sort_unstable();
            users.dedup_by_key(|(class, process, _)| (*class, *process));
            let mut counts = vec![0_u32; classes.members.len()];
            for (class, _, members) in users {
                counts[class as usize] = counts[class as usize].saturating_add(members);
            }
            counts
        };
        Self { readers: count(readers), writers: count(writers) }
    }
}

/// Adds the edges between classes to `joined`; how many lie inside one.
fn merged_edges(graph: &Graph, classes: &Classes, joined: &mut Graph) -> u64 {
    let mut inside = 0;
    let mut edges: Vec<Edge> = Vec::with_capacity(graph.edges.len());
    for edge in &graph.edges {
        let (from, to) = (classes.of[edge.from.index()], classes.of[edge.to.index()]);
        if from == to {
            inside += u64::from(edge.members);
            leave_out_edge(joined, edge);
        } else {
            edges.push(Edge { from: VertexId(from), to: VertexId(to), ..edge.clone() });
        }
    }
    edges.sort_by_key(|edge| (edge.from, edge.to));
    edges.dedup_by(|next, kept| {
        let same = (next.from, next.to) == (kept.from, kept.to);
        if same {
            add(kept, next);
        }
        same
    });
    joined.edges = edges;
    inside
}

fn add(kept: &mut Edge, other: &Edge) {
    kept.relation = kept.relation.min(other.relation);
    kept.read.add(&other.read);
    kept.written.add(&other.written);
    kept.first = kept.first.into_iter().chain(other.first).min();
    kept.last = kept.last.max(other.last);
    kept.members = kept.members.saturating_add(other.members);
}

/// Where in `order` each vertex stands.
fn places(order: &[VertexId]) -> Vec<VertexId> {
    let mut places = vec![VertexId(0); order.len()];
    for (index, vertex) in order.iter().enumerate() {
        places[vertex.index()] = VertexId(index as u32);
    }
    places
}

/// The same graph with its vertices in another order.
fn permuted(mut graph: Graph, order: &[VertexId], places: &[VertexId]) -> Graph {
    graph.vertices = order.iter().map(|vertex| graph.vertex(*vertex).clone()).collect();
    for edge in &mut graph.edges {
        (edge.from, edge.to) = (places[edge.from.index()], places[edge.to.index()]);
    }
    graph.edges.sort_by_key(|edge| (edge.from, edge.to, edge.relation));
    graph
}
