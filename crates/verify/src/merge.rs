//! Runs of accesses as fewer calls.

use crate::calls::{Call, CallAction, Description, Moved};
use crate::position::position;
use iotrail_advise::CallPlace;
use iotrail_replay::{MAX_BUFFERS, MAX_TRANSFER};
use std::collections::{HashMap, HashSet};

/// Bytes that a merged call with one buffer moves at most: the largest buffer that is advised.
pub(crate) const LARGEST: u64 = 1 << 20;

/// Reads are joined across a gap if gap and piece are at most so many times the piece.
const WASTE: u64 = 16;

/// How accesses are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// Into calls with one buffer, of a MiB at most.
    OneBuffer,
    /// Into vectored calls (`readv`, `writev`) with as many buffers as there were calls, and one for each gap.
    Vectored,
}

/// Each run is as few calls as can be, in the order of offsets: reads where the first was, writes where the last was.
pub(crate) fn merged(calls: &[Call], runs: &[Vec<CallPlace>], merge: Merge) -> Vec<Call> {
    let index: HashMap<CallPlace, usize> =
        calls.iter().enumerate().map(|(index, call)| (call.place, index)).collect();
    let mut becomes: HashMap<usize, Vec<Moved>> = HashMap::new();
    let mut gone = HashSet::new();
    for run in runs {
        let members: Option<Vec<usize>> = run.iter().map(|place| index.get(place).copied()).collect();
        let Some(members) = members else { continue };
        let transfers: Vec<Moved> = members.iter().filter_map(|member| calls[*member].transfer()).collect();
        let Some(parts) = parts(&transfers, merge).filter(|_| transfers.len() == members.len()) else {
            continue;
        };
        let writes = transfers.iter().any(|moved| moved.writes);
        let kept = if writes { members.iter().max() } else { members.iter().min() };
        let Some(kept) = kept.copied() else { continue };
        gone.extend(members.iter().copied().filter(|member| *member != kept));
        becomes.insert(kept, parts);
    }
    let positioned = positioned(calls, &becomes);
    let mut followed = Vec::new();
    for (index, call) in calls.iter().enumerate().filter(|(index, _)| !gone.contains(index)) {
        match becomes.get(&index) {
            Some(parts) => {
                followed.extend(parts.iter().map(|part| call.with(CallAction::Transfer(*part))));
            }
            // All transfers of the description name their offsets below.
            None if is_seek_of(call, &positioned) => {}
            None => followed.push(*call),
        }
    }
    position(&mut followed, &positioned);
    followed
}

/// Descriptions whose calls name their offsets, because what is merged does, or there were seeks before it.
fn positioned(calls: &[Call], becomes: &HashMap<usize, Vec<Moved>>) -> HashSet<Description> {
    let changed: HashSet<Description> = becomes.keys().filter_map(|index| calls[*index].open).collect();
    let names_offset = |(index, parts): (&usize, &Vec<Moved>)| {
        let open = calls[*index].open;
        open.filter(|_| parts.iter().any(|part| part.positioned))
    };
    let seeks = calls.iter().filter(|call| is_seek_of(call, &changed)).filter_map(|call| call.open);
    seeks.chain(becomes.iter().filter_map(names_offset)).collect()
}

fn is_seek_of(call: &Call, descriptions: &HashSet<Description>) -> bool {
    matches!(call.action, CallAction::Seek(_)) && call.open.is_some_and(|open| descriptions.contains(&open))
}

/// What the transfers of a run become; `None` if a place is not known.
fn parts(transfers: &[Moved], merge: Merge) -> Option<Vec<Moved>> {
    let ranges: Option<Vec<(u64, u64)>> = transfers.iter().map(|moved| moved.range()).collect();
    let ranges = ranges?;
    let first = transfers.first()?;
    let follow_each_other = ranges.windows(2).all(|two| two[0].1 == two[1].0);
    let positioned = !follow_each_other || transfers.iter().any(|moved| moved.positioned);
    let mut sorted = ranges;
    sorted.sort_unstable();
    let mut groups: Vec<Vec<(u64, u64)>> = Vec::new();
    for range in sorted {
        match groups.last_mut() {
            Some(group) if joins(group, range, first.writes) => group.push(range),
            _ => groups.push(vec![range]),
        }
    }
    let whole = Moved { positioned, buffers: 1, ..*first };
    let parts = groups.iter().flat_map(|group| match merge {
        Merge::Vectored => vectors(whole, &tiles(group)),
        Merge::OneBuffer => pieces(whole, group[0].0, end(group)).collect(),
    });
    Some(parts.collect())
}

fn end(group: &[(u64, u64)]) -> u64 {
    group.iter().map(|range| range.1).max().unwrap_or_default()
}

/// Whether a range is moved with a group that begins before it. Writes have no gaps: nobody knows what belongs there.
fn joins(group: &[(u64, u64)], (low, high): (u64, u64), writes: bool) -> bool {
    let gap = low.saturating_sub(end(group));
    gap == 0 || !writes && gap + (high - low) <= (high - low).saturating_mul(WASTE)
}

/// From one offset to another in pieces that are not too large.
pub(crate) fn pieces(whole: Moved, low: u64, high: u64) -> impl Iterator<Item = Moved> {
    (0..(high - low).div_ceil(LARGEST).max(1)).map(move |piece| {
        let begin = low + piece * LARGEST;
        let bytes = (high - begin).min(LARGEST);
        Moved { offset: Some(begin), asked: bytes, moved: bytes, ..whole }
    })
}

/// The buffers of a group: one for what is new of each range, one for each gap.
fn tiles(group: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut at = group[0].0;
    let mut tiles = Vec::new();
    for (low, high) in group {
        if *low > at {
            tiles.push((at, *low));
        }
        let begin = (*low).max(at);
        if *high > begin {
            tiles.push((begin, *high));
        }
        at = at.max(*high);
    }
    tiles
}

/// Vectored calls of these buffers, as many in each call as the system allows.
fn vectors(whole: Moved, tiles: &[(u64, u64)]) -> Vec<Moved> {
    let mut calls: Vec<Moved> = Vec::new();
    for (low, high) in tiles {
        let bytes = high - low;
        let has_room = |call: &&mut Moved| call.buffers < MAX_BUFFERS && call.moved + bytes <= MAX_TRANSFER;
        match calls.last_mut().filter(has_room) {
            Some(call) => {
                call.asked += bytes;
                call.moved += bytes;
                call.buffers += 1;
            }
            None => calls.push(Moved { offset: Some(*low), asked: bytes, moved: bytes, ..whole }),
        }
    }
    calls
}
