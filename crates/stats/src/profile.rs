//! From an event log to a profile: every table from one scan.

use crate::call::Kinds;
use crate::calls::Calls;
use crate::error::StatsError;
use crate::extent::Extent;
use crate::in_out::InOut;
use crate::lengths::{FileGroups, Requests};
use crate::options::{FilesBy, ProfileOptions};
use crate::part::Context;
use crate::phases::phases;
use crate::result::{PROFILE_FORMAT, Profile};
use crate::scan::scan;
use iotrail_model::CaseId;
use iotrail_query::{Lives, NO_GROUP, ProcessGroups, Query};
use iotrail_trail::{EventLog, Trail};
use std::sync::Arc;

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
    let context = Context { log, query, lives, groups, only: options.only };
    let kinds = Arc::new(Kinds::new(log));
    let file_groups = Arc::new(FileGroups::new(options.files_by, log, query));
    let map = options.files_by == FilesBy::Map;
    let parts = || {
        ((Extent::default(), InOut::new(Arc::clone(&kinds))), (Calls::default(), Requests::new(&file_groups)))
    };
    let ((extent, in_out), (calls, requests)) = scan(&context, options.threads, map, parts)?;
    let groups_shown = names(groups, extent.strays);
    let (phases, total) = phases(&in_out.summary, &groups_shown, extent.span.map(|(_, end)| end), &context);
    let throughput = in_out.throughput.table(&groups_shown, |case| query.rank_name(CaseId::from_index(case)));
    let (files, processes) = in_out.patterns.rows(&context);
    let group_calls = calls.by_group.into_iter().take(groups_shown.len()).collect();
    Ok(Profile {
        format: PROFILE_FORMAT,
        sources: log.trails().iter().map(Trail::name).collect(),
        by: options.by.clone(),
        paths: options.paths,
        selection: query.selection(),
        span: extent.span,
        groups: groups_shown,
        calls: calls.all,
        group_calls,
        phases,
        total,
        distributions: calls.latency.into_iter().chain(requests).collect(),
        files,
        processes,
        throughput,
        coverage: log.coverage(),
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
