//! The calls of a finding as they would be if the advice was followed.

use crate::calls::{Call, CallAction, Description, Moved};
use crate::intervals::Intervals;
use iotrail_advise::{CallPlace, Item};
use iotrail_model::{FileId, Pid};
use iotrail_replay::{MAX_BUFFERS, MAX_TRANSFER, OpenMode};
use std::collections::{HashMap, HashSet};

/// Bytes that a merged call moves at most: the largest buffer that is advised.
const LARGEST: u64 = 1 << 20;

/// A strided run is read as one range if that is at most so many times what it needs.
const WASTE: u64 = 16;

/// Of so many syncs one is left.
const BATCH: u64 = 10;

/// Blocks to which writes are aligned.
const BLOCK: u64 = 4096;

/// How adjacent accesses are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// Into calls with one buffer, of a MiB at most.
    OneBuffer,
    /// Into vectored calls (`readv`, `writev`) with as many buffers as there were calls.
    Vectored,
}

/// The calls as advised; an error is why they cannot be told.
pub(crate) fn advised(item: Item<'_>, calls: &[Call], merge: Merge) -> Result<Vec<Call>, &'static str> {
    let followed = match (item, item.rule()) {
        (Item::Finding(finding), _) => match (finding.shape, finding.rule) {
            ("adjacent", _) | ("strided", "merge-reads") => merged(calls, &finding.kept, merge),
            ("strided", _) => {
                return Err("strided writes become one call only with another layout or collective MPI-IO");
            }
            _ => return Err("scattered accesses stay calls of their own, submitted together"),
        },
        (_, "seek-read") => without_seeks(calls, Before::Transfer),
        (_, "seek-seek") => without_seeks(calls, Before::Seek),
        (_, "read-again") => without_reads(calls, Known::Read),
        (_, "read-own-writes") => without_reads(calls, Known::Written),
        (_, "reopen") => opened_once(calls),
        (_, "stat-again") => looked_at_once(calls),
        (_, "sync-each-write") => synced_in_batches(calls),
        (_, "unaligned-writes") => aligned(calls),
        (_, rule) => return Err(why_not(rule)),
    };
    if followed == calls {
        return Err(
            "no call changes: the recording lacks calls of each run, or one call would move more than 16 times the bytes that are needed",
        );
    }
    Ok(followed)
}

/// Why a rule has no other form of the same calls.
fn why_not(rule: &str) -> &'static str {
    match rule {
        "blocking-io" | "serial-phase" | "rank-imbalance" | "root-io" | "sync-bound" | "lock-waits"
        | "polling" | "shared-append" | "shared-blocks" | "interleaved-ranks" | "every-rank-reads" => {
            "it is about what processes do at the same time, not about the calls of one"
        }
        "process-storm" | "same-command" | "slow-start" => "it is about processes, not about calls on files",
        "descriptor-leak" => "it costs no calls",
        "failed-lookups"
        | "list-and-stat"
        | "metadata-share"
        | "small-files"
        | "unused-files"
        | "tiny-pipe-transfers" => "it is about many files, not about the calls on one",
        "random-reads" | "overwrite" | "grow-by-truncate" => {
            "what would be issued instead depends on what the program knows"
        }
        _ => "there is no other form of its calls",
    }
}

/// Makes transfers of these descriptions name their offsets, so that they do not depend on calls that were taken out.
fn position(calls: &mut [Call], descriptions: &HashSet<Description>) {
    for call in calls.iter_mut().filter(|call| call.open.is_some_and(|open| descriptions.contains(&open))) {
        if let CallAction::Transfer(moved) = &mut call.action {
            moved.positioned |= moved.offset.is_some();
        }
    }
}

