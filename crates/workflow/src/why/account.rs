//! Divides the time of a path among calls and what lies between them.
//!
//! Each thread's own time on the path is swept once, from the left: of calls that overlap (rounded clocks) the later one begins
//! where it says and cuts the earlier one; what no call covers is computing. So nothing is counted twice and nothing is lost,
//! whatever the log says.

use super::amounts::Amounts;
use super::path::{Leg, What};
use crate::waits::{Ended, LineId, Waits};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{CallId, Nullable, PathId, Process};
use iotrail_query::{ProcessId, ProcessTable};

/// What a piece of time was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Use {
    /// A call of a class, or of none.
    Call(Kind),
    /// Between calls.
    Compute,
    /// From what ended a wait to its end.
    HandOver(EndedBy),
    /// Before the first call.
    Start,
    /// What the recorder added.
    Tracing,
}

/// A class of calls, as the walk tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Data,
    Sync,
    Metadata,
    Memory,
    Process,
    Sleep,
    Transfer,
    Waiting,
    /// Within a call that begins or ends MPI.
    Mpi,
    Other,
}

/// How a wait ended, in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EndedBy(pub(super) u8);

impl EndedBy {
    const ALL: [Ended; 12] = [
        Ended::Child,
        Ended::Executed,
        Ended::Data,
        Ended::EndOfData,
        Ended::Room,
        Ended::Unlocked,
        Ended::OtherEnd,
        Ended::Connected,
        Ended::Woken,
        Ended::Called,
        Ended::Made,
        Ended::Killed,
    ];

    fn of(ended: Ended) -> Self {
        Self(Self::ALL.iter().position(|other| *other == ended).unwrap_or_default() as u8)
    }

    pub(super) fn ended(self) -> Ended {
        Self::ALL[usize::from(self.0)]
    }
}

/// Whose time it is and what for. The image is a place in [`Images`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) used: Use,
    pub(super) line: LineId,
    pub(super) image: u32,
    pub(super) call: Option<CallId>,
    pub(super) path: Option<PathId>,
}

/// Time and number of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) time: i64,
    pub(super) calls: u64,
}

impl Amount {
    pub(super) fn add(&mut self, other: Self) {
        self.time += other.time;
        self.calls += other.calls;
    }
}

/// A call that touches the path.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub(super) line: LineId,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) kind: Kind,
    pub(super) call: CallId,
    pub(super) path: Nullable<PathId>,
}

/// The executable images of all processes: where those of each process begin.
#[derive(Debug)]
pub(super) struct Images<'a> {
    processes: &'a ProcessTable,
    first: Vec<u32>,
    all: Vec<(&'a Process, ProcessId)>,
    /// By image, the one that tells what program it is.
    program_images: Vec<u32>,
}

impl<'a> Images<'a> {
    pub(super) fn new(processes: &'a ProcessTable) -> Self {
        let (mut first, mut all) = (Vec::new(), Vec::new());
        for process in (0..processes.all().len() as u32).map(ProcessId) {
            first.push(all.len() as u32);
            all.extend(processes.images(process).iter().map(|image| (image, process)));
        }
        let mut images = Self { processes, first, all, program_images: Vec::new() };
        images.program_images = images.program_images();
        images
    }

    /// Who was made and has executed nothing yet runs the program of its maker.
    fn program_images(&self) -> Vec<u32> {
        let mut program_images: Vec<Option<u32>> = vec![None; self.all.len()];
        for image in 0..self.all.len() as u32 {
            let (mut same, mut at) = (Vec::new(), image);
            let program_image = loop {
                if let Some(program_image) = program_images[at as usize] {
                    break program_image;
                }
                same.push(at);
                match self.maker_of_unknown(at) {
                    Some(maker) => at = maker,
                    None => break at,
                }
            };
            same.into_iter().for_each(|image| program_images[image as usize] = Some(program_image));
        }
        program_images
            .into_iter()
            .enumerate()
            .map(|(image, program_image)| program_image.unwrap_or(image as u32))
            .collect()
    }

