//! Table 2, the I/O summary by phase (Dun et al., Table 5): what each group of processes moved, and between how many files.
//!
//! Sums and sets of (group, file) with what happened between them; partial results merge in any order. The row of all
//! groups is made of the same sets, as groups share files.

use crate::call::Call;
use crate::result::Modes;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::FileId;
use iotrail_model::calls::Class;
use iotrail_query::ProcessId;

/// What happened to a file, or what a process did: neither, either, or both of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) read: bool,
    pub(crate) written: bool,
}

/// Calls and bytes of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) calls: u64,
    pub(crate) bytes_read: u64,
    pub(crate) bytes_written: u64,
    pub(crate) other_read: u64,
    pub(crate) other_written: u64,
    pub(crate) mappings: u64,
    /// Calls that have a duration, and the sum of their durations.
    pub(crate) timed: u64,
    pub(crate) call_ns: u64,
    /// The part of it that is I/O time, and that is waiting.
    pub(crate) io_ns: u64,
    pub(crate) wait_ns: u64,
    /// The sum of the durations of requests.
    pub(crate) request_ns: u64,
}

/// The I/O summary of some rows of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// By slot.
    sums: Vec<Sums>,
    /// By slot and file.
    files: HashMap<(u32, FileId), Use, RandomState>,
    /// The processes with selected calls.
    processes: HashMap<ProcessId, Use, RandomState>,
    /// Bytes that each process read from files.
    from_files: HashMap<ProcessId, u64, RandomState>,
}

impl Use {
    fn add(&mut self, other: Self) {
        self.read |= other.read;
        self.written |= other.written;
    }
}

impl Modes {
    pub(crate) fn count(&mut self, usage: Use) {
        match (usage.read, usage.written) {
            (true, false) => self.ro += 1,
            (false, true) => self.wo += 1,
            (true, true) => self.rw += 1,
            (false, false) => self.none += 1,
        }
    }
}

impl Summary {
    /// Adds a selected call.
    pub(crate) fn add(&mut self, call: &Call) {
        self.sum(call);
        let mut usages = Use::default();
        if !call.failed() {
            let (source, target) =
                (call.moved.is_some_and(|moved| moved.read), call.moved.is_some_and(|moved| moved.written));
            let uses = [
                (call.file, Use { read: source, written: target && !call.is_copy() }),
                (call.second, Use { read: false, written: call.is_copy() }),
            ];
            for (file, usage) in uses {
                let Some(file) = file else { continue };
                self.files.entry((call.slot as u32, file)).or_default().add(usage);
                usages.add(usage);
            }
        }
        if let Some(process) = call.process {
            self.processes.entry(process).or_default().add(usages);
            if let Some(moved) = call.moved.filter(|moved| moved.read && call.source().is_some()) {
                let read = self.from_files.entry(process).or_default();
                *read = read.saturating_add(moved.bytes);
            }
        }
    }

    fn sum(&mut self, call: &Call) {
        if call.slot >= self.sums.len() {
            self.sums.resize(call.slot + 1, Sums::default());
        }
        let mut one = Sums { calls: 1, ..Sums::default() };
        let dur = call.event.dur.get().and_then(|dur| u64::try_from(dur.0).ok());
        one.timed = u64::from(dur.is_some());
        let nanos = dur.unwrap_or_default();
        (one.call_ns, one.request_ns) = if call.is_request { (0, nanos) } else { (nanos, 0) };
        one.io_ns = if call.class.is_some_and(Class::is_io) { one.call_ns } else { 0 };
        one.wait_ns = if call.class.is_some_and(Class::is_wait) { one.call_ns } else { 0 };
        one.mappings = u64::from(call.kind.maps && call.file.is_some() && !call.failed());
        if let Some(moved) = call.moved {
            let if_not = |file: bool| if file { 0 } else { moved.bytes };
            if moved.read {
                (one.bytes_read, one.other_read) = (moved.bytes, if_not(call.source().is_some()));
            }
            if moved.written {
                (one.bytes_written, one.other_written) = (moved.bytes, if_not(call.target().is_some()));
            }
        }
        self.sums[call.slot].add(&one);
    }

    /// Adds other rows of the same log.
    pub(crate) fn merge(&mut self, other: Self) {
        if other.sums.len() > self.sums.len() {
            self.sums.resize(other.sums.len(), Sums::default());
        }
        for (mine, theirs) in self.sums.iter_mut().zip(&other.sums) {
            mine.add(theirs);
        }
        for (file, usage) in other.files {
            self.files.entry(file).or_default().add(usage);
        }
        for (process, usage) in other.processes {
            self.processes.entry(process).or_default().add(usage);
        }
        for (process, bytes) in other.from_files {
            let read = self.from_files.entry(process).or_default();
            *read = read.saturating_add(bytes);
        }
    }

    /// The sums of a group.
    pub(crate) fn sums(&self, slot: usize) -> Sums {
        self.sums.get(slot).copied().unwrap_or_default()
    }

    /// The sums of all groups.
    pub(crate) fn total(&self) -> Sums {
        let mut total = Sums::default();
        self.sums.iter().for_each(|sums| total.add(sums));
        total
    }

    /// What a process did; NULL if it made no selected call.
    pub(crate) fn process(&self, process: ProcessId) -> Option<Use> {
        self.processes.get(&process).copied()
    }

    /// How many bytes a process read from files.
    pub(crate) fn read_of_files(&self, process: ProcessId) -> u64 {
        self.from_files.get(&process).copied().unwrap_or_default()
    }

    /// The files of each of `slots` groups, and those of all together.
    pub(crate) fn files(&self, slots: usize) -> (Vec<Modes>, Modes) {
        let mut modes = vec![Modes::default(); slots];
        let mut together: HashMap<FileId, Use, RandomState> = HashMap::default();
        for (&(slot, file), &usage) in &self.files {
            if let Some(modes) = modes.get_mut(slot as usize) {
                modes.count(usage);
            }
            together.entry(file).or_default().add(usage);
        }
        let mut total = Modes::default();
        together.into_values().for_each(|usage| total.count(usage));
        (modes, total)
    }
}

impl Sums {
    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.calls, other.calls),
            (&mut self.bytes_read, other.bytes_read),
            (&mut self.bytes_written, other.bytes_written),
            (&mut self.other_read, other.other_read),
            (&mut self.other_written, other.other_written),
            (&mut self.mappings, other.mappings),
            (&mut self.timed, other.timed),
            (&mut self.call_ns, other.call_ns),
            (&mut self.io_ns, other.io_ns),
            (&mut self.wait_ns, other.wait_ns),
            (&mut self.request_ns, other.request_ns),
        ] {
            *mine = mine.saturating_add(theirs);
        }
    }
}
