//! The law of every other form of calls: each byte that was read is read again with the same content, the file ends with the same bytes. And
//! of their order: whoever of several threads is faster, each read gets what it got.

use crate::advised::{Known, looked_at_once, synced_in_batches, without_reads};
use crate::calls::{Call, CallAction, Moved};
use crate::issue::Files;
use crate::lanes::Lanes;
use crate::lengths::{grown_at_once, written_once};
use crate::merge::{Merge, merged};
use crate::order::waits;
use crate::ranks::{blocks_of_one, files_of_their_own, gathered, read_by_one};
use crate::testing::{OPEN, Random, call, moved, streams};
use iotrail_advise::{Access, CallPlace, Description, DescriptionId, FileAccesses, Kind, ProcessEdges, Run};
use iotrail_model::{CallId, CaseId, Pid};
use iotrail_replay::{Cache, OpenMode, Plan, Sandbox, Think, execute};
use std::sync::atomic::AtomicBool;

/// Bytes of a file: who wrote each, or 0 if it is a hole, or -1 if it was there before.
type Content = Vec<i64>;

/// How long the file is at the begin: the first call reads it.
const INITIAL: usize = 24;

/// What is done to a file.
#[derive(Clone, Default)]
struct Model {
    content: Content,
    /// What each read got, by the index of its call in the recording, from where.
    reads: Vec<(usize, u64, Content)>,
}

impl Model {
    fn new() -> Self {
        Self { content: vec![-1; INITIAL], reads: Vec::new() }
    }

    /// Executes a call; `writer` tells who wrote a byte.
    fn step(&mut self, index: usize, call: &Call, appends: bool, writer: impl Fn(u64) -> i64) {
        match call.action {
            CallAction::Truncate(size) => self.content.resize(size as usize, 0),
            CallAction::Transfer(Moved { writes: true, offset: Some(offset), moved, .. }) => {
                let low = if appends { self.content.len() } else { offset as usize };
                let end = low + moved as usize;
                if moved > 0 && self.content.len() < end {
                    self.content.resize(end, 0);
                }
                for at in low..end {
                    self.content[at] = writer(offset + (at - low) as u64);
                }
            }
            CallAction::Transfer(Moved { offset: Some(offset), asked, .. }) => {
                let end = ((offset + asked) as usize).min(self.content.len());
                let begin = (offset as usize).min(end);
                self.reads.push((index, offset, self.content[begin..end].to_vec()));
            }
            _ => {}
        }
    }
}

/// What schedules are made of.
#[derive(Clone, Copy)]
struct Choice {
    processes: u64,
    /// Of twelve calls so many set the length.
    truncates: u64,
    appends: bool,
    /// Whether offsets are few, so that bytes are touched often.
    dense: bool,
    /// Of ten transfers so many are writes.
    writes: u64,
    /// Whether most transfers go on where that of the process before ended.
    follows: bool,
}

/// Calls of several processes that are over before the next begins, but for the last ones, which overlap.
fn schedule(random: &mut Random, choice: Choice) -> Vec<Call> {
    let pid = |number: u64| number as u32 + 1;
    let mut calls: Vec<Call> = Vec::new();
    let push = |calls: &mut Vec<Call>, pid: u32, action| {
        let index = calls.len();
        let start = index as i64 * 10;
        calls.push(call(index, pid, pid, (start, start + 9), action));
    };
    for process in 0..choice.processes {
        let CallAction::Open(mode) = OPEN else { continue };
        let append = choice.appends && process % 2 == 1;
        push(&mut calls, pid(process), CallAction::Open(OpenMode { append, ..mode }));
    }
    push(&mut calls, 1, moved(false, 0, INITIAL as u64));
    let mut ends = vec![0; choice.processes as usize];
    for _ in 0..5 + random.below(30) {
        let process = random.below(choice.processes);
        let (offset, bytes) =
            if choice.dense { (random.below(8) * 4, 4) } else { (random.below(60), 1 + random.below(12)) };
        let next = &mut ends[process as usize];
        let offset = if choice.follows && random.below(4) > 0 { *next % 60 } else { offset };
        *next = offset + bytes;
        let action = match random.below(12) {
            kind if kind < choice.truncates => CallAction::Truncate(random.below(80)),
            10 => CallAction::Stat,
            11 => CallAction::Sync,
            _ => moved(random.below(10) < choice.writes, offset, bytes),
        };
        push(&mut calls, pid(process), action);
    }
    let last = calls.len() as i64 * 10;
    for process in 0..choice.processes {
        let index = calls.len();
        let until = last + 10 + process as i64;
        calls.push(call(index, pid(process), pid(process), (last, until), CallAction::Stat));
    }
    record(&mut calls);
    calls
}

