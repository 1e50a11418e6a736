//! What the processes of a parallel program transfer, divided among them in another way. That they exchange data for that is not issued.

use crate::calls::{Call, CallAction, Description, Moved};
use crate::position::without_cursor;
use iotrail_model::intervals::OrderedIntervals;
use iotrail_model::{CaseId, FileId, Pid};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Bytes of the ranges that one process moves for all.
const GATHERED: u64 = 4 << 20;

/// Blocks that one process writes.
const BLOCK: u64 = 4096;

/// Why what processes transfer cannot be divided in another way.
pub(crate) const IN_THE_WAY: &str = "the processes read what others write meanwhile, write bytes twice, append, or change the length: \
     dividing their bytes in another way would change what they read";

/// The transfers of a file in one direction, by several processes, that could be done by any of them.
struct Part {
    /// By index.
    calls: Vec<usize>,
    /// What they move, sorted.
    ranges: Vec<(u64, u64)>,
}

/// The parts of calls. Those of a file are none if the order of its calls matters.
fn parts(calls: &[Call]) -> Vec<Part> {
    let appending: HashSet<Description> = calls.iter().filter_map(appends).collect();
    let mut transfers: BTreeMap<(FileId, bool), Vec<usize>> = BTreeMap::new();
    for (index, call) in calls.iter().enumerate() {
        if let Some(moved) = call.transfer() {
            transfers.entry((call.file, moved.writes)).or_default().push(index);
        }
    }
    let part = |((file, writes), transfers): ((FileId, bool), Vec<usize>)| {
        let ranges: Option<Vec<(u64, u64)>> =
            transfers.iter().map(|index| calls[*index].transfer()?.range()).collect();
        let mut ranges = ranges?;
        ranges.sort_unstable();
        let several = transfers.iter().any(|index| calls[*index].process() != calls[transfers[0]].process());
        let appends = |index: &usize| calls[*index].open.is_some_and(|open| appending.contains(&open));
        let twice = ranges.windows(2).any(|two| two[1].0 < two[0].1);
        let ordered = writes && (twice || transfers.iter().any(appends));
        let part = Part { calls: transfers, ranges };
        (several && !ordered && !part.is_disturbed(calls, file, writes)).then_some(part)
    };
    transfers.into_iter().filter_map(part).collect()
}

fn appends(call: &Call) -> Option<Description> {
    matches!(call.action, CallAction::Open(mode) if mode.append).then_some(call.open)?
}

impl Part {
    /// Whether something happens to these bytes, or to those between them, while they are moved.
    fn is_disturbed(&self, calls: &[Call], file: FileId, writes: bool) -> bool {
        let begin = self.calls.iter().map(|index| calls[*index].start).min().unwrap_or_default();
        let end = self.calls.iter().map(|index| calls[*index].end).max().unwrap_or_default();
        let low = self.ranges.first().map_or(0, |range| range.0);
        let high = self.ranges.iter().map(|range| range.1).max().unwrap_or_default();
        let disturbs = |call: &Call| match call.action {
            CallAction::Truncate(_) => true,
            CallAction::Open(mode) => mode.truncate,
            // Before the bytes that somebody writes zeros may appear, and a read may meet the end of the file.
            CallAction::Transfer(moved) if moved.writes && !writes => {
                moved.range().is_none_or(|range| range.1 > low)
            }
            CallAction::Transfer(moved) if !moved.writes && writes => {
                moved.range().is_none_or(|range| range.0 < high)
            }
            _ => false,
        };
        calls.iter().filter(|call| call.file == file && call.start < end && call.end > begin).any(disturbs)
    }

    /// Where each process moves what is its: the last of its writes, the first of its reads.
    fn kept(&self, calls: &[Call]) -> BTreeMap<(CaseId, Pid), usize> {
        let mut kept = BTreeMap::new();
        for index in &self.calls {
            let last = calls[*index].transfer().is_some_and(|moved| moved.writes);
            let place = kept.entry(calls[*index].process()).or_insert(*index);
            if last {
                *place = *index;
            }
        }
        kept
    }

    /// The ranges, joined where they touch.
    fn joined(&self) -> Vec<(u64, u64)> {
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (low, high) in self.ranges.iter().copied().filter(|(low, high)| low < high) {
            match joined.last_mut() {
                Some(last) if last.1 >= low => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        joined
    }
}

/// Calls with other transfers in place of some.
struct Divided<'a> {
    calls: &'a [Call],
    becomes: HashMap<usize, Vec<Moved>>,
}

impl Divided<'_> {
    fn followed(self) -> Vec<Call> {
        let changed: HashSet<Description> =
            self.becomes.keys().filter_map(|index| self.calls[*index].open).collect();
        let mut followed = Vec::new();
        for (index, call) in self.calls.iter().enumerate() {
            match self.becomes.get(&index) {
                Some(parts) => {
                    followed.extend(parts.iter().map(|part| call.with(CallAction::Transfer(*part))));
                }
                None => followed.push(*call),
            }
        }
        without_cursor(followed, &changed)
    }
}

fn moved(writes: bool, low: u64, high: u64) -> Moved {
    let bytes = high - low;
    Moved { writes, positioned: true, offset: Some(low), asked: bytes, moved: bytes, buffers: 1 }
}

