//! The transitions.

use super::rounded;
use crate::data::PageEdge;
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{END, START};
use iotrail_draw::Picture;
use std::collections::HashMap;

pub(super) fn edges(dfg: &Dfg, shown: &Picture) -> Vec<PageEdge> {
    let mut numbers: HashMap<&str, i32> = HashMap::from([(START, -1), (END, -2)]);
    numbers.extend((0..).zip(&shown.nodes).map(|(number, node)| (&*dfg.nodes[*node].activity, number)));
    let edge = |index: &usize| {
        let edge = &dfg.edges[*index];
        let groups = dfg.groups.iter().map(|group| edge.groups.get(&group.name));
        Some(PageEdge {
            from: *numbers.get(&*edge.from)?,
            to: *numbers.get(&*edge.to)?,
            count: edge.count,
            cases: edge.cases,
            gap: (edge.gap_ns.mean.map(rounded), edge.gap_ns.p50, edge.gap_ns.p95, edge.gap_ns.sum),
            groups: groups
                .map(|found| found.map(|found| (found.count, found.cases, found.gap_sum_ns)))
                .collect(),
        })
    };
    shown.edges.iter().filter_map(edge).collect()
}
