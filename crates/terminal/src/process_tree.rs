//! The process tree in a terminal, like `pstree` with lifetime, bytes and exit.
//!
//! Siblings whose subtrees have the same shape are one line with their number, so that a thousand equal jobs are read at
//! a glance; their children are joined in the same way.

use crate::table::{Align, Block, Cell, Style, Table};
use iotrail_model::{Nanos, Resolution, units};
use iotrail_workflow::tree::{Node, NodeId, ShapeId, Tree};
use std::collections::HashMap;

/// Deeper levels are not indented further.
const DEEPEST: usize = 24;
/// How many patterns the summary lists.
const PATTERNS: usize = 8;

/// The tree as text, ending in a line break; with `all`, each process has a line of its own.
#[must_use]
pub fn process_tree(tree: &Tree, all: bool, style: Style) -> String {
    if tree.nodes.is_empty() {
        return "no processes\n".to_owned();
    }
    let mut table = Table::new()
        .names("process")
        .figures("lifetime", Align::Right)
        .optional("CPU", Align::Right)
        .figures("read", Align::Right)
        .figures("written", Align::Right)
        .figures("end", Align::Left);
    let mut stack = level(tree, &tree.roots, all, &Branch::default());
    while let Some((members, branch)) = stack.pop() {
        table.row(cells(tree, &members, &branch));
        let children: Vec<NodeId> =
            members.iter().flat_map(|id| tree.node(*id).children.iter().copied()).collect();
        stack.extend(level(tree, &children, all, &branch));
    }
    format!("{}\n{}", summary(tree).render(style), table.render(style))
}

/// Where a line hangs: for each level above whether another line follows there.
#[derive(Clone, Debug, Default)]
struct Branch {
    follows: Vec<bool>,
    depth: usize,
}

impl Branch {
    fn below(&self, follows: bool) -> Self {
        let mut levels = self.follows.clone();
        if levels.len() < DEEPEST {
            levels.push(follows);
        }
        Self { follows: levels, depth: self.depth + 1 }
    }

    fn prefix(&self) -> String {
        // The roots hang nowhere.
        let levels = self.follows.get(1..).unwrap_or_default();
        let Some((last, above)) = levels.split_last() else { return String::new() };
        let mut prefix: String = above.iter().map(|follows| if *follows { "│  " } else { "   " }).collect();
        prefix.push_str(if *last { "├─ " } else { "└─ " });
        if self.depth > DEEPEST {
            prefix.push_str(&format!("[{}] ", self.depth - 1));
        }
        prefix
    }
}

/// The lines below a line, the last first, as a stack wants them.
fn level(tree: &Tree, nodes: &[NodeId], all: bool, branch: &Branch) -> Vec<(Vec<NodeId>, Branch)> {
    let mut groups: Vec<Vec<NodeId>> = Vec::new();
    let mut known: HashMap<ShapeId, usize> = HashMap::new();
    let mut sorted = nodes.to_vec();
    sorted.sort_by_key(|id| (tree.node(*id).start, *id));
    for id in sorted {
        let index =
            if all { groups.len() } else { *known.entry(tree.node(id).shape).or_insert(groups.len()) };
        match groups.get_mut(index) {
            Some(group) => group.push(id),
            None => groups.push(vec![id]),
        }
    }
    let count = groups.len();
    let lines = groups.into_iter().enumerate();
    lines.map(|(index, group)| (group, branch.below(index + 1 < count))).rev().collect()
}

fn cells(tree: &Tree, members: &[NodeId], branch: &Branch) -> [Cell; 6] {
    let nodes = || members.iter().map(|id| tree.node(*id));
    let label = members.first().map_or("", |id| &tree.node(*id).label);
    let (count, name) = match members {
        [one] => (String::new(), format!("{label} {}", tree.node(*one).pid)),
        many => (format!("{} x ", units::count(many.len() as u64)), label.to_owned()),
    };
    let sum =
        |bytes: fn(&Node) -> u64| units::bytes(nodes().map(bytes).fold(0.0, |sum, bytes| sum + bytes as f64));
    let cpu = nodes().filter_map(|node| node.cpu).reduce(|one, other| Nanos(one.0.saturating_add(other.0)));
    [
        Cell::branch(&branch.prefix(), &count, &name),
        lifetime(nodes(), tree.resolution).into(),
        cpu.map_or_else(unknown, |span| units::duration(span.0 as f64)).into(),
        sum(|node| node.bytes_read).into(),
        sum(|node| node.bytes_written).into(),
        ending(nodes()).into(),
    ]
}

fn unknown() -> String {
    "–".to_owned()
}

