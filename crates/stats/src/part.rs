//! One table's part of the pass that makes a profile, under the law of [`iotrail_query::pass`].

use iotrail_model::{Case, CaseId, EventBatch};
use iotrail_query::{ActivityId, GroupId, ProcessGroups, ProcessId, ProcessTable, Query, Rows};
use iotrail_trail::{Columns, EventLog};

/// What every part may look at.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The log that is read.
    pub log: &'a EventLog,
    /// What is selected.
    pub query: &'a Query,
    /// The processes of the log.
    pub processes: &'a ProcessTable,
    /// Groups that the processes are divided into.
    pub groups: &'a ProcessGroups,
    /// The group of recorded cases that alone is looked at.
    pub only: Option<GroupId>,
}

impl Context<'_> {
    /// Number of groups, and one more for rows and processes of no group.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.groups.names.len() + 1
    }

    /// The place of a process's group in lists of [`Context::slots`] entries; no group is the last.
    #[must_use]
    pub fn slot(&self, process: Option<ProcessId>) -> usize {
        process
            .and_then(|process| self.groups.of(process))
            .map_or(self.groups.names.len(), |group| group.0 as usize)
    }

    /// Whether a recorded case is looked at.
    #[must_use]
    pub fn covers(&self, case: CaseId) -> bool {
        self.only.is_none_or(|group| self.query.group(case) == Some(group))
    }

    /// The recorded cases.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        self.log.cases()
    }
}

/// What is known of each row of a batch beside its columns; every list is as long as the batch.
#[derive(Clone, Debug, Default)]
pub struct RowFacts {
    /// Whether the row is selected. Rows that are not may still be looked at, for the state of descriptors.
    pub selected: Vec<bool>,
    /// Process of each row; none where it is not known.
    pub process: Vec<Option<ProcessId>>,
    /// Its place in lists of [`Context::slots`] entries.
    pub slot: Vec<u32>,
    /// What the mapping calls the row; empty unless [`crate::ProfileOptions::files_by`] asks for the mapping.
    pub activity: Vec<ActivityId>,
}

impl RowFacts {
    pub(crate) fn look(&mut self, rows: &Rows<'_>, context: &Context<'_>) {
        let batch = rows.batch;
        self.activity.clone_from(&rows.classified.activity);
        self.selected.clear();
        self.selected.extend_from_slice(rows.selected);
        if context.only.is_some() {
            let rows = self.selected.iter_mut().zip(&batch.case);
            rows.for_each(|(selected, case)| *selected &= context.covers(*case));
        }
        self.process.clear();
        self.slot.clear();
        for ((case, pid), start) in batch.case.iter().zip(&batch.pid).zip(&batch.start) {
            let process = context.processes.find(*case, *pid, *start);
            self.process.push(process);
            self.slot.push(context.slot(process) as u32);
        }
    }
}

/// A table, or several that look at the same rows.
pub trait Part: Sized + Send {
    /// What a piece remembers of its ends; `()` if order does not matter.
    type Boundary: Send;
    /// What the boundaries of consecutive pieces make, from the first row on.
    type Closed: Default + Send;
    /// What it makes.
    type Table;

    /// The columns it reads. `case`, `pid` and `start` are there anyhow.
    fn columns() -> Columns;

    /// Adds consecutive rows.
    fn add(&mut self, batch: &EventBatch, facts: &RowFacts, context: &Context<'_>) -> Self::Boundary;

    /// Adds what another worker summed up.
    fn merge(&mut self, other: Self);

    /// Adds the boundary of the piece that follows. Pieces in which no row is selected may be missing.
    fn close(closed: &mut Self::Closed, boundary: Self::Boundary);

    /// The table, when no more rows come.
    fn finish(self, closed: Self::Closed, context: &Context<'_>) -> Self::Table;
}

/// Two parts in one pass.
impl<A: Part, B: Part> Part for (A, B) {
    type Boundary = (A::Boundary, B::Boundary);
    type Closed = (A::Closed, B::Closed);
    type Table = (A::Table, B::Table);

    fn columns() -> Columns {
        A::columns() | B::columns()
    }

    fn add(&mut self, batch: &EventBatch, facts: &RowFacts, context: &Context<'_>) -> Self::Boundary {
        (self.0.add(batch, facts, context), self.1.add(batch, facts, context))
    }

    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
        self.1.merge(other.1);
    }

    fn close(closed: &mut Self::Closed, boundary: Self::Boundary) {
        A::close(&mut closed.0, boundary.0);
        B::close(&mut closed.1, boundary.1);
    }

    fn finish(self, closed: Self::Closed, context: &Context<'_>) -> Self::Table {
        (self.0.finish(closed.0, context), self.1.finish(closed.1, context))
    }
}