    /// The image that made the process of this one, which is its first and does not tell its program.
    fn maker_of_unknown(&self, image: u32) -> Option<u32> {
        let (row, process) = self.get(image);
        let is_first = self.first[process.index()] == image;
        let parent = self.processes.get(process).parent?;
        let is_unknown = row.exe.is_none() && row.cmdline.is_none();
        (is_first && is_unknown).then(|| self.at(parent, row.start.map_or(i64::MAX, |start| start.0)))
    }

    /// The process that tells what program an image is.
    pub(super) fn program_image(&self, image: u32) -> &'a Process {
        self.get(self.program_images[image as usize]).0
    }

    /// The image that a process executed at that time.
    pub(super) fn at(&self, process: ProcessId, at: i64) -> u32 {
        let images = self.processes.images(process);
        let begun = images.partition_point(|image| image.start.is_none_or(|start| start.0 <= at));
        self.first[process.index()] + begun.saturating_sub(1) as u32
    }

    pub(super) fn get(&self, image: u32) -> (&'a Process, ProcessId) {
        self.all[image as usize]
    }

    /// Whether the kernel's counters of CPU time of an image are known.
    pub(super) fn has_cpu_time(&self, image: u32) -> bool {
        let usage = &self.get(image).0.usage;
        usage.user.is_some() && usage.system.is_some()
    }
}

/// Whose the time of a thread is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threads<'a> {
    pub(super) waits: &'a Waits,
    pub(super) images: &'a Images<'a>,
    /// By case, the run that it belongs to.
    pub(super) runs: &'a [u32],
}

impl Threads<'_> {
    fn run(&self, line: LineId) -> u32 {
        self.runs[self.images.processes.get(self.waits.process(line)).case.index()]
    }

    /// The call that begins or ends MPI in which a thread is at `at`.
    fn within_library(&self, line: LineId, at: i64) -> Option<CallId> {
        self.waits.library_call(line, at).filter(|call| call.start <= at).map(|call| call.call)
    }

    /// Cuts a stretch of time where the thread begins or ends such a call.
    fn divide(&self, line: LineId, (mut from, to): (i64, i64), parts: &mut Vec<(i64, i64)>) {
        while let Some(call) = self.waits.library_call(line, from) {
            let next = if call.start <= from { call.end } else { call.start };
            if next >= to {
                break;
            }
            parts.push((from, next));
            from = next;
        }
        parts.push((from, to));
    }

    fn key(&self, used: Use, line: LineId, at: i64) -> Key {
        Key { used, line, image: self.images.at(self.waits.process(line), at), call: None, path: None }
    }
}

/// What a recorder's stop adds to a call, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) call: i64,
    /// Within the duration of the call.
    pub(super) inside: i64,
}

/// A call that the next one may cut.
#[derive(Clone, Copy, Debug)]
struct Pending {
    from: i64,
    to: i64,
    key: Key,
    /// One, or none if it is part of another call.
    calls: u64,
}

/// A thread's time on the path.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// Own legs in the order of time.
    legs: Vec<(i64, i64)>,
    /// What lies before is accounted for.
    done: i64,
    /// A call that the next one may cut.
    pending: Option<Pending>,
    /// What the recorder added behind the last call.
    owed: i64,
    next_leg: usize,
}

/// The time of a path by use.
#[derive(Debug)]
pub struct Account {
    cost: Cost,
    lanes: HashMap<LineId, Lane, RandomState>,
    amounts: Amounts,
}

impl Account {
    pub(super) fn new(cost: Cost, legs: &[Leg], of: &Threads<'_>) -> Self {
        let mut account = Self { cost, lanes: HashMap::default(), amounts: Amounts::default() };
        for leg in legs {
            match leg.what {
                What::Own => {
                    let new = || Lane { done: i64::MIN, ..Lane::default() };
                    account.lanes.entry(leg.line).or_insert_with(new).legs.push((leg.from, leg.to));
                }
                What::Start => {
                    account.add(of, of.key(Use::Start, leg.line, leg.from), leg.to - leg.from, 0);
                }
                What::HandOver(ended) => {
                    let time = leg.to - leg.from;
                    let tracing = time.min(cost.inside);
                    account.add(of, of.key(Use::Tracing, leg.line, leg.from), tracing, 0);
                    let used = Use::HandOver(EndedBy::of(ended));
                    account.add(of, of.key(used, leg.line, leg.from), time - tracing, 1);
                }
            }
        }
        account.lanes.values_mut().for_each(|lane| lane.legs.sort_unstable());
        account
    }

