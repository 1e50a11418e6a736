//! The part of `iotrail compare` that compares profiles.

use iotrail_query::{Lives, ProcessGroupBy, Query};
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
    let lives = Lives::of_log(log)?;
    let groups = ProcessGroupBy::parse(by)?.divide(log, &lives);
    let options = ProfileOptions { by: by.to_owned(), threads, ..ProfileOptions::default() };
    Ok(compare_groups(log, query, &lives, &groups, pairs, &options)?)
}
