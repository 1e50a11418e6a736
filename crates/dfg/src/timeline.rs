//! When each activity was in flight, case by case: the data of the paper's timeline plot (section IV-B, figure 5).
//!
//! An activity with few events keeps every one of them as a bar. Beyond [`TimelineOptions::bars`] the bars give way to
//! time bins, one row of bins for each case, and to the longest events; the events in a bin are counted, so a picture can
//! say how many events it stands for. When there are more bins than [`TimelineOptions::cells`], neighbouring bins are
//! joined pairwise. The number of bins of a whole is never smaller than that of a part, so parts may be accumulated in
//! any split, merged in any order, and give the same result; memory is bounded by the number of cells, or by the number
//! of (activity, case) pairs where that is larger.

use crate::activity_set::ActivitySet;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::{EventBatch, Nanos, Nullable, Timestamp};
use iotrail_query::{ActivityId, CaseKey, Classified};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How fine a timeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineOptions {
    /// Start of the first bin.
    pub origin: Timestamp,
    /// Length of the whole, nanoseconds.
    pub span_ns: u64,
    /// Number of bins at the finest resolution.
    pub bins: u32,
    /// How many events of an activity are kept one by one.
    pub bars: usize,
    /// How many of the longest events are kept where there are more.
    pub longest: usize,
    /// How many cells (activity, case, bin) are held before bins are joined.
    pub cells: usize,
}

/// One event in the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bar {
    /// Start of the event.
    pub start: Timestamp,
    /// The case that made it.
    pub key: CaseKey,
    /// Record order within the recorded case.
    pub seq: u64,
    /// Its duration; NULL if its end was never seen.
    pub duration: Nullable<Nanos>,
}

/// What happened in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Events that started in it.
    pub started: u64,
    /// Time in flight within it, summed over events, nanoseconds.
    pub busy_ns: u64,
}

impl Cell {
    fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.busy_ns = self.busy_ns.saturating_add(other.busy_ns);
    }
}

/// The bins of one case, by number; absent bins are empty.
pub type Row = BTreeMap<u32, Cell>;

/// A longest event: duration first, then the earlier row of the log.
type Ranked = (Nanos, Reverse<(CaseKey, Timestamp, u64)>);

/// One activity over time.
#[derive(Clone, Debug, Default)]
pub struct ActivityTimeline {
    count: u64,
    bars: Vec<Bar>,
    longest: BinaryHeap<Reverse<Ranked>>,
    rows: HashMap<CaseKey, Row, RandomState>,
}

impl ActivityTimeline {
    /// Number of events.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Every event by start, if they are few enough.
    #[must_use]
    pub fn bars(&self) -> Option<Vec<Bar>> {
        let mut bars = self.bars.clone();
        bars.sort_unstable();
        (bars.len() as u64 == self.count).then_some(bars)
    }

    /// The longest events, longest first.
    #[must_use]
    pub fn longest(&self) -> Vec<Bar> {
        let mut ranked: Vec<Ranked> = self.longest.iter().map(|Reverse(ranked)| *ranked).collect();
        ranked.sort_unstable_by_key(|ranked| Reverse(*ranked));
        let bar = |(duration, Reverse((key, start, seq))): Ranked| Bar {
            start,
            key,
            seq,
            duration: Nullable::some(duration),
        };
        ranked.into_iter().map(bar).collect()
    }

    /// The rows of bins, sorted by case.
    #[must_use]
    pub fn rows(&self) -> Vec<(CaseKey, &Row)> {
        let mut rows: Vec<_> = self.rows.iter().map(|(key, row)| (*key, row)).collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        rows
    }

    fn keep(&mut self, ranked: Ranked, room: usize) {
        if self.longest.len() < room {
            self.longest.push(Reverse(ranked));
        } else if let Some(mut least) = self.longest.peek_mut()
            && ranked > least.0
        {
            *least = Reverse(ranked);
        }
    }

    /// Counts `count` more events, whose bars are `bars` unless there are too many.
    fn keep_bars(&mut self, bars: &[Bar], count: u64, room: usize) {
        let complete = self.bars.len() as u64 == self.count && bars.len() as u64 == count;
        self.count += count;
        if complete && self.count <= room as u64 {
            self.bars.extend_from_slice(bars);
        } else {
            self.bars = Vec::new();
        }
    }
}

/// Collects the events of the wanted activities over time.
#[derive(Clone, Debug)]
pub struct Timeline {
    options: TimelineOptions,
    wanted: ActivitySet,
    bin_ns: u64,
    level: u32,
    cells: usize,
    activities: Vec<ActivityTimeline>,
}

