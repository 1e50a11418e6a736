//! The workflow DAG: processes and files, and the order that data and forks put between them.
//!
//! Dun et al., section 5.3: vertices are processes and files; p forks q: p → q, p reads f: f → p, p writes or creates f:
//! p → f. A graph of whole processes and whole files is full of cycles (a shell reads the pipe of the child that it
//! forked), so what takes part in one is split where it happens: a file into *versions* at each hand-over of the writer,
//! a process into *parts* where it takes in data that depend on itself. Every edge then leads from earlier to later.

use crate::waits::Waits;
use iotrail_model::{FileKind, Nanos, Resolution, Timestamp, units};
use iotrail_query::ProcessId;
use serde::Serialize;
use std::sync::Arc;

/// A vertex: an index into [`Graph::vertices`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[repr(transparent)]
pub struct VertexId(pub u32);

/// An edge: an index into [`Graph::edges`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[repr(transparent)]
pub struct EdgeId(pub u32);

impl VertexId {
    /// The id as an index.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl EdgeId {
    /// The id as an index.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How files are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileView {
    /// Versions of files and parts of processes: acyclic.
    #[default]
    Version,
    /// Whole files and whole processes: may have cycles, which are reported.
    File,
}

/// What an edge means. When several hold between one process and one file, the first of `Create`, `Write`, `Read`, `Map` is
/// drawn (Dun et al., equation 5); the figures of both directions stay on the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Process → process: made it.
    Fork,
    /// Process → file: made it, or emptied it, or gave it this name.
    Create,
    /// Process → file: wrote to it.
    Write,
    /// File → process: read from it.
    Read,
    /// File → process: mapped it to execute or read it. Hidden by default.
    Map,
    /// File → file: the next version, which holds what the one before held.
    Next,
    /// Process → process: the same process, after it took in data that depend on itself.
    Continue,
}

impl Relation {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Fork, Self::Create, Self::Write, Self::Read, Self::Map, Self::Next, Self::Continue];

    /// The name in tables and exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Create => "create",
            Self::Write => "write",
            Self::Read => "read",
            Self::Map => "map",
            Self::Next => "next",
            Self::Continue => "continue",
        }
    }

    /// Whether bytes of a file flow along such an edge.
    #[must_use]
    pub const fn moves_data(self) -> bool {
        matches!(self, Self::Create | Self::Write | Self::Read | Self::Map)
    }
}

/// Transfers in one direction between a process and a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Transfer {
    /// Bytes moved by calls of the lowest layer.
    pub bytes: u64,
    /// Calls that moved them.
    pub calls: u64,
    /// Time in these calls, as far as it is known; NULL if it is known of none.
    pub elapsed: Option<Nanos>,
}

impl Transfer {
    /// Adds another's figures.
    pub fn add(&mut self, other: &Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.calls = self.calls.saturating_add(other.calls);
        self.elapsed = sum(self.elapsed, other.elapsed);
    }
}

/// The sum of what is known.
pub(crate) fn sum(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    one.into_iter().chain(other).reduce(|one, other| Nanos(one.0.saturating_add(other.0)))
}

/// An edge, or after an aggregation several that became one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// Where it begins.
    pub from: VertexId,
    /// Where it leads to.
    pub to: VertexId,
    /// What it means; the first in the order of [`Relation`] if it stands for several.
    pub relation: Relation,
    /// What the process read from the file.
    pub read: Transfer,
    /// What the process wrote to the file.
    pub written: Transfer,
    /// The first sign of it.
    pub first: Option<Timestamp>,
    /// The last sign of it.
    pub last: Option<Timestamp>,
    /// How many edges of the original graph it stands for.
    pub members: u32,
}

impl Edge {
    /// Bytes in both directions.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read.bytes.saturating_add(self.written.bytes)
    }

    /// Transfers in both directions.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.read.calls.saturating_add(self.written.calls)
    }

    /// Time in the calls of both directions, as far as it is known; NULL if it is known of none.
    #[must_use]
    pub fn elapsed(&self) -> Option<Nanos> {
        sum(self.read.elapsed, self.written.elapsed)
    }

    /// Bytes per second of the time in the calls; NULL without bytes or time.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let (bytes, nanos) = (self.bytes(), self.elapsed()?.0);
        (bytes > 0 && nanos > 0).then(|| bytes as f64 * 1e9 / nanos as f64)
    }
}

/// What is known of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProcessVertex {
    /// Which process of the trail; several after an aggregation: the first of them.
    pub process: ProcessId,
    /// Number of the process.
    pub pid: u32,
    /// From 1; more than 1 for what a process did after it took in data that depend on itself.
    pub part: u32,
    /// Path of the last executable that it executed.
    pub exe: Option<Arc<str>>,
    /// Command line, arguments separated by NUL.
    pub cmdline: Option<Arc<str>>,
    /// Working directory.
    pub cwd: Option<Arc<str>>,
    /// Name of the host.
    pub host: Option<Arc<str>>,
    /// Name of the recorded case (`cid/host/rid`).
    pub case: Arc<str>,
    /// Chosen environment variables, `NAME=value`, sorted.
    pub env: Arc<[String]>,
    /// When it began (the part of it).
    pub start: Option<Timestamp>,
    /// When it ended.
    pub end: Option<Timestamp>,
    /// CPU time, of the whole process: on its first part only.
    pub cpu: Option<Nanos>,
    /// Exit status, on its last part only.
    pub exit_code: Option<i32>,
    /// Name of the signal that killed it, on its last part only.
    pub signal: Option<Arc<str>>,
}

