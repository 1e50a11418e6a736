//! The one scan over the log: a worker for each thread, each with its own sums.

use crate::error::StatsError;
use crate::part::{Context, Part, RowFacts};
use iotrail_model::EventBatch;
use iotrail_query::{Classified, Classifier};
use iotrail_trail::Columns;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// The columns that every part may rely on.
const COLUMNS: Columns = Columns::CASE.union(Columns::PID).union(Columns::START);

/// What the rows make of a part that begins as `new` says. `map`: whether parts look at activities.
pub(crate) fn scan<P: Part>(
    context: &Context<'_>,
    threads: NonZeroUsize,
    map: bool,
    new: impl Fn() -> P + Sync,
) -> Result<P::Table, StatsError> {
    let finished: Mutex<Option<P>> = Mutex::new(None);
    let seams = context.log.scan_only(
        |row_group| context.query.may_match_group(row_group),
        COLUMNS | P::columns() | context.query.columns(),
        threads,
        || Worker {
            rows: Rows { classifier: context.query.worker(), classified: Classified::default(), map },
            facts: RowFacts::default(),
            part: Some(new()),
            finished: &finished,
        },
        |worker, _, batch| {
            worker.rows.look(batch, context, &mut worker.facts);
            worker.part.as_mut().map(|part| part.add(batch, &worker.facts, context))
        },
    )?;
    let whole = finished.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(new);
    Ok(whole.finish(seams.into_iter().flatten().collect(), context))
}

/// One thread's share; adds its sums to the others' when it ends.
struct Worker<'a, P: Part> {
    rows: Rows,
    facts: RowFacts,
    part: Option<P>,
    finished: &'a Mutex<Option<P>>,
}

impl<P: Part> Drop for Worker<'_, P> {
    fn drop(&mut self) {
        let Some(mut mine) = self.part.take() else { return };
        let mut finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(others) = finished.take() {
            mine.merge(others);
        }
        *finished = Some(mine);
    }
}

/// Finds out what is known of rows.
struct Rows {
    classifier: Classifier,
    classified: Classified,
    map: bool,
}

impl Rows {
    fn look(&mut self, batch: &EventBatch, context: &Context<'_>, facts: &mut RowFacts) {
        if self.map {
            self.classifier.classify(batch, &mut self.classified);
            std::mem::swap(&mut facts.activity, &mut self.classified.activity);
        }
        self.classifier.select(batch, &mut facts.selected);
        if context.only.is_some() {
            let rows = facts.selected.iter_mut().zip(&batch.case);
            rows.for_each(|(selected, case)| *selected &= context.covers(*case));
        }
        facts.life.clear();
        facts.slot.clear();
        for ((case, pid), start) in batch.case.iter().zip(&batch.pid).zip(&batch.start) {
            let life = context.lives.find(*case, *pid, *start);
            facts.life.push(life);
            facts.slot.push(context.slot(life) as u32);
        }
    }
}
