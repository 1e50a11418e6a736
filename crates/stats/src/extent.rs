//! From when to when, and whether any row belongs to no group.

use crate::part::{Context, Part, RowFacts};
use iotrail_model::{Case, EventBatch};
use iotrail_trail::Columns;

/// What all selected rows cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// First start and last end, of cases that have time stamps.
    pub(crate) span: Option<(i64, i64)>,
    /// Whether a selected row belongs to no group.
    pub(crate) strays: bool,
}

impl Extent {
    fn include(&mut self, other: (i64, i64)) {
        self.span = Some(self.span.map_or(other, |span| (span.0.min(other.0), span.1.max(other.1))));
    }
}

impl Part for Extent {
    type Boundary = ();
    type Closed = ();
    type Table = Self;

    fn columns() -> Columns {
        Columns::DUR
    }

    fn add(&mut self, batch: &EventBatch, facts: &RowFacts, context: &Context<'_>) {
        let none = context.slots() as u32 - 1;
        for row in (0..batch.len).filter(|row| facts.selected[*row]) {
            self.strays |= facts.slot[row] == none;
            let case = context.cases().get(batch.case[row].index());
            if case.is_none_or(Case::has_times) {
                let start = batch.start[row].0;
                let nanos = batch.dur[row].get().map_or(0, |dur| dur.0.max(0));
                self.include((start, start.saturating_add(nanos)));
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.strays |= other.strays;
        other.span.into_iter().for_each(|span| self.include(span));
    }

    fn close((): &mut (), (): ()) {}

    fn finish(self, (): (), _: &Context<'_>) -> Self {
        self
    }
}
