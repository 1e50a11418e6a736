//! Processes over time, in the order of the tree: a process, then its children by their starts.

use crate::data::NameId;
use crate::name_table::NameTable;
use iotrail_model::{Case, CaseId, Process, Timestamp};
use iotrail_query::process_group::{command_line, executable};
use iotrail_query::{ProcessEntry, ProcessId, ProcessTable};
use serde::{Serialize, Serializer};
use std::cmp::Reverse;

/// Longest command line in characters.
const LONGEST_COMMAND: usize = 240;

/// Processes over time, as the page draws them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageProcesses {
    /// Those with the longest lifetimes and their ancestors.
    pub list: Vec<PageProcess>,
    /// How many more there are.
    pub more: u64,
    /// The last sign of life of any: where bars without a known end stop.
    pub end: i64,
}

/// A process as a list: place of the parent in the list or -1, group or -1, number, name, command line, start, end, CPU time, bytes
/// read, bytes written, exit status, signal, executables, children that are not in the page, case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageProcess {
    /// Place of its parent in the list.
    pub parent: Option<u32>,
    /// Number of its group.
    pub group: Option<u32>,
    /// Process id.
    pub pid: u32,
    /// Base name of its last executable.
    pub name: NameId,
    /// Its last command line.
    pub command: Option<NameId>,
    /// First sign of life, after the origin.
    pub start: Option<i64>,
    /// Exit or death; NULL if never seen.
    pub end: Option<i64>,
    /// User and system time.
    pub cpu: Option<i64>,
    /// Bytes read by calls of the lowest layer.
    pub read: i64,
    /// Bytes written by calls of the lowest layer.
    pub written: i64,
    /// Exit status.
    pub exit: Option<i32>,
    /// Signal that killed it.
    pub signal: Option<NameId>,
    /// How many executables it executed.
    pub images: usize,
    /// How many of its children are not in the page.
    pub hidden: u32,
    /// The recorded case.
    pub case: NameId,
}

impl Serialize for PageProcess {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = |value: Option<u32>| value.map_or(-1, i64::from);
        let born = (number(self.parent), number(self.group), self.pid, self.name, self.command);
        let lived = (self.start, self.end, self.cpu, self.read, self.written);
        let ended = (self.exit, self.signal, self.images, self.hidden, self.case);
        let ((a, b, c, d, e), (f, g, h, i, j), (k, l, m, n, o)) = (born, lived, ended);
        (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o).serialize(serializer)
    }
}

/// The processes of a page, and where each process is in the list.
pub(crate) struct Chosen {
    pub(crate) page: PageProcesses,
    pub(crate) positions: Vec<Option<u32>>,
}

/// At most `limit` processes with their ancestors; nothing if the log tells of none.
pub(crate) fn processes(
    (processes, cases): (&ProcessTable, &[Case]),
    group_of: &dyn Fn(ProcessId) -> Option<u32>,
    origin: Timestamp,
    limit: usize,
    names: &mut NameTable,
) -> Option<Chosen> {
    let all = processes.all();
    let case_of =
        |case: CaseId| cases.get(case.index()).map_or_else(String::new, |case| case.name.to_string());
    let is_timed = |process: &ProcessEntry| cases.get(process.case.index()).is_none_or(Case::has_times);
    let end = all.iter().filter(|process| is_timed(process));
    let end = end.flat_map(|process| [process.start, process.end]).flatten().max()?;
    let kept = kept(all, end, limit);
    let mut chosen = Chosen {
        page: PageProcesses { end: (end - origin).0, ..PageProcesses::default() },
        positions: vec![None; all.len()],
    };
    for id in in_tree_order(all, &kept) {
        chosen.positions[id.index()] = Some(chosen.page.list.len() as u32);
        let parent = all[id.index()].parent.and_then(|parent| chosen.positions[parent.index()]);
        let case = names.id(&case_of(all[id.index()].case));
        let mut row =
            PageProcess { parent, group: group_of(id), case, ..process(processes, id, origin, names) };
        if !is_timed(&all[id.index()]) {
            (row.start, row.end) = (None, None);
        }
        chosen.page.list.push(row);
    }
    for (process, _) in all.iter().zip(&kept).filter(|(_, kept)| !**kept) {
        chosen.page.more += 1;
        if let Some(parent) = process.parent.and_then(|parent| chosen.positions[parent.index()]) {
            chosen.page.list[parent as usize].hidden += 1;
        }
    }
    Some(chosen)
}

