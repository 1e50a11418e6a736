//! What stands behind the figures of a graph: slowest events, files and cases of each activity, threads, calls.
//!
//! A figure that nobody can trace back to events is an opinion, so each activity keeps its longest events, and its
//! totals over files and over cases. Every part is a sum, an extreme or a sorted selection with a total order, hence
//! mergeable: any split of the log, in any order, gives the same result. Memory grows with the distinct (activity, file)
//! and (activity, case) pairs of the activities asked for, never with the number of events.
//!
//! The time of a thread runs from its first start to its last end. A thread makes one call at a time, so the sum of its
//! durations over its time is the share of time it spent in calls.

use crate::activity_set::ActivitySet;
use crate::keyed_sums::KeyedSums;
use iotrail_model::calls::Transfer;
use iotrail_model::{CallId, CaseId, Event, EventBatch, FileId, Nanos, Pid, Tid, Timestamp};
use iotrail_query::{ActivityId, CaseKey, Classified};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Sums over a set of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of events.
    pub count: u64,
    /// Events that failed.
    pub failures: u64,
    /// Events that have a duration.
    pub timed: u64,
    /// Sum of those durations, nanoseconds.
    pub duration_ns: u64,
    /// Bytes moved by read variants.
    pub read: u64,
    /// Bytes moved by write variants.
    pub written: u64,
    /// Bytes moved from one descriptor to another inside the kernel.
    pub copied: u64,
}

impl Totals {
    /// Bytes moved in any direction.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.read.saturating_add(self.written).saturating_add(self.copied)
    }

    /// The time of the events, nanoseconds, if anything is known of it.
    #[must_use]
    pub fn known_duration_ns(&self) -> Option<u64> {
        (self.timed > 0 || self.count == 0).then_some(self.duration_ns)
    }

    /// Adds the sums of another set. Sums stop at the largest number, so that no trace can make them wrap.
    pub const fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.failures = self.failures.saturating_add(other.failures);
        self.timed = self.timed.saturating_add(other.timed);
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
        self.copied = self.copied.saturating_add(other.copied);
    }

    fn of(event: &Row) -> Self {
        let bytes = event.bytes;
        let (read, written, copied) = match event.transfer {
            Transfer::Read => (bytes, 0, 0),
            Transfer::Write => (0, bytes, 0),
            Transfer::Copy | Transfer::None => (0, 0, bytes),
        };
        let duration_ns = event.duration.map_or(0, |dur| dur.max(0) as u64);
        let (failures, timed) = (u64::from(event.failed), u64::from(event.duration.is_some()));
        Self { count: 1, failures, timed, duration_ns, read, written, copied }
    }
}

/// The life of a thread, or of a case, as far as its events show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedSpan {
    /// First start.
    pub first: Timestamp,
    /// Last end (start, where the end of an event is unknown).
    pub last: Timestamp,
    /// Sums over its events.
    pub totals: Totals,
}

impl ObservedSpan {
    /// No events.
    const NONE: Self = Self {
        first: Timestamp(i64::MAX),
        last: Timestamp(i64::MIN),
        totals: Totals { count: 0, failures: 0, timed: 0, duration_ns: 0, read: 0, written: 0, copied: 0 },
    };

    /// From the first start to the last end, nanoseconds.
    #[must_use]
    pub fn span_ns(&self) -> u64 {
        (self.last - self.first).0.max(0) as u64
    }

    fn add(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.totals.add(&other.totals);
    }
}

/// A thread of a recorded case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey {
    /// The recorded case.
    pub case: CaseId,
    /// Process of the thread.
    pub pid: Pid,
    /// Thread id within its case.
    pub tid: Tid,
}

/// An event among the longest of its activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// How long it took.
    pub duration: Nanos,
    /// The case as the query defines it.
    pub key: CaseKey,
    /// The event itself.
    pub event: Event,
}

impl Ord for Example {
    /// Longer is greater; among equals the earlier row of the log is.
    fn cmp(&self, other: &Self) -> Ordering {
        self.duration.cmp(&other.duration).then_with(|| other.event.sort_key().cmp(&self.event.sort_key()))
    }
}

