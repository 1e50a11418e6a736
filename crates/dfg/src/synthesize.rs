//! From an event log to a graph: workers sum up row groups, a queue closes the seams between them in row order.

use crate::accumulate::Accumulator;
use crate::error::DfgError;
use crate::finish::{Labels, finish};
use crate::options::DfgOptions;
use crate::plan::Plan;
use crate::result::Dfg;
use crate::seams::{SeamQueue, Seams};
use crate::totals::Totals;
use iotrail_model::{Case, Clock, EventBatch};
use iotrail_query::{Classified, Classifier, Query};
use iotrail_trail::{Columns, EventLog};
use std::sync::{Arc, Mutex, PoisonError};

/// The columns that the sums need, beside those of the query.
pub const COLUMNS: Columns = Columns::CASE
    .union(Columns::START)
    .union(Columns::DUR)
    .union(Columns::FILE)
    .union(Columns::SIZE)
    .union(Columns::ERRNO);

/// The Directly-Follows Graph of the events that `query` selects in `log`.
///
/// # Errors
/// If the log cannot be read.
pub fn synthesize(log: &EventLog, query: &Query, options: &DfgOptions) -> Result<Dfg, DfgError> {
    let groups = query.groups();
    let plan = Plan::grouped(log.cases().len(), groups.len(), |case| query.group(case));
    let totals = totals(log, query, plan, options)?;
    Ok(graph(log, query, totals, groups, options))
}

/// Sums up the whole log.
pub(crate) fn totals(
    log: &EventLog,
    query: &Query,
    plan: Plan,
    options: &DfgOptions,
) -> Result<Totals, DfgError> {
    let is = |place: usize, wanted: fn(&Case) -> bool| log.cases().get(place).is_some_and(wanted);
    let plan = plan.without_times(|place| is(place, |case| !case.tells_time()));
    let plan = Arc::new(plan.with_coarse_times(|place| is(place, |case| case.resolution.is_coarse())));
    let finished = Mutex::new(Totals::new(plan.slots()));
    let queue = Mutex::new(SeamQueue::new(plan.slots()));
    // Rows that cannot be selected take part in nothing, not even in seams.
    let skipped = (0..log.row_groups()).filter(|at| !query.may_match_group(log.row_group(*at)));
    skipped.for_each(|at| queue.lock().unwrap_or_else(PoisonError::into_inner).push(at, Seams::default()));
    log.scan_only(
        |row_group| query.may_match_group(row_group),
        COLUMNS | query.columns(),
        options.threads,
        || Worker::new(query, &plan, &finished),
        |worker, row_group, batch| {
            let seams = worker.add(batch);
            // The lock is held for the few open cases of a row group, never while events are summed up.
            queue.lock().unwrap_or_else(PoisonError::into_inner).push(row_group, seams);
        },
    )?;
    let mut totals = finished.into_inner().unwrap_or_else(PoisonError::into_inner);
    totals.merge(queue.into_inner().unwrap_or_else(PoisonError::into_inner).close());
    Ok(totals)
}

/// The finished graph with everything that it says about the log and the query.
pub(crate) fn graph(
    log: &EventLog,
    query: &Query,
    totals: Totals,
    groups: &[String],
    options: &DfgOptions,
) -> Dfg {
    let activities = query.activities();
    let labels = Labels { activities: &activities, groups, case_name: &|key| query.case_name(key) };
    let dfg = finish(totals, &labels, options.max_concurrency, options.threads);
    let mut coverage = log.coverage();
    coverage.merge(&dfg.coverage);
    clock_notes(log).into_iter().for_each(|note| coverage.note(note));
    Dfg {
        sources: log.trails().iter().map(|trail| trail.name()).collect(),
        mapping: query.mapping().to_owned(),
        case_by: query.case_by().name().to_owned(),
        selection: query.selection(),
        coverage,
        resolution: Case::resolution_of(log.cases()),
        ..dfg
    }
}

/// What the clocks of the cases mean for figures across cases.
fn clock_notes(log: &EventLog) -> Vec<String> {
    let count = |clock: Clock| log.cases().iter().filter(|case| case.clock == clock).count();
    let (order, relative) = (count(Clock::Order), count(Clock::Relative));
    let mut notes = Vec::new();
    if order > 0 {
        notes.push(format!(
            "{order} cases have no time stamps: they have no gaps, no span and no part in max concurrency"
        ));
    }
    notes.extend(Case::resolution_of(log.cases()).note());
    if relative > 0 && log.cases().len() > 1 {
        notes.push(format!(
            "{relative} cases have times since their own start only: max concurrency across cases compares unrelated clocks"
        ));
    }
    notes
}

/// One thread's share; adds its sums to the others' when it ends.
struct Worker<'a> {
    classifier: Classifier,
    classified: Classified,
    accumulator: Accumulator,
    finished: &'a Mutex<Totals>,
}

impl<'a> Worker<'a> {
    fn new(query: &Query, plan: &Arc<Plan>, finished: &'a Mutex<Totals>) -> Self {
        Self {
            classifier: query.worker(),
            classified: Classified::default(),
            accumulator: Accumulator::new(Arc::clone(plan)),
            finished,
        }
    }

    fn add(&mut self, batch: &EventBatch) -> Seams {
        self.classifier.classify(batch, &mut self.classified);
        self.accumulator.add(batch, &self.classified)
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let mine = self.accumulator.take_totals();
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).merge(mine);
    }
}
