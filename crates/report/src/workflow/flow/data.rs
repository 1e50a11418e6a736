//! The workflow DAG as it stands in the page: long lists are plain JSON arrays.

use crate::data::NameId;
use serde::{Serialize, Serializer};

/// The graph of the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageFlow {
    /// Names of the relations, by number.
    pub relations: Vec<&'static str>,
    /// Joined vertices.
    pub groups: Vec<FlowGroup>,
    /// Edges between them.
    pub links: Vec<FlowLink>,
    /// The vertices behind them.
    pub vertices: Vec<FlowVertex>,
    /// Edges between vertices of the page.
    pub edges: Vec<FlowEdge>,
    /// What is not in the page.
    pub more: MoreFlow,
    /// System files and the like, by reason.
    pub left_out: Vec<String>,
    /// Bytes that moved to and from them.
    pub left_out_bytes: u64,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// What the run waited for: the critical path as executed.
    pub path: Option<FlowPath>,
    /// Why it is not known.
    pub path_unknown: Option<String>,
}

/// Vertices and edges that are counted, not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MoreFlow {
    /// Vertices.
    pub vertices: u64,
    /// Edges of them, and the lightest of the rest.
    pub edges: u64,
    /// Bytes along these edges.
    pub bytes: u64,
}

/// The critical path: its segments and gaps cover the time from the first start to the last end of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlowPath {
    /// From one to the other.
    pub makespan: i64,
    /// Segments: number of the vertex (-1: a gap; -2: not in the page), begin after the origin, length, why it begins then, the
    /// vertex that the reason is about.
    pub steps: Vec<(i64, i64, i64, &'static str, i64)>,
    /// How many more segments there are.
    pub more: u64,
    /// Processes of which birth or death was not recorded.
    pub unknown_times: u64,
    /// Waits on the path on sockets and pipes whose other end is not recorded, and their time in ns.
    pub unknown_ends: (u64, i64),
}

/// A joined vertex.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowGroup {
    /// What is drawn.
    pub n: NameId,
    /// The whole name.
    pub w: NameId,
    /// Whether it stands for files.
    pub f: bool,
    /// Number of the group of processes, or -1.
    pub g: i32,
    /// Members, with those that are not in the page: each version of a file and each part of a process.
    pub m: u64,
    /// Files or processes that they are.
    pub d: u64,
    /// Time of the members' lifetimes, as far as it is known; NULL if it is known of none.
    pub t: Option<i64>,
    /// Bytes that processes read of it, or that it read.
    pub r: u64,
    /// Bytes written.
    pub wr: u64,
    /// Whether a member is on the critical path.
    pub c: bool,
    /// Left, top, width, height.
    #[serde(rename = "box")]
    pub place: [i32; 4],
}

/// An edge between joined vertices as a list: from, to, relation, bytes read, bytes written, calls, time in them, edges that it
/// stands for, 1 if the critical path takes one of them, route or 0. Times that are not known are -1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowLink {
    /// The figures, with places in the list of groups.
    pub edge: FlowEdge,
    /// Edges that it stands for.
    pub members: u64,
    /// Control points, x and y in turn.
    pub route: Vec<i32>,
}

/// A vertex as a list: joined vertex, name, part or version, row of its process or its size (-1: unknown), time, readers, writers,
/// 1 if it is on the critical path. Times that are not known are -1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowVertex {
    /// Place of its joined vertex.
    pub group: u32,
    /// Path of the file, or what a process is known as.
    pub name: NameId,
    /// Part of a process or version of a file, from 1.
    pub part: u32,
    /// Row of the process in the list of processes, or size of the file.
    pub about: Option<i64>,
    /// Time that it stands for.
    pub time: Option<i64>,
    /// Processes that read the file.
    pub readers: u32,
    /// Processes that wrote the file.
    pub writers: u32,
    /// Whether it is on the critical path.
    pub critical: bool,
}

impl Serialize for FlowVertex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { group, name, part, about, time, readers, writers, critical } = *self;
        (group, name, part, about.unwrap_or(-1), time.unwrap_or(-1), readers, writers, u8::from(critical))
            .serialize(serializer)
    }
}

/// An edge as a list: from, to, relation, bytes read, bytes written, calls, time in them, 1 if the critical path takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowEdge {
    /// Where it begins.
    pub from: u32,
    /// Where it leads to.
    pub to: u32,
    /// Number of the relation.
    pub relation: u8,
    /// Bytes read along it.
    pub read: u64,
    /// Bytes written along it.
    pub written: u64,
    /// Transfers.
    pub calls: u64,
    /// Time in them.
    pub elapsed: Option<i64>,
    /// Whether the critical path takes it.
    pub critical: bool,
}

impl Serialize for FlowEdge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { from, to, relation, read, written, calls, elapsed, critical } = *self;
        (from, to, relation, read, written, calls, elapsed.unwrap_or(-1), u8::from(critical))
            .serialize(serializer)
    }
}

impl Serialize for FlowLink {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FlowEdge { from, to, relation, read, written, calls, elapsed, critical } = self.edge;
        let figures = (from, to, relation, read, written, calls, elapsed.unwrap_or(-1));
        let (a, b, c, d, e, f, g) = figures;
        let critical = u8::from(critical);
        match self.route.is_empty() {
            true => (a, b, c, d, e, f, g, self.members, critical, 0).serialize(serializer),
            false => (a, b, c, d, e, f, g, self.members, critical, &self.route).serialize(serializer),
        }
    }
}
