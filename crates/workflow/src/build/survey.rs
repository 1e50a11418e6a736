//! What must be known of a whole log before its records can be gathered: who waited for whom, and which files are one.

use super::known::{Knowing, Known};
use super::vocabulary::Vocabulary;
use crate::waits::Waits;
use crate::waits::gather::Waiting;
use iotrail_query::{Asks, Pass, ProcessTable, Rows};
use iotrail_trail::{Columns, EventLog};
use std::sync::Arc;

/// What was found out.
#[derive(Debug)]
pub struct Survey {
    pub(super) waits: Waits,
    pub(super) known: Known,
    pub(super) vocabulary: Arc<Vocabulary>,
}

impl Survey {
    /// Who waited for whom.
    pub(crate) const fn waits(&self) -> &Waits {
        &self.waits
    }
}

/// The pass that finds it out.
#[derive(Debug)]
pub struct Surveying<'a> {
    passes: Passes<'a>,
    vocabulary: Arc<Vocabulary>,
}

type Passes<'a> = (Waiting<'a>, Knowing<'a>);

impl<'a> Surveying<'a> {
    /// Of a log whose processes are `processes`.
    #[must_use]
    pub fn new(log: &'a EventLog, processes: &'a ProcessTable) -> Self {
        let vocabulary = Arc::new(Vocabulary::new(log));
        Self {
            passes: (Waiting::new(log, processes), Knowing::new(log, Arc::clone(&vocabulary))),
            vocabulary,
        }
    }
}

impl<'a> Pass for Surveying<'a> {
    type Sums = <Passes<'a> as Pass>::Sums;
    type Boundary = <Passes<'a> as Pass>::Boundary;
    type Closed = <Passes<'a> as Pass>::Closed;
    type Output = Survey;

    fn columns(&self) -> Columns {
        self.passes.columns()
    }

    fn asks(&self) -> Asks {
        self.passes.asks()
    }

    fn sums(&self) -> Self::Sums {
        self.passes.sums()
    }

    fn closed(&self) -> Self::Closed {
        self.passes.closed()
    }

    fn add(&self, sums: &mut Self::Sums, rows: &Rows<'_>) -> Self::Boundary {
        self.passes.add(sums, rows)
    }

    fn merge(&self, sums: &mut Self::Sums, other: Self::Sums) {
        self.passes.merge(sums, other);
    }

    fn close(&self, closed: &mut Self::Closed, boundary: Self::Boundary) {
        self.passes.close(closed, boundary);
    }

    fn finish(&self, sums: Self::Sums, closed: Self::Closed) -> Survey {
        let (waits, mut known) = self.passes.finish(sums, closed);
        known.share_connections(waits.channels());
        Survey { waits, known, vocabulary: Arc::clone(&self.vocabulary) }
    }
}
