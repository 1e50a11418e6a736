//! The loop over events.
//!
//! It runs ten million times a second, so it allocates nothing, hashes nothing while a case goes on, and
//! asks "did this case have this relation before?" by comparing one number: the relation's latest case.
//! Measured with `examples/dfg_speed.rs` (10 million events, 76 activities, 1,215 relations, 30 cases; a loaded virtual
//! machine): 72 ns of CPU time for each event here, of which a third waits for the memory of the relation, and 20 ns to
//! finish; 133 MB held, 80 MB of it gaps that are still exact.

use crate::open_cases::{BoundaryEvents, OpenCase, OpenCases};
use crate::plan::Plan;
use crate::totals::Totals;
use crate::vertex::Relation;
use hashbrown::HashMap;
use iotrail_model::calls::{EventClasses, Transfer};
use iotrail_model::{EventBatch, FileId, Nanos, Nullable, Timestamp};
use iotrail_query::{ActivityId, CaseKey, Classified};
use std::sync::Arc;

/// Sums up pieces of a log in any order; one for each worker.
#[derive(Clone, Debug)]
pub struct Accumulator {
    plan: Arc<Plan>,
    /// What tells waits from other calls; without it nothing is known to wait.
    classes: Option<Arc<EventClasses>>,
    totals: Totals,
    /// By number of a relation, the latest case that had it.
    latest_case: Vec<u64>,
    /// Cases seen so far; distinguishes cases in `latest_case`.
    serial: u64,
}

/// The cases of one piece.
struct PieceCases {
    list: Vec<OpenCase>,
    places: HashMap<CaseKey, usize, foldhash::fast::RandomState>,
    /// Serial number of the first one.
    first_serial: u64,
}

/// What the loop reads of an event.
#[derive(Clone, Copy)]
struct Row {
    activity: u32,
    start: Timestamp,
    /// NULL too if it is negative, which no clock gives.
    duration: Option<u64>,
    size: Option<u64>,
    /// Whether its time is waiting.
    waits: bool,
    /// Whether it is a request, whose time no thread spends.
    is_request: bool,
    /// Whether its time is I/O time; asked only where sums are kept for each case.
    is_io: bool,
    /// Whether `start` means anything.
    timed: bool,
    /// Whether it tells how far apart calls are and which overlap.
    times_calls: bool,
}

impl Accumulator {
    /// Nothing summed up yet.
    #[must_use]
    pub fn new(plan: Arc<Plan>) -> Self {
        let totals = Totals::new(plan.slots());
        Self { plan, classes: None, totals, latest_case: Vec::new(), serial: 0 }
    }

    /// Tells waits from other calls. Batches must have the columns call, path, path2 and flags then.
    #[must_use]
    pub fn with_classes(self, classes: Arc<EventClasses>) -> Self {
        Self { classes: Some(classes), ..self }
    }

    /// Adds consecutive rows; the result holds the cases that may go on beyond them.
    ///
    /// The batch must have the columns start, dur, file, size and errno.
    #[must_use]
    pub fn add(&mut self, batch: &EventBatch, classified: &Classified) -> OpenCases {
        let mut cases =
            PieceCases { list: Vec::new(), places: HashMap::default(), first_serial: self.serial };
        let mut current: Option<(CaseKey, Option<usize>)> = None;
        for row in 0..batch.len {
            let activity = classified.activity[row];
            if activity == ActivityId::UNSELECTED {
                continue;
            }
            let key = classified.key[row];
            let place = match current {
                Some((same, place)) if same == key => place,
                _ => {
                    let place = cases.enter(key, &self.plan);
                    current = Some((key, place));
                    place
                }
            };
            let Some(place) = place else { continue };
            self.totals.events.total += 1;
            let Some(index) = activity.index() else {
                self.totals.events.unmapped += 1;
                self.add_unmapped(batch, row);
                continue;
            };
            let serial = cases.first_serial + place as u64;
            let case = &mut cases.list[place];
            let classes = self.classes.as_ref();
            let is_request = classes.is_some_and(|classes| classes.is_request(batch.call[row]));
            let waits = !is_request && classes.is_some_and(|classes| classes.waits(batch, row));
            let event = Row {
                activity: index as u32,
                start: batch.start[row],
                duration: known(batch.dur[row].get().map(|Nanos(nanos)| nanos)),
                size: known(batch.size[row].get()),
                waits,
                is_request,
                is_io: case.sums.is_some() && !waits && !is_request && self.may_be_io(batch, row),
                timed: case.timed,
                times_calls: case.times_calls,
            };
            self.count(event, case.slot, !batch.errno[row].is_null(), batch.file[row]);
            self.extend(case, serial, event);
        }
        self.serial += cases.list.len() as u64;
        OpenCases::new(cases.list, &mut self.totals)
    }

