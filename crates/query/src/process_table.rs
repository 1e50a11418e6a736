//! Processes from birth to death: the images that one process executed, one after the other, are one process.
//!
//! The table `processes` has a row for each executable image; ParaTrac's process (Dun et al., "ParaTrac", section 5.2) is
//! what was forked, whatever it executed later. Numbers of processes are used again, so a process is found by case, number
//! and time.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Nanos, Pid, Process, Timestamp};
use iotrail_trail::{EventLog, TrailError};
use std::ops::Range;

/// A process from birth to death: an index into [`ProcessTable::all`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[repr(transparent)]
pub struct ProcessId(pub u32);

impl ProcessId {
    /// The id as an index.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A process from birth to death.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessEntry {
    /// The recorded case.
    pub case: CaseId,
    /// Process id; the kernel may use it again for another process.
    pub pid: Pid,
    /// The process that made it, if that was recorded.
    pub parent: Option<ProcessId>,
    /// Its images, in the order of their starts: indices into [`ProcessTable::images`].
    pub images: Range<usize>,
    /// First sign of life.
    pub start: Option<Timestamp>,
    /// Exit or death; NULL if the end was never seen.
    pub end: Option<Timestamp>,
}

impl ProcessEntry {
    /// From birth to death, if both were seen.
    #[must_use]
    pub fn span(&self) -> Option<Nanos> {
        Some(self.end? - self.start?)
    }
}

/// All processes of an event log, sorted by case, start and number.
#[derive(Clone, Debug, Default)]
pub struct ProcessTable {
    images: Vec<Process>,
    processes: Vec<ProcessEntry>,
    of_process: HashMap<(CaseId, Pid), Vec<ProcessId>, RandomState>,
    /// The space of each case in which a process has one number; none if each case has its own.
    spaces: Vec<u32>,
    of_space: HashMap<(u32, Pid), Vec<ProcessId>, RandomState>,
}

impl ProcessTable {
    /// The processes that the rows of the table `processes` tell of, in any order.
    #[must_use]
    pub fn new(images: Vec<Process>) -> Self {
        Self::in_spaces(images, Vec::new())
    }

    /// The processes of a log. A trace that was written with a file for each thread has a case for each file: threads and children
    /// are found in the other cases of one command and host, where their own case does not know them.
    ///
    /// # Errors
    /// If a table `processes` cannot be read.
    pub fn of_log(log: &EventLog) -> Result<Self, TrailError> {
        let mut numbers: HashMap<(Option<&str>, Option<&str>), u32, RandomState> = HashMap::default();
        let names = log.cases().iter().map(|case| (case.name.cid.as_deref(), case.name.host.as_deref()));
        let spaces = names.map(|name| {
            let next = numbers.len() as u32;
            *numbers.entry(name).or_insert(next)
        });
        let spaces = spaces.collect();
        Ok(Self::in_spaces(log.processes()?, spaces))
    }

    fn in_spaces(mut images: Vec<Process>, spaces: Vec<u32>) -> Self {
        images.sort_by_key(|image| (image.case, image.pid, image.start));
        let mut chains: Vec<Range<usize>> = Vec::new();
        for at in 0..images.len() {
            match chains.last_mut() {
                Some(chain) if goes_on(&images[at - 1], &images[at]) => chain.end = at + 1,
                _ => chains.push(at..at + 1),
            }
        }
        let mut processes: Vec<ProcessEntry> =
            chains.into_iter().map(|chain| process(&images, chain)).collect();
        processes.sort_by_key(|process| (process.case, process.start, process.pid));
        let mut of_process: HashMap<_, Vec<ProcessId>, RandomState> = HashMap::default();
        for (index, process) in processes.iter().enumerate() {
            of_process.entry((process.case, process.pid)).or_default().push(ProcessId(index as u32));
        }
        let mut of_space: HashMap<_, Vec<ProcessId>, RandomState> = HashMap::default();
        for (index, process) in processes.iter().enumerate() {
            if let Some(space) = spaces.get(process.case.index()) {
                of_space.entry((*space, process.pid)).or_default().push(ProcessId(index as u32));
            }
        }
        of_space.values_mut().for_each(|ids| ids.sort_by_key(|id| processes[id.index()].start));
        let mut processes = Self { images, processes, of_process, spaces, of_space };
        for index in 0..processes.processes.len() {
            processes.processes[index].parent = processes.parent(ProcessId(index as u32));
        }
        processes
    }

    /// All of them, by [`ProcessId`].
    #[must_use]
    pub fn all(&self) -> &[ProcessEntry] {
        &self.processes
    }

    /// The process of that id.
    #[must_use]
    pub fn get(&self, id: ProcessId) -> &ProcessEntry {
        &self.processes[id.index()]
    }

    /// The images of a process, in the order of their starts; never empty.
    #[must_use]
    pub fn images(&self, id: ProcessId) -> &[Process] {
        &self.images[self.get(id).images.clone()]
    }

    /// Working directory of the first process: where the recording began.
    #[must_use]
    pub fn first_directory(&self) -> Option<&str> {
        self.images.get(self.processes.first()?.images.start)?.cwd.as_deref()
    }

    /// The image that a process ended with: what it is known as.
    #[must_use]
    pub fn last_image(&self, id: ProcessId) -> &Process {
        &self.images[self.get(id).images.end - 1]
    }

    /// The process of that number at that time; before the first of that number it is the first. If the case knows none, one
    /// that lived then in another case of its space.
    #[must_use]
    pub fn find(&self, case: CaseId, pid: Pid, at: Timestamp) -> Option<ProcessId> {
        match self.of_process.get(&(case, pid)) {
            Some(processes) => Some(processes[self.begun(processes, at).saturating_sub(1)]),
            None => self.find_in_space(case, pid, at),
        }
    }

