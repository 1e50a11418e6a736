//! What the time of each event of a log counts as.

use iotrail_model::calls::EventClasses;
use iotrail_model::{CaseId, OpenId};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::collections::HashSet;
use std::num::NonZeroUsize;

/// The classes of a log's events. If files were opened with `O_SYNC` or `O_DSYNC`, the log is read once to know which.
///
/// # Errors
/// If the log cannot be read.
pub fn event_classes(log: &EventLog, threads: NonZeroUsize) -> Result<EventClasses, TrailError> {
    let names = log.names();
    let classes = EventClasses::new(names, log.files(), HashSet::new()).recorded_at(&log.coverage());
    if !EventClasses::may_open_synchronously(names) {
        return Ok(classes);
    }
    let columns = Columns::CASE | Columns::CALL | Columns::FLAGS | Columns::OPEN;
    let found = log.scan(
        columns,
        threads,
        || (),
        |(), _, batch| {
            let rows = 0..batch.len;
            rows.filter_map(|row| classes.opens_synchronously(names, batch, row)).collect::<Vec<_>>()
        },
    )?;
    let synchronous = shared(log, found.into_iter().flatten().collect());
    Ok(EventClasses::new(names, log.files(), synchronous).recorded_at(&log.coverage()))
}

/// The same descriptions in all cases that share their numbers.
fn shared(log: &EventLog, found: HashSet<(CaseId, OpenId)>) -> HashSet<(CaseId, OpenId)> {
    let mut all = HashSet::new();
    for (case, open) in found {
        let alike = log.cases().iter().filter(|other| other.numbering() == log.numbering(case));
        all.extend(alike.map(|other| (other.id, open)));
        all.insert((case, open));
    }
    all
}
