//! From an event log to a profile: every table from one scan.

use crate::error::StatsError;
use crate::extent::Extent;
use crate::options::{FilesBy, ProfileOptions};
use crate::part::Context;
use crate::result::{PROFILE_FORMAT, Profile};
use crate::scan::scan;
use iotrail_query::{Lives, NO_GROUP, ProcessGroups, Query};
use iotrail_trail::{EventLog, Trail};

/// The profile of the events that `query` selects in `log`, whose processes are `lives` and divided into `groups`.
///
/// # Errors
/// If the log cannot be read.
pub fn profile(
    log: &EventLog,
    query: &Query,
    lives: &Lives,
    groups: &ProcessGroups,
    options: &ProfileOptions,
) -> Result<Profile, StatsError> {
    let context = Context { log, query, lives, groups };
    let extent = scan(&context, options.threads, options.files_by == FilesBy::Map, Extent::default)?;
    Ok(Profile {
        format: PROFILE_FORMAT,
        sources: log.trails().iter().map(Trail::name).collect(),
        by: options.by.clone(),
        selection: query.selection(),
        span: extent.span,
        groups: names(groups, extent.strays),
        coverage: log.coverage(),
        ..Profile::default()
    })
}

/// The names of the groups by slot; the last one stands for no group, if anything is in none.
fn names(groups: &ProcessGroups, strays: bool) -> Vec<String> {
    let mut names = groups.names.clone();
    if strays || groups.of_life.iter().any(Option::is_none) {
        names.push(NO_GROUP.to_owned());
    }
    names
}
