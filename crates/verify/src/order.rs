//! Which calls wait for calls of other threads: where one of two calls that touch the same bytes was over before the other began, it is
//! so in the experiment. What overlapped in the recording is as free as it was.

use crate::calls::{Call, CallAction, Description, Moved, Refusal};
use crate::lanes::Lanes;
use crate::timeline::{Kind, Timeline};
use iotrail_model::FileId;
use iotrail_replay::OpenMode;
use std::collections::{HashMap, HashSet};

/// Behind all bytes.
const END: u64 = u64::MAX - 2;

/// What stands for where the file ends.
const LENGTH: (u64, u64) = (END, END + 1);

/// What stands for the file's being there.
const PRESENCE: (u64, u64) = (END + 1, u64::MAX);

/// For calls by their index: the indices of earlier calls, of other lanes, that must be over.
pub type Waits = HashMap<usize, Vec<usize>>;

/// The waits of calls in the order in which they are issued; `size` tells what files hold at the begin, if they are there.
#[must_use]
pub fn waits(calls: &[Call], lanes: &Lanes, size: impl Fn(FileId) -> Option<u64>) -> Waits {
    let mut ordering = Ordering::new(calls, lanes);
    if lanes.count() > 1 {
        for (index, call) in calls.iter().enumerate() {
            ordering.file(index, call, &size);
            ordering.cursor(index, call);
        }
    }
    ordering.waits
}

/// What is known of a file while its calls are followed.
#[derive(Default)]
struct FileState {
    timeline: Timeline,
    exists: bool,
    size: u64,
    /// Whether somebody reads it, and so sees where it ends.
    is_read: bool,
    /// Where the first call that writes at the end did so: where the others do depends on who is first.
    appended_from: Option<u64>,
}

struct Ordering<'a> {
    calls: &'a [Call],
    /// The lane of each call.
    lane: Vec<usize>,
    /// The calls of each lane.
    of_lane: Vec<Vec<usize>>,
    /// For each lane: of which calls of each other it knows that they are over.
    known: Vec<Vec<Option<usize>>>,
    files: HashMap<FileId, FileState>,
    read: HashSet<FileId>,
    modes: HashMap<Description, OpenMode>,
    /// Where descriptions of several lanes stand.
    cursors: HashMap<Description, Timeline>,
    waits: Waits,
}

/// The descriptions that several lanes use.
#[must_use]
pub fn shared(calls: &[Call], lanes: &Lanes) -> HashSet<Description> {
    let mut first = HashMap::new();
    let uses = calls.iter().filter_map(|call| Some((call.open?, lanes.lane(call))));
    uses.filter(|(open, lane)| *first.entry(*open).or_insert(*lane) != *lane).map(|(open, _)| open).collect()
}

impl<'a> Ordering<'a> {
    fn new(calls: &'a [Call], lanes: &Lanes) -> Self {
        let lane: Vec<usize> = calls.iter().map(|call| lanes.lane(call)).collect();
        let is_read = |call: &&Call| call.transfer().is_some_and(|moved| !moved.writes);
        let mut of_lane = vec![Vec::new(); lanes.count()];
        lane.iter().enumerate().for_each(|(index, lane)| of_lane[*lane].push(index));
        Self {
            calls,
            lane,
            of_lane,
            known: vec![vec![None; lanes.count()]; lanes.count()],
            files: HashMap::new(),
            read: calls.iter().filter(is_read).map(|call| call.file).collect(),
            modes: HashMap::new(),
            cursors: shared(calls, lanes).into_iter().map(|open| (open, Timeline::default())).collect(),
            waits: Waits::new(),
        }
    }

    /// What a call does to its file.
    fn file(&mut self, index: usize, call: &Call, size: impl Fn(FileId) -> Option<u64>) {
        let mode = call.open.and_then(|open| self.modes.get(&open)).copied().unwrap_or_default();
        let at_cursor = call.open.is_some_and(|open| self.cursors.contains_key(&open));
        let state = self.files.entry(call.file).or_insert_with(|| {
            let (size, is_read) = (size(call.file), self.read.contains(&call.file));
            let exists = size.is_some();
            FileState { exists, size: size.unwrap_or_default(), is_read, ..FileState::default() }
        });
        let touches = state.touches(call, mode, at_cursor);
        for (range, kind) in touches.into_iter().flatten() {
            self.touch(index, Where::File(call.file), range, kind);
        }
        if let (CallAction::Open(mode), Some(open)) = (call.action, call.open) {
            self.modes.insert(open, mode);
        }
    }