impl Timeline {
    /// A timeline without events.
    #[must_use]
    pub fn new(options: TimelineOptions, wanted: ActivitySet) -> Self {
        let bin_ns = options.span_ns.div_ceil(u64::from(options.bins.max(1))).max(1);
        Self { options, wanted, bin_ns, level: 0, cells: 0, activities: Vec::new() }
    }

    /// Adds the events of a batch that belong to wanted activities.
    pub fn add(&mut self, batch: &EventBatch, classified: &Classified) {
        for row in 0..batch.len {
            let activity = classified.activity[row];
            if self.wanted.contains(activity)
                && let Some(index) = activity.index()
            {
                let bar = Bar {
                    start: batch.start[row],
                    key: classified.key[row],
                    seq: batch.seq[row],
                    duration: batch.dur[row],
                };
                self.add_event(index, bar);
            }
        }
    }

    fn add_event(&mut self, index: usize, bar: Bar) {
        if self.activities.len() <= index {
            self.activities.resize_with(index + 1, ActivityTimeline::default);
        }
        let (bin_ns, last) = (self.bin_ns, self.last_bin());
        let activity = &mut self.activities[index];
        activity.keep_bars(&[bar], 1, self.options.bars);
        if let Some(duration) = bar.duration.get() {
            activity.keep((duration, Reverse((bar.key, bar.start, bar.seq))), self.options.longest);
        }
        let row = activity.rows.entry(bar.key).or_default();
        let before = row.len();
        let start = (bar.start - self.options.origin).0.max(0) as u64;
        let duration = bar.duration.get().map_or(0, |duration| duration.0.max(0) as u64);
        fill(row, start, start.saturating_add(duration), bin_ns, last);
        self.cells += row.len() - before;
        self.coarsen();
    }

    /// Adds what another accumulator with the same options has seen.
    pub fn merge(&mut self, other: &Self) {
        while self.level < other.level {
            self.join_bins();
        }
        let shift = self.level - other.level;
        for (index, theirs) in other.activities.iter().enumerate() {
            if self.activities.len() <= index {
                self.activities.resize_with(index + 1, ActivityTimeline::default);
            }
            let ours = &mut self.activities[index];
            ours.keep_bars(&theirs.bars, theirs.count, self.options.bars);
            theirs.longest.iter().for_each(|Reverse(ranked)| ours.keep(*ranked, self.options.longest));
            for (key, cells) in &theirs.rows {
                let row = ours.rows.entry(*key).or_default();
                let before = row.len();
                cells.iter().for_each(|(bin, cell)| row.entry(bin >> shift).or_default().add(cell));
                self.cells += row.len() - before;
            }
        }
        self.coarsen();
    }

    /// Width of a bin, nanoseconds.
    #[must_use]
    pub const fn bin_ns(&self) -> u64 {
        self.bin_ns
    }

    /// Number of bins.
    #[must_use]
    pub fn bins(&self) -> u32 {
        self.last_bin() + 1
    }

    /// One activity over time; nothing if it was not wanted or never seen.
    #[must_use]
    pub fn activity(&self, activity: ActivityId) -> Option<&ActivityTimeline> {
        self.activities.get(activity.index()?).filter(|activity| activity.count > 0)
    }

    fn last_bin(&self) -> u32 {
        (self.options.bins.max(1) - 1) >> self.level
    }

    fn coarsen(&mut self) {
        while self.cells > self.options.cells && self.last_bin() > 0 {
            self.join_bins();
        }
    }

    fn join_bins(&mut self) {
        self.level += 1;
        self.bin_ns = self.bin_ns.saturating_mul(2);
        self.cells = 0;
        for row in self.activities.iter_mut().flat_map(|activity| activity.rows.values_mut()) {
            let mut joined = Row::new();
            row.iter().for_each(|(bin, cell)| joined.entry(bin >> 1).or_default().add(cell));
            self.cells += joined.len();
            *row = joined;
        }
    }
}