    /// Whether a call that does not wait is of data, sync or metadata; one that nobody knows, and a transfer of what is not known, may be.
    fn may_be_io(&self, batch: &EventBatch, row: usize) -> bool {
        let Some((classes, spec)) =
            self.classes.as_ref().and_then(|classes| Some((classes, classes.spec(batch, row)?)))
        else {
            return true;
        };
        match spec.class(classes.kind(batch.path[row]), classes.kind(batch.path2[row])) {
            Some(class) => class.is_io(),
            None => spec.transfer != Transfer::None,
        }
    }

    fn add_unmapped(&mut self, batch: &EventBatch, row: usize) {
        let is_request = self.classes.as_ref().is_some_and(|classes| classes.is_request(batch.call[row]));
        let time = known(batch.dur[row].get().map(|Nanos(nanos)| nanos)).filter(|_| !is_request);
        self.totals.events.add_unmapped(time);
    }

    pub(crate) fn into_totals(self) -> Totals {
        self.totals
    }

    /// Adds the sums of pieces that another worker summed up.
    pub(crate) fn merge(&mut self, other: Self) {
        self.totals.merge(other.totals);
    }

    /// Adds the event to its activity.
    #[inline]
    fn count(&mut self, event: Row, slot: usize, failed: bool, file: Nullable<FileId>) {
        let activity = event.activity as usize;
        self.totals.events.mapped += 1;
        let (node, sums) = self.totals.node(activity, slot);
        sums.count += 1;
        sums.failures += u64::from(failed);
        if let Some(size) = event.size {
            sums.bytes = sums.bytes.saturating_add(size);
            node.sizes.push(size as i64);
            node.largest = node.largest.max(Some(size as i64));
        }
        if let Some(duration) = event.duration {
            sums.timed += 1;
            sums.duration = sums.duration.saturating_add(duration);
            let if_so = |is: bool| if is { duration } else { 0 };
            sums.waiting = sums.waiting.saturating_add(if_so(event.waits));
            sums.requests = sums.requests.saturating_add(if_so(event.is_request));
            if let Some(size) = event.size
                && duration > 0
            {
                sums.rate.push(size, duration);
            }
            node.durations.push(duration as i64);
            node.longest = node.longest.max(Some(duration as i64));
            if event.times_calls {
                node.intervals.push(event.start, Nanos(duration as i64));
            }
        }
        node.files.insert(file);
        if !event.timed {
            return;
        }
        let end =
            event.duration.map_or(event.start.0, |duration| event.start.0.saturating_add(duration as i64));
        self.totals.span = match self.totals.span {
            Some((first, last)) => Some((first.min(event.start.0), last.max(end))),
            None => Some((event.start.0, end)),
        };
    }

    /// Adds the event to its case's trace and the relation that it closes.
    #[inline]
    fn extend(&mut self, case: &mut OpenCase, serial: u64, event: Row) {
        case.trace.push(event.activity);
        if let Some(sums) = &mut case.sums {
            sums.event(event.activity, event.duration, event.is_io, event.size);
        }
        let Some(ends) = &mut case.ends else {
            case.ends = Some(BoundaryEvents {
                first: event.activity,
                first_start: event.start.0,
                last: event.activity,
                last_end: event.end(),
            });
            return;
        };
        let relation = Relation::between(ends.last, event.activity);
        let gap = ends.gap_to(event.start.0);
        ends.last = event.activity;
        ends.last_end = event.end();
        let number = self.totals.follow(relation, case.slot, gap);
        if self.latest_case.get(number) != Some(&serial) {
            case.relations.insert(relation);
            if number >= self.latest_case.len() {
                self.latest_case.resize(number + 1, u64::MAX);
            }
            self.latest_case[number] = serial;
        }
        if let Some(sums) = &mut case.sums {
            sums.follow(relation, gap);
        }
    }
}

impl Row {
    #[inline]
    fn end(self) -> Option<i64> {
        self.duration
            .filter(|_| self.times_calls)
            .map(|duration| self.start.0.saturating_add(duration as i64))
    }
}

#[inline]
fn known(value: Option<i64>) -> Option<u64> {
    value.and_then(|value| u64::try_from(value).ok())
}

impl PieceCases {
    /// The place of a case in the list, NULL if the plan leaves it out.
    fn enter(&mut self, key: CaseKey, plan: &Plan) -> Option<usize> {
        if let Some(&index) = self.places.get(&key) {
            return Some(index);
        }
        let slot = plan.slot(key.case())?;
        let index = self.list.len();
        self.list.push(OpenCase::new(key, slot, plan));
        self.places.insert(key, index);
        Some(index)
    }
}