    fn add(&mut self, of: &Threads<'_>, key: Key, time: i64, calls: u64) {
        if time > 0 || calls > 0 {
            self.amounts.add(of.run(key.line), key, Amount { time, calls });
        }
    }

    /// Adds a call; those of a thread come in the order of their starts.
    pub(super) fn call(&mut self, call: &Call, of: &Threads<'_>) {
        let Some(mut lane) = self.lanes.remove(&call.line) else { return };
        let start = lane.pending.map_or(call.start, |before| before.from.max(call.start));
        if let Some(before) = lane.pending.take() {
            self.cover(&mut lane, Pending { to: before.to.min(start), ..before }, of);
        }
        let within = of.within_library(call.line, call.start).filter(|within| *within != call.call);
        let (used, name, path) = match within {
            Some(within) => (Use::Call(Kind::Mpi), within, None),
            None => (Use::Call(call.kind), call.call, call.path.get()),
        };
        let key = Key { used, call: Some(name), path, ..of.key(Use::Compute, call.line, start) };
        let calls = u64::from(within.is_none());
        lane.pending = Some(Pending { from: start, to: call.end.max(start), key, calls });
        self.lanes.insert(call.line, lane);
    }

    /// A call covers this time; what no call covered before is computing.
    fn cover(&mut self, lane: &mut Lane, call: Pending, of: &Threads<'_>) {
        let Pending { from, to, key, calls } = call;
        self.compute(lane, key.line, from, of);
        let time = sweep(lane, to.max(from), |_, _| {});
        let tracing = time.min(self.cost.inside);
        self.add(of, Key { used: Use::Tracing, call: None, path: None, ..key }, tracing, 0);
        self.add(of, key, time - tracing, if time > 0 { calls } else { 0 });
        lane.owed = self.cost.call - self.cost.inside.min(self.cost.call);
    }

    /// Up to `to` the thread computed, or was in a call that begins or ends MPI.
    fn compute(&mut self, lane: &mut Lane, line: LineId, to: i64, of: &Threads<'_>) {
        let mut gaps: Vec<(i64, i64)> = Vec::new();
        sweep(lane, to, |from, to| of.divide(line, (from, to), &mut gaps));
        for (from, to) in gaps {
            let key = of.key(Use::Compute, line, from + (to - from) / 2);
            let key = match of.within_library(line, from) {
                Some(call) => Key { used: Use::Call(Kind::Mpi), call: Some(call), ..key },
                None => key,
            };
            let tracing = (to - from).min(lane.owed);
            lane.owed -= tracing;
            self.add(of, Key { used: Use::Tracing, ..key }, tracing, 0);
            self.add(of, key, to - from - tracing, 0);
        }
    }

    /// Accounts for what is left.
    pub(super) fn finish(mut self, of: &Threads<'_>) -> Amounts {
        for (line, mut lane) in std::mem::take(&mut self.lanes) {
            if let Some(last) = lane.pending.take() {
                self.cover(&mut lane, last, of);
            }
            self.compute(&mut lane, line, i64::MAX, of);
        }
        self.amounts
    }
}

/// Goes on to `to`, and answers how much of the way was on the path; each stretch of it is handed over.
fn sweep(lane: &mut Lane, to: i64, mut stretch: impl FnMut(i64, i64)) -> i64 {
    let mut time = 0;
    while let Some((from, until)) = lane.legs.get(lane.next_leg) {
        let (begin, end) = ((*from).max(lane.done), (*until).min(to));
        if begin < end {
            stretch(begin, end);
            time += end - begin;
        }
        if *until > to {
            break;
        }
        lane.next_leg += 1;
    }
    lane.done = lane.done.max(to);
    time
}
