//! Clusters: processes of the same behaviour (Dun et al., section 5.3.2, "Clustering").
//!
//! Two processes behave the same if they have the same executable, read as many files of each group and write as many of
//! each group, and made children of the same executables. Groups of files are their templates (`/data/corr_*.fits`), of
//! pipes and sockets the executables at their other end. These groups do not depend on the clusters, so one round reaches
//! the fixpoint. A refinement by the clusters of the neighbours (bisimulation) would tear 63 equal processes apart as soon
//! as one file of theirs has one more reader, and is not what a reader means by the same behaviour.
//!
//! A process that is split into parts is one process here.

use crate::graph::{Graph, Relation, VertexId};
use crate::ops::adjacency::vertices;
use crate::ops::file_groups::{is_channel, template};
use crate::ops::quotient::Name;
use crate::ops::whole::Wholes;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_query::preset::base;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Processes of the same behaviour.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cluster {
    /// Its shape: `63 x mDiffFit: 2 in, 2 out`. Clusters of the same shape differ in the groups of their files.
    pub name: String,
    /// Base name of the executable.
    pub exe: String,
    /// How many processes.
    pub processes: u64,
    /// Files that each of them reads.
    pub inputs: u64,
    /// Files that each of them writes or makes.
    pub outputs: u64,
    /// Groups of the files read, with how many of each.
    pub reads: Vec<(String, u64)>,
    /// Groups of the files written, with how many of each.
    pub writes: Vec<(String, u64)>,
    /// Executables of its children.
    pub children: Vec<String>,
    /// Its processes, by the first part of each.
    pub members: Vec<VertexId>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Signature {
    exe: String,
    reads: BTreeMap<String, u64>,
    writes: BTreeMap<String, u64>,
    children: BTreeSet<String>,
}

/// The clusters, the largest first.
#[must_use]
pub fn clusters(graph: &Graph) -> Vec<Cluster> {
    let wholes = Wholes::new(graph);
    let mut of: HashMap<Signature, Vec<VertexId>, RandomState> = HashMap::default();
    for (whole, signature) in signatures(graph, &wholes).into_iter().enumerate() {
        of.entry(signature).or_default().push(wholes.parts(whole as u32)[0]);
    }
    let mut clusters: Vec<Cluster> =
        of.into_iter().map(|(signature, members)| cluster(graph, signature, members)).collect();
    clusters.sort_by(|a, b| b.processes.cmp(&a.processes).then(a.members.cmp(&b.members)));
    clusters
}

fn cluster(graph: &Graph, signature: Signature, members: Vec<VertexId>) -> Cluster {
    let processes = members.iter().map(|member| u64::from(graph.vertex(*member).members)).sum();
    let (inputs, outputs) = (signature.reads.values().sum(), signature.writes.values().sum());
    Cluster {
        name: format!("{processes} x {}: {inputs} in, {outputs} out", signature.exe),
        exe: signature.exe,
        processes,
        inputs,
        outputs,
        reads: signature.reads.into_iter().collect(),
        writes: signature.writes.into_iter().collect(),
        children: signature.children.into_iter().collect(),
        members,
    }
}

/// The name of each process in the graph of clusters.
pub(crate) fn names(graph: &Graph) -> Vec<Option<Name>> {
    let wholes = Wholes::new(graph);
    let mut names = vec![None; graph.vertices.len()];
    let mut repeats: BTreeMap<String, u32> = BTreeMap::new();
    for cluster in clusters(graph) {
        let repeat = repeats.entry(cluster.name.clone()).or_insert(0);
        *repeat += 1;
        let key = if *repeat == 1 { cluster.name.clone() } else { format!("{} ({repeat})", cluster.name) };
        let name = Name::new(key, cluster.name);
        let parts =
            cluster.members.iter().filter_map(|member| wholes.of(*member)).flat_map(|w| wholes.parts(w));
        for part in parts {
            names[part.index()] = Some(name.clone());
        }
    }
    names
}

fn signatures(graph: &Graph, wholes: &Wholes) -> Vec<Signature> {
    let exe = |vertex: VertexId| {
        let process = graph.vertex(vertex).process();
        process.and_then(|process| process.exe.as_deref()).map_or("(unknown)", base).to_owned()
    };
    let groups = FileGroups::new(graph, exe);
    let mut seen: BTreeSet<(u32, bool, &str)> = BTreeSet::new();
    let mut signatures: Vec<Signature> = (0..wholes.len() as u32)
        .map(|whole| Signature { exe: exe(wholes.parts(whole)[0]), ..Signature::default() })
        .collect();
    for edge in &graph.edges {
        let (process, file, reads) = match edge.relation {
            Relation::Read | Relation::Map => (edge.to, edge.from, true),
            Relation::Create | Relation::Write => (edge.from, edge.to, false),
            Relation::Fork => {
                if let Some(whole) = wholes.of(edge.from) {
                    signatures[whole as usize].children.insert(exe(edge.to));
                }
                continue;
            }
            Relation::Next | Relation::Continue => continue,
        };
        let (Some(whole), Some(facts)) = (wholes.of(process), graph.vertex(file).file()) else { continue };
        let signature = &mut signatures[whole as usize];
        let group = groups.of(file);
        if (reads || edge.read.calls > 0) && seen.insert((whole, true, &facts.path)) {
            *signature.reads.entry(group.to_owned()).or_default() += 1;
        }
        if !reads && seen.insert((whole, false, &facts.path)) {
            *signature.writes.entry(group.to_owned()).or_default() += 1;
        }
    }
    signatures
}

/// The group of each file.
struct FileGroups(Vec<String>);

impl FileGroups {
    fn new(graph: &Graph, exe: impl Fn(VertexId) -> String) -> Self {
        let mut partners: Vec<BTreeSet<String>> = vec![BTreeSet::new(); graph.vertices.len()];
        for edge in graph.edges.iter().filter(|edge| edge.relation.moves_data()) {
            let (file, process) = match edge.relation {
                Relation::Read | Relation::Map => (edge.from, edge.to),
                _ => (edge.to, edge.from),
            };
            if graph.vertex(file).file().is_some_and(is_channel) {
                partners[file.index()].insert(exe(process));
            }
        }
        let group = |vertex: VertexId| match graph.vertex(vertex).file() {
            Some(file) if is_channel(file) => {
                let names: Vec<&str> = partners[vertex.index()].iter().map(String::as_str).collect();
                format!("pipe {}", names.join(", "))
            }
            Some(file) => template(&file.path),
            None => String::new(),
        };
        Self(vertices(graph).map(group).collect())
    }

    fn of(&self, vertex: VertexId) -> &str {
        &self.0[vertex.index()]
    }
}
