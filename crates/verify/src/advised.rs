//! The calls of a finding as they would be if the advice was followed.

use crate::calls::{Call, CallAction, Description, Moved};
use crate::lengths::{grown_at_once, written_once};
use crate::merge::{Merge, merged};
use crate::position::position;
use crate::ranks::{blocks_of_one, files_of_their_own, gathered, read_by_one};
use iotrail_advise::Item;
use iotrail_model::intervals::OrderedIntervals;
use iotrail_model::{CaseId, FileId, Pid};
use iotrail_replay::OpenMode;
use std::collections::{HashMap, HashSet};

/// Of so many syncs one is left.
const BATCH: u64 = 10;

/// Blocks to which writes are aligned.
const BLOCK: u64 = 4096;

/// The calls as advised; an error is why they cannot be told.
pub(crate) fn advised(item: Item<'_>, calls: &[Call], merge: Merge) -> Result<Vec<Call>, &'static str> {
    let followed = match (item, item.rule()) {
        (Item::Finding(finding), _) => match (finding.shape, finding.rule) {
            ("strided", "merge-writes") => {
                return Err(
                    "strided writes become one call only with another layout or collective MPI-IO: nobody knows what to write between them",
                );
            }
            _ => merged(calls, &finding.kept, merge),
        },
        (_, "seek-read") => without_seeks(calls, Before::Transfer),
        (_, "seek-seek") => without_seeks(calls, Before::Seek),
        (_, "read-again") => without_reads(calls, Known::Read),
        (_, "read-own-writes") => without_reads(calls, Known::Written),
        (_, "reopen") => opened_once(calls),
        (_, "stat-again") => looked_at_once(calls),
        (_, "sync-each-write") => synced_in_batches(calls),
        (_, "unaligned-writes") => aligned(calls),
        (_, "overwrite") => written_once(calls),
        (_, "grow-by-truncate") => grown_at_once(calls),
        (_, "interleaved-ranks") => gathered(calls)?,
        (_, "shared-blocks") => blocks_of_one(calls)?,
        (_, "every-rank-reads") => read_by_one(calls)?,
        (_, "shared-append") => files_of_their_own(calls)?,
        (_, rule) => return Err(why_not(rule)),
    };
    if followed == calls {
        return Err(
            "no call changes: the recording lacks calls, what is between them needs them, or one call would move more than 16 times the bytes that are needed",
        );
    }
    Ok(followed)
}

/// Why a rule has no other form of the same calls.
fn why_not(rule: &str) -> &'static str {
    match rule {
        "blocking-io" | "serial-phase" | "rank-imbalance" | "root-io" | "sync-bound" | "lock-waits"
        | "polling" => "it is about what processes do at the same time, not about the calls of one",
        "process-storm" | "same-command" | "slow-start" => "it is about processes, not about calls on files",
        "descriptor-leak" => "it costs no calls",
        "failed-lookups"
        | "list-and-stat"
        | "metadata-share"
        | "small-files"
        | "unused-files"
        | "tiny-pipe-transfers" => "it is about many files, not about the calls on one",
        "random-reads" => "which reads can be ordered or issued together depends on what the program knows",
        _ => "there is no other form of its calls",
    }
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
pub(crate) enum Known {
    Read,
    Written,
}

/// Without the reads of bytes that the same process has read, or written, before.
pub(crate) fn without_reads(calls: &[Call], which: Known) -> Vec<Call> {
    let mut known: HashMap<((CaseId, Pid), FileId), OrderedIntervals> = HashMap::new();
    let mut changed = HashSet::new();
    let mut followed = Vec::new();
    for call in calls {
        if matches!(call.action, CallAction::Truncate(_))
            || matches!(call.action, CallAction::Open(mode) if mode.truncate)
        {
            known.retain(|(_, file), _| *file != call.file);
        }
        let range = call.transfer().and_then(|moved| Some((moved.writes, moved.range()?)));
        match range.map(|(writes, (low, high))| (writes, low..high)) {
            Some((true, span)) => {
                for ((_, file), bytes) in &mut known {
                    if *file == call.file {
                        bytes.remove(span.clone());
                    }
                }
                if which == Known::Written {
                    known.entry((call.process(), call.file)).or_default().insert(span);
                }
            }
            Some((false, span)) => {
                let bytes = known.entry((call.process(), call.file)).or_default();
                if !span.is_empty() && bytes.contains(&span) {
                    changed.extend(call.open);
                    continue;
                }
                if which == Known::Read {
                    bytes.insert(span);
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
    let mut first: HashMap<((CaseId, Pid), FileId, OpenMode), Description> = HashMap::new();
    let mut instead: HashMap<Description, Description> = HashMap::new();
    let mut followed = Vec::new();
    for call in calls {
        let mut call = *call;
        if let (CallAction::Open(mode), Some(open)) = (call.action, call.open) {
            let lasting = OpenMode { create: false, truncate: false, ..mode };
            let kept = *first.entry((call.process(), call.file, lasting)).or_insert(open);
            if kept != open {
                instead.insert(open, kept);
                call.open = Some(kept);
                if mode.truncate {
                    followed.push(call.with(CallAction::Truncate(0)));
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
pub(crate) fn looked_at_once(calls: &[Call]) -> Vec<Call> {
    let mut known = HashSet::new();
    let mut keep = |call: &&Call| match call.action {
        CallAction::Stat => known.insert((call.process(), call.file)),
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
pub(crate) fn synced_in_batches(calls: &[Call]) -> Vec<Call> {
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
                followed.push(call.with(CallAction::Open(OpenMode { sync: false, ..mode })))
            }
            _ if is_sync(call) => followed.extend(due().then_some(*call)),
            _ if forces => {
                followed.push(*call);
                followed.extend(due().then(|| call.with(CallAction::SyncData)));
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
            call.with(CallAction::Transfer(Moved {
                positioned: true,
                offset: Some(low),
                asked: bytes,
                moved: bytes,
                ..moved
            }))
        }
        CallAction::Transfer(moved) => {
            call.with(CallAction::Transfer(Moved { positioned: moved.offset.is_some(), ..moved }))
        }
        _ => *call,
    };
    calls.iter().map(align).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{OPEN, calls, issued, moved};
    use iotrail_replay::MAX_TRANSFER;

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
        for (merge, range) in
            [(Merge::OneBuffer, "pread 50 at 0"), (Merge::Vectored, "readv 50 in 3 at Some(0)")]
        {
            let followed = merged(&recorded, &[vec![(CaseId(0), 1), (CaseId(0), 3)]], merge);
            assert_eq!(issued(&recorded, &followed), ["open", range, "pread 7 at 50", "close"]);
        }
    }

    #[test]
    fn scattered_accesses_are_sorted_and_joined_where_they_lie_together() {
        let run = vec![(1..=5).map(|seq| (CaseId(0), seq)).collect()];
        let issue = |writes, merge| {
            let at = [(900, 10), (0, 10), (910, 5), (40, 4), (10, 10)];
            let deeds = at.map(|(offset, bytes)| (0, moved(writes, offset, bytes)));
            let recorded = calls(&[&[(0, OPEN)][..], &deeds, &[(0, moved(writes, 915, 1))]].concat());
            issued(&recorded, &merged(&recorded, &run, merge)).join(", ")
        };
        assert_eq!(
            issue(true, Merge::OneBuffer),
            "open, pwrite 20 at 0, pwrite 4 at 40, pwrite 15 at 900, pwrite 1 at 915, close"
        );
        assert_eq!(
            issue(true, Merge::Vectored),
            "open, writev 20 in 2 at Some(0), pwrite 4 at 40, writev 15 in 2 at Some(900), pwrite 1 at 915, close"
        );
        assert_eq!(
            issue(false, Merge::OneBuffer),
            "open, pread 44 at 0, pread 15 at 900, pread 1 at 915, close"
        );
        assert_eq!(
            issue(false, Merge::Vectored),
            "open, readv 44 in 4 at Some(0), readv 15 in 2 at Some(900), pread 1 at 915, close"
        );
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
