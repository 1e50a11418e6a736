//! The one engine that reads a log: passes, any number of them in one scan.
//!
//! A [`Pass`] is an analysis of rows. It says which columns it reads and what must be known of rows, sums up pieces of consecutive
//! rows, and puts together what pieces remember of their ends, their *boundaries*. The engine decodes each row group once, applies
//! the query once, divides the row groups among threads, and hands the boundaries over in the order of the rows.
//!
//! The law that every pass keeps: however the rows are cut into consecutive pieces, and whichever worker adds which piece, the
//! result is the same as that of one piece with all rows. Sums, extremes, sets and multisets keep it by themselves; what
//! depends on the order of rows ("begins where the one before ended") goes through boundaries.

use crate::classified::ActivityId;
use crate::classified::Classified;
use crate::classifier::Classifier;
use crate::query::Query;
use iotrail_model::EventBatch;
use iotrail_trail::{Columns, EventLog, RowGroupMeta, TrailError};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An analysis that reads the rows of a log.
pub trait Pass: Sync {
    /// What a worker sums up.
    type Sums: Send;
    /// What a piece of consecutive rows remembers of its ends; `()` if their order does not matter.
    type Boundary: Send;
    /// What the boundaries of consecutive pieces make, from the first row on.
    type Closed: Send;
    /// What the analysis answers.
    type Output;

    /// The columns that it reads, beside those of the query.
    fn columns(&self) -> Columns;

    /// What it must know of rows.
    fn asks(&self) -> Asks {
        Asks::ACTIVITIES
    }

    /// The sums of no rows.
    fn sums(&self) -> Self::Sums;

    /// What no boundaries make.
    fn closed(&self) -> Self::Closed;

    /// Adds consecutive rows.
    fn add(&self, sums: &mut Self::Sums, rows: &Rows<'_>) -> Self::Boundary;

    /// Adds what another worker summed up.
    fn merge(&self, sums: &mut Self::Sums, other: Self::Sums);

    /// Adds the boundary of the piece that follows. Pieces in which no row is selected may be missing.
    fn close(&self, closed: &mut Self::Closed, boundary: Self::Boundary);

    /// The result, if no more rows come.
    fn finish(&self, sums: Self::Sums, closed: Self::Closed) -> Self::Output;
}

/// What a pass must know of rows beside their columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    /// Activities and cases: [`Rows::classified`].
    pub activities: bool,
    /// Whether each row is selected: [`Rows::selected`].
    pub selection: bool,
    /// Row groups too in which no row can be selected.
    pub whole_log: bool,
}

impl Asks {
    /// Activities and cases of the rows that may be selected.
    pub const ACTIVITIES: Self = Self { activities: true, selection: false, whole_log: false };
    /// Nothing but columns, of all rows.
    pub const COLUMNS: Self = Self { activities: false, selection: false, whole_log: true };

    /// What either asks.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            activities: self.activities || other.activities,
            selection: self.selection || other.selection,
            whole_log: self.whole_log || other.whole_log,
        }
    }
}

/// Consecutive rows, and what the query makes of them.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// The columns that the pass declared.
    pub batch: &'a EventBatch,
    /// Their activities and cases; both lists are empty without a query, or if no pass [asks](Asks::activities) for them.
    pub classified: &'a Classified,
    /// Whether each is selected; empty if no pass [asks](Asks::selection) for it.
    pub selected: &'a [bool],
}

