//! Activities and transitions as CSV: exact numbers, empty where there is none, names byte for byte.

use iotrail_dfg::Dfg;
use iotrail_dfg::result::{Edge, Node, NodeInGroup};
use iotrail_model::csv::{Table, number, text};

pub(super) fn nodes(dfg: &Dfg) -> String {
    let mut header: Vec<String> = NODE_COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    for group in &dfg.groups {
        header.extend(
            ["count", "cases", "duration_ns", "bytes"].map(|figure| format!("{}: {figure}", group.name)),
        );
    }
    table(header, dfg.nodes.iter().map(|node| node_row(node, dfg)))
}

pub(super) fn edges(dfg: &Dfg) -> String {
    let mut header: Vec<String> = EDGE_COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    for group in &dfg.groups {
        header.extend(["count", "cases", "gap_sum_ns"].map(|figure| format!("{}: {figure}", group.name)));
    }
    table(header, dfg.edges.iter().map(|edge| edge_row(edge, dfg)))
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
        text(&node.activity),
        node.count.to_string(),
        node.cases.to_string(),
        node.failures.to_string(),
        node.files.to_string(),
        number(node.duration_ns),
        number(node.relative_duration),
        node.bytes.to_string(),
        number(node.data_rate),
        number(node.max_concurrency),
        number(duration.mean),
        number(duration.p50),
        number(duration.p95),
        number(duration.p99),
        number(duration.max),
        number(size.mean),
        number(size.p50),
        number(size.p95),
        number(size.max),
    ];
    for group in &dfg.groups {
        let figures = node.groups.get(&group.name).copied().unwrap_or(NodeInGroup::ABSENT);
        row.extend(
            [Some(figures.count), Some(figures.cases), figures.duration_ns, Some(figures.bytes)].map(number),
        );
    }
    row
}

fn edge_row(edge: &Edge, dfg: &Dfg) -> Vec<String> {
    let gap = &edge.gap_ns;
    let mut row = vec![
        text(&edge.from),
        text(&edge.to),
        edge.count.to_string(),
        edge.cases.to_string(),
        number(gap.mean),
        number(gap.p50),
        number(gap.p95),
        number(gap.sum),
    ];
    for group in &dfg.groups {
        let figures = edge.groups.get(&group.name).copied().unwrap_or_default();
        row.extend([figures.count.to_string(), figures.cases.to_string(), number(figures.gap_sum_ns)]);
    }
    row
}

fn table(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new(header);
    rows.for_each(|row| table.line(row));
    table.finish()
}
