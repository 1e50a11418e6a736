//! Calls made streams of the engine.

use crate::recorded::{Act, Recorded, Step};
use iotrail_model::{CaseId, Pid};
use iotrail_replay::{Action, Expected, OpenMode, OpenNumber, Operation, Stream};
use iotrail_verify::{CallAction, Description, Lanes, Waits, shared, transfer};
use std::collections::{HashMap, HashSet};

/// A process.
type Process = (CaseId, Pid);

/// A stream while it is made.
#[derive(Default)]
struct Lane {
    /// Descriptors of each description, by process, the first one first.
    descriptors: HashMap<(Process, Description), Vec<OpenNumber>>,
    /// One that stays until the last process of the lane has used the description.
    held: HashMap<Description, OpenNumber>,
    last_use: HashMap<Description, usize>,
    numbers: u32,
    operations: Stream,
    think_ns: u64,
}

impl Lane {
    fn push(&mut self, action: Action, expected: Expected) {
        let think_ns = std::mem::take(&mut self.think_ns);
        self.operations.push(Operation { think_ns, action, expected });
    }

    fn fresh(&mut self) -> OpenNumber {
        self.numbers += 1;
        OpenNumber(self.numbers - 1)
    }
}

/// Makes streams of calls.
pub(crate) struct Issuing<'a> {
    lanes_of: &'a Lanes,
    waits: &'a Waits,
    lanes: Vec<Lane>,
    awaited: HashMap<usize, usize>,
    /// Descriptions of several lanes, and the events with which they are shared.
    shared: HashMap<Description, Option<usize>>,
    /// Descriptions of several processes of a lane.
    passed_on: HashSet<(usize, Description)>,
    events: usize,
}

impl<'a> Issuing<'a> {
    pub(crate) fn new(recorded: &'a Recorded, lanes_of: &'a Lanes, waits: &'a Waits) -> Self {
        let mut lanes: Vec<Lane> = (0..lanes_of.count()).map(|_| Lane::default()).collect();
        let mut users: HashMap<(usize, Description), Process> = HashMap::new();
        let mut passed_on = HashSet::new();
        for (index, step) in recorded.steps.iter().enumerate() {
            if let Some(open) = step.call.open {
                let lane = lanes_of.lane(&step.call);
                lanes[lane].last_use.insert(open, index);
                if *users.entry((lane, open)).or_insert(step.call.process()) != step.call.process() {
                    passed_on.insert((lane, open));
                }
            }
        }
        let mut awaited = HashMap::new();
        let mut waited_for: Vec<usize> = waits.values().flatten().copied().collect();
        waited_for.sort_unstable();
        for call in waited_for {
            let event = awaited.len();
            awaited.entry(call).or_insert(event);
        }
        let calls: Vec<_> = recorded.steps.iter().map(|step| step.call).collect();
        let shared = shared(&calls, lanes_of).into_iter().map(|open| (open, None)).collect();
        Self { lanes_of, waits, lanes, events: awaited.len(), awaited, shared, passed_on }
    }

    /// The streams and the number of events.
    pub(crate) fn all(mut self, recorded: &Recorded) -> (Vec<Stream>, usize) {
        for (index, step) in recorded.steps.iter().enumerate() {
            self.step(index, step);
        }
        (self.lanes.into_iter().map(|lane| lane.operations).collect(), self.events)
    }

    fn step(&mut self, index: usize, step: &Step) {
        let at = self.lanes_of.lane(&step.call);
        self.lanes[at].think_ns = self.lanes[at].think_ns.saturating_add(step.call.think);
        for other in self.waits.get(&index).into_iter().flatten() {
            if let Some(event) = self.awaited.get(other) {
                self.lanes[at].push(Action::Await(*event), Expected::Success);
            }
        }
        let expected = step.error.map_or(Expected::Success, Expected::Error);
        let name = step.name;
        match step.call.open {
            Some(open) if step.error.is_none() => self.through(at, step, open),
            _ => {
                let action = match step.act {
                    Act::Open(mode) => Action::Open { file: name, open: OpenNumber(u32::MAX), mode },
                    Act::Other(number) => Action::Other(number),
                    Act::Access => Action::Access(name),
                    Act::Remove { directory: true } => Action::RemoveDirectory(name),
                    Act::Remove { directory: false } => Action::Unlink(name),
                    Act::Rename(to) => Action::Rename(name, to),
                    Act::Link(to) => Action::Link(name, to),
                    Act::Symlink => Action::Symlink(name),
                    Act::Truncate(size) => Action::TruncateNamed(name, size),
                    Act::MakeDirectory => Action::MakeDirectory(name),
                    _ => Action::Stat(name),
                };
                self.lanes[at].push(action, expected);
            }
        }
        if let Some(event) = self.awaited.get(&index) {
            self.lanes[at].push(Action::Signal(*event), Expected::Success);
        }
        self.leave(at, index, step);
    }

