//! The activities.

use super::behind::behind;
use super::rounded;
use crate::data::PageNode;
use crate::name_table::NameTable;
use crate::positions::width;
use crate::subject::Subject;
use iotrail_dfg::result::{Bin, Node};
use iotrail_draw::Picture;

pub(super) fn nodes(subject: &Subject<'_>, shown: &Picture, names: &mut NameTable) -> Vec<PageNode> {
    shown.nodes.iter().map(|node| page_node(subject, &subject.dfg.nodes[*node], names)).collect()
}

fn page_node(subject: &Subject<'_>, node: &Node, names: &mut NameTable) -> PageNode {
    let (duration, size) = (&node.duration, &node.size);
    let groups = subject.dfg.groups.iter().map(|group| {
        let found = node.groups.get(&group.name)?;
        let rate = found.data_rate.map(rounded);
        Some((found.count, found.cases, found.failures, found.duration_ns, found.bytes, rate))
    });
    let mut page_node = PageNode {
        n: names.id(&node.activity),
        c: node.count,
        k: node.cases,
        e: node.failures,
        f: node.files,
        t: node.duration_ns,
        b: node.bytes,
        r: node.data_rate.map(rounded),
        m: node.max_concurrency,
        d: (duration.mean.map(rounded), duration.p50, duration.p95, duration.p99, duration.max),
        s: (size.mean.map(rounded), size.p50, size.p95, size.max),
        dh: histogram(&node.duration_histogram),
        sh: histogram(&node.size_histogram),
        g: groups.collect(),
        w: width(node),
        ..PageNode::default()
    };
    behind(subject, &node.activity, &mut page_node, names);
    page_node
}

/// The number of a bin is the number of binary digits of its lower end.
fn histogram(bins: &[Bin]) -> Vec<(u32, u64)> {
    bins.iter()
        .filter(|bin| bin.count > 0)
        .map(|bin| (u64::BITS - bin.from.leading_zeros(), bin.count))
        .collect()
}