/// Whether each is in the page: the longest lifetimes first, each with its ancestors.
fn kept(all: &[ProcessEntry], end: Timestamp, limit: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    let length =
        |process: &ProcessEntry| process.start.map_or(-1, |start| (process.end.unwrap_or(end) - start).0);
    if all.len() > limit {
        order.sort_by_key(|at| Reverse(length(&all[*at])));
    }
    let mut chosen = Kept::new(all, limit);
    order.into_iter().for_each(|at| chosen.take(at));
    chosen.kept
}

/// Takes processes with their ancestors as long as there is room.
struct Kept<'a> {
    all: &'a [ProcessEntry],
    kept: Vec<bool>,
    room: usize,
    /// How many processes there would be to take with one, itself included, when there was so much room: chains of processes are
    /// walked once.
    missing: Vec<Option<(usize, usize)>>,
}

impl<'a> Kept<'a> {
    fn new(all: &'a [ProcessEntry], room: usize) -> Self {
        Self { all, kept: vec![false; all.len()], room, missing: vec![None; all.len()] }
    }

    fn take(&mut self, at: usize) {
        let mut line = Vec::new();
        let mut next = Some(at);
        let mut above = 0;
        while let Some(here) = next.filter(|here| !self.kept[*here]) {
            if let Some((missing, room)) = self.missing[here] {
                // What was too far once stays so: what is taken of the way to it is room that is gone.
                if missing > room || room == self.room {
                    above = missing;
                    break;
                }
            }
            line.push(here);
            next = self.all[here].parent.map(ProcessId::index);
        }
        if above + line.len() <= self.room {
            self.take_line(at);
            return;
        }
        for (index, here) in line.iter().rev().enumerate() {
            self.missing[*here] = Some((above + index + 1, self.room));
        }
    }

    fn take_line(&mut self, at: usize) {
        let mut next = Some(at);
        while let Some(here) = next.filter(|here| !self.kept[*here]) {
            self.kept[here] = true;
            self.room -= 1;
            next = self.all[here].parent.map(ProcessId::index);
        }
    }
}

/// The kept ones, each followed by what descends from it.
fn in_tree_order(all: &[ProcessEntry], kept: &[bool]) -> Vec<ProcessId> {
    let mut children: Vec<Vec<ProcessId>> = vec![Vec::new(); all.len()];
    let mut roots = Vec::new();
    for (index, process) in all.iter().enumerate().filter(|(index, _)| kept[*index]) {
        match process.parent {
            Some(parent) => children[parent.index()].push(ProcessId(index as u32)),
            None => roots.push(ProcessId(index as u32)),
        }
    }
    let mut order = Vec::with_capacity(all.len());
    let mut stack: Vec<ProcessId> = roots.into_iter().rev().collect();
    while let Some(id) = stack.pop() {
        order.push(id);
        stack.extend(children[id.index()].iter().rev());
    }
    order
}

fn process(processes: &ProcessTable, id: ProcessId, origin: Timestamp, names: &mut NameTable) -> PageProcess {
    let (process, images, last) = (processes.get(id), processes.images(id), processes.last_image(id));
    let line = command_line(last).filter(|line| !line.is_empty());
    let name = executable(last).map_or_else(|| format!("process {}", process.pid.0), str::to_owned);
    let bytes = |of: fn(&Process) -> i64| {
        images.iter().map(of).fold(0_i64, |sum, value| sum.saturating_add(value.max(0)))
    };
    let cpu = images.iter().filter_map(cpu).reduce(i64::saturating_add);
    PageProcess {
        pid: process.pid.0,
        name: names.id(&name),
        command: line.map(|line| names.id(&iotrail_model::text::shorten(&line, LONGEST_COMMAND))),
        start: process.start.map(|start| (start - origin).0),
        end: process.end.map(|end| (end - origin).0),
        cpu,
        read: bytes(|image| image.bytes_read),
        written: bytes(|image| image.bytes_written),
        exit: last.exit_code,
        signal: last.signal.as_ref().map(|signal| names.id(signal)),
        images: images.len(),
        ..PageProcess::default()
    }
}

