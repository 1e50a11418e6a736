//! Vertices joined for the overview: processes of one executable, files of one template of names. What somebody in the graph wrote
//! and what was there before are never joined.
//!
//! The page opens a joined vertex to its members, so which vertex went where is kept; an operation on graphs forgets it. If
//! there are still too many, files are joined by directory, and the lightest of the rest become one.

use super::{FlowEdge, figures};
use iotrail_model::canonical::canonical;
use iotrail_query::ProcessId;
use iotrail_query::generalise::generalise;
use iotrail_workflow::graph::{Facts, FileVertex, Graph, ProcessVertex, Vertex, VertexId};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// A joined vertex.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) label: String,
    pub(super) name: String,
    pub(super) is_file: bool,
    pub(super) phase: Option<u32>,
    pub(super) members: u64,
    /// Processes and files, however many parts and versions of each are members.
    pub(super) distinct: u64,
    pub(super) time: Option<i64>,
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) critical: bool,
}

/// An edge between joined vertices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    pub(super) edge: FlowEdge,
    pub(super) members: u64,
}

/// The joined graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    pub(super) groups: Vec<Group>,
    /// Sorted by their ends.
    pub(super) links: Vec<Link>,
    /// The place of each vertex's group.
    pub(super) of: Vec<u32>,
    /// Whether each vertex is on the critical path.
    pub(super) critical: Vec<bool>,
}

/// Joins until at most about `limit` groups are left.
pub(super) fn join(
    graph: &Graph,
    path: &[VertexId],
    steps: &HashSet<(VertexId, VertexId)>,
    limit: usize,
) -> Joined {
    let mut written = vec![false; graph.vertices.len()];
    graph.edges.iter().for_each(|edge| written[edge.to.index()] = true);
    let mut keys: Vec<Key> =
        graph.vertices.iter().zip(written).map(|(vertex, written)| key(vertex, written)).collect();
    if distinct(&keys) > limit {
        keys.iter_mut().filter(|(kind, _)| kind.is_file()).for_each(|(_, name)| *name = directory(name));
    }
    if distinct(&keys) > limit {
        join_lightest(graph, &mut keys, limit);
    }
    let mut critical = vec![false; graph.vertices.len()];
    path.iter().for_each(|vertex| critical[vertex.index()] = true);
    let mut joined = Joined { critical, ..Joined::default() };
    let mut known: HashMap<Key, u32> = HashMap::new();
    let mut seen = HashSet::new();
    for (key, vertex) in keys.into_iter().zip(&graph.vertices) {
        let index = *known.entry(key).or_insert_with_key(|(kind, name)| {
            joined.groups.push(Group {
                label: label(name),
                name: name.clone(),
                is_file: kind.is_file(),
                phase: vertex.phase,
                ..Group::default()
            });
            joined.groups.len() as u32 - 1
        });
        let group = &mut joined.groups[index as usize];
        group.phase = group.phase.filter(|phase| vertex.phase == Some(*phase));
        group.members += u64::from(vertex.members);
        if vertex.members > 1 || seen.insert((index, identity(vertex))) {
            group.distinct += u64::from(vertex.members);
        }
        group.time = sum(group.time, vertex.time.map(|time| time.0));
        group.critical |= joined.critical[joined.of.len()];
        joined.of.push(index);
    }
    link(graph, steps, &mut joined);
    joined
}

/// The sum of what is known.
fn sum(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.into_iter().chain(other).reduce(i64::saturating_add)
}

/// What the versions of a file and the parts of a process have in common.
fn identity(vertex: &Vertex) -> (Option<ProcessId>, Option<&str>) {
    match &vertex.facts {
        Facts::Process(process) => (Some(process.process), None),
        Facts::File(file) => (None, Some(&file.path)),
    }
}