/// Each run is one call: reads where the first was, writes where the last was.
fn merged(calls: &[Call], runs: &[Vec<CallPlace>], merge: Merge) -> Vec<Call> {
    let index: HashMap<CallPlace, usize> =
        calls.iter().enumerate().map(|(index, call)| (call.place, index)).collect();
    let mut becomes: HashMap<usize, Vec<Moved>> = HashMap::new();
    let mut gone = HashSet::new();
    let mut changed = HashSet::new();
    for run in runs {
        let members: Option<Vec<usize>> = run.iter().map(|place| index.get(place).copied()).collect();
        let Some(members) = members else { continue };
        let transfers: Vec<Moved> = members.iter().filter_map(|member| calls[*member].transfer()).collect();
        let Some(moved) = one(&transfers, members.len()) else { continue };
        let kept = if moved.writes { members.iter().max() } else { members.iter().min() };
        let Some(kept) = kept.copied() else { continue };
        gone.extend(members.iter().copied().filter(|member| *member != kept));
        let parts = match merge {
            Merge::Vectored if moved.moved == bytes(&transfers) => vectors(moved, &transfers),
            _ => pieces(moved).collect(),
        };
        becomes.insert(kept, parts);
        changed.extend(calls[kept].open);
    }
    let seeks: HashSet<Description> = calls
        .iter()
        .filter(|call| matches!(call.action, CallAction::Seek(_)))
        .filter_map(|call| call.open)
        .filter(|open| changed.contains(open))
        .collect();
    let mut followed = Vec::new();
    for (index, call) in calls.iter().enumerate().filter(|(index, _)| !gone.contains(index)) {
        match becomes.get(&index) {
            Some(parts) => followed.extend(parts.iter().map(|part| with(call, CallAction::Transfer(*part)))),
            // All transfers of the description name their offsets below.
            None if is_seek_of(call, &seeks) => {}
            None => followed.push(*call),
        }
    }
    position(&mut followed, &seeks);
    followed
}

fn is_seek_of(call: &Call, descriptions: &HashSet<Description>) -> bool {
    matches!(call.action, CallAction::Seek(_)) && call.open.is_some_and(|open| descriptions.contains(&open))
}

/// The one transfer that a run can be.
fn one(transfers: &[Moved], members: usize) -> Option<Moved> {
    let ranges: Vec<(u64, u64)> = transfers.iter().filter_map(|moved| moved.range()).collect();
    if ranges.len() != members {
        return None;
    }
    let low = ranges.iter().map(|range| range.0).min()?;
    let high = ranges.iter().map(|range| range.1).max()?;
    let needed = bytes(transfers);
    let has_gaps = high - low != needed;
    let writes = transfers.first()?.writes;
    if has_gaps && (writes || high - low > needed.saturating_mul(WASTE)) {
        return None;
    }
    let positioned = has_gaps || transfers.iter().any(|moved| moved.positioned);
    Some(Moved { writes, positioned, offset: Some(low), asked: high - low, moved: high - low, buffers: 1 })
}

fn bytes(transfers: &[Moved]) -> u64 {
    transfers.iter().fold(0, |sum, moved| sum.saturating_add(moved.moved))
}

/// A transfer in pieces that are not too large.
fn pieces(moved: Moved) -> impl Iterator<Item = Moved> {
    let offset = moved.offset.unwrap_or_default();
    (0..moved.moved.div_ceil(LARGEST).max(1)).map(move |piece| {
        let begin = piece * LARGEST;
        let bytes = (moved.moved - begin).min(LARGEST);
        Moved { offset: Some(offset + begin), asked: bytes, moved: bytes, ..moved }
    })
}

/// An adjacent run in vectored calls: a buffer for each of its transfers, as many in each call as the system allows.
fn vectors(run: Moved, transfers: &[Moved]) -> Vec<Moved> {
    let mut calls: Vec<Moved> = Vec::new();
    let mut offset = run.offset.unwrap_or_default();
    for transfer in transfers {
        let has_room =
            |call: &&mut Moved| call.buffers < MAX_BUFFERS && call.moved + transfer.moved <= MAX_TRANSFER;
        match calls.last_mut().filter(has_room) {
            Some(call) => {
                call.asked += transfer.moved;
                call.moved += transfer.moved;
                call.buffers += 1;
            }
            None => calls.push(Moved {
                offset: Some(offset),
                asked: transfer.moved,
                moved: transfer.moved,
                buffers: 1,
                ..run
            }),
        }
        offset += transfer.moved;
    }
    calls
}

const fn with(call: &Call, action: CallAction) -> Call {
    Call { action, ..*call }
}

/// Before what a seek is needless.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A transfer, which can name its offset.
    Transfer,
    /// Another seek.
    Seek,
}

impl Before {
    const fn is(self, action: CallAction) -> bool {
        match self {
            Self::Transfer => matches!(action, CallAction::Transfer(_)),
            Self::Seek => matches!(action, CallAction::Seek(_)),
        }
    }
}

/// Without the seeks that are needless because of the next call of the same description.
fn without_seeks(calls: &[Call], before: Before) -> Vec<Call> {
    let mut next: HashMap<Description, CallAction> = HashMap::new();
    let mut changed = HashSet::new();
    let mut followed = Vec::new();
    for call in calls.iter().rev() {
        let after = call.open.and_then(|open| next.insert(open, call.action));
        if matches!(call.action, CallAction::Seek(_)) && after.is_some_and(|after| before.is(after)) {
            changed.extend(call.open);
        } else {
            followed.push(*call);
        }
    }
    followed.reverse();
    if before == Before::Transfer {
        position(&mut followed, &changed);
    }
    followed
}