/// Gives each transfer the place and bytes that it would have had.
fn record(calls: &mut [Call]) {
    let mut model = Model::new();
    for index in 0..calls.len() {
        let appends = appends(calls, &calls[index]);
        let size = model.content.len() as u64;
        if let CallAction::Transfer(moved) = &mut calls[index].action {
            moved.positioned = true;
            if moved.writes && appends {
                moved.offset = Some(size);
            } else if !moved.writes {
                moved.moved = moved.asked.min(size.saturating_sub(moved.offset.unwrap_or_default()));
            }
        }
        model.step(index, &calls[index].clone(), appends, |_| index as i64 + 1);
    }
}

fn appends(calls: &[Call], call: &Call) -> bool {
    let opened = calls.iter().find(|open| open.open == call.open);
    opened.is_some_and(|open| matches!(open.action, CallAction::Open(mode) if mode.append))
}

/// The recording, call by call in this order.
fn run(calls: &[Call], order: impl Iterator<Item = usize>) -> Model {
    let mut model = Model::new();
    for index in order {
        model.step(index, &calls[index], appends(calls, &calls[index]), |_| index as i64 + 1);
    }
    model.reads.sort_by_key(|read| read.0);
    model
}

/// The calls as advised: a process writes what the last one wrote that it stands for.
fn run_advised(recorded: &[Call], advised: &[Call], order: impl Iterator<Item = usize>) -> Model {
    let mut model = Model::new();
    for at in order {
        let call = &advised[at];
        let index = recorded.iter().position(|other| other.place == call.place).expect("a call of before");
        let writes_byte = |at: u64, call: &Call| {
            let moved = call.transfer().filter(|moved| moved.writes);
            moved.and_then(Moved::range).is_some_and(|(low, high)| low <= at && at < high)
        };
        let writer = |at: u64| {
            let before = recorded[..=index].iter().rposition(|call| writes_byte(at, call));
            let writer = before.or_else(|| recorded.iter().position(|call| writes_byte(at, call)));
            writer.map_or(0, |writer| writer as i64 + 1)
        };
        model.step(at, call, appends(recorded, call), writer);
    }
    model.reads.sort_by_key(|read| read.0);
    model
}

/// Calls, a line for each.
fn list(calls: &[Call]) -> String {
    let line = |call: &Call| format!("\n{} of {}: {:?}", call.place.1, call.pid, call.action);
    calls.iter().map(line).collect()
}

/// Each byte that was read is read with the same content, and what is left is the same.
#[track_caller]
fn assert_law(recorded: &[Call], advised: &[Call]) {
    let before = run(recorded, 0..recorded.len());
    let after = run_advised(recorded, advised, 0..advised.len());
    assert_eq!(before.content, after.content, "{}\n{}", list(recorded), list(advised));
    for (index, offset, bytes) in &before.reads {
        for (at, byte) in bytes.iter().enumerate().map(|(at, byte)| (offset + at as u64, byte)) {
            let has = |(_, low, bytes): &(usize, u64, Content)| {
                at.checked_sub(*low).and_then(|at| bytes.get(at as usize)) == Some(byte)
            };
            assert!(
                after.reads.iter().any(has),
                "byte {at} of call {index}: {}\n{}",
                list(recorded),
                list(advised)
            );
        }
    }
    for call in advised {
        let Some(read) = call.transfer().filter(|moved| !moved.writes) else { continue };
        let got = |(_, offset, bytes): &(usize, u64, Content)| {
            Some(*offset) == read.offset && bytes.len() as u64 == read.moved
        };
        assert!(after.reads.iter().any(got), "{call:?} of {}", list(recorded));
    }
}

