//! The part of a graph that a picture has room for, connected: what is left out becomes one activity.
//!
//! A limit is a limit: of 2,083 activities, 49 and one for all the others are drawn. Transitions from and to the others lead
//! to and from that one, so that every activity stays on a way from ● to ■ and the figures still add up to the whole.

use crate::picture::by_importance;
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{Edge, GapStats, Node};
use iotrail_model::units;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// `dfg` with at most `limit` activities: the most important ones, and one that stands for all others. Its number of cases is
/// not known, and that of its transitions: they are 0.
pub(crate) fn projected(dfg: &Dfg, limit: usize) -> Cow<'_, Dfg> {
    let limit = limit.max(1);
    if dfg.nodes.len() <= limit {
        return Cow::Borrowed(dfg);
    }
    let mut kept = by_importance(dfg);
    let others = kept.split_off(limit - 1);
    let other = name_of_others(dfg, others.len());
    kept.sort_unstable();
    let mut nodes: Vec<Node> = kept.iter().map(|at| dfg.nodes[*at].clone()).collect();
    nodes.push(joined(others.iter().map(|at| &dfg.nodes[*at]), other.clone()));
    let inner: HashSet<&str> = others.iter().map(|at| &*dfg.nodes[*at].activity).collect();
    let end = |name: &Arc<str>| Arc::clone(if inner.contains(&**name) { &other } else { name });
    let (whole, cut): (Vec<&Edge>, Vec<&Edge>) =
        dfg.edges.iter().partition(|edge| !inner.contains(&*edge.from) && !inner.contains(&*edge.to));
    let mut joint: BTreeMap<(Arc<str>, Arc<str>), Edge> = BTreeMap::new();
    for edge in cut {
        let into = joint.entry((end(&edge.from), end(&edge.to))).or_default();
        add_edge(into, edge);
    }
    let mut edges: Vec<Edge> = whole.into_iter().cloned().collect();
    edges.extend(joint.into_iter().map(|((from, to), edge)| Edge { from, to, ..edge }));
    edges.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| (&a.from, &a.to).cmp(&(&b.from, &b.to))));
    Cow::Owned(Dfg { nodes, edges, variants: Vec::new(), ..frame(dfg) })
}

/// Everything of a graph but its lists, which may be long.
fn frame(dfg: &Dfg) -> Dfg {
    Dfg {
        format: dfg.format.clone(),
        sources: dfg.sources.clone(),
        mapping: dfg.mapping.clone(),
        case_by: dfg.case_by.clone(),
        selection: dfg.selection.clone(),
        max_concurrency_rule: dfg.max_concurrency_rule.clone(),
        groups: dfg.groups.clone(),
        limitations: dfg.limitations.clone(),
        coverage: dfg.coverage.clone(),
        nodes: Vec::new(),
        edges: Vec::new(),
        variants: Vec::new(),
        ..*dfg
    }
}

/// A name that no activity has.
fn name_of_others(dfg: &Dfg, number: usize) -> Arc<str> {
    let mut name = format!("… {} other activities", units::count(number as u64));
    while dfg.nodes.iter().any(|node| *node.activity == *name) {
        name.push('…');
    }
    name.into()
}

fn joined<'a>(nodes: impl Iterator<Item = &'a Node>, activity: Arc<str>) -> Node {
    let mut all = Node { activity, ..Node::default() };
    let add = |sum: &mut Option<u64>, more: Option<u64>| {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).saturating_add(more));
        }
    };
    for node in nodes {
        all.count += node.count;
        all.failures += node.failures;
        all.bytes = all.bytes.saturating_add(node.bytes);
        add(&mut all.duration_ns, node.duration_ns);
        add(&mut all.wait_ns, node.wait_ns);
        add(&mut all.request_ns, node.request_ns);
        if let Some(share) = node.relative_duration {
            *all.relative_duration.get_or_insert(0.0) += share;
        }
        for (group, own) in node.groups.iter() {
            let sums = all.groups.entry(group);
            sums.count += own.count;
            sums.failures += own.failures;
            sums.bytes = sums.bytes.saturating_add(own.bytes);
            add(&mut sums.duration_ns, own.duration_ns);
        }
    }
    all.relative_duration = all.relative_duration.map(|share| share.min(1.0));
    all
}

fn add_edge(into: &mut Edge, edge: &Edge) {
    into.count += edge.count;
    let add = |sum: &mut Option<i64>, more: Option<i64>| {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).saturating_add(more));
        }
    };
    let mut sum = into.gap_ns.sum;
    add(&mut sum, edge.gap_ns.sum);
    into.gap_ns = GapStats { sum, ..GapStats::default() };
    for (group, own) in edge.groups.iter() {
        let sums = into.groups.entry(group);
        sums.count += own.count;
        add(&mut sums.gap_sum_ns, own.gap_sum_ns);
    }
}