fn link(graph: &Graph, steps: &HashSet<(VertexId, VertexId)>, joined: &mut Joined) {
    let mut links: HashMap<(u32, u32), Link> = HashMap::new();
    for edge in &graph.edges {
        let (from, to) = (joined.of[edge.from.index()], joined.of[edge.to.index()]);
        for end in [from, to] {
            let group = &mut joined.groups[end as usize];
            group.read = group.read.saturating_add(edge.read.bytes);
            group.written = group.written.saturating_add(edge.written.bytes);
        }
        if from == to {
            continue;
        }
        let one = figures(edge, from, to, steps.contains(&(edge.from, edge.to)));
        let link = links.entry((from, to)).or_insert(Link {
            edge: FlowEdge { read: 0, written: 0, calls: 0, elapsed: None, ..one },
            members: 0,
        });
        link.members += u64::from(edge.members);
        let sum = &mut link.edge;
        sum.relation = sum.relation.min(one.relation);
        sum.read = sum.read.saturating_add(one.read);
        sum.written = sum.written.saturating_add(one.written);
        sum.calls = sum.calls.saturating_add(one.calls);
        sum.elapsed = self::sum(sum.elapsed, one.elapsed);
        sum.critical |= one.critical;
    }
    joined.links = links.into_values().collect();
    joined.links.sort_by_key(|link| (link.edge.from, link.edge.to));
}

fn distinct(keys: &[Key]) -> usize {
    keys.iter().collect::<HashSet<_>>().len()
}

/// What a joined vertex is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Process,
    /// Files that nobody in the graph wrote.
    Input,
    /// Files that somebody wrote.
    Written,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Process, Self::Input, Self::Written];

    const fn is_file(self) -> bool {
        !matches!(self, Self::Process)
    }

    /// What the lightest of its vertices are called together.
    const fn others(self) -> &'static str {
        match self {
            Self::Process => "other processes",
            Self::Input => "other inputs",
            Self::Written => "other written files",
        }
    }
}

/// Vertices of one kind and name become one.
type Key = (Kind, String);

fn key(vertex: &Vertex, written: bool) -> Key {
    match &vertex.facts {
        Facts::Process(ProcessVertex { exe: Some(exe), .. }) => {
            (Kind::Process, exe.rsplit('/').next().unwrap_or(exe).to_owned())
        }
        Facts::Process(_) => (Kind::Process, vertex.label.to_string()),
        Facts::File(FileVertex { path, .. }) => {
            let kind = if written { Kind::Written } else { Kind::Input };
            (kind, generalise(&canonical(path)).into_owned())
        }
    }
}

fn directory(template: &str) -> String {
    match template.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/*"),
        None => template.to_owned(),
    }
}

/// The lightest of each kind become one: processes have a half of the limit, both kinds of files a quarter.
fn join_lightest(graph: &Graph, keys: &mut [Key], limit: usize) {
    let mut weights: HashMap<Key, (u64, i64)> = HashMap::new();
    for (key, vertex) in keys.iter().zip(&graph.vertices) {
        weights.entry(key.clone()).or_default().1 += vertex.time.map_or(0, |time| time.0.max(0));
    }
    for edge in &graph.edges {
        for end in [edge.from, edge.to] {
            let weight = weights.entry(keys[end.index()].clone()).or_default();
            weight.0 = weight.0.saturating_add(edge.bytes());
        }
    }
    let mut order: Vec<_> = weights.into_iter().collect();
    order.sort_by(|a, b| (Reverse(a.1), &a.0).cmp(&(Reverse(b.1), &b.0)));
    let heavy = |kind: Kind| {
        let room = if kind.is_file() { limit / 4 } else { limit / 2 };
        order.iter().filter(move |(key, _)| key.0 == kind).take(room.saturating_sub(1))
    };
    let kept: HashSet<&Key> = Kind::ALL.into_iter().flat_map(heavy).map(|(key, _)| key).collect();
    for key in keys.iter_mut().filter(|key| !kept.contains(*key)) {
        key.1 = key.0.others().to_owned();
    }
}

/// The last part of a path, with its directory if that fits beside it.
fn label(name: &str) -> String {
    let mut parts = name.rsplit('/');
    let last = parts.next().unwrap_or(name);
    match parts.next() {
        Some(before) if !before.is_empty() => format!("{before}/{last}"),
        _ => last.to_owned(),
    }
}