impl PartialOrd for Example {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What stands behind one activity.
#[derive(Clone, Debug, Default)]
pub struct ActivityDetails {
    slowest: BinaryHeap<Reverse<Example>>,
    files: KeyedSums<FileId, Totals>,
    cases: KeyedSums<CaseKey, Totals>,
    without_path: Totals,
}

impl ActivityDetails {
    /// The longest events, longest first.
    #[must_use]
    pub fn slowest(&self) -> Vec<Example> {
        let mut slowest: Vec<Example> = self.slowest.iter().map(|Reverse(example)| *example).collect();
        slowest.sort_unstable_by(|a, b| b.cmp(a));
        slowest
    }

    /// Totals of each file, whatever its names, longest total duration first.
    #[must_use]
    pub fn files(&self) -> Vec<(FileId, Totals)> {
        by_duration(&self.files)
    }

    /// Totals of each case, longest total duration first.
    #[must_use]
    pub fn cases(&self) -> Vec<(CaseKey, Totals)> {
        by_duration(&self.cases)
    }

    /// Totals of the events whose path is unknown.
    #[must_use]
    pub const fn without_path(&self) -> &Totals {
        &self.without_path
    }

    fn keep(&mut self, example: Example, room: usize) {
        if self.slowest.len() < room {
            self.slowest.push(Reverse(example));
        } else if let Some(mut least) = self.slowest.peek_mut()
            && example > least.0
        {
            *least = Reverse(example);
        }
    }

    fn merge(&mut self, other: &Self, room: usize) {
        other.slowest.iter().for_each(|Reverse(example)| self.keep(*example, room));
        add_all(&mut self.files, &other.files);
        add_all(&mut self.cases, &other.cases);
        self.without_path.add(&other.without_path);
    }
}

/// Sums by activity and file, transition and thread, which merge in any order.
#[derive(Clone, Debug)]
pub struct Details {
    examples: usize,
    wanted: ActivitySet,
    transfers: Arc<[Transfer]>,
    activities: Vec<ActivityDetails>,
    all: Totals,
    calls: Vec<Totals>,
    files: KeyedSums<FileId, Totals>,
    cases: KeyedSums<CaseKey, ObservedSpan>,
    threads: KeyedSums<ThreadKey, ObservedSpan>,
}

impl Details {
    /// Nothing yet; `examples` events are kept for each of the `wanted` activities. `transfers` says by [`CallId`] which
    /// way a call moves data.
    #[must_use]
    pub fn new(examples: usize, wanted: ActivitySet, transfers: Arc<[Transfer]>) -> Self {
        Self {
            examples,
            wanted,
            transfers,
            activities: Vec::new(),
            all: Totals::default(),
            calls: Vec::new(),
            files: KeyedSums::default(),
            cases: KeyedSums::default(),
            threads: KeyedSums::default(),
        }
    }

    /// Adds the selected events of a batch. Rows without an activity count for calls, files, cases and threads only.
    pub fn add(&mut self, batch: &EventBatch, classified: &Classified) {
        for row in 0..batch.len {
            let activity = classified.activity[row];
            if activity != ActivityId::UNSELECTED {
                self.add_row(batch, row, activity, classified.key[row]);
            }
        }
    }

    fn add_row(&mut self, batch: &EventBatch, row: usize, activity: ActivityId, key: CaseKey) {
        let event = Row::of(batch, row, &self.transfers);
        let totals = Totals::of(&event);
        self.all.add(&totals);
        at(&mut self.calls, event.call.index()).add(&totals);
        let span = ObservedSpan { first: event.start, last: event.end(), totals };
        let thread = ThreadKey { case: key.case(), pid: batch.pid[row], tid: batch.tid[row] };
        self.cases.get_or(key, ObservedSpan::NONE).add(&span);
        self.threads.get_or(thread, ObservedSpan::NONE).add(&span);
        if let Some(file) = event.file {
            self.files.get_or(file, Totals::default()).add(&totals);
        }
        let Some(index) = activity.index().filter(|_| self.wanted.contains(activity)) else { return };
        let details = at(&mut self.activities, index);
        details.cases.get_or(key, Totals::default()).add(&totals);
        match event.file {
            Some(file) => details.files.get_or(file, Totals::default()).add(&totals),
            None => details.without_path.add(&totals),
        }
        if let Some(duration) = event.duration {
            let least = details.slowest.peek().map_or(i64::MIN, |Reverse(example)| example.duration.0);
            if details.slowest.len() < self.examples || duration >= least {
                let example = Example { duration: Nanos(duration), key, event: batch.event(row) };
                details.keep(example, self.examples);
            }
        }
    }

