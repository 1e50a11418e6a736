//! The part of `iotrail compare` that compares profiles.

use iotrail_query::{ProcessGroupBy, ProcessTable, Query};
use iotrail_stats::compare::PhaseComparison;
use iotrail_stats::{ProfileOptions, compare_groups};
use iotrail_trail::EventLog;
use std::num::NonZeroUsize;

/// Compares the profiles of each of `pairs`, groups of cases, whose processes are grouped `by`.
pub(crate) fn compare_profiles(
    log: &EventLog,
    query: &Query,
    by: &str,
    pairs: &[(String, String)],
    threads: NonZeroUsize,
) -> anyhow::Result<Vec<PhaseComparison>> {
    let processes = ProcessTable::of_log(log)?;
    let groups = ProcessGroupBy::parse(by)?.divide(log, &processes);
    let options = ProfileOptions { by: by.to_owned(), threads, ..ProfileOptions::default() };
    Ok(compare_groups(log, query, &processes, &groups, pairs, &options)?)
}