/// What is known of a file, or of a version of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileVertex {
    /// Its path; if it was renamed, the last that it had while this was its version.
    pub path: Arc<str>,
    /// Other names that it had at that time (before a rename, by hard links), in the order in which it got them.
    pub names: Vec<Arc<str>>,
    /// What it is.
    pub kind: Option<FileKind>,
    /// Number of the file in the graph: its versions share it, whatever they are called.
    pub file: u32,
    /// From 1, over all files that had this path, one after the other; in the view of whole files the number of the file among them.
    pub version: u32,
    /// Whether this is the last version of the last file of that path.
    pub last: bool,
    /// Size in bytes when the version was complete: as the writes tell if the file was empty at some time of the log, else as it
    /// was found, if nobody wrote to it.
    pub size: Option<i64>,
    /// Distinct processes that read it.
    pub readers: u32,
    /// Distinct processes that wrote or made it.
    pub writers: u32,
}

/// The two kinds of vertices.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Facts {
    /// A process, or a part of one.
    Process(ProcessVertex),
    /// A file, or a version of one.
    File(FileVertex),
}

/// A vertex, or after an aggregation several that became one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Vertex {
    /// A name that no other vertex of the graph has and that is the same in every run of the analysis: `4711`, `4711#2`,
    /// `/data/a.fits@1`, `mDiffFit`.
    pub key: Arc<str>,
    /// What is drawn: the command's or the file's base name, or the name of the aggregate.
    pub label: Arc<str>,
    /// Index into [`Graph::phases`]: the group of a process; of a file the group of its first writer, else of its first reader.
    pub phase: Option<u32>,
    /// How many vertices of the original graph it stands for.
    pub members: u32,
    /// Time that it stands for: life of a process, summed over members; NULL for files and where it is unknown of a member.
    pub time: Option<Nanos>,
    /// What is known of it; after an aggregation of its first member.
    pub facts: Facts,
}

impl Vertex {
    /// The process, if it is one.
    #[must_use]
    pub fn process(&self) -> Option<&ProcessVertex> {
        match &self.facts {
            Facts::Process(process) => Some(process),
            Facts::File(_) => None,
        }
    }

    /// The file, if it is one.
    #[must_use]
    pub fn file(&self) -> Option<&FileVertex> {
        match &self.facts {
            Facts::File(file) => Some(file),
            Facts::Process(_) => None,
        }
    }
}

/// What a graph leaves out, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LeftOut {
    /// `system files`, `not selected`, …: how many vertices.
    pub vertices: Vec<(String, u64)>,
    /// Bytes that moved along edges that are left out with them.
    pub bytes: u64,
    /// Edges that are left out.
    pub edges: u64,
}

impl LeftOut {
    /// `1 system file`, `12 directories`, …: how many vertices, and why.
    #[must_use]
    pub fn counted(&self) -> Vec<String> {
        let there = self.vertices.iter().filter(|(_, count)| *count > 0);
        there.map(|(reason, count)| format!("{} {}", units::count(*count), noun(*count, reason))).collect()
    }
}

fn noun(count: u64, reason: &str) -> &str {
    match (count, reason) {
        (1, "system files") => "system file",
        (1, "directories") => "directory",
        (1, "programs and libraries that were executed or mapped only") => {
            "program or library that was executed or mapped only"
        }
        (1, "files that were opened or stat'ed but not read") => {
            "file that was opened or stat'ed but not read"
        }
        (1, "parts joined with their process") => "part joined with its process",
        _ => reason,
    }
}

/// Processes, files, and what happened between them.
///
/// Edges are sorted by (from, to, relation) and there is at most one for each such triple. In the view of versions the order
/// of the vertices is a topological one: of all whose predecessors stand before, the next is the one with the first sign of
/// life (then key). In the view of whole files, which may have cycles, they are sorted by first sign, then key.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Graph {
    /// How files are shown.
    pub view: FileView,
    /// Processes and files, by [`VertexId`].
    pub vertices: Vec<Vertex>,
    /// What passed between them, by [`EdgeId`].
    pub edges: Vec<Edge>,
    /// Names of the groups of processes, the first to start first.
    pub phases: Vec<Arc<str>>,
    /// First start of a process or call and last end.
    pub span: Option<(Timestamp, Timestamp)>,
    /// The unit of the time stamps in ns, of several cases the coarsest; NULL if it is not known.
    #[serde(rename = "resolution_ns")]
    pub resolution: Resolution,
    /// What is not in it.
    pub left_out: LeftOut,
    /// What a reader must know: times that are unknown, calls that were not recorded. One sentence each.
    pub notes: Vec<String>,
    /// In words, each operation that made this graph of the whole one.
    pub history: Vec<String>,
    /// What the threads of the log waited for, of all processes, whether they are in the graph or not.
    #[serde(skip)]
    pub waits: Arc<Waits>,
}

impl Graph {
    /// Without its times: in a log whose cases have no time stamps they number calls. Order and structure stay.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        (self.span, self.waits) = (None, Arc::default());
        for vertex in &mut self.vertices {
            vertex.time = None;
            if let Facts::Process(process) = &mut vertex.facts {
                (process.start, process.end) = (None, None);
            }
        }
        self.edges.iter_mut().for_each(|edge| (edge.first, edge.last) = (None, None));
        self
    }

    /// From the first sign of anything to the last, if time stamps tell how long that is.
    #[must_use]
    pub fn elapsed(&self) -> Option<Nanos> {
        self.span.and_then(|(first, last)| self.resolution.known_span(last - first))
    }

    /// The vertex of that id.
    #[must_use]
    pub fn vertex(&self, id: VertexId) -> &Vertex {
        &self.vertices[id.index()]
    }

    /// The edge of that id.
    #[must_use]
    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }
}
