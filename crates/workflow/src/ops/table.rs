//! What operations tell, as rows that name their vertices: for terminals, CSV and JSON.

use crate::graph::{Graph, Relation, Vertex, VertexId};
use crate::ops::bottleneck;
use crate::ops::centrality;
use crate::ops::cluster;
use crate::ops::critical_executed::{Executed, critical_executed};
use crate::ops::critical_static::{Critical, critical_static};
use crate::ops::error::OpError;
use crate::ops::weight::Weight;
use iotrail_model::units;
use serde::Serialize;
use std::sync::Arc;

/// The answer of an operation, as rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// What it tells: `heaviest path`, `critical path as executed`, `slack`, `bottlenecks`, `degrees`, `clusters`,
    /// `paths`.
    pub name: &'static str,
    /// One sentence: what it is of, and its total.
    pub summary: String,
    /// What a reader must know, one sentence each.
    pub notes: Vec<String>,
    /// The rows, all of one kind.
    pub rows: Rows,
}

/// The rows of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rows {
    /// Of the heaviest path, in its order.
    Heaviest(Vec<HeaviestRow>),
    /// Of the critical path as executed, in the order of time.
    Executed(Vec<ExecutedRow>),
    /// By vertex.
    Slack(Vec<SlackRow>),
    /// Most time lost first.
    Bottlenecks(Vec<BottleneckRow>),
    /// Most edges first.
    Degrees(Vec<DegreeRow>),
    /// The largest first.
    Clusters(Vec<ClusterRow>),
    /// By vertex.
    Paths(Vec<PathRow>),
}

impl Rows {
    /// The names of the columns.
    #[must_use]
    pub const fn columns(&self) -> &'static [&'static str] {
        match self {
            Self::Heaviest(_) => &["key", "label", "relation", "weight", "sum", "unit", "share"],
            Self::Executed(_) => &[
                "key",
                "label",
                "phase",
                "from_ns",
                "to_ns",
                "span_ns",
                "share",
                "why",
                "after",
                "after_label",
            ],
            Self::Slack(_) => &["key", "label", "slack", "unit"],
            Self::Bottlenecks(_) => &[
                "from",
                "to",
                "relation",
                "process",
                "phase",
                "bytes",
                "calls",
                "elapsed_ns",
                "rate",
                "median_rate",
                "lost_ns",
            ],
            Self::Degrees(_) => &["key", "label", "kind", "incoming", "outgoing", "betweenness", "reach"],
            Self::Clusters(_) => {
                &["name", "exe", "processes", "inputs", "outputs", "reads", "writes", "children"]
            }
            Self::Paths(_) => &["key", "label", "path"],
        }
    }
}

/// A vertex of the heaviest path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeaviestRow {
    /// Key of the vertex.
    pub key: Arc<str>,
    /// Label of the vertex.
    pub label: Arc<str>,
    /// How the path comes to it.
    pub relation: Option<Relation>,
    /// What it and the edge to it weigh; NULL if it is a time that nothing tells.
    pub weight: Option<u64>,
    /// The weight up to here.
    pub sum: Option<u64>,
    /// Unit of the weights: `ns`, `bytes`, `calls`.
    pub unit: &'static str,
    /// Of the whole path.
    pub share: Option<f64>,
}

/// A step of the critical path as executed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExecutedRow {
    /// Key of the process; none in a gap.
    pub key: Option<Arc<str>>,
    /// Label of the process; NULL for a gap.
    pub label: Option<Arc<str>>,
    /// Phase of the process; NULL in a gap and where there is none.
    pub phase: Option<Arc<str>>,
    /// From when, in ns since the epoch.
    pub from_ns: i64,
    /// Until when, in ns since the epoch.
    pub to_ns: i64,
    /// Length of the step, ns.
    pub span_ns: i64,
    /// Of the makespan.
    pub share: Option<f64>,
    /// Why it begins then.
    pub why: &'static str,
    /// Key of the process that it waited for.
    pub after: Option<Arc<str>>,
    /// Label of what the step waited for; NULL if it waited for nothing.
    pub after_label: Option<Arc<str>>,
}

/// The slack of a vertex.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlackRow {
    /// Key of the vertex.
    pub key: Arc<str>,
    /// Label of the vertex.
    pub label: Arc<str>,
    /// How much it could weigh more before the heaviest path does; NULL if it is a time that nothing tells.
    pub slack: Option<u64>,
    /// Unit of the weight.
    pub unit: &'static str,
}