    /// Whether a process of that number, made by `parent`, had ended at that time.
    #[must_use]
    pub fn child_ended_before(&self, parent: ProcessId, pid: Pid, at: Timestamp) -> bool {
        let case = self.get(parent).case;
        let child = self.find(case, pid, at).or_else(|| self.latest_in_space(case, pid, at));
        child
            .map(|child| self.get(child))
            .is_some_and(|child| child.parent == Some(parent) && child.end.is_some_and(|end| end <= at))
    }

    fn find_in_space(&self, case: CaseId, pid: Pid, at: Timestamp) -> Option<ProcessId> {
        let found = self.latest_in_space(case, pid, at)?;
        self.get(found).end.is_none_or(|end| end >= at).then_some(found)
    }

    /// The last process of that number in the space of the case that had begun.
    fn latest_in_space(&self, case: CaseId, pid: Pid, at: Timestamp) -> Option<ProcessId> {
        let processes = self.of_space.get(&(*self.spaces.get(case.index())?, pid))?;
        Some(processes[self.begun(processes, at).checked_sub(1)?])
    }

    /// How many of these had begun.
    fn begun(&self, processes: &[ProcessId], at: Timestamp) -> usize {
        processes.partition_point(|id| self.get(*id).start.is_none_or(|start| start <= at))
    }

    /// The parent, which began before its child; a process that is its own ancestor by a wrong table has none.
    fn parent(&self, id: ProcessId) -> Option<ProcessId> {
        let process = self.get(id);
        let ppid = self.images(id).first()?.ppid?;
        let start = process.start.unwrap_or(Timestamp(i64::MAX));
        // A file of its own tells of a process from its first call on; who made it may have ended by then, as daemons do.
        let parent = self
            .find(process.case, ppid, start)
            .or_else(|| self.latest_in_space(process.case, ppid, start))?;
        let earlier =
            |one: ProcessId, other: ProcessId| (self.get(one).start, one) < (self.get(other).start, other);
        earlier(parent, id).then_some(parent)
    }
}

/// Whether `next` is the image that `image` was replaced by: a row that ended with neither status nor signal ended with an exec.
fn goes_on(image: &Process, next: &Process) -> bool {
    (image.case, image.pid) == (next.case, next.pid) && image.is_replaced()
}

fn process(images: &[Process], chain: Range<usize>) -> ProcessEntry {
    let (first, last) = (&images[chain.start], &images[chain.end - 1]);
    ProcessEntry {
        case: first.case,
        pid: first.pid,
        parent: None,
        start: first.start,
        end: last.end.filter(|_| last.exit_code.is_some() || last.signal.is_some()),
        images: chain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(pid: u32, ppid: u32, from: i64, to: Option<i64>, exit: Option<i32>) -> Process {
        Process {
            pid: Pid(pid),
            ppid: Some(Pid(ppid)),
            start: Some(Timestamp(from)),
            end: to.map(Timestamp),
            exit_code: exit,
            ..Process::default()
        }
    }

    #[test]
    fn an_exec_goes_on_and_a_number_used_again_is_another_process() {
        let processes = ProcessTable::new(vec![
            image(7, 1, 10, Some(20), None),
            image(7, 1, 20, Some(30), Some(0)),
            image(7, 1, 40, None, None),
            image(1, 0, 0, None, None),
            image(8, 7, 25, Some(50), Some(1)),
        ]);
        let seen: Vec<_> = processes
            .all()
            .iter()
            .map(|process| (process.pid.0, process.parent, process.images.len()))
            .collect();
        let (one, seven) = (ProcessId(0), ProcessId(1));
        assert_eq!(seen, [(1, None, 1), (7, Some(one), 2), (8, Some(seven), 1), (7, Some(one), 1)]);
        assert_eq!(processes.get(seven).span(), Some(Nanos(20)));
        assert_eq!(processes.get(one).span(), None);
        let find = |at| processes.find(CaseId(0), Pid(7), Timestamp(at));
        assert_eq!([find(5), find(39), find(40)], [Some(seven), Some(seven), Some(ProcessId(3))]);
        assert_eq!(processes.find(CaseId(1), Pid(7), Timestamp(0)), None);
    }

    #[test]
    fn what_a_case_does_not_know_is_found_in_another_one_of_its_space() {
        let in_case = |case: u32, image: Process| Process { case: CaseId(case), ..image };
        let images = vec![
            in_case(0, image(1, 0, 0, Some(100), Some(0))),
            in_case(1, image(7, 1, 10, Some(20), Some(0))),
            in_case(2, image(8, 7, 30, Some(40), Some(0))),
        ];
        let apart = ProcessTable::new(images.clone());
        assert!(apart.all().iter().all(|process| process.parent.is_none()));
        let processes = ProcessTable::in_spaces(images, vec![0, 0, 0]);
        let parents: Vec<_> = processes.all().iter().map(|process| process.parent).collect();
        assert_eq!(
            parents,
            [None, Some(ProcessId(0)), Some(ProcessId(1))],
            "process 7 had ended before the first call of 8"
        );
        let find = |case, pid, at| processes.find(CaseId(case), Pid(pid), Timestamp(at));
        assert_eq!([find(2, 7, 15), find(2, 7, 25), find(2, 7, 5)], [Some(ProcessId(1)), None, None]);
    }

    #[test]
    fn nobody_is_born_before_its_parent() {
        let processes = ProcessTable::new(vec![image(1, 2, 5, None, None), image(2, 1, 5, None, None)]);
        let parents: Vec<_> = processes.all().iter().map(|process| process.parent).collect();
        assert_eq!(parents, [None, Some(ProcessId(0))]);
    }
}
