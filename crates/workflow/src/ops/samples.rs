//! Small graphs for tests: built by hand, or at random.

use crate::graph::{Edge, Facts, FileVertex, Graph, ProcessVertex, Relation, Transfer, Vertex, VertexId};
use crate::waits::ends::Channels;
use crate::waits::locks::{LockCall, LockCalls, LockStep};
use crate::waits::{Act, ProcessFacts, Row, Waits};
use iotrail_model::{FileKind, Nanos, PathId, Tid, Timestamp};
use iotrail_query::ProcessId;
use proptest::prelude::*;
use std::sync::Arc;

/// Builds a graph vertex by vertex. A process has one thread, of its own number.
#[derive(Default)]
pub(crate) struct Builder(Graph, Vec<Row>, Vec<ProcessFacts>, LockCalls);

impl Builder {
    /// A process that lives from `start` to `end`; a negative one is unknown.
    pub(crate) fn process(&mut self, name: &str, start: i64, end: i64) -> VertexId {
        let known = |at: i64| (at >= 0).then_some(Timestamp(at));
        let (start, end) = (known(start), known(end));
        let time = start.zip(end).map(|(start, end)| end - start);
        let number = self.0.vertices.len() as u32;
        let facts = Facts::Process(ProcessVertex {
            process: ProcessId(number),
            pid: 100 + number,
            part: 1,
            exe: Some(format!("/usr/bin/{name}").into()),
            cmdline: Some(format!("{name}\0-x\0{number}\0").into()),
            host: Some("node1".into()),
            case: "run/node1/1".into(),
            start,
            end,
            ..ProcessVertex::default()
        });
        let process = self.vertex(format!("{}", 100 + number), name, time, facts);
        let facts = ProcessFacts {
            left: None,
            parent: None,
            pid: 100 + number,
            start: start.map(|start| start.0),
            end: end.map(|end| end.0),
            killed_by: None,
        };
        self.2[process.index()] = facts;
        if let Some(start) = start {
            self.act(process, Act::Other, (start.0, start.0));
        }
        process
    }

    /// Something that the thread of a process did from one moment to another.
    pub(crate) fn act(&mut self, process: VertexId, act: Act, (start, end): (i64, i64)) {
        let (process, tid) = (ProcessId(process.0), Tid(100 + process.0));
        self.1.push(Row { process, tid, start, end: end.max(start), act });
    }

    /// What the thread of a process did with the locks of a file.
    pub(crate) fn lock(&mut self, process: VertexId, path: PathId, step: LockStep, start: i64) {
        let (process, tid) = (ProcessId(process.0), Tid(100 + process.0));
        self.3.calls.push(LockCall { process, tid, start, path, description: None, step, shared: false });
    }

    /// A process waits for the end of its child.
    pub(crate) fn awaits(&mut self, parent: VertexId, child: VertexId, at: (i64, i64)) {
        self.act(parent, Act::Child(Some(100 + child.0)), at);
    }

    /// A file; a path without a slash is a pipe.
    pub(crate) fn file(&mut self, path: &str) -> VertexId {
        let kind = if path.contains('/') { FileKind::File } else { FileKind::Pipe };
        let label = path.rsplit('/').next().unwrap_or(path).to_owned();
        let facts = Facts::File(FileVertex {
            path: path.into(),
            kind: Some(kind),
            version: 1,
            ..FileVertex::default()
        });
        self.vertex(format!("{path}@{}", self.0.vertices.len()), &label, None, facts)
    }

    fn vertex(&mut self, key: String, label: &str, time: Option<Nanos>, facts: Facts) -> VertexId {
        self.2.push(ProcessFacts::default());
        self.0.vertices.push(Vertex {
            key: key.into(),
            label: label.into(),
            phase: None,
            members: 1,
            time,
            facts,
        });
        VertexId(self.0.vertices.len() as u32 - 1)
    }

    /// An edge that moves `bytes` and whose first and last sign are given; negative ones are unknown.
    pub(crate) fn edge(
        &mut self,
        from: VertexId,
        to: VertexId,
        relation: Relation,
        bytes: u64,
        at: (i64, i64),
    ) {
        let transfer = Transfer { bytes, calls: u64::from(bytes > 0), elapsed: Some(Nanos(10)) };
        let (read, written) = match relation {
            Relation::Read | Relation::Map => (transfer, Transfer::default()),
            Relation::Create | Relation::Write => (Transfer::default(), transfer),
            _ => (Transfer::default(), Transfer::default()),
        };
        let known = |at: i64| (at >= 0).then_some(Timestamp(at));
        let (first, last) = (known(at.0), known(at.1));
        self.0.edges.push(Edge { from, to, relation, read, written, first, last, members: 1 });
    }

    /// A fork that no call tells of.
    pub(crate) fn child(&mut self, parent: VertexId, child: VertexId) {
        self.edge(parent, child, Relation::Fork, 0, (-1, -1));
        self.2[child.index()].parent = Some(ProcessId(parent.0));
    }

    pub(crate) fn fork(&mut self, parent: VertexId, child: VertexId, at: i64) {
        self.edge(parent, child, Relation::Fork, 0, (at, at));
        self.2[child.index()].parent = Some(ProcessId(parent.0));
        self.act(parent, Act::Spawn(100 + child.0), (at, at));
    }