/// Adds an event in flight during `[start, end)` to the bins it touches. What lies behind the last bin counts there.
fn fill(row: &mut Row, start: u64, end: u64, bin_ns: u64, last: u32) {
    let bin_of = |time: u64| u32::try_from(time / bin_ns).unwrap_or(u32::MAX).min(last);
    let (first_bin, last_bin) = (bin_of(start), bin_of(end.saturating_sub(1).max(start)));
    row.entry(first_bin).or_default().started += 1;
    for bin in first_bin..=last_bin {
        let from = start.max(u64::from(bin) * bin_ns);
        let to = if bin == last { end } else { end.min((u64::from(bin) + 1) * bin_ns) };
        let busy = to.saturating_sub(from);
        if busy > 0 {
            let cell = row.entry(bin).or_default();
            cell.busy_ns = cell.busy_ns.saturating_add(busy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::{CaseId, Event};
    use proptest::prelude::*;

    const ONLY: ActivityId = ActivityId(0);

    fn options(bars: usize, cells: usize) -> TimelineOptions {
        TimelineOptions { origin: Timestamp(0), span_ns: 80, bins: 8, bars, longest: 2, cells }
    }

    fn timeline_of(events: &[(u32, i64, Option<i64>)], options: TimelineOptions) -> Timeline {
        let rows: Vec<Event> = events
            .iter()
            .map(|(case, start, dur)| Event {
                case: CaseId(*case),
                seq: (*start * 100 + dur.unwrap_or(99)) as u64,
                start: Timestamp(*start),
                dur: dur.map(Nanos).into(),
                ..Event::default()
            })
            .collect();
        let classified = Classified {
            activity: vec![ONLY; rows.len()],
            key: rows.iter().map(|event| CaseKey::new(event.case, 0)).collect(),
        };
        let mut timeline = Timeline::new(options, ActivitySet::only([ONLY]));
        timeline.add(&EventBatch::from_events(&rows), &classified);
        timeline
    }

    fn everything(timeline: &Timeline) -> impl PartialEq + std::fmt::Debug + use<> {
        let activity = timeline.activity(ONLY).map(|activity| {
            let rows: Vec<_> = activity.rows().into_iter().map(|(key, row)| (key, row.clone())).collect();
            (activity.count(), activity.bars(), activity.longest(), rows)
        });
        (timeline.bin_ns(), timeline.bins(), activity)
    }

    #[test]
    fn time_in_flight_is_shared_out_to_the_bins_it_falls_into() {
        let timeline = timeline_of(&[(0, 5, Some(20))], options(9, 99));
        let rows = timeline.activity(ONLY).unwrap().rows();
        let cells: Vec<_> = rows[0].1.iter().map(|(bin, cell)| (*bin, cell.started, cell.busy_ns)).collect();
        assert_eq!(cells, [(0, 1, 5), (1, 0, 10), (2, 0, 5)]);
    }

    #[test]
    fn too_many_events_leave_the_longest_and_the_bins() {
        let timeline = timeline_of(&[(0, 0, Some(1)), (0, 10, Some(3)), (1, 20, Some(2))], options(2, 99));
        let activity = timeline.activity(ONLY).unwrap();
        assert_eq!(activity.bars(), None);
        assert_eq!(activity.longest().iter().map(|bar| bar.start.0).collect::<Vec<_>>(), [10, 20]);
        assert_eq!(activity.count(), 3);
    }

    #[test]
    fn too_many_cells_join_bins_without_losing_time() {
        let timeline = timeline_of(&[(0, 0, Some(80)), (1, 0, Some(80))], options(9, 5));
        assert_eq!((timeline.bins(), timeline.bin_ns()), (2, 40));
        let busy: u64 = timeline.activity(ONLY).unwrap().rows()[0].1.values().map(|cell| cell.busy_ns).sum();
        assert_eq!(busy, 80);
    }

    #[test]
    fn an_event_far_behind_the_end_is_counted_in_the_last_bin() {
        let timeline = timeline_of(&[(0, 1_000_000_000, Some(7))], options(9, 99));
        let rows = timeline.activity(ONLY).unwrap().rows();
        assert_eq!(rows[0].1.get(&7), Some(&Cell { started: 1, busy_ns: 7 }));
    }

    proptest! {
        #[test]
        fn any_split_in_any_order_gives_the_whole(
            events in prop::collection::vec((0..3_u32, 0..90_i64, prop::option::of(0..50_i64)), 0..30),
            cuts in prop::collection::vec(0..3_usize, 30),
            rotate in 0..3_usize,
            (bars, cells) in (0..20_usize, 1..40_usize),
        ) {
            let mut parts: Vec<Timeline> = (0..3).map(|part| {
                let chosen: Vec<_> = events.iter().zip(&cuts).filter(|(_, cut)| **cut == part).map(|(event, _)| *event).collect();
                timeline_of(&chosen, options(bars, cells))
            }).collect();
            parts.rotate_left(rotate);
            let mut merged = parts.remove(0);
            parts.iter().for_each(|part| merged.merge(part));
            prop_assert_eq!(everything(&merged), everything(&timeline_of(&events, options(bars, cells))));
        }
    }
}