/// A slow edge.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BottleneckRow {
    /// Key of the vertex where it begins.
    pub from: Arc<str>,
    /// Key of the vertex to which it leads.
    pub to: Arc<str>,
    /// What it means.
    pub relation: Relation,
    /// Label of its process.
    pub process: Option<Arc<str>>,
    /// The phase of its process.
    pub phase: Option<Arc<str>>,
    /// Bytes moved.
    pub bytes: u64,
    /// Calls that moved them.
    pub calls: u64,
    /// Time in these calls.
    pub elapsed_ns: Option<i64>,
    /// Bytes per second.
    pub rate: f64,
    /// Median of the rates of the edges of its kind.
    pub median_rate: f64,
    /// Time beyond that at the median.
    pub lost_ns: u64,
}

/// Degrees of a vertex.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DegreeRow {
    /// Key of the vertex.
    pub key: Arc<str>,
    /// Label of the vertex.
    pub label: Arc<str>,
    /// `process` or `file`.
    pub kind: &'static str,
    /// Edges that enter it.
    pub incoming: u32,
    /// Edges that leave it.
    pub outgoing: u32,
    /// See [`centrality::DegreeRow::betweenness`].
    pub betweenness: f64,
    /// See [`centrality::DegreeRow::reach`].
    pub reach: Option<u64>,
}

/// A name of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathRow {
    /// Key of the vertex.
    pub key: Arc<str>,
    /// Label of the vertex.
    pub label: Arc<str>,
    /// Path of the file.
    pub path: Arc<str>,
}

/// A behaviour, and how many processes share it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterRow {
    /// Its shape.
    pub name: String,
    /// Base name of the executable.
    pub exe: String,
    /// How many processes.
    pub processes: u64,
    /// Files that each reads.
    pub inputs: u64,
    /// Files that each writes.
    pub outputs: u64,
    /// Groups of files read: `2 x /data/p_*.fits`.
    pub reads: Vec<String>,
    /// Groups of files written.
    pub writes: Vec<String>,
    /// Executables of its children.
    pub children: Vec<String>,
}

const fn unit(weight: Weight) -> &'static str {
    match weight {
        Weight::Time | Weight::Rate => "ns",
        Weight::Bytes => "bytes",
        Weight::Calls => "calls",
    }
}

/// Nothing is no share of nothing.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Both critical paths; one that the graph has no more is replaced by a note, and if it has neither the first error is
/// returned.
pub(super) fn critical_path(graph: &Graph, weight: Weight) -> Result<Vec<Table>, OpError> {
    let executed = critical_executed(graph).map(|executed| self::executed(graph, &executed));
    let executed = Table::or_unknown(executed, EXECUTED, Rows::Executed(Vec::new()));
    let heaviest = critical_static(graph, weight).map(|critical| heaviest(graph, &critical));
    let heaviest = Table::or_unknown(heaviest, HEAVIEST, Rows::Heaviest(Vec::new()));
    match (executed, heaviest) {
        (Err(error), Err(_)) => Err(error),
        (Ok(mut table), Err(error)) | (Err(error), Ok(mut table)) => {
            table.notes.push(error.to_string());
            Ok(vec![table])
        }
        (Ok(executed), Ok(heaviest)) => Ok(vec![executed, heaviest]),
    }
}

/// The heaviest path as a table.
#[must_use]
pub fn heaviest(graph: &Graph, critical: &Critical) -> Table {
    let known = |weight: u64| critical.weight.if_known(graph, weight);
    let rows = critical.steps.iter().map(|step| HeaviestRow {
        key: Arc::clone(&graph.vertex(step.vertex).key),
        label: Arc::clone(&graph.vertex(step.vertex).label),
        relation: step.edge.map(|edge| graph.edge(edge).relation),
        weight: known(step.weight),
        sum: known(step.sum),
        unit: unit(critical.weight),
        share: known(step.weight).and_then(|weight| share(weight, critical.total)),
    });
    let table = Table {
        name: HEAVIEST,
        summary: format!("by {}: {}", critical.weight.name(), in_words(graph, critical)),
        notes: Vec::new(),
        rows: Rows::Heaviest(rows.collect()),
    };
    if critical.weight == Weight::Time { table.if_timed(graph) } else { table }
}

/// The weight of the whole path.
fn in_words(graph: &Graph, critical: &Critical) -> String {
    let total = critical.weight.if_known(graph, critical.total);
    total.map_or_else(|| UNKNOWN.to_owned(), |total| format!("{total} {}", unit(critical.weight)))
}

/// In sentences, a figure that is not known.
const UNKNOWN: &str = "unknown";

