//! What files are called when they are joined.
//!
//! A pipe or socket has no name of its own, and joining all of them would tie together what never spoke with each other:
//! they are joined by who writes and who reads.

use crate::graph::{FileVertex, Graph, Relation, VertexId};
use crate::ops::adjacency::vertices;
use crate::ops::aggregate::FileKey;
use crate::ops::quotient::Name;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileKind;
use iotrail_query::generalise::generalise;
use iotrail_query::preset::{base, extension};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many partners are named in the name of a pipe.
const PARTNERS: usize = 3;

/// Fills in the names of the files; those of the processes are there.
pub(crate) fn file_names(graph: &Graph, key: FileKey, names: &mut [Option<Name>]) {
    let channels = Channels::new(graph, names);
    let found: Vec<(VertexId, Name)> = vertices(graph)
        .filter_map(|vertex| {
            let file = graph.vertex(vertex).file()?;
            Some((vertex, if is_channel(file) { channels.name(vertex, file) } else { name(file, key) }))
        })
        .collect();
    // All versions of one file, and nothing else: it keeps its name.
    let mut paths: HashMap<Arc<str>, Option<Arc<str>>, RandomState> = HashMap::default();
    for (vertex, name) in &found {
        let Some(file) = graph.vertex(*vertex).file() else { continue };
        let path = paths.entry(Arc::clone(&name.key)).or_insert_with(|| Some(Arc::clone(&file.path)));
        if path.as_ref().is_some_and(|path| *path != file.path) {
            *path = None;
        }
    }
    for (vertex, name) in found {
        let only = if key == FileKey::Template { paths.get(&name.key).cloned().flatten() } else { None };
        let channel = graph.vertex(vertex).file().is_some_and(is_channel);
        names[vertex.index()] = Some(match only.filter(|_| !channel) {
            Some(path) => Name::new(Arc::clone(&path), base(&path)),
            None => name,
        });
    }
}

/// Whether data pass through and do not stay.
pub(crate) fn is_channel(file: &FileVertex) -> bool {
    match file.kind {
        Some(FileKind::Pipe | FileKind::Socket) => !file.path.starts_with('/'),
        _ => false,
    }
}

/// The path with `*` for its numbers.
pub(crate) fn template(path: &str) -> String {
    generalise(path).replace("{}", "*")
}

fn name(file: &FileVertex, key: FileKey) -> Name {
    match key {
        FileKey::Template => {
            let template = template(&file.path);
            let label = base(&template).to_owned();
            Name::new(template, label)
        }
        FileKey::Dir => {
            let length = file.path.len() - base(&file.path).len();
            let directory = if length == 0 { "./" } else { &file.path[..length] };
            Name::new(directory, directory)
        }
        FileKey::Ext => {
            let name = extension(&file.path).map_or("(no extension)".to_owned(), |ext| format!("*{ext}"));
            Name::new(name.clone(), name)
        }
        FileKey::All => Name::new("files", "files"),
    }
}

/// Labels of those who write and of those who read.
#[derive(Default)]
struct Partners {
    writers: BTreeSet<Arc<str>>,
    readers: BTreeSet<Arc<str>>,
}

/// Who writes to and reads from each pipe and socket.
struct Channels {
    partners: HashMap<VertexId, Partners, RandomState>,
}

impl Channels {
    fn new(graph: &Graph, names: &[Option<Name>]) -> Self {
        let mut partners: HashMap<VertexId, Partners, RandomState> = HashMap::default();
        let label = |vertex: VertexId| match &names[vertex.index()] {
            Some(name) => Arc::clone(&name.label),
            None => Arc::clone(&graph.vertex(vertex).label),
        };
        let channel = |vertex: VertexId| graph.vertex(vertex).file().is_some_and(is_channel);
        for edge in &graph.edges {
            match edge.relation {
                Relation::Create | Relation::Write if channel(edge.to) => {
                    partners.entry(edge.to).or_default().writers.insert(label(edge.from));
                }
                Relation::Read | Relation::Map if channel(edge.from) => {
                    partners.entry(edge.from).or_default().readers.insert(label(edge.to));
                }
                _ => {}
            }
        }
        Self { partners }
    }

    fn name(&self, vertex: VertexId, file: &FileVertex) -> Name {
        let kind = file.kind.map_or("pipe", FileKind::name);
        let none = Partners::default();
        let partners = self.partners.get(&vertex).unwrap_or(&none);
        let name = format!("{kind} {} -> {}", listed(&partners.writers), listed(&partners.readers));
        Name::new(name.clone(), name)
    }
}

fn listed(names: &BTreeSet<Arc<str>>) -> String {
    let mut shown: Vec<&str> = names.iter().take(PARTNERS).map(|name| &**name).collect();
    match names.len() {
        0 => shown.push("?"),
        many if many > PARTNERS => shown.push("…"),
        _ => {}
    }
    shown.join(", ")
}