    /// A call through a description.
    fn through(&mut self, at: usize, step: &Step, description: Description) {
        let (open, is_new) = self.opened(at, step, description);
        let lane = &mut self.lanes[at];
        let (action, expected) = match (step.act, step.call.action) {
            (Act::Inspect, _) => (Action::StatOpen(open), Expected::Success),
            (Act::List, _) => (Action::ListOpen(open), Expected::Success),
            (Act::Duplicate, _) => {
                let copy = lane.fresh();
                lane.descriptors.entry((step.call.process(), description)).or_default().push(copy);
                (Action::Duplicate { open, copy }, Expected::Success)
            }
            (_, CallAction::Transfer(moved)) => (transfer(open, moved), Expected::Bytes(moved.moved)),
            (_, CallAction::Seek(to)) => (Action::Seek(open, to), Expected::Success),
            (_, CallAction::Sync) => (Action::Sync(open), Expected::Success),
            (_, CallAction::SyncData) => (Action::SyncData(open), Expected::Success),
            (_, CallAction::Truncate(size)) => (Action::Truncate(open, size), Expected::Success),
            (_, CallAction::Close) => {
                let descriptors = lane.descriptors.get_mut(&(step.call.process(), description));
                let closed = descriptors.and_then(Vec::pop).unwrap_or(open);
                (Action::Close(closed), Expected::Success)
            }
            (_, CallAction::Open(_)) if is_new => return,
            _ => (Action::StatOpen(open), Expected::Success),
        };
        lane.push(action, expected);
    }

    /// A descriptor of a description that the process has in its lane, after it was opened or inherited there; whether that was now.
    fn opened(&mut self, at: usize, step: &Step, description: Description) -> (OpenNumber, bool) {
        let key = (step.call.process(), description);
        let lane = &mut self.lanes[at];
        if let Some(open) = lane.descriptors.get(&key).and_then(|descriptors| descriptors.first()) {
            return (*open, false);
        }
        let open = lane.fresh();
        lane.descriptors.insert(key, vec![open]);
        if let Some(held) = lane.held.get(&description).copied() {
            lane.push(Action::Adopt { open: held, copy: open }, Expected::Success);
            return (open, true);
        }
        match (self.shared.get(&description), step.call.action) {
            (Some(Some(event)), _) => lane.push(Action::Inherit { open, event: *event }, Expected::Success),
            (_, CallAction::Open(mode)) => {
                lane.push(Action::Open { file: step.name, open, mode }, Expected::Success);
            }
            (_, action) => {
                let mode = OpenMode { read: true, directory: step.act == Act::List, ..OpenMode::default() };
                let mode = OpenMode { write: !mode.directory && needs_write(action), ..mode };
                lane.push(Action::Attach { file: step.name, open, mode }, Expected::Success);
            }
        }
        if let Some(event @ None) = self.shared.get_mut(&description) {
            lane.push(Action::Share { open, event: self.events }, Expected::Success);
            *event = Some(self.events);
            self.events += 1;
        }
        if self.passed_on.contains(&(at, description)) {
            let held = lane.fresh();
            lane.push(Action::Adopt { open, copy: held }, Expected::Success);
            lane.held.insert(description, held);
        }
        (open, true)
    }

    /// Closes what is left of a description behind its last use in a lane: its processes ended.
    fn leave(&mut self, at: usize, index: usize, step: &Step) {
        let lane = &mut self.lanes[at];
        let Some(open) = step.call.open.filter(|open| lane.last_use.get(open) == Some(&index)) else {
            return;
        };
        let mut left: Vec<OpenNumber> = lane.held.remove(&open).into_iter().collect();
        let processes: Vec<_> = lane.descriptors.keys().filter(|(_, of)| *of == open).copied().collect();
        processes.iter().for_each(|key| left.extend(lane.descriptors.remove(key).into_iter().flatten()));
        left.sort_unstable();
        left.into_iter().for_each(|open| lane.push(Action::Leave(open), Expected::Success));
    }
}

/// Whether what was opened before the recording must be open for writing: what is not a directory is, as far as is known.
const fn needs_write(action: CallAction) -> bool {
    matches!(action, CallAction::Transfer(moved) if moved.writes)
        || matches!(
            action,
            CallAction::Truncate(_) | CallAction::Seek(_) | CallAction::Sync | CallAction::SyncData
        )
}