/// Which bytes a program knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Read,
    Written,
}

/// Without the reads of bytes that the same process has read, or written, before.
fn without_reads(calls: &[Call], which: Known) -> Vec<Call> {
    let mut known: HashMap<(Pid, FileId), Intervals> = HashMap::new();
    let mut changed = HashSet::new();
    let mut followed = Vec::new();
    for call in calls {
        if matches!(call.action, CallAction::Truncate(_))
            || matches!(call.action, CallAction::Open(mode) if mode.truncate)
        {
            known.retain(|(_, file), _| *file != call.file);
        }
        let range = call.transfer().and_then(|moved| Some((moved.writes, moved.range()?)));
        match range {
            Some((true, range)) => {
                for ((_, file), bytes) in &mut known {
                    if *file == call.file {
                        bytes.remove(range);
                    }
                }
                if which == Known::Written {
                    known.entry((call.pid, call.file)).or_default().insert(range);
                }
            }
            Some((false, range)) => {
                let bytes = known.entry((call.pid, call.file)).or_default();
                if range.0 < range.1 && bytes.contains(range) {
                    changed.extend(call.open);
                    continue;
                }
                if which == Known::Read {
                    bytes.insert(range);
                }
            }
            None => {}
        }
        followed.push(*call);
    }
    // Seeks to where nothing is read any more are left as they are.
    position(&mut followed, &changed);
    followed
}

/// Each process opens each file once for each mode.
fn opened_once(calls: &[Call]) -> Vec<Call> {
    let mut first: HashMap<(Pid, FileId, OpenMode), Description> = HashMap::new();
    let mut instead: HashMap<Description, Description> = HashMap::new();
    let mut followed = Vec::new();
    for call in calls {
        let mut call = *call;
        if let (CallAction::Open(mode), Some(open)) = (call.action, call.open) {
            let lasting = OpenMode { create: false, truncate: false, ..mode };
            let kept = *first.entry((call.pid, call.file, lasting)).or_insert(open);
            if kept != open {
                instead.insert(open, kept);
                call.open = Some(kept);
                if mode.truncate {
                    followed.push(with(&call, CallAction::Truncate(0)));
                }
                continue;
            }
        }
        call.open = call.open.map(|open| instead.get(&open).copied().unwrap_or(open));
        followed.push(call);
    }
    let changed = instead.values().copied().collect();
    position(&mut followed, &changed);
    followed
}

/// Each process looks at a file once, and again when it has changed.
fn looked_at_once(calls: &[Call]) -> Vec<Call> {
    let mut known = HashSet::new();
    let mut keep = |call: &&Call| match call.action {
        CallAction::Stat => known.insert((call.pid, call.file)),
        CallAction::Truncate(_) => {
            known.retain(|(_, file)| *file != call.file);
            true
        }
        CallAction::Transfer(moved) if moved.writes => {
            known.retain(|(_, file)| *file != call.file);
            true
        }
        _ => true,
    };
    calls.iter().filter(|call| keep(call)).copied().collect()
}

/// One sync of ten, and the last; files opened with `O_SYNC` are synced after ten writes.
fn synced_in_batches(calls: &[Call]) -> Vec<Call> {
    let is_sync = |call: &Call| matches!(call.action, CallAction::Sync | CallAction::SyncData);
    let mut last: HashMap<Description, usize> = HashMap::new();
    let mut written_through = HashSet::new();
    for (index, call) in calls.iter().enumerate() {
        let Some(open) = call.open else { continue };
        if matches!(call.action, CallAction::Open(mode) if mode.sync) {
            written_through.insert(open);
        }
        let forces = written_through.contains(&open) && call.transfer().is_some_and(|moved| moved.writes);
        if is_sync(call) || forces {
            last.insert(open, index);
        }
    }
    let mut counts: HashMap<Description, u64> = HashMap::new();
    let mut followed = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let Some(open) = call.open else {
            followed.push(*call);
            continue;
        };
        let forces = written_through.contains(&open) && call.transfer().is_some_and(|moved| moved.writes);
        let mut due = || {
            let count = counts.entry(open).or_default();
            *count += 1;
            count.is_multiple_of(BATCH) || last.get(&open) == Some(&index)
        };
        match call.action {
            CallAction::Open(mode) => {
                followed.push(with(call, CallAction::Open(OpenMode { sync: false, ..mode })))
            }
            _ if is_sync(call) => followed.extend(due().then_some(*call)),
            _ if forces => {
                followed.push(*call);
                followed.extend(due().then(|| with(call, CallAction::SyncData)));
            }
            _ => followed.push(*call),
        }
    }
    followed
}