fn cpu(image: &Process) -> Option<i64> {
    Some(image.usage.user?.0.saturating_add(image.usage.system?.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{Nanos, Pid};

    fn image(pid: u32, ppid: u32, from: i64, to: Option<i64>) -> Process {
        let mut image = Process {
            pid: Pid(pid),
            ppid: Some(Pid(ppid)),
            start: Some(Timestamp(from)),
            end: to.map(Timestamp),
            exit_code: to.map(|_| 0),
            exe: Some(format!("/bin/p{pid}")),
            cmdline: Some(format!("p{pid}\0-x\0")),
            bytes_read: 5,
            ..Process::default()
        };
        (image.usage.user, image.usage.system) = (Some(Nanos(2)), Some(Nanos(1)));
        image
    }

    fn tree() -> ProcessTable {
        ProcessTable::new(vec![
            image(1, 0, 100, Some(900)),
            image(2, 1, 110, Some(120)),
            image(3, 1, 115, None),
            image(4, 2, 116, Some(119)),
            image(5, 3, 200, Some(880)),
        ])
    }

    #[test]
    fn children_follow_their_parents_and_what_is_unknown_is_null() {
        let mut names = NameTable::default();
        let group = |id: ProcessId| (id.0 != 0).then_some(id.0 % 2);
        let chosen = processes((&tree(), &[]), &group, Timestamp(100), 10, &mut names).unwrap();
        let rows: Vec<String> =
            chosen.page.list.iter().map(|row| serde_json::to_string(row).unwrap()).collect();
        assert_eq!(
            rows,
            [
                "[-1,-1,1,1,2,0,800,3,5,0,0,null,1,0,0]",
                "[0,1,2,3,4,10,20,3,5,0,0,null,1,0,0]",
                "[1,1,4,5,6,16,19,3,5,0,0,null,1,0,0]",
                "[0,0,3,7,8,15,null,3,5,0,null,null,1,0,0]",
                "[3,0,5,9,10,100,780,3,5,0,0,null,1,0,0]",
            ]
        );
        assert_eq!((chosen.page.more, chosen.page.end), (0, 800));
        assert_eq!(names.into_names()[1..3], ["p1", "p1 -x"]);
    }

    #[test]
    fn the_longest_lives_stay_with_their_ancestors_and_the_rest_is_counted() {
        let chosen =
            processes((&tree(), &[]), &|_| None, Timestamp(0), 3, &mut NameTable::default()).unwrap();
        let pids: Vec<(u32, u32)> = chosen.page.list.iter().map(|row| (row.pid, row.hidden)).collect();
        assert_eq!((pids, chosen.page.more), (vec![(1, 1), (3, 0), (5, 0)], 2));
    }

    /// 200,000 processes, each the child of the one before, or all of one; the last ones live longest.
    fn many(parent: impl Fn(u32) -> u32) -> ProcessTable {
        ProcessTable::new(
            (1..=200_000)
                .map(|pid| image(pid, parent(pid), i64::from(pid), Some(1_000_000 + 2 * i64::from(pid))))
                .collect(),
        )
    }

    #[test]
    fn chains_of_any_depth_are_walked_once() {
        let chain = many(|pid| pid - 1);
        let kept = kept(chain.all(), Timestamp(0), 5_000);
        assert!(kept.iter().filter(|kept| **kept).count() <= 5_000);
        assert_eq!(kept.iter().position(|kept| !kept), Some(5_000));
        let fan = many(|pid| if pid <= 6_000 { pid - 1 } else { 6_000 });
        assert!(super::kept(fan.all(), Timestamp(0), 5_000)[4_999]);
    }

    #[test]
    fn a_log_without_processes_has_no_list() {
        assert!(
            processes((&ProcessTable::default(), &[]), &|_| None, Timestamp(0), 3, &mut NameTable::default())
                .is_none()
        );
    }
}
