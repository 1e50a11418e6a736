//! The engine of passes: whatever the threads, the pieces and the companions of a pass, its result is that of one piece.

use crate::laws::any_log;
use iotrail_model::CallId;
use iotrail_query::{ActivityId, Asks, Pass, Query, QuerySpec, Rows, Running, SelectSpec, scan};
use iotrail_trail::{Columns, EventLog};
use proptest::prelude::*;
use std::num::NonZeroUsize;

/// Counts selected rows, and how often the call changes from one to the next: the first does not depend on the order of pieces,
/// the second does.
struct Changes;

/// The first and the last call of a piece, and the changes within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Piece {
    ends: Option<(CallId, CallId)>,
    changes: u64,
}

impl Piece {
    fn then(self, next: Self) -> Self {
        let (Some((first, before)), Some((after, last))) = (self.ends, next.ends) else {
            return if self.ends.is_some() { self } else { next };
        };
        let changes = self.changes + next.changes + u64::from(before != after);
        Self { ends: Some((first, last)), changes }
    }
}

impl Pass for Changes {
    type Sums = u64;
    type Boundary = Piece;
    type Closed = Piece;
    type Output = (u64, u64);

    fn columns(&self) -> Columns {
        Columns::CALL
    }

    fn asks(&self) -> Asks {
        Asks { selection: true, ..Asks::default() }
    }

    fn sums(&self) -> u64 {
        0
    }

    fn closed(&self) -> Piece {
        Piece::default()
    }

    fn add(&self, count: &mut u64, rows: &Rows<'_>) -> Piece {
        let calls = rows.batch.call.iter().zip(rows.selected).filter(|(_, selected)| **selected);
        calls.fold(Piece::default(), |piece, (call, _)| {
            *count += 1;
            piece.then(Piece { ends: Some((*call, *call)), changes: 0 })
        })
    }

    fn merge(&self, count: &mut u64, other: u64) {
        *count += other;
    }

    fn close(&self, closed: &mut Piece, boundary: Piece) {
        *closed = closed.then(boundary);
    }

    fn finish(&self, count: u64, closed: Piece) -> (u64, u64) {
        (count, closed.changes)
    }
}

/// Counts the rows that a query selects, mapped or not, and those that it was shown.
struct Classes {
    whole_log: bool,
}

impl Pass for Classes {
    type Sums = (u64, u64);
    type Boundary = ();
    type Closed = ();
    type Output = (u64, u64);

    fn columns(&self) -> Columns {
        Columns::NONE
    }

    fn asks(&self) -> Asks {
        Asks { whole_log: self.whole_log, ..Asks::ACTIVITIES }
    }

    fn sums(&self) -> (u64, u64) {
        (0, 0)
    }

    fn closed(&self) {}

    fn add(&self, (selected, seen): &mut (u64, u64), rows: &Rows<'_>) {
        let activities = rows.classified.activity.iter();
        *selected += activities.filter(|activity| **activity != ActivityId::UNSELECTED).count() as u64;
        *seen += rows.batch.len as u64;
    }

    fn merge(&self, sums: &mut (u64, u64), other: (u64, u64)) {
        *sums = (sums.0 + other.0, sums.1 + other.1);
    }

    fn close(&self, (): &mut (), (): ()) {}

    fn finish(&self, sums: (u64, u64), (): ()) -> (u64, u64) {
        sums
    }
}

/// The truth, row by row.
fn changes(log: &EventLog, query: &Query, groups: usize) -> (u64, u64) {
    let mut calls = Vec::new();
    let mut worker = query.worker();
    let mut classified = iotrail_query::Classified::default();
    for group in 0..groups {
        let batch = log.read(group, Columns::ALL).unwrap();
        worker.classify(&batch, &mut classified);
        let rows = batch.call.iter().zip(&classified.activity);
        calls
            .extend(rows.filter(|(_, activity)| **activity != ActivityId::UNSELECTED).map(|(call, _)| *call));
    }
    (calls.len() as u64, calls.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64)
}

fn only(calls: &[&str]) -> QuerySpec {
    let calls = calls.iter().map(|call| (*call).to_owned()).collect();
    QuerySpec { select: SelectSpec { call: calls, ..SelectSpec::default() }, ..QuerySpec::default() }
}

proptest! {
    #[test]
    fn a_scan_is_one_piece_however_many_threads_read_it(log in any_log(), threads in 1_usize..4, selects: bool) {
        let spec = if selects { only(&["read", "openat"]) } else { QuerySpec::default() };
        let query = Query::new(spec, &log).unwrap();
        let threads = NonZeroUsize::new(threads).unwrap();
        let truth = changes(&log, &query, log.row_groups());
        prop_assert_eq!(scan(&log, Some(&query), threads, &Changes).unwrap(), truth);
        let passes = (Some(Changes), (None::<Changes>, Classes { whole_log: true }));
        let (first, (none, (selected, seen))) = scan(&log, Some(&query), threads, &passes).unwrap();
        prop_assert_eq!((first, none), (Some(truth), None));
        prop_assert_eq!((selected, seen), (truth.0, log.rows()));
    }

    #[test]
    fn a_growing_log_can_be_looked_at_after_every_piece(log in any_log()) {
        let query = Query::new(only(&["read", "write"]), &log).unwrap();
        let mut running = Running::new(Some(&query), &Changes);
        for group in 0..log.row_groups() {
            prop_assert_eq!(running.snapshot(), changes(&log, &query, group));
            running.add(&log.read(group, Columns::ALL).unwrap());
        }
        prop_assert_eq!(running.finish(), changes(&log, &query, log.row_groups()));
    }

    #[test]
    fn without_a_query_every_row_is_selected(log in any_log()) {
        let (rows, _) = scan(&log, None, NonZeroUsize::MIN, &Changes).unwrap();
        prop_assert_eq!(rows, log.rows());
    }
}