/// Reads `log` with one worker for each of `threads`, and answers what `pass` makes of the rows that `query` selects; without a query
/// of all. Two passes read the log together as a pair.
///
/// # Errors
/// If the log cannot be read.
pub fn scan<P: Pass>(
    log: &EventLog,
    query: Option<&Query>,
    threads: NonZeroUsize,
    pass: &P,
) -> Result<P::Output, TrailError> {
    let asks = pass.asks();
    let is_read =
        |group: &RowGroupMeta| asks.whole_log || query.is_none_or(|query| query.may_match_group(group));
    let turns = (0..log.row_groups()).filter(|at| is_read(log.row_group(*at))).collect();
    let queue = Mutex::new(BoundaryQueue { turns, next: 0, waiting: BTreeMap::new(), closed: pass.closed() });
    let finished = Mutex::new(None);
    log.scan_only(
        is_read,
        pass.columns() | query.map_or(Columns::NONE, Query::columns),
        threads,
        || Worker { share: Share::new(query, pass), pass, finished: &finished },
        |worker, row_group, batch| {
            let boundary = worker.share.add(pass, batch);
            // Held for what is left of a row group, never while rows are summed up.
            lock(&queue).push(pass, row_group, boundary);
        },
    )?;
    let sums = finished.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(|| pass.sums());
    let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(pass.finish(sums, queue.closed))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes boundaries as soon as their turn comes, whatever the order in which workers finish row groups, so that what is finished does
/// not wait for the end of the log.
struct BoundaryQueue<P: Pass> {
    /// The row groups that are read, in order.
    turns: Vec<usize>,
    /// Number of closed ones.
    next: usize,
    waiting: BTreeMap<usize, P::Boundary>,
    closed: P::Closed,
}

impl<P: Pass> BoundaryQueue<P> {
    fn push(&mut self, pass: &P, row_group: usize, boundary: P::Boundary) {
        self.waiting.insert(row_group, boundary);
        while let Some(boundary) = self.turns.get(self.next).and_then(|turn| self.waiting.remove(turn)) {
            pass.close(&mut self.closed, boundary);
            self.next += 1;
        }
    }
}

/// One thread; adds its sums to the others' when it ends.
struct Worker<'a, P: Pass> {
    share: Share<P>,
    pass: &'a P,
    finished: &'a Mutex<Option<P::Sums>>,
}

impl<P: Pass> Drop for Worker<'_, P> {
    fn drop(&mut self) {
        let Some(mut mine) = self.share.sums.take() else { return };
        let mut finished = lock(self.finished);
        if let Some(others) = finished.take() {
            self.pass.merge(&mut mine, others);
        }
        *finished = Some(mine);
    }
}

/// What one thread sums up, and what it needs for that.
struct Share<P: Pass> {
    asks: Asks,
    classifier: Option<Classifier>,
    classified: Classified,
    selected: Vec<bool>,
    /// There until they are handed over.
    sums: Option<P::Sums>,
}

impl<P: Pass> Share<P> {
    fn new(query: Option<&Query>, pass: &P) -> Self {
        Self {
            asks: pass.asks(),
            classifier: query.map(Query::worker),
            classified: Classified::default(),
            selected: Vec::new(),
            sums: Some(pass.sums()),
        }
    }

    fn add(&mut self, pass: &P, batch: &EventBatch) -> P::Boundary {
        self.look(batch);
        let rows = Rows { batch, classified: &self.classified, selected: &self.selected };
        pass.add(self.sums.get_or_insert_with(|| pass.sums()), &rows)
    }

    /// Finds out what the pass asks of rows.
    fn look(&mut self, batch: &EventBatch) {
        let Some(classifier) = &mut self.classifier else {
            if self.asks.selection {
                self.selected.clear();
                self.selected.resize(batch.len, true);
            }
            return;
        };
        if self.asks.activities {
            classifier.classify(batch, &mut self.classified);
        }
        match self.asks {
            Asks { selection: true, activities: true, .. } => {
                self.selected.clear();
                let activities = self.classified.activity.iter();
                self.selected.extend(activities.map(|activity| *activity != ActivityId::UNSELECTED));
            }
            Asks { selection: true, .. } => classifier.select(batch, &mut self.selected),
            _ => {}
        }
    }
}

/// A pass over a log that still grows: rows as they come, and the result so far at any time.
pub struct Running<'a, P: Pass> {
    pass: &'a P,
    share: Share<P>,
    closed: P::Closed,
}

impl<'a, P: Pass> Running<'a, P> {
    /// No rows yet.
    #[must_use]
    pub fn new(query: Option<&Query>, pass: &'a P) -> Self {
        Self { pass, share: Share::new(query, pass), closed: pass.closed() }
    }

