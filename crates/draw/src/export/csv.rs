//! Activities and transitions as CSV (RFC 4180): exact numbers, empty where there is none, names byte for byte.
//!
//! Names are not altered against spreadsheet programs that evaluate cells beginning with `=`: a name read back is the
//! name in the trace. `docs/exports.md` says how to open the files as text.

use super::Exporter;
use crate::error::DrawError;
use crate::view::View;
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{Edge, Node, NodeInGroup};

pub(super) struct Nodes;
pub(super) struct Edges;

impl Exporter for Nodes {
    fn export(&self, dfg: &Dfg, _view: &View) -> Result<Vec<u8>, DrawError> {
        let mut header: Vec<String> = NODE_COLUMNS.iter().map(|name| (*name).to_owned()).collect();
        for group in &dfg.groups {
            header.extend(
                ["count", "cases", "duration_ns", "bytes"].map(|figure| format!("{}: {figure}", group.name)),
            );
        }
        let rows = dfg.nodes.iter().map(|node| node_row(node, dfg));
        Ok(table(header, rows))
    }
}

impl Exporter for Edges {
    fn export(&self, dfg: &Dfg, _view: &View) -> Result<Vec<u8>, DrawError> {
        let mut header: Vec<String> = EDGE_COLUMNS.iter().map(|name| (*name).to_owned()).collect();
        for group in &dfg.groups {
            header.extend(["count", "cases", "gap_sum_ns"].map(|figure| format!("{}: {figure}", group.name)));
        }
        let rows = dfg.edges.iter().map(|edge| edge_row(edge, dfg));
        Ok(table(header, rows))
    }
}

const NODE_COLUMNS: [&str; 19] = [
    "activity",
    "count",
    "cases",
    "failures",
    "files",
    "duration_ns",
    "relative_duration",
    "bytes",
    "data_rate",
    "max_concurrency",
    "duration_mean_ns",
    "duration_p50_ns",
    "duration_p95_ns",
    "duration_p99_ns",
    "duration_max_ns",
    "size_mean",
    "size_p50",
    "size_p95",
    "size_max",
];

const EDGE_COLUMNS: [&str; 8] =
    ["from", "to", "count", "cases", "gap_mean_ns", "gap_p50_ns", "gap_p95_ns", "gap_sum_ns"];

fn node_row(node: &Node, dfg: &Dfg) -> Vec<String> {
    let (duration, size) = (&node.duration, &node.size);
    let mut row = vec![
        node.activity.to_string(),
        node.count.to_string(),
        node.cases.to_string(),
        node.failures.to_string(),
        node.files.to_string(),
        or_empty(node.duration_ns),
        or_empty(node.relative_duration),
        node.bytes.to_string(),
        or_empty(node.data_rate),
        or_empty(node.max_concurrency),
        or_empty(duration.mean),
        or_empty(duration.p50),
        or_empty(duration.p95),
        or_empty(duration.p99),
        or_empty(duration.max),
        or_empty(size.mean),
        or_empty(size.p50),
        or_empty(size.p95),
        or_empty(size.max),
    ];
    for group in &dfg.groups {
        let figures = node.groups.get(&group.name).copied().unwrap_or(NodeInGroup::ABSENT);
        row.extend(
            [Some(figures.count), Some(figures.cases), figures.duration_ns, Some(figures.bytes)]
                .map(or_empty),
        );
    }
    row
}

fn edge_row(edge: &Edge, dfg: &Dfg) -> Vec<String> {
    let gap = &edge.gap_ns;
    let mut row = vec![
        edge.from.to_string(),
        edge.to.to_string(),
        edge.count.to_string(),
        edge.cases.to_string(),
        or_empty(gap.mean),
        or_empty(gap.p50),
        or_empty(gap.p95),
        or_empty(gap.sum),
    ];
    for group in &dfg.groups {
        let figures = edge.groups.get(&group.name).copied().unwrap_or_default();
        row.extend([figures.count.to_string(), figures.cases.to_string(), or_empty(figures.gap_sum_ns)]);
    }
    row
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn table(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Vec<u8> {
    let mut out = String::new();
    for row in std::iter::once(header).chain(rows) {
        let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
        out.push_str(&cells.join(","));
        out.push_str("\r\n");
    }
    out.into_bytes()
}

/// A cell of a CSV file, in quotes where RFC 4180 wants them.
#[must_use]
pub fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