    /// Adds what another accumulator with the same options has seen.
    pub fn merge(&mut self, other: &Self) {
        for (index, details) in other.activities.iter().enumerate() {
            at(&mut self.activities, index).merge(details, self.examples);
        }
        self.all.add(&other.all);
        for (index, totals) in other.calls.iter().enumerate() {
            at(&mut self.calls, index).add(totals);
        }
        add_all(&mut self.files, &other.files);
        add_spans(&mut self.cases, &other.cases);
        add_spans(&mut self.threads, &other.threads);
    }

    /// What stands behind an activity; nothing if it was not wanted or never seen.
    #[must_use]
    pub fn activity(&self, activity: ActivityId) -> Option<&ActivityDetails> {
        self.activities.get(activity.index()?)
    }

    /// Sums over all selected events, mapped or not.
    #[must_use]
    pub const fn all(&self) -> &Totals {
        &self.all
    }

    /// Totals of each call that occurs, longest total duration first.
    #[must_use]
    pub fn calls(&self) -> Vec<(CallId, Totals)> {
        let used = self.calls.iter().enumerate().filter(|(_, totals)| totals.count > 0);
        let mut calls: Vec<_> = used.map(|(index, totals)| (CallId::from_index(index), *totals)).collect();
        calls.sort_unstable_by_key(|(call, totals)| (Reverse(totals.duration_ns), *call));
        calls
    }

    /// Totals of each file, whatever its names, longest total duration first.
    #[must_use]
    pub fn files(&self) -> Vec<(FileId, Totals)> {
        by_duration(&self.files)
    }

    /// Every case, sorted by its key.
    #[must_use]
    pub fn cases(&self) -> Vec<(CaseKey, ObservedSpan)> {
        by_key(&self.cases)
    }

    /// Every thread, sorted by its key.
    #[must_use]
    pub fn threads(&self) -> Vec<(ThreadKey, ObservedSpan)> {
        by_key(&self.threads)
    }
}

/// The columns that details need of a row.
struct Row {
    call: CallId,
    start: Timestamp,
    duration: Option<i64>,
    file: Option<FileId>,
    bytes: u64,
    transfer: Transfer,
    failed: bool,
}

impl Row {
    fn of(batch: &EventBatch, row: usize, transfers: &[Transfer]) -> Self {
        let call = batch.call[row];
        Self {
            call,
            start: batch.start[row],
            duration: batch.dur[row].get().map(|dur| dur.0),
            file: batch.file[row].get(),
            bytes: batch.size[row].get().map_or(0, |size| size.max(0) as u64),
            transfer: transfers.get(call.index()).copied().unwrap_or_default(),
            failed: batch.errno[row].get().is_some(),
        }
    }

