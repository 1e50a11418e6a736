//! From lives to the process tree.

use super::shape::shapes;
use super::{LongestPath, Node, NodeId, Tree};
use crate::build::labels::Texts;
use iotrail_model::{Case, Nanos};
use iotrail_query::process_group::executable;
use iotrail_query::{LifeId, Lives, ProcessGroups};
use std::sync::Arc;

/// The process tree of `lives`, whose cases are `cases`.
#[must_use]
pub fn tree(lives: &Lives, groups: &ProcessGroups, cases: &[Case]) -> Tree {
    let mut texts = Texts::default();
    let names: Vec<Arc<str>> = cases.iter().map(|case| texts.share(&case.name.to_string())).collect();
    let node = |index| {
        let life = LifeId(index as u32);
        let case = lives.get(life).case.index();
        let name = names.get(case).cloned().unwrap_or_default();
        let host = cases.get(case).and_then(|case| case.name.host.as_deref()).map(|host| texts.share(host));
        Node { case: name, host, ..process(lives, groups, life, &mut texts) }
    };
    let mut nodes: Vec<Node> = (0..lives.all().len()).map(node).collect();
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
    let starts = nodes.iter().filter_map(|node| node.start.or(node.end)).min();
    let ends = nodes.iter().filter_map(|node| node.end.or(node.start)).max();
    Tree {
        longest: longest(&nodes),
        roots,
        shapes,
        phases: groups.names.iter().map(|name| Arc::from(name.as_str())).collect(),
        span: starts.zip(ends),
        nodes,
    }
}

fn process(lives: &Lives, groups: &ProcessGroups, life: LifeId, texts: &mut Texts) -> Node {
    let (whole, image, images) = (lives.get(life), lives.last_image(life), lives.images(life));
    let mut text = |text: Option<&str>| text.map(|text| texts.share(text));
    let sum = |bytes: fn(&iotrail_model::Process) -> i64| {
        images.iter().fold(0_u64, |sum, image| sum.saturating_add(u64::try_from(bytes(image)).unwrap_or(0)))
    };
    Node {
        life,
        pid: whole.pid.0,
        ppid: images.first().and_then(|image| image.ppid).map(|pid| pid.0),
        parent: whole.parent.map(|parent| NodeId(parent.0)),
        label: text(executable(image)).unwrap_or_else(|| Arc::from(whole.pid.to_string())),
        exe: text(image.exe.as_deref()),
        cmdline: text(image.cmdline.as_deref()),
        phase: groups.of(life).map(|group| group.0),
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

/// The path from a root with the largest sum of life times; of equal ones that of the first processes.
fn longest(nodes: &[Node]) -> LongestPath {
    // Of each process the sum with its own life, once all below it are done.
    let mut below: Vec<(Nanos, Option<NodeId>)> = vec![(Nanos(0), None); nodes.len()];
    for index in (0..nodes.len()).rev() {
        let own = nodes[index].life_time().map_or(0, |span| span.0.max(0));
        let time = Nanos(below[index].0.0.saturating_add(own));
        below[index].0 = time;
        if let Some(parent) = nodes[index].parent {
            let known = &mut below[parent.index()];
            if time >= known.0 {
                *known = (time, Some(NodeId(index as u32)));
            }
        }
    }
    let roots = (0..nodes.len()).filter(|index| nodes[*index].parent.is_none());
    let Some(root) = roots.rev().max_by_key(|index| below[*index].0) else { return LongestPath::default() };
    let mut path = vec![NodeId(root as u32)];
    let mut next = below[root].1;
    while let Some(node) = next {
        path.push(node);
        next = below[node.index()].1;
    }
    LongestPath { nodes: path, time: below[root].0 }
}