const HEAVIEST: &str = "heaviest path";
const EXECUTED: &str = "critical path as executed";
const SLACK: &str = "slack";
/// What stands in place of a table of times where none is known.
const NO_TIMES: &str = "not known, the traces have no time stamps (strace -ttt)";

impl Table {
    /// A table of times; without rows if no time of `graph` is known.
    fn if_timed(self, graph: &Graph) -> Self {
        let knows = |vertex: &Vertex| {
            vertex.time.is_some() || vertex.process().is_some_and(|process| process.start.is_some())
        };
        if graph.span.is_some() || graph.vertices.is_empty() || graph.vertices.iter().any(knows) {
            return self;
        }
        let rows = match self.rows {
            Rows::Executed(_) => Rows::Executed(Vec::new()),
            Rows::Heaviest(_) => Rows::Heaviest(Vec::new()),
            Rows::Slack(_) => Rows::Slack(Vec::new()),
            rows => rows,
        };
        Self::unknown(self.name, rows, NO_TIMES)
    }

    /// A table without rows, and why.
    fn unknown(name: &'static str, rows: Rows, why: &str) -> Self {
        Self { name, summary: why.to_owned(), notes: Vec::new(), rows }
    }

    /// Instead of what time stamps do not tell a table without rows.
    fn or_unknown(made: Result<Self, OpError>, name: &'static str, rows: Rows) -> Result<Self, OpError> {
        match made {
            Err(error @ OpError::CoarseTimes) => {
                Ok(Self::unknown(name, rows, &format!("not known, {error}")))
            }
            made => made,
        }
    }
}

/// The critical path as executed as a table.
#[must_use]
pub fn executed(graph: &Graph, executed: &Executed) -> Table {
    let key = |vertex: VertexId| Arc::clone(&graph.vertex(vertex).key);
    let whole = executed.makespan.0.unsigned_abs();
    let rows = executed.steps.iter().map(|step| ExecutedRow {
        key: step.vertex.map(key),
        label: step.vertex.map(|vertex| Arc::clone(&graph.vertex(vertex).label)),
        phase: step.vertex.and_then(|vertex| phase(graph, vertex)),
        from_ns: step.from.0,
        to_ns: step.to.0,
        span_ns: step.span().0,
        share: share(step.span().0.unsigned_abs(), whole),
        why: step.why.describe(),
        after: step.after.map(key),
        after_label: step.after.map(|vertex| Arc::clone(&graph.vertex(vertex).label)),
    });
    let times = (executed.unknown_times > 0).then(|| {
        format!(
            "{} no recorded birth or death; the first or last sign stands in",
            units::counted(executed.unknown_times, "process has", "processes have")
        )
    });
    let ends = (executed.unknown_ends > 0).then(|| {
        format!(
            "{} ({} in all) on sockets or pipes whose other end is not recorded: counted for who waited",
            units::counted(executed.unknown_ends, "wait", "waits"),
            units::duration(executed.unknown_ends_time.0 as f64)
        )
    });
    Table {
        name: EXECUTED,
        summary: format!(
            "makespan {} ns, the sum of {}",
            executed.makespan.0,
            units::counted(executed.steps.len() as u64, "step", "steps")
        ),
        notes: times.into_iter().chain(ends).collect(),
        rows: Rows::Executed(rows.collect()),
    }
    .if_timed(graph)
}

fn phase(graph: &Graph, vertex: VertexId) -> Option<Arc<str>> {
    graph.vertex(vertex).phase.and_then(|phase| graph.phases.get(phase as usize)).cloned()
}

pub(super) fn slack(graph: &Graph, weight: Weight) -> Result<Table, OpError> {
    Table::or_unknown(known_slack(graph, weight), SLACK, Rows::Slack(Vec::new()))
}

fn known_slack(graph: &Graph, weight: Weight) -> Result<Table, OpError> {
    let critical = critical_static(graph, weight)?;
    let rows = graph.vertices.iter().zip(&critical.slack).map(|(vertex, slack)| SlackRow {
        key: Arc::clone(&vertex.key),
        label: Arc::clone(&vertex.label),
        slack: weight.if_known(graph, *slack),
        unit: unit(weight),
    });
    let table = Table {
        name: SLACK,
        summary: format!("by {}; the heaviest path weighs {}", weight.name(), in_words(graph, &critical)),
        notes: Vec::new(),
        rows: Rows::Slack(rows.collect()),
    };
    Ok(if weight == Weight::Time { table.if_timed(graph) } else { table })
}