    fn end(&self) -> Timestamp {
        self.start + Nanos(self.duration.unwrap_or(0).max(0))
    }
}

fn at<T: Default>(table: &mut Vec<T>, index: usize) -> &mut T {
    if table.len() <= index {
        table.resize_with(index + 1, T::default);
    }
    &mut table[index]
}

fn add_all<K: Copy + Eq + std::hash::Hash>(sums: &mut KeyedSums<K, Totals>, other: &KeyedSums<K, Totals>) {
    for (key, totals) in other.iter() {
        sums.get_or(*key, Totals::default()).add(totals);
    }
}

fn add_spans<K: Copy + Eq + std::hash::Hash>(
    spans: &mut KeyedSums<K, ObservedSpan>,
    other: &KeyedSums<K, ObservedSpan>,
) {
    for (key, span) in other.iter() {
        spans.get_or(*key, ObservedSpan::NONE).add(span);
    }
}

fn by_duration<K: Copy + Ord + std::hash::Hash>(sums: &KeyedSums<K, Totals>) -> Vec<(K, Totals)> {
    let mut sorted: Vec<(K, Totals)> = sums.iter().copied().collect();
    sorted.sort_unstable_by_key(|(key, totals)| (Reverse((totals.duration_ns, totals.count)), *key));
    sorted
}

fn by_key<K: Copy + Ord + std::hash::Hash, V: Copy>(map: &KeyedSums<K, V>) -> Vec<(K, V)> {
    let mut sorted: Vec<(K, V)> = map.iter().copied().collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Nullable;
    use proptest::prelude::*;

    fn event(
        case: u32,
        seq: u64,
        start: i64,
        dur: Option<i64>,
        file: Option<u32>,
        size: Option<i64>,
    ) -> Event {
        Event {
            case: CaseId(case),
            seq,
            pid: Pid(case + 1),
            tid: Tid(case + 1 + (seq % 2) as u32),
            start: Timestamp(start),
            dur: dur.map(Nanos).into(),
            file: file.map(FileId).into(),
            size: Nullable::from(size),
            ..Event::default()
        }
    }

    fn details_of(events: &[(Event, ActivityId)]) -> Details {
        let rows: Vec<Event> = events.iter().map(|(event, _)| *event).collect();
        let classified = Classified {
            activity: events.iter().map(|(_, activity)| *activity).collect(),
            key: events.iter().map(|(event, _)| CaseKey::new(event.case, 0)).collect(),
        };
        let mut details = Details::new(2, ActivitySet::only([ActivityId(0), ActivityId(1)]), [].into());
        details.add(&EventBatch::from_events(&rows), &classified);
        details
    }

    fn everything(details: &Details) -> impl PartialEq + std::fmt::Debug + use<> {
        let activity = |id| {
            let found = details.activity(ActivityId(id));
            found.map(|found| (found.slowest(), found.files(), found.cases(), *found.without_path()))
        };
        let activities: Vec<_> = (0..3).map(activity).collect();
        (activities, *details.all(), details.calls(), details.files(), details.cases(), details.threads())
    }

    #[test]
    fn the_slowest_events_come_first_and_ties_go_to_the_earlier_row() {
        let events: Vec<_> = [(0, 5), (1, 9), (2, 9), (3, 9)]
            .map(|(seq, dur)| (event(0, seq, seq as i64, Some(dur), None, None), ActivityId(0)))
            .to_vec();
        let details = details_of(&events);
        let order: Vec<u64> = details
            .activity(ActivityId(0))
            .unwrap()
            .slowest()
            .iter()
            .map(|example| example.event.seq)
            .collect();
        assert_eq!(order, [1, 2]);
    }

    #[test]
    fn events_without_an_activity_count_for_the_whole_and_unselected_ones_do_not() {
        let row = event(0, 0, 10, Some(5), Some(3), Some(100));
        let details = details_of(&[
            (row, ActivityId::UNMAPPED),
            (row, ActivityId::UNSELECTED),
            (event(0, 2, 50, None, None, None), ActivityId(0)),
        ]);
        assert_eq!((details.all().count, details.all().bytes()), (2, 100));
        assert_eq!(details.cases()[0].1.span_ns(), 40);
        assert!(details.activity(ActivityId(0)).unwrap().slowest().is_empty());
    }

    proptest! {
        #[test]
        fn any_split_in_any_order_gives_the_whole(
            rows in prop::collection::vec((0..3_u32, 0..50_i64, prop::option::of(0..5_i64), prop::option::of(0..3_u32), 0..4_u32), 0..40),
            cuts in prop::collection::vec(0..4_usize, 40),
            rotate in 0..4_usize,
        ) {
            let events: Vec<_> = rows.iter().enumerate().map(|(seq, (case, start, dur, path, activity))| {
                let activity = if *activity == 3 { ActivityId::UNMAPPED } else { ActivityId(*activity) };
                (event(*case, seq as u64, *start, *dur, *path, dur.map(|dur| dur * 3)), activity)
            }).collect();
            let mut parts: Vec<Details> = (0..4).map(|part| {
                let chosen: Vec<_> = events.iter().zip(&cuts).filter(|(_, cut)| **cut == part).map(|(event, _)| *event).collect();
                details_of(&chosen)
            }).collect();
            parts.rotate_left(rotate);
            let mut merged = parts.remove(0);
            parts.iter().for_each(|part| merged.merge(part));
            prop_assert_eq!(everything(&merged), everything(&details_of(&events)));
        }
    }
}