const ANYTHING: Choice =
    Choice { processes: 3, truncates: 1, appends: true, dense: false, writes: 5, follows: false };

/// How many of so many random schedules change, all by the law.
fn changed(choice: Choice, follow: impl Fn(&[Call]) -> Option<Vec<Call>>) -> usize {
    let is_changed = |seed: u64| {
        let recorded = schedule(&mut Random::new(seed), choice);
        let advised = follow(&recorded).unwrap_or_else(|| recorded.clone());
        assert_law(&recorded, &advised);
        let makes_less = advised.len() < recorded.len();
        makes_less || advised.iter().zip(&recorded).any(|(a, b)| a.action != b.action || a.file != b.file)
    };
    (0..3_000).filter(|seed| is_changed(*seed)).count()
}

#[test]
fn bytes_that_are_written_once_are_the_same() {
    let dense = Choice { dense: true, truncates: 0, appends: false, ..ANYTHING };
    for (processes, writes) in [(1, 8), (1, 5), (2, 8)] {
        let choice = Choice { processes, writes, ..dense };
        assert!(changed(choice, |calls| Some(written_once(calls))) > 300);
    }
    changed(ANYTHING, |calls| Some(written_once(calls)));
    changed(Choice { dense: true, ..ANYTHING }, |calls| Some(written_once(calls)));
}

#[test]
fn what_is_not_read_again_is_known() {
    for choice in [ANYTHING, Choice { dense: true, ..ANYTHING }] {
        assert!(changed(choice, |calls| Some(without_reads(calls, Known::Read))) > 200);
        changed(choice, |calls| Some(looked_at_once(calls)));
        changed(choice, |calls| Some(synced_in_batches(calls)));
    }
}

#[test]
fn files_that_grow_at_once_have_the_same_bytes() {
    changed(ANYTHING, |calls| Some(grown_at_once(calls)));
    for (truncates, appends, writes) in [(6, false, 5), (6, true, 5), (3, false, 10)] {
        let choice = Choice { truncates, appends, writes, ..ANYTHING };
        assert!(changed(choice, |calls| Some(grown_at_once(calls))) > 100);
    }
}

#[test]
fn what_processes_divide_in_another_way_is_the_same() {
    let apart = Choice { dense: true, truncates: 0, appends: false, writes: 9, ..ANYTHING };
    for choice in [apart, Choice { writes: 1, ..apart }, Choice { writes: 0, ..apart }, ANYTHING] {
        changed(choice, |calls| gathered(calls).ok());
        changed(choice, |calls| blocks_of_one(calls).ok());
        changed(choice, |calls| read_by_one(calls).ok());
    }
    let reads = Choice { writes: 0, ..apart };
    assert!(changed(reads, |calls| gathered(calls).ok()) > 2_000);
    assert!(changed(reads, |calls| read_by_one(calls).ok()) > 1_000);
}

/// Pieces of three processes, in any order, between those of the others.
fn pieces(random: &mut Random, writes: bool) -> Vec<Call> {
    let count = 12 + random.below(20);
    let mut numbers: Vec<u64> = (0..count).filter(|_| random.below(8) > 0).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, random.below(last as u64 + 1) as usize);
    }
    let mut calls: Vec<Call> = (0..3).map(|pid| call(pid, pid as u32, pid as u32, (0, 1), OPEN)).collect();
    for number in numbers {
        let (index, pid) = (calls.len(), random.below(3) as u32);
        let start = index as i64 * 10;
        calls.push(call(index, pid, pid, (start, start + 15), moved(writes, 3_000 * number, 3_000)));
    }
    for call in &mut calls {
        if let CallAction::Transfer(moved) = &mut call.action {
            moved.positioned = true;
            moved.moved = if moved.writes { moved.asked } else { 0 };
        }
    }
    calls
}

