//! The process tree as a timeline.

use super::{Gantt, GanttRow};
use iotrail_workflow::tree::{NodeId, Tree};

/// The tree as a timeline: parents before their children, siblings in the order of their starts.
#[must_use]
pub fn timeline(tree: &Tree, title: &str) -> Gantt {
    let mut rows: Vec<GanttRow> = Vec::with_capacity(tree.nodes.len());
    let mut stack: Vec<(NodeId, Option<usize>)> = tree.roots.iter().rev().map(|root| (*root, None)).collect();
    while let Some((id, parent)) = stack.pop() {
        let node = tree.node(id);
        let command = node.cmdline.as_deref().map(|line| line.trim_end_matches('\0').replace('\0', " "));
        let index = rows.len();
        rows.push(GanttRow {
            label: node.label.to_string(),
            detail: command.or_else(|| node.exe.as_deref().map(str::to_owned)).unwrap_or_default(),
            group: node.phase.map(|phase| phase as usize),
            start: node.start.map(|time| time.0),
            end: node.end.map(|time| time.0),
            depth: node.depth as usize,
            parent,
            failed: node.failed(),
            count: 1,
        });
        stack.extend(node.children.iter().rev().map(|child| (*child, Some(index))));
    }
    Gantt {
        title: title.to_owned(),
        notes: tree.resolution.note().iter().map(ToString::to_string).collect(),
        groups: tree.phases.iter().map(|phase| phase.to_string()).collect(),
        span: tree.span.map(|(start, end)| (start.0, end.0)),
        rows,
    }
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
    fn a_timeline_has_every_process_below_its_parent() {
        let gantt = timeline(&tree(), "build");
        let rows: Vec<(&str, usize, Option<usize>, bool)> =
            gantt.rows.iter().map(|row| (row.label.as_str(), row.depth, row.parent, row.failed)).collect();
        assert_eq!(
            rows,
            [
                ("make", 0, None, false),
                ("sh", 1, Some(0), false),
                ("cc", 2, Some(1), false),
                ("sh", 1, Some(0), false),
                ("cc", 2, Some(3), true),
                ("sh", 1, Some(0), false),
                ("cc", 2, Some(5), false),
                ("\u{1b}[31mld", 1, Some(0), false),
            ]
        );
        assert_eq!((gantt.rows[0].detail.as_str(), gantt.span), ("make -x", Some((0, 100_000_000))));
    }
}