    pub(crate) fn write(&mut self, process: VertexId, file: VertexId, at: i64) {
        self.edge(process, file, Relation::Write, 100, (at, at));
    }

    pub(crate) fn read(&mut self, file: VertexId, process: VertexId, at: i64) {
        self.edge(file, process, Relation::Read, 100, (at, at));
    }

    /// Puts the vertices into phases by label.
    pub(crate) fn phases(&mut self) {
        for vertex in self.0.vertices.iter_mut().filter(|vertex| vertex.process().is_some()) {
            let known = self.0.phases.iter().position(|phase| *phase == vertex.label);
            let index = known.unwrap_or_else(|| {
                self.0.phases.push(vertex.label.clone());
                self.0.phases.len() - 1
            });
            vertex.phase = Some(index as u32);
        }
    }

    pub(crate) fn graph(mut self) -> Graph {
        self.0.edges.sort_by_key(|edge| (edge.from, edge.to, edge.relation));
        self.0.edges.dedup_by_key(|edge| (edge.from, edge.to, edge.relation));
        let processes = self.0.vertices.iter().filter_map(Vertex::process);
        let start = processes.clone().filter_map(|process| process.start).min();
        self.0.span = start.zip(processes.filter_map(|process| process.end.max(process.start)).max());
        let timed = self.1.iter().any(|row| row.start < row.end);
        let waits = Waits::new(self.1, self.2, Channels::default(), timed, false);
        self.0.waits = Arc::new(waits.with_locks(self.3));
        self.0
    }
}

/// A shell that runs a(1..4), then b(5..9), which reads what a wrote; then nothing until it ends at 10.
pub(crate) fn shell() -> Graph {
    let mut builder = Builder::default();
    let shell = builder.process("sh", 0, 10);
    let a = builder.process("a", 1, 4);
    let file = builder.file("/data/x_1.dat");
    let b = builder.process("b", 5, 9);
    let out = builder.file("/data/y_2.dat");
    builder.fork(shell, a, 1);
    builder.fork(shell, b, 5);
    builder.awaits(shell, a, (2, 4));
    builder.awaits(shell, b, (6, 9));
    builder.write(a, file, 3);
    builder.read(file, b, 6);
    builder.write(b, out, 8);
    builder.phases();
    builder.graph()
}

/// One vertex of a random graph, and its edges from earlier vertices: a process or a file, two times, edges.
type Seed = (bool, i64, i64, u8, Vec<(prop::sample::Index, u8, i64, i64, u64)>);

/// Random acyclic graphs of processes and files with times that fit, nearly fit, or are unknown.
pub(crate) fn graphs() -> impl Strategy<Value = Graph> {
    let edge = (any::<prop::sample::Index>(), 0..4_u8, -3..40_i64, 0..10_i64, 0..2000_u64);
    let vertex = (any::<bool>(), -3..40_i64, -1..12_i64, 0..4_u8, prop::collection::vec(edge, 0..4));
    prop::collection::vec(vertex, 0..24).prop_map(|seeds| from_seeds(&seeds))
}

fn from_seeds(seeds: &[Seed]) -> Graph {
    let mut builder = Builder::default();
    for (place, (is_process, start, length, name, edges)) in seeds.iter().enumerate() {
        let this = if *is_process {
            let end = if *length < 0 { -1 } else { start.max(&0) + length };
            builder.process(["sh", "mAdd", "mDiffFit", "cp"][usize::from(*name)], *start, end)
        } else {
            builder.file(["/data/a_1.fits", "/data/a_2.fits", "/tmp/x", "pipe:[7]"][usize::from(*name)])
        };
        for (index, relation, first, length, bytes) in edges {
            if place == 0 {
                continue;
            }
            let from = VertexId(index.index(place) as u32);
            let is_file = |vertex: VertexId| builder.0.vertex(vertex).file().is_some();
            let relation = match (is_file(from), is_file(this)) {
                (false, false) if *relation == 0 => Relation::Continue,
                (false, false) => Relation::Fork,
                (true, true) => Relation::Next,
                (true, false) => Relation::Read,
                (false, true) if *relation == 0 => Relation::Create,
                (false, true) => Relation::Write,
            };
            let bytes = if relation.moves_data() { *bytes } else { 0 };
            builder.edge(from, this, relation, bytes, (*first, first + length));
            let channel = PathId(u32::from(*name) % 2);
            let (process, act) = match relation {
                Relation::Fork => {
                    builder.2[this.index()].parent = Some(ProcessId(from.0));
                    builder.act(from, Act::Spawn(100 + this.0), (*first, first + 1));
                    (from, Act::Child((bytes % 2 == 0).then_some(100 + this.0)))
                }
                Relation::Read | Relation::Map => (this, Act::Read { channel, ended: *length == 0 }),
                Relation::Create | Relation::Write => (from, Act::Write(channel)),
                Relation::Next | Relation::Continue => continue,
            };
            builder.act(process, act, (*first, first + length));
        }
    }
    builder.phases();
    builder.graph()
}