/// The lifetime; of several the shortest and the longest.
fn lifetime<'a>(nodes: impl Iterator<Item = &'a Node>, resolution: Resolution) -> String {
    let mut spans: Vec<i64> = nodes.filter_map(|node| Some(node.lifetime(resolution)?.0)).collect();
    spans.sort_unstable();
    let text = |span: &i64| units::duration(*span as f64);
    match (spans.first(), spans.last()) {
        (Some(first), Some(last)) if text(first) != text(last) => format!("{} … {}", text(first), text(last)),
        (Some(only), _) => text(only),
        _ => unknown(),
    }
}

/// How it ended; of several how many ended in which way, the usual one first.
fn ending<'a>(nodes: impl Iterator<Item = &'a Node>) -> String {
    let mut endings: Vec<(String, usize)> = Vec::new();
    for node in nodes {
        let ending = match (&node.signal, node.exit_code, node.end) {
            (Some(signal), ..) => signal.to_string(),
            (None, Some(code), _) => format!("exit {code}"),
            (None, None, _) => "not seen".to_owned(),
        };
        match endings.iter_mut().find(|(known, _)| *known == ending) {
            Some((_, count)) => *count += 1,
            None => endings.push((ending, 1)),
        }
    }
    endings.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    match endings.as_slice() {
        [(only, _)] => only.clone(),
        many => {
            many.iter().map(|(ending, count)| format!("{count} x {ending}")).collect::<Vec<_>>().join(", ")
        }
    }
}

fn summary(tree: &Tree) -> Block {
    let mut block = Block::new();
    let failed = tree.nodes.iter().filter(|node| node.failed()).count();
    let failures =
        if failed > 0 { format!(", {} of them failed", units::count(failed as u64)) } else { String::new() };
    block.entry("processes", format!("{}{failures}", units::count(tree.nodes.len() as u64)));
    let makespan = tree.span.and_then(|(start, end)| tree.resolution.known_span(end - start));
    block.entry("makespan", makespan.map_or_else(unknown, |span| units::duration(span.0 as f64)));
    let labels: Vec<&str> =
        tree.longest.nodes.iter().map(|id| &*tree.node(*id).label).take(DEEPEST).collect();
    if let Some(time) = tree.longest.time.filter(|_| labels.len() > 1) {
        block.entry("longest path", format!("{}: {}", units::duration(time.0 as f64), labels.join(" → ")));
    }
    let patterns = tree.shapes.iter().filter(|shape| shape.count > 1 && shape.size > 1);
    let mut patterns: Vec<_> = patterns.collect();
    patterns.sort_by_key(|shape| std::cmp::Reverse(u64::from(shape.count) * u64::from(shape.size)));
    for (index, shape) in patterns.iter().take(PATTERNS).enumerate() {
        block.entry(if index == 0 { "patterns" } else { "" }, format!("{} x {}", shape.count, shape.name));
    }
    if let Some(note) = tree.resolution.note() {
        block.entry("note", note.to_string());
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{Pid, Process, Timestamp};
    use iotrail_query::{ProcessGroups, ProcessTable};

    fn process(pid: u32, ppid: u32, exe: &str, from: i64, to: i64, exit: i32) -> Process {
        Process {
            pid: Pid(pid),
            ppid: Some(Pid(ppid)),
            exe: Some(format!("/usr/bin/{exe}")),
            cmdline: Some(format!("{exe}\0-x\0")),
            start: Some(Timestamp(from * 1_000_000)),
            end: Some(Timestamp(to * 1_000_000)),
            exit_code: Some(exit),
            bytes_read: 1000,
            bytes_written: i64::from(pid),
            ..Process::default()
        }
    }

    fn tree() -> Tree {
        let mut images = vec![process(1, 0, "make", 0, 100, 0)];
        for pid in [10, 20, 30] {
            images.push(process(pid, 1, "sh", i64::from(pid), i64::from(pid) + 9, 0));
            images.push(process(
                pid + 1,
                pid,
                "cc",
                i64::from(pid) + 1,
                i64::from(pid) + 8,
                i32::from(pid == 20),
            ));
        }
        images.push(process(40, 1, "\u{1b}[31mld", 50, 90, 0));
        iotrail_workflow::tree::tree(&ProcessTable::new(images), &ProcessGroups::default(), &[])
    }

    #[test]
    fn equal_subtrees_are_one_line() {
        insta::assert_snapshot!(process_tree(&tree(), false, Style::default()));
    }

    #[test]
    fn the_number_of_equal_processes_is_never_cut() {
        let images = (0..3).map(|pid| process(pid, 9, "a-program-with-a-long-name", 0, 1, 7)).collect();
        let tree = iotrail_workflow::tree::tree(&ProcessTable::new(images), &ProcessGroups::default(), &[]);
        for width in 20..90 {
            let text = process_tree(&tree, false, Style { width, ..Style::default() });
            assert!(text.lines().any(|line| line.starts_with("3 x ")), "{width}\n{text}");
        }
    }

    #[test]
    fn with_all_each_process_has_its_line() {
        insta::assert_snapshot!(process_tree(&tree(), true, Style::default()));
    }
}
