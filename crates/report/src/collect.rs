//! One scan for what stands behind the figures, with as many workers as there are threads.

use crate::error::ReportError;
use crate::options::ReportOptions;
use crate::subject::span_ns;
use iotrail_dfg::details::Details;
use iotrail_dfg::timeline::{Timeline, TimelineOptions};
use iotrail_dfg::{Dfg, Wanted};
use iotrail_model::calls::{TABLE, Transfer};
use iotrail_model::{EventBatch, Names, Timestamp};
use iotrail_query::{ActivityId, Classified, Classifier, Query};
use iotrail_trail::{Columns, EventLog};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many (activity, case, bin) cells a worker holds before it joins bins.
const CELLS: usize = 400_000;

/// What a scan found.
#[derive(Clone, Debug)]
pub(crate) struct Collected {
    pub(crate) details: Details,
    pub(crate) timeline: Timeline,
    /// The number of each activity.
    pub(crate) ids: HashMap<String, ActivityId>,
}

/// Scans the log for what stands behind the nodes `shown` of `dfg`.
pub(crate) fn collect(
    log: &EventLog,
    query: &Query,
    dfg: &Dfg,
    shown: &[usize],
    options: &ReportOptions,
) -> Result<Collected, ReportError> {
    let ids: HashMap<String, ActivityId> =
        (0..).map(ActivityId).zip(query.activities()).map(|(id, name)| (name, id)).collect();
    let wanted = Wanted::only(shown.iter().filter_map(|node| ids.get(&dfg.nodes[*node].activity).copied()));
    let limits = &options.limits;
    let timeline = TimelineOptions {
        origin: Timestamp(dfg.span.start_ns.unwrap_or(0)),
        span_ns: span_ns(dfg),
        bins: limits.timeline_bins,
        bars: limits.bars_per_timeline,
        longest: limits.longest,
        cells: CELLS,
    };
    let fresh = || {
        let details = Details::new(limits.examples, wanted.clone(), transfers(log.names()));
        (details, Timeline::new(timeline, wanted.clone()))
    };
    let done = Mutex::new(Vec::new());
    let worker = || Worker {
        classifier: query.worker(),
        classified: Classified::default(),
        sums: Some(fresh()),
        done: &done,
    };
    log.scan(Columns::ALL, options.threads, worker, |worker, _, batch| worker.add(batch))?;
    let (mut details, mut timeline) = fresh();
    for part in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
        details.merge(&part.0);
        timeline.merge(&part.1);
    }
    Ok(Collected { details, timeline, ids })
}

/// By number of the call, which way it moves data: by the call table, and for calls of libraries by their names.
fn transfers(names: &Names) -> Arc<[Transfer]> {
    let known: HashMap<&str, Transfer> = TABLE.iter().map(|spec| (spec.name, spec.transfer)).collect();
    let transfer = |name: &Arc<str>| match known.get(&**name) {
        Some(transfer) => *transfer,
        None => match name.to_ascii_lowercase() {
            lower if lower.contains("read") => Transfer::Read,
            lower if lower.contains("write") => Transfer::Write,
            _ => Transfer::None,
        },
    };
    names.calls.iter().map(transfer).collect()
}

type Sums = (Details, Timeline);

/// One thread; what it has summed up is handed over when it ends.
struct Worker<'a> {
    classifier: Classifier,
    classified: Classified,
    sums: Option<Sums>,
    done: &'a Mutex<Vec<Sums>>,
}

impl Worker<'_> {
    fn add(&mut self, batch: &EventBatch) {
        self.classifier.classify(batch, &mut self.classified);
        if let Some(sums) = &mut self.sums {
            sums.0.add(batch, &self.classified);
            sums.1.add(batch, &self.classified);
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).extend(self.sums.take());
    }
}
