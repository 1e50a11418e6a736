//! Open file descriptions that several cases use: the threads that one `strace -ff` wrote are cases of their own, and share them.

use crate::call::Description;
use foldhash::fast::RandomState;
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{CaseId, EventBatch};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::num::NonZeroUsize;

/// Descriptions whose calls are not in the order of the rows, which is that of each case by itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct AcrossCases(HashSet<Description, RandomState>);

impl AcrossCases {
    /// Those of a log, whose cases have the numbers of `numberings`. It is read only if cases share numbers, which few do.
    pub(crate) fn of(
        log: &EventLog,
        numberings: &[CaseId],
        threads: NonZeroUsize,
    ) -> Result<Self, TrailError> {
        if log.cases().iter().all(|case| case.numbered_with.is_none()) {
            return Ok(Self::default());
        }
        let columns = Columns::CASE | Columns::OPEN | Columns::OPEN2;
        let pieces = log.scan(columns, threads, || (), |(), _, batch| users(batch, numberings))?;
        let mut first: HashMap<Description, CaseId, RandomState> = HashMap::default();
        let mut shared = HashSet::default();
        for (description, case) in pieces.into_iter().flatten() {
            match first.entry(description) {
                Entry::Vacant(free) => _ = free.insert(case),
                Entry::Occupied(known) if *known.get() != case => _ = shared.insert(description),
                Entry::Occupied(_) => {}
            }
        }
        Ok(Self(shared))
    }

    #[inline]
    pub(crate) fn has(&self, description: Description) -> bool {
        self.0.contains(&description)
    }
}

/// The descriptions in some rows, and the cases that use them.
fn users(batch: &EventBatch, numberings: &[CaseId]) -> HashSet<(Description, CaseId), RandomState> {
    let rows = batch.case.iter().zip(batch.open.iter().zip(&batch.open2));
    let users = rows.flat_map(|(case, (open, open2))| {
        [*open, *open2].map(|open| Some((Description::of(*case, open, numberings)?, *case)))
    });
    users.flatten().collect()
}
