//! From the process table to the process tree.

use super::shape::shapes;
use super::{LongestPath, Node, NodeId, Tree};
use crate::build::labels::Texts;
use iotrail_model::{Case, Nanos, Resolution, Timestamp};
use iotrail_query::process_group::executable;
use iotrail_query::{ProcessGroups, ProcessId, ProcessTable};
use std::sync::Arc;

/// The process tree of `processes`, whose cases are `cases`.
#[must_use]
pub fn tree(processes: &ProcessTable, groups: &ProcessGroups, cases: &[Case]) -> Tree {
    let mut texts = Texts::default();
    let names: Vec<Arc<str>> = cases.iter().map(|case| texts.share(&case.name.to_string())).collect();
    let node = |index| {
        let id = ProcessId(index as u32);
        let case = processes.get(id).case.index();
        let name = names.get(case).cloned().unwrap_or_default();
        let host = cases.get(case).and_then(|case| case.name.host.as_deref()).map(|host| texts.share(host));
        Node { case: name, host, ..process(processes, groups, id, &mut texts) }
    };
    let mut nodes: Vec<Node> = (0..processes.all().len()).map(node).collect();
    let mut roots = Vec::new();
    for index in 0..nodes.len() {
        let id = NodeId(index as u32);
        match nodes[index].parent {
            None => roots.push(id),
            // Parents stand before their children.
            Some(parent) => {
                nodes[index].depth = nodes[parent.index()].depth + 1;
                nodes[parent.index()].children.push(id);
            }
        }
    }
    roots.sort_by_key(|root| (nodes[root.index()].start, *root));
    for index in (0..nodes.len()).rev() {
        if let Some(parent) = nodes[index].parent {
            nodes[parent.index()].size += nodes[index].size;
        }
    }
    let shapes = shapes(&mut nodes);
    forget_orders(&mut nodes, processes, cases);
    let resolution = Case::resolution_of(cases);
    let starts = nodes.iter().filter_map(|node| node.start.or(node.end)).min();
    let ends = nodes.iter().filter_map(|node| node.end.or(node.start)).max();
    Tree {
        longest: longest(&nodes, resolution),
        resolution,
        roots,
        shapes,
        phases: groups.names.iter().map(|name| Arc::from(name.as_str())).collect(),
        span: starts.zip(ends),
        nodes,
    }
}

/// Without time stamps, the times of a trace are numbers of calls: they order processes, but are no times.
fn forget_orders(nodes: &mut [Node], processes: &ProcessTable, cases: &[Case]) {
    for node in nodes {
        let case = cases.get(processes.get(node.process).case.index());
        if case.is_some_and(|case| !case.has_times()) {
            (node.start, node.end) = (None, None);
        }
    }
}

fn process(processes: &ProcessTable, groups: &ProcessGroups, process: ProcessId, texts: &mut Texts) -> Node {
    let (whole, image, images) =
        (processes.get(process), processes.last_image(process), processes.images(process));
    let mut text = |text: Option<&str>| text.map(|text| texts.share(text));
    let sum = |bytes: fn(&iotrail_model::Process) -> i64| {
        images.iter().fold(0_u64, |sum, image| sum.saturating_add(u64::try_from(bytes(image)).unwrap_or(0)))
    };
    Node {
        process,
        pid: whole.pid.0,
        ppid: images.first().and_then(|image| image.ppid).map(|pid| pid.0),
        parent: whole.parent.map(|parent| NodeId(parent.0)),
        label: text(executable(image)).unwrap_or_else(|| Arc::from(whole.pid.to_string())),
        exe: text(image.exe.as_deref()),
        cmdline: text(image.cmdline.as_deref()),
        phase: groups.of(process).map(|group| group.0),
        start: whole.start,
        end: whole.end,
        cpu: cpu(images),
        bytes_read: sum(|image| image.bytes_read),
        bytes_written: sum(|image| image.bytes_written),
        exit_code: image.exit_code,
        signal: text(image.signal.as_deref()),
        images: images.len() as u32,
        size: 1,
        ..Node::default()
    }
}

/// CPU time of all images of a process, if it is known of one.
pub(crate) fn cpu(images: &[iotrail_model::Process]) -> Option<Nanos> {
    let times = images.iter().flat_map(|image| [image.usage.user, image.usage.system]);
    times.flatten().reduce(|one, other| Nanos(one.0.saturating_add(other.0)))
}

/// The path from a root whose processes lived for the longest time together, each moment counted once; of equal ones that with
/// the largest sum of lifetimes, and of these that of the first processes.
fn longest(nodes: &[Node], resolution: Resolution) -> LongestPath {
    let mut paths: Vec<Path> = Vec::with_capacity(nodes.len());
    for node in nodes {
        // Parents stand before their children, and began before them.
        let above = node.parent.map(|parent| paths[parent.index()]).unwrap_or_default();
        paths.push(above.and(node));
    }
    let best = (0..nodes.len()).rev().max_by_key(|index| (paths[*index].covered, paths[*index].sum));
    let Some(best) = best else { return LongestPath::default() };
    let above = |id: &NodeId| nodes[id.index()].parent;
    let mut path: Vec<NodeId> = std::iter::successors(Some(NodeId(best as u32)), above).collect();
    path.reverse();
    let time = paths[best].until.and_then(|_| resolution.known_span(paths[best].covered));
    LongestPath { nodes: path, time }
}

/// A path from a root to a process.
#[derive(Clone, Copy, Default)]
struct Path {
    /// How long at least one of its processes lived.
    covered: Nanos,
    /// Sum of their lifetimes.
    sum: Nanos,
    /// The last end so far.
    until: Option<Timestamp>,
}

impl Path {
    /// With a process that began after all others on it.
    fn and(self, node: &Node) -> Self {
        let Some((start, end)) = node.start.zip(node.end) else { return self };
        let new = end - self.until.map_or(start, |until| until.max(start));
        let add = |sum: Nanos, span: Nanos| Nanos(sum.0.saturating_add(span.0.max(0)));
        Self {
            covered: add(self.covered, new),
            sum: add(self.sum, end - start),
            until: self.until.max(Some(end)),
        }
    }
}