/// Writes begin and end at blocks.
fn aligned(calls: &[Call]) -> Vec<Call> {
    let align = |call: &Call| match call.action {
        CallAction::Transfer(moved) if moved.writes => {
            let Some((low, high)) = moved.range() else { return *call };
            let (low, high) = (low / BLOCK * BLOCK, high.div_ceil(BLOCK).saturating_mul(BLOCK));
            let bytes = high - low;
            with(
                call,
                CallAction::Transfer(Moved {
                    positioned: true,
                    offset: Some(low),
                    asked: bytes,
                    moved: bytes,
                    ..moved
                }),
            )
        }
        CallAction::Transfer(moved) => {
            with(call, CallAction::Transfer(Moved { positioned: moved.offset.is_some(), ..moved }))
        }
        _ => *call,
    };
    calls.iter().map(align).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::Files;
    use iotrail_model::{CaseId, OpenId};
    use iotrail_replay::{Action, Buffers, Plan};

    /// Calls of one process on one file through the descriptions of these numbers.
    fn calls(deeds: &[(u32, CallAction)]) -> Vec<Call> {
        let call = |(index, (open, action)): (usize, &(u32, CallAction))| Call {
            place: (CaseId(0), index as u64),
            start: index as i64,
            pid: Pid(1),
            file: FileId(0),
            open: Some((CaseId(0), OpenId(*open))),
            action: *action,
        };
        deeds.iter().enumerate().map(call).collect()
    }

    fn moved(writes: bool, offset: u64, bytes: u64) -> CallAction {
        CallAction::Transfer(Moved {
            writes,
            positioned: false,
            offset: Some(offset),
            asked: bytes,
            moved: bytes,
            buffers: 1,
        })
    }

    const OPEN: CallAction = CallAction::Open(OpenMode {
        read: true,
        write: true,
        create: false,
        truncate: false,
        append: false,
        sync: false,
        direct: false,
    });

    /// What is issued, checked as the engine does.
    fn issued(recorded: &[Call], calls: &[Call]) -> Vec<String> {
        let plan = Plan::new(Files::of(recorded).program(calls, false)).unwrap();
        let word = |action: Action| match action {
            Action::Open { .. } => "open".to_owned(),
            Action::Close(_) => "close".to_owned(),
            Action::Read(_, bytes) => format!("read {bytes}"),
            Action::Write(_, bytes) => format!("write {bytes}"),
            Action::ReadAt(_, offset, bytes) => format!("pread {bytes} at {offset}"),
            Action::WriteAt(_, offset, bytes) => format!("pwrite {bytes} at {offset}"),
            Action::ReadVector(_, offset, Buffers { bytes, count }) => {
                format!("readv {bytes} in {count} at {offset:?}")
            }
            Action::WriteVector(_, offset, Buffers { bytes, count }) => {
                format!("writev {bytes} in {count} at {offset:?}")
            }
            Action::Seek(_, to) => format!("seek {to}"),
            Action::Sync(_) | Action::SyncData(_) => "sync".to_owned(),
            Action::Truncate(_, size) => format!("truncate {size}"),
            Action::Barrier(_) => "barrier".to_owned(),
            Action::Stat(_) => "stat".to_owned(),
        };
        plan.program().streams[0].iter().map(|operation| word(operation.action)).collect()
    }

    #[test]
    fn runs_become_one_call_reads_at_the_first_and_writes_at_the_last() {
        let recorded = calls(&[
            (0, OPEN),
            (0, moved(false, 0, 10)),
            (0, moved(false, 10, 10)),
            (0, moved(true, 20, 5)),
            (0, moved(true, 25, 5)),
            (0, CallAction::Close),
        ]);
        let run = |places: &[u64]| places.iter().map(|seq| (CaseId(0), *seq)).collect::<Vec<_>>();
        let followed = merged(&recorded, &[run(&[1, 2]), run(&[3, 4])], Merge::OneBuffer);
        assert_eq!(issued(&recorded, &followed), ["open", "read 20", "write 10", "close"]);
        // A run of which a call is missing stays as it is.
        assert_eq!(merged(&recorded, &[run(&[1, 2, 99])], Merge::OneBuffer), recorded);
    }

    #[test]
    fn a_run_becomes_vectored_calls_with_a_buffer_for_each() {
        let mut deeds = vec![(0, OPEN)];
        deeds.extend((0..1030).map(|number| (0, moved(true, 100 + number * 7, 7))));
        let recorded = calls(&deeds);
        let run = (1..=1030).map(|seq| (CaseId(0), seq)).collect();
        let followed = merged(&recorded, &[run], Merge::Vectored);
        assert_eq!(
            issued(&recorded, &followed),
            ["open", "writev 7168 in 1024 at None", "writev 42 in 6 at None", "close"]
        );
        let mut positioned = recorded;
        for call in &mut positioned {
            if let CallAction::Transfer(moved) = &mut call.action {
                moved.positioned = true;
            }
        }
        let followed = merged(&positioned, &[(3..=5).map(|seq| (CaseId(0), seq)).collect()], Merge::Vectored);
        assert!(issued(&positioned, &followed).contains(&"writev 21 in 3 at Some(114)".to_owned()));
    }

    #[test]
    fn vectored_calls_move_no_more_than_one_operation_may() {
        let half = MAX_TRANSFER / 2;
        let mut deeds = vec![(0, OPEN)];
        deeds.extend((0..3).map(|number| (0, moved(false, number * half, half))));
        let recorded = calls(&deeds);
        let run = (1..=3).map(|seq| (CaseId(0), seq)).collect();
        let followed = merged(&recorded, &[run], Merge::Vectored);
        assert_eq!(
            issued(&recorded, &followed),
            ["open", "readv 67108864 in 2 at None", "read 33554432", "close"]
        );
    }

    #[test]
    fn strided_reads_are_one_range_and_the_rest_keeps_its_offsets() {
        let recorded = calls(&[
            (0, OPEN),
            (0, moved(false, 0, 10)),
            (0, CallAction::Seek(40)),
            (0, moved(false, 40, 10)),
            (0, moved(false, 50, 7)),
        ]);
        let followed = merged(&recorded, &[vec![(CaseId(0), 1), (CaseId(0), 3)]], Merge::Vectored);
        assert_eq!(issued(&recorded, &followed), ["open", "pread 50 at 0", "pread 7 at 50", "close"]);
    }

    #[test]
    fn a_seek_before_a_transfer_becomes_its_offset() {
        let recorded = calls(&[
            (0, OPEN),
            (0, CallAction::Seek(30)),
            (0, moved(false, 30, 10)),
            (0, moved(false, 40, 1)),
        ]);
        let followed = without_seeks(&recorded, Before::Transfer);
        assert_eq!(issued(&recorded, &followed), ["open", "pread 10 at 30", "pread 1 at 40", "close"]);
    }

    #[test]
    fn a_file_is_opened_once_and_emptied_as_often_as_before() {
        let again = OpenMode { truncate: true, read: true, write: true, ..OpenMode::default() };
        let recorded = calls(&[
            (0, OPEN),
            (0, moved(true, 0, 10)),
            (0, CallAction::Close),
            (1, CallAction::Open(again)),
            (1, moved(true, 0, 4)),
            (1, CallAction::Close),
        ]);
        let followed = opened_once(&recorded);
        assert_eq!(
            issued(&recorded, &followed),
            ["open", "pwrite 10 at 0", "truncate 0", "pwrite 4 at 0", "close"]
        );
    }

    #[test]
    fn what_was_read_is_read_again_only_if_it_was_written_since() {
        let read = moved(false, 0, 10);
        let recorded = calls(&[(0, OPEN), (0, read), (0, read), (0, moved(true, 5, 1)), (0, read)]);
        let followed = without_reads(&recorded, Known::Read);
        assert_eq!(
            issued(&recorded, &followed),
            ["open", "pread 10 at 0", "pwrite 1 at 5", "pread 10 at 0", "close"]
        );
    }

    #[test]
    fn one_sync_of_ten_is_left_and_the_last() {
        let mut deeds = vec![(0, OPEN)];
        deeds.extend((0..25).flat_map(|number| [(0, moved(true, number, 1)), (0, CallAction::Sync)]));
        let recorded = calls(&deeds);
        let synced = issued(&recorded, &synced_in_batches(&recorded));
        assert_eq!(synced.iter().filter(|word| *word == "sync").count(), 3);
        assert_eq!(synced[synced.len() - 2], "sync");
    }
}