    /// Adds the rows that follow. They must hold the columns of the pass and of the query.
    pub fn add(&mut self, batch: &EventBatch) {
        let boundary = self.share.add(self.pass, batch);
        self.pass.close(&mut self.closed, boundary);
    }

    /// The result of the rows so far; more may come.
    #[must_use]
    pub fn snapshot(&self) -> P::Output
    where
        P::Sums: Clone,
        P::Closed: Clone,
    {
        self.pass.finish(self.share.sums.clone().unwrap_or_else(|| self.pass.sums()), self.closed.clone())
    }

    /// The answer for everything that was added.
    #[must_use]
    pub fn finish(mut self) -> P::Output {
        let sums = self.share.sums.take().unwrap_or_else(|| self.pass.sums());
        self.pass.finish(sums, self.closed)
    }
}

/// Two passes in one scan.
impl<A: Pass, B: Pass> Pass for (A, B) {
    type Sums = (A::Sums, B::Sums);
    type Boundary = (A::Boundary, B::Boundary);
    type Closed = (A::Closed, B::Closed);
    type Output = (A::Output, B::Output);

    fn columns(&self) -> Columns {
        self.0.columns() | self.1.columns()
    }

    fn asks(&self) -> Asks {
        self.0.asks().or(self.1.asks())
    }

    fn sums(&self) -> Self::Sums {
        (self.0.sums(), self.1.sums())
    }

    fn closed(&self) -> Self::Closed {
        (self.0.closed(), self.1.closed())
    }

    fn add(&self, sums: &mut Self::Sums, rows: &Rows<'_>) -> Self::Boundary {
        (self.0.add(&mut sums.0, rows), self.1.add(&mut sums.1, rows))
    }

    fn merge(&self, sums: &mut Self::Sums, other: Self::Sums) {
        self.0.merge(&mut sums.0, other.0);
        self.1.merge(&mut sums.1, other.1);
    }

    fn close(&self, closed: &mut Self::Closed, boundary: Self::Boundary) {
        self.0.close(&mut closed.0, boundary.0);
        self.1.close(&mut closed.1, boundary.1);
    }

    fn finish(&self, sums: Self::Sums, closed: Self::Closed) -> Self::Output {
        (self.0.finish(sums.0, closed.0), self.1.finish(sums.1, closed.1))
    }
}

/// A pass that may not be wanted.
impl<P: Pass> Pass for Option<P> {
    type Sums = Option<P::Sums>;
    type Boundary = Option<P::Boundary>;
    type Closed = Option<P::Closed>;
    type Output = Option<P::Output>;

    fn columns(&self) -> Columns {
        self.as_ref().map_or(Columns::NONE, P::columns)
    }

    fn asks(&self) -> Asks {
        self.as_ref().map_or(Asks::default(), P::asks)
    }

    fn sums(&self) -> Self::Sums {
        self.as_ref().map(P::sums)
    }

    fn closed(&self) -> Self::Closed {
        self.as_ref().map(P::closed)
    }

    fn add(&self, sums: &mut Self::Sums, rows: &Rows<'_>) -> Self::Boundary {
        self.as_ref().zip(sums.as_mut()).map(|(pass, sums)| pass.add(sums, rows))
    }

    fn merge(&self, sums: &mut Self::Sums, other: Self::Sums) {
        if let (Some(pass), Some(sums), Some(other)) = (self, sums, other) {
            pass.merge(sums, other);
        }
    }

    fn close(&self, closed: &mut Self::Closed, boundary: Self::Boundary) {
        if let (Some(pass), Some(closed), Some(boundary)) = (self, closed, boundary) {
            pass.close(closed, boundary);
        }
    }

    fn finish(&self, sums: Self::Sums, closed: Self::Closed) -> Self::Output {
        self.as_ref().zip(sums.zip(closed)).map(|(pass, (sums, closed))| pass.finish(sums, closed))
    }
}