/// The pieces of all processes in ranges of 4 MiB, which the processes move in turns.
pub(crate) fn gathered(calls: &[Call]) -> Result<Vec<Call>, &'static str> {
    let parts = parts(calls);
    if parts.is_empty() {
        return Err(IN_THE_WAY);
    }
    let mut divided = Divided { calls, becomes: HashMap::new() };
    for part in &parts {
        divided.becomes.extend(part.calls.iter().map(|index| (*index, Vec::new())));
        let kept: Vec<usize> = part.kept(calls).into_values().collect();
        for (low, high) in part.joined() {
            for number in low / GATHERED..high.div_ceil(GATHERED) {
                let range = (low.max(number * GATHERED), high.min((number + 1) * GATHERED));
                let kept = kept[(number % kept.len() as u64) as usize];
                let writes = calls[kept].transfer().is_some_and(|moved| moved.writes);
                divided.becomes.entry(kept).or_default().push(moved(writes, range.0, range.1));
            }
        }
    }
    Ok(divided.followed())
}

/// Each block is written by the process that writes its first byte.
pub(crate) fn blocks_of_one(calls: &[Call]) -> Result<Vec<Call>, &'static str> {
    let mut divided = Divided { calls, becomes: HashMap::new() };
    for part in parts(calls) {
        let joined = part.joined();
        for index in part.calls {
            let Some(write) = calls[index].transfer().filter(|moved| moved.writes) else { continue };
            let Some((low, high)) = write.range().filter(|(low, high)| low < high) else { continue };
            let whole = joined[joined.partition_point(|range| range.1 <= low)];
            let begin = |at: u64| if at == whole.0 { at } else { at.next_multiple_of(BLOCK).min(whole.1) };
            let range = (begin(low), begin(high));
            let own = (range.0 < range.1).then(|| moved(true, range.0, range.1));
            divided.becomes.insert(index, own.into_iter().collect());
        }
    }
    if divided.becomes.is_empty() { Err(IN_THE_WAY) } else { Ok(divided.followed()) }
}

/// One process reads for all: the one that reads most.
pub(crate) fn read_by_one(calls: &[Call]) -> Result<Vec<Call>, &'static str> {
    let mut divided = Divided { calls, becomes: HashMap::new() };
    for part in parts(calls) {
        let mut bytes: BTreeMap<(CaseId, Pid), u64> = BTreeMap::new();
        let reads = || part.calls.iter().filter_map(|index| Some((*index, calls[*index].transfer()?)));
        for (index, read) in reads().filter(|(_, moved)| !moved.writes) {
            *bytes.entry(calls[index].process()).or_default() += read.moved;
        }
        let Some(most) = bytes.values().max().copied() else { continue };
        let reader = bytes.into_iter().find(|(_, bytes)| *bytes == most).map(|(process, _)| process);
        let own = reads().filter(|(index, _)| Some(calls[*index].process()) == reader);
        let known: OrderedIntervals =
            own.filter_map(|(_, read)| read.range()).map(|(low, high)| low..high).collect();
        let is_known = |read: Moved| read.range().is_some_and(|(low, high)| known.contains(&(low..high)));
        let others =
            reads().filter(|(index, read)| Some(calls[*index].process()) != reader && is_known(*read));
        divided.becomes.extend(others.filter(|(_, read)| !read.writes).map(|(index, _)| (index, Vec::new())));
    }
    if divided.becomes.is_empty() { Err(IN_THE_WAY) } else { Ok(divided.followed()) }
}

/// Each process that appends has a file of its own.
pub(crate) fn files_of_their_own(calls: &[Call]) -> Result<Vec<Call>, &'static str> {
    let appending: HashSet<Description> = calls.iter().filter_map(appends).collect();
    let uses_bytes = |call: &Call| match call.action {
        CallAction::Transfer(moved) => {
            !moved.writes || call.open.is_none_or(|open| !appending.contains(&open))
        }
        CallAction::Truncate(_) => true,
        CallAction::Open(mode) => mode.truncate,
        _ => false,
    };
    let mut owner: HashMap<Description, (CaseId, Pid)> = HashMap::new();
    let has_two = |call: &Call, owner: &mut HashMap<_, _>| {
        call.open.is_some_and(|open| *owner.entry(open).or_insert(call.process()) != call.process())
    };
    if calls.iter().any(|call| uses_bytes(call) || has_two(call, &mut owner)) {
        return Err("the processes do more with the file than append, or share an open file");
    }
    let mut fresh = calls.iter().map(|call| call.file.0).max().unwrap_or_default();
    let mut first: HashMap<FileId, (CaseId, Pid)> = HashMap::new();
    let mut own: HashMap<((CaseId, Pid), FileId), FileId> = HashMap::new();
    let mut follow = |call: &Call| {
        if *first.entry(call.file).or_insert(call.process()) == call.process() {
            return *call;
        }
        let file = *own.entry((call.process(), call.file)).or_insert_with(|| {
            fresh += 1;
            FileId(fresh)
        });
        Call { file, ..*call }
    };
    Ok(calls.iter().map(&mut follow).collect())
}