#[test]
fn pieces_of_several_processes_are_the_same_bytes_when_others_write_them() {
    for seed in 0..40 {
        let recorded = pieces(&mut Random::new(seed), true);
        assert_law(&recorded, &gathered(&recorded).unwrap());
        assert_law(&recorded, &blocks_of_one(&recorded).unwrap());
    }
}

#[test]
fn runs_of_one_process_are_the_same_bytes_sorted_and_joined() {
    for seed in 0..1_000 {
        let mut random = Random::new(seed);
        let writes = random.below(2) == 0;
        let mut recorded = vec![call(0, 1, 1, (0, 1), OPEN)];
        let mut offsets: Vec<u64> = (0..20).filter(|_| random.below(3) > 0).map(|at| at * 8).collect();
        for last in (1..offsets.len()).rev() {
            offsets.swap(last, random.below(last as u64 + 1) as usize);
        }
        for offset in offsets {
            let index = recorded.len();
            let bytes = if random.below(2) == 0 { 8 } else { 1 + random.below(7) };
            recorded.push(call(index, 1, 1, (index as i64, index as i64), moved(writes, offset, bytes)));
        }
        if !writes {
            // The file is long enough.
            let index = recorded.len();
            recorded.insert(1, call(index, 1, 1, (0, 1), moved(true, 0, 200)));
        }
        record(&mut recorded);
        let run: Vec<_> = recorded[1..]
            .iter()
            .filter(|call| call.transfer().is_some_and(|moved| moved.writes == writes))
            .collect();
        let run = vec![run.iter().map(|call| call.place).collect::<Vec<_>>()];
        for merge in [Merge::OneBuffer, Merge::Vectored] {
            let advised = merged(&recorded, &run, merge);
            assert!(advised.len() <= recorded.len());
            assert_law(&recorded, &advised);
        }
    }
}

/// An order in which threads may do calls, if each waits where it must.
fn any_order(random: &mut Random, calls: &[Call], lanes: &Lanes) -> Vec<usize> {
    let waits = waits(calls, lanes, |_| Some(INITIAL as u64));
    let mut left: Vec<Vec<usize>> = vec![Vec::new(); lanes.count()];
    (0..calls.len()).rev().for_each(|index| left[lanes.lane(&calls[index])].push(index));
    let mut done = vec![false; calls.len()];
    let mut order = Vec::new();
    while order.len() < calls.len() {
        let ready = |lane: &Vec<usize>| {
            let next = lane.last()?;
            waits.get(next).into_iter().flatten().all(|other| done[*other]).then_some(*next)
        };
        let ready: Vec<usize> = left.iter().filter_map(ready).collect();
        let next = ready[random.below(ready.len() as u64) as usize];
        done[next] = true;
        left[lanes.lane(&calls[next])].pop();
        order.push(next);
    }
    order
}

#[test]
fn whoever_is_faster_reads_get_what_they_got() {
    let apart = Choice { appends: false, ..ANYTHING };
    for choice in [ANYTHING, apart, Choice { dense: true, ..apart }, Choice { follows: true, ..apart }] {
        for seed in 0..2_000 {
            let mut random = Random::new(seed);
            let calls = schedule(&mut random, choice);
            let lanes = Lanes::of(&calls).unwrap();
            assert_eq!(lanes.count(), 3);
            let order = any_order(&mut random, &calls, &lanes);
            let (before, after) = (run(&calls, 0..calls.len()), run(&calls, order.iter().copied()));
            if choice.appends {
                let sizes = |model: &Model| model.reads.iter().map(|read| read.2.len()).collect::<Vec<_>>();
                assert_eq!(sizes(&before), sizes(&after), "{order:?} of {}", list(&calls));
            } else {
                assert_eq!(before.reads, after.reads, "{order:?} of {}", list(&calls));
                assert_eq!(before.content, after.content, "{order:?} of {}", list(&calls));
            }
        }
    }
}