    /// What it does to where a description of several lanes stands.
    fn cursor(&mut self, index: usize, call: &Call) {
        let Some(open) = call.open.filter(|open| self.cursors.contains_key(open)) else { return };
        let kind = match call.action {
            CallAction::Transfer(moved) if moved.positioned => return,
            CallAction::Transfer(moved) if moved.writes => Kind::Append,
            CallAction::Transfer(_) | CallAction::Seek(_) => Kind::Write,
            _ => return,
        };
        self.touch(index, Where::Cursor(open), (0, 1), kind);
    }

    fn touch(&mut self, index: usize, place: Where, range: (u64, u64), kind: Kind) {
        let timeline = match place {
            Where::File(file) => self.files.get_mut(&file).map(|state| &mut state.timeline),
            Where::Cursor(open) => self.cursors.get_mut(&open),
        };
        let Some(timeline) = timeline else { return };
        let (calls, lane) = (self.calls, &self.lane);
        let is_over = |other: usize| lane[other] == lane[index] || calls[other].end <= calls[index].start;
        let before = timeline.touch(range, kind, (lane[index], index), is_over);
        for other in before {
            // What succeeded although the file was being made came after that.
            let over = if range == PRESENCE { Some(other) } else { self.over(index, other) };
            over.into_iter().for_each(|over| self.wait(index, over));
        }
    }

    /// Of the calls of a lane up to that one, the last that was over when another call began.
    fn over(&self, index: usize, other: usize) -> Option<usize> {
        let (start, calls) = (self.calls[index].start, &self.of_lane[self.lane[other]]);
        let up_to = &calls[..calls.partition_point(|call| *call <= other)];
        up_to.iter().rev().find(|call| self.calls[**call].end <= start).copied()
    }

    /// Lets a call wait for another, unless its lane knows that this is over.
    fn wait(&mut self, index: usize, other: usize) {
        let (lane, other_lane) = (self.lane[index], self.lane[other]);
        let known = &mut self.known[lane][other_lane];
        if lane != other_lane && known.is_none_or(|known| known < other) {
            *known = Some(other);
            self.waits.entry(index).or_default().push(other);
        }
    }
}

#[derive(Clone, Copy)]
enum Where {
    File(FileId),
    Cursor(Description),
}

/// Bytes that a call touches, and how.
type Touch = ((u64, u64), Kind);

impl FileState {
    /// What a call touches; `at_cursor` if its description is one of several lanes.
    fn touches(&mut self, call: &Call, mode: OpenMode, at_cursor: bool) -> [Option<Touch>; 3] {
        match call.action {
            CallAction::Open(mode) => {
                let makes = mode.create && !std::mem::replace(&mut self.exists, true);
                let presence = (PRESENCE, if makes { Kind::Write } else { Kind::Read });
                let empties = mode.truncate.then_some(((0, LENGTH.1), Kind::Cut));
                if mode.truncate {
                    self.size = 0;
                }
                [Some(presence), empties, None]
            }
            CallAction::Stat | CallAction::Refused(Refusal::Create(_)) => {
                [Some((PRESENCE, Kind::Read)), None, None]
            }
            CallAction::Truncate(size) => {
                let from = size.min(std::mem::replace(&mut self.size, size));
                [Some(((from, LENGTH.1), Kind::Cut)), None, None]
            }
            CallAction::Transfer(moved) => {
                self.transfer(moved, mode.append || at_cursor && !moved.positioned)
            }
            _ => [None, None, None],
        }
    }

    fn transfer(&mut self, moved: Moved, appends: bool) -> [Option<Touch>; 3] {
        let Some((low, high)) = moved.range() else {
            let kind = match moved.writes {
                true if appends => Kind::Append,
                true => Kind::Cut,
                false => Kind::Read,
            };
            return [Some(((0, LENGTH.1), kind)), None, None];
        };
        if !moved.writes {
            let until = low.saturating_add(moved.asked).min(END);
            let met_end = (moved.moved < moved.asked).then_some((LENGTH, Kind::Read));
            return [Some(((low, until), Kind::Read)), met_end, None];
        }
        let size = self.size;
        self.size = size.max(high);
        if appends {
            let from = *self.appended_from.get_or_insert(size.min(low));
            return [Some(((from.min(low), high), Kind::Append)), Some((LENGTH, Kind::Append)), None];
        }
        let hole = self.is_read.then_some(((size.min(low), low), Kind::Extend));
        [Some(((low, high), Kind::Write)), hole, (high > size).then_some((LENGTH, Kind::Extend))]
    }
}