/// The bottlenecks as a table.
#[must_use]
pub fn bottlenecks(graph: &Graph) -> Table {
    let found = bottleneck::bottlenecks(graph);
    let rows = found.edges.iter().map(|slow| {
        let edge = graph.edge(slow.edge);
        let process = [edge.from, edge.to].into_iter().find(|end| graph.vertex(*end).process().is_some());
        BottleneckRow {
            from: Arc::clone(&graph.vertex(edge.from).key),
            to: Arc::clone(&graph.vertex(edge.to).key),
            relation: edge.relation,
            process: process.map(|process| Arc::clone(&graph.vertex(process).label)),
            phase: process.and_then(|process| phase(graph, process)),
            bytes: edge.bytes(),
            calls: edge.calls(),
            elapsed_ns: edge.elapsed().map(|time| time.0),
            rate: slow.rate,
            median_rate: slow.median_rate,
            lost_ns: slow.lost_ns,
        }
    });
    let notes = (found.too_few > 0).then(|| {
        let edges = units::counted(found.too_few, "edge is", "edges are");
        format!("{edges} of kinds with fewer than five edges, which have no usual rate")
    });
    Table {
        name: "bottlenecks",
        summary: format!(
            "{} of {} with a known rate {} far below the median of {} kind",
            units::count(found.edges.len() as u64),
            units::counted(found.compared, "edge", "edges"),
            if found.edges.len() == 1 { "is" } else { "are" },
            if found.edges.len() == 1 { "its" } else { "their" }
        ),
        notes: notes.into_iter().collect(),
        rows: Rows::Bottlenecks(rows.collect()),
    }
}

pub(super) fn degrees(graph: &Graph) -> Table {
    let found = centrality::degrees(graph);
    let mut rows: Vec<DegreeRow> = found
        .rows
        .iter()
        .map(|row| {
            let vertex = graph.vertex(row.vertex);
            DegreeRow {
                key: Arc::clone(&vertex.key),
                label: Arc::clone(&vertex.label),
                kind: if vertex.process().is_some() { "process" } else { "file" },
                incoming: row.incoming,
                outgoing: row.outgoing,
                betweenness: row.betweenness,
                reach: row.reach,
            }
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(u64::from(row.incoming) + u64::from(row.outgoing)));
    let count = rows.len();
    Table {
        name: "degrees",
        summary: format!(
            "{}, those with the most edges first",
            units::counted(count as u64, "vertex", "vertices")
        ),
        notes: found.notes,
        rows: Rows::Degrees(rows),
    }
}

/// Every name of each file, the one that it is called by first.
pub(super) fn paths(graph: &Graph) -> Table {
    let files = || graph.vertices.iter().filter_map(|vertex| Some((vertex, vertex.file()?)));
    let rows: Vec<PathRow> = files()
        .flat_map(|(vertex, file)| {
            let names = std::iter::once(&file.path).chain(&file.names);
            names.map(|path| PathRow {
                key: Arc::clone(&vertex.key),
                label: Arc::clone(&vertex.label),
                path: Arc::clone(path),
            })
        })
        .collect();
    let note = "Of files that were joined, the names are those of the first.".to_owned();
    let has_joined = files().any(|(vertex, _)| vertex.members > 1);
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let (names, count) = (rows.len(), files().count());
    Table {
        name: "paths",
        summary: format!("{names} name{} of {count} file{}, versions counted", plural(names), plural(count)),
        notes: has_joined.then_some(note).into_iter().collect(),
        rows: Rows::Paths(rows),
    }
}

/// The clusters as a table.
#[must_use]
pub fn clusters(graph: &Graph) -> Table {
    let listed =
        |groups: &[(String, u64)]| groups.iter().map(|(name, count)| format!("{count} x {name}")).collect();
    let rows: Vec<ClusterRow> = cluster::clusters(graph)
        .into_iter()
        .map(|cluster| ClusterRow {
            reads: listed(&cluster.reads),
            writes: listed(&cluster.writes),
            name: cluster.name,
            exe: cluster.exe,
            processes: cluster.processes,
            inputs: cluster.inputs,
            outputs: cluster.outputs,
            children: cluster.children,
        })
        .collect();
    let processes: u64 = rows.iter().map(|row| row.processes).sum();
    Table {
        name: "clusters",
        summary: format!(
            "{} in {}",
            units::counted(processes, "process behaves", "processes behave"),
            units::counted(rows.len() as u64, "way", "ways")
        ),
        notes: Vec::new(),
        rows: Rows::Clusters(rows),
    }
}
