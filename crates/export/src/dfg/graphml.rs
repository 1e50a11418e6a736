//! The whole graph as GraphML with typed keys: networkx, Gephi, yEd and igraph read it.
//!
//! A figure that does not exist has no `data` element. Integers are `long` where they are counts or nanoseconds.

use crate::figures::{Figures, Value};
use crate::graphml::{self, EdgeFigures};
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{END, Edge, Node, NodeInGroup, START};
use std::collections::HashMap;

pub(super) fn document(dfg: &Dfg) -> String {
    let nodes: Vec<Figures> = [START, END]
        .map(terminal)
        .into_iter()
        .chain(dfg.nodes.iter().map(|node| activity(node, dfg)))
        .collect();
    let mut ids: HashMap<&str, usize> = HashMap::from([(START, 0), (END, 1)]);
    ids.extend(dfg.nodes.iter().enumerate().map(|(index, node)| (&*node.activity, index + 2)));
    let ends = |edge: &Edge| Some((*ids.get(&*edge.from)?, *ids.get(&*edge.to)?));
    let edges: Vec<EdgeFigures> = dfg
        .edges
        .iter()
        .filter_map(|edge| ends(edge).map(|(from, to)| (from, to, transition(edge, dfg))))
        .collect();
    graphml::document("dfg", &whole(dfg), &nodes, &edges)
}

fn whole(dfg: &Dfg) -> Figures {
    let mut figures = vec![
        ("format".to_owned(), Value::Text(dfg.format.clone())),
        ("sources".to_owned(), Value::Text(dfg.sources.join(", "))),
        ("mapping".to_owned(), Value::Text(dfg.mapping.clone())),
        ("selection".to_owned(), Value::Text(dfg.selection.clone())),
    ];
    put(&mut figures, "cases", dfg.cases);
    put(&mut figures, "events", dfg.events.mapped);
    maybe(&mut figures, "duration_ns", dfg.duration_ns);
    put(&mut figures, "bytes", dfg.bytes);
    figures
}

fn terminal(name: &str) -> Figures {
    let kind = if name == START { "start" } else { "end" };
    vec![
        ("activity".to_owned(), Value::Text(name.to_owned())),
        ("kind".to_owned(), Value::Text(kind.to_owned())),
    ]
}

fn activity(node: &Node, dfg: &Dfg) -> Figures {
    let mut figures = vec![
        ("activity".to_owned(), Value::Text(node.activity.to_string())),
        ("kind".to_owned(), Value::Text("activity".to_owned())),
    ];
    put(&mut figures, "count", node.count);
    put(&mut figures, "cases", node.cases);
    put(&mut figures, "failures", node.failures);
    put(&mut figures, "files", node.files);
    maybe(&mut figures, "duration_ns", node.duration_ns);
    real(&mut figures, "relative_duration", node.relative_duration);
    put(&mut figures, "bytes", node.bytes);
    real(&mut figures, "data_rate", node.data_rate);
    maybe(&mut figures, "max_concurrency", node.max_concurrency);
    real(&mut figures, "duration_mean_ns", node.duration.mean);
    whole_number(&mut figures, "duration_p50_ns", node.duration.p50);
    whole_number(&mut figures, "duration_p95_ns", node.duration.p95);
    whole_number(&mut figures, "duration_p99_ns", node.duration.p99);
    whole_number(&mut figures, "duration_max_ns", node.duration.max);
    real(&mut figures, "size_mean", node.size.mean);
    whole_number(&mut figures, "size_p50", node.size.p50);
    whole_number(&mut figures, "size_p95", node.size.p95);
    whole_number(&mut figures, "size_max", node.size.max);
    for group in &dfg.groups {
        let own = node.groups.get(&group.name).copied().unwrap_or(NodeInGroup::ABSENT);
        put(&mut figures, &format!("{}: count", group.name), own.count);
        maybe(&mut figures, &format!("{}: duration_ns", group.name), own.duration_ns);
        put(&mut figures, &format!("{}: bytes", group.name), own.bytes);
    }
    figures
}

fn transition(edge: &Edge, dfg: &Dfg) -> Figures {
    let mut figures = Figures::new();
    put(&mut figures, "count", edge.count);
    put(&mut figures, "cases", edge.cases);
    real(&mut figures, "gap_mean_ns", edge.gap_ns.mean);
    whole_number(&mut figures, "gap_p50_ns", edge.gap_ns.p50);
    whole_number(&mut figures, "gap_p95_ns", edge.gap_ns.p95);
    whole_number(&mut figures, "gap_sum_ns", edge.gap_ns.sum);
    for group in &dfg.groups {
        let own = edge.groups.get(&group.name).copied().unwrap_or_default();
        put(&mut figures, &format!("{}: count", group.name), own.count);
    }
    figures
}

fn put(figures: &mut Figures, name: &str, value: u64) {
    // Beyond what a signed long holds there is no exact GraphML type; the nearest one is the largest.
    figures.push((name.to_owned(), Value::Whole(i64::try_from(value).unwrap_or(i64::MAX))));
}

fn maybe(figures: &mut Figures, name: &str, value: Option<u64>) {
    if let Some(value) = value {
        put(figures, name, value);
    }
}

fn whole_number(figures: &mut Figures, name: &str, value: Option<i64>) {
    figures.extend(value.map(|value| (name.to_owned(), Value::Whole(value))));
}

fn real(figures: &mut Figures, name: &str, value: Option<f64>) {
    figures.extend(value.map(|value| (name.to_owned(), Value::Real(value))));
}