/// The runs that the advice finds among calls.
fn runs(calls: &[Call]) -> Vec<Vec<CallPlace>> {
    let access = |call: &Call| {
        let (kind, (low, high)) = match call.action {
            CallAction::Truncate(size) => (Kind::Write, (size, u64::MAX)),
            CallAction::Transfer(moved) if moved.writes => (Kind::Write, moved.range()?),
            CallAction::Transfer(moved) => (Kind::Read, moved.range()?),
            _ => return None,
        };
        let mergeable = matches!(call.action, CallAction::Transfer(_)) && low < high;
        let (start, end, seq) = (call.start, call.end, call.place.1);
        let description = DescriptionId(call.pid.0 - 1);
        let (tid, pid) = (call.tid, call.pid);
        let call = CallId(0);
        Some(Access {
            start,
            end,
            low,
            high,
            seq,
            description,
            tid,
            pid,
            call,
            kind,
            mergeable,
            syncs: false,
            timed: true,
        })
    };
    let file =
        FileAccesses { accesses: calls.iter().filter_map(access).collect(), ..FileAccesses::default() };
    let case = CaseId(0);
    let descriptions: Vec<Description> = (0..3)
        .map(|number| Description { case, pid: Pid(number + 1), appends: false, syncs: false })
        .collect();
    let found = file.runs(&descriptions, &ProcessEdges::default(), true);
    let places = |run: &Run| run.members.iter().map(|at| (case, file.accesses[*at as usize].seq)).collect();
    found.runs.iter().map(places).collect()
}

#[test]
fn merged_runs_of_several_processes_read_and_write_the_same_bytes_whoever_is_faster() {
    let follows = Choice { follows: true, appends: false, ..ANYTHING };
    let mut less = 0;
    for choice in [
        follows,
        Choice { truncates: 0, writes: 2, ..follows },
        Choice { truncates: 0, writes: 8, ..follows },
    ] {
        for seed in 0..2_000 {
            let mut random = Random::new(seed);
            let recorded = schedule(&mut random, choice);
            let lanes = Lanes::of(&recorded).unwrap();
            let runs = runs(&recorded);
            for merge in [Merge::OneBuffer, Merge::Vectored] {
                let advised = merged(&recorded, &runs, merge);
                less += usize::from(advised.len() < recorded.len());
                assert_law(&recorded, &advised);
                let order = any_order(&mut random, &advised, &lanes);
                let before = run_advised(&recorded, &advised, 0..advised.len());
                let after = run_advised(&recorded, &advised, order.iter().copied());
                assert_eq!(before.reads, after.reads, "{order:?} of {}", list(&advised));
                assert_eq!(before.content, after.content, "{order:?} of {}", list(&advised));
            }
        }
    }
    assert!(less > 6_000, "{less}");
}

#[test]
fn what_is_executed_returns_what_was_recorded() {
    static GO: AtomicBool = AtomicBool::new(false);
    let parent = tempfile::tempdir().unwrap();
    let own = Choice { writes: 10, appends: true, truncates: 0, ..ANYTHING };
    for seed in 0..60 {
        for (choice, follow) in [
            (ANYTHING, (|calls: &[Call]| Ok(written_once(calls))) as fn(&[Call]) -> _),
            (ANYTHING, |calls| Ok(grown_at_once(calls))),
            (Choice { writes: 0, ..ANYTHING }, gathered),
            (own, files_of_their_own),
        ] {
            let recorded = schedule(&mut Random::new(seed), choice);
            let advised = follow(&recorded).unwrap_or_else(|_: &'static str| recorded.clone());
            let (lanes, files) = (Lanes::of(&recorded).unwrap(), Files::of(&recorded, &advised));
            for calls in [&recorded, &advised] {
                let plan = Plan::new(files.program(calls, &lanes, false)).unwrap();
                let sandbox = Sandbox::new(&parent.path().join("s"), &plan).unwrap();
                sandbox.prepare(&plan, Cache::Warm, false, &GO).unwrap();
                let outcome = execute(&plan, &sandbox, Think::Dropped, &GO);
                assert_eq!(
                    outcome.differences,
                    0,
                    "{:?} of {} {}",
                    streams(&recorded, calls),
                    list(&recorded),
                    list(calls)
                );
            }
        }
    }
}
