//! From an event log to a profile: every table from one pass.

use crate::call::Kinds;
use crate::calls::Calls;
use crate::error::StatsError;
use crate::extent::Extent;
use crate::file_uses::{FileUsing, RowBy};
use crate::io_table::IoTable;
use crate::lengths::{FileGroups, Requests};
use crate::options::{FilesBy, ProfileOptions};
use crate::part::{Context, Part, RowFacts};
use crate::phases::phases;
use crate::result::{PROFILE_FORMAT, Profile};
use iotrail_model::CaseId;
use iotrail_query::{Asks, NO_GROUP, Pass, ProcessGroups, ProcessTable, Query, Rows, scan};
use iotrail_trail::{Columns, EventLog, Trail};
use std::sync::Arc;

/// The profile of the events that `query` selects in `log`, whose processes are `processes` and divided into `groups`.
///
/// # Errors
/// If the log cannot be read.
pub fn profile(
    log: &EventLog,
    query: &Query,
    processes: &ProcessTable,
    groups: &ProcessGroups,
    options: &ProfileOptions,
) -> Result<Profile, StatsError> {
    let pass = Profiling::new(log, query, processes, groups, options)?;
    Ok(scan(log, Some(query), options.threads, &pass)?)
}

/// The pass that makes a [`Profile`].
#[derive(Debug)]
pub struct Profiling<'a> {
    context: Context<'a>,
    kinds: Arc<Kinds>,
    file_groups: Arc<FileGroups>,
    options: &'a ProfileOptions,
}

impl<'a> Profiling<'a> {
    /// For the events that `query` selects in `log`, whose processes are `processes` and divided into `groups`.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn new(
        log: &'a EventLog,
        query: &'a Query,
        processes: &'a ProcessTable,
        groups: &'a ProcessGroups,
        options: &'a ProfileOptions,
    ) -> Result<Self, StatsError> {
        Ok(Self {
            context: Context { log, query, processes, groups, only: options.only },
            kinds: Arc::new(Kinds::new(log, options.threads)?),
            file_groups: Arc::new(FileGroups::new(options.files_by, log, query)),
            options,
        })
    }

    /// The pass that tells what was done to each file, over the same events.
    #[must_use]
    pub fn files(&self, by: RowBy) -> FileUsing<'a> {
        FileUsing::of_kinds(self.context, Arc::clone(&self.kinds), by)
    }
}

/// All tables of a profile.
type Parts = ((Extent, IoTable), (Calls, Requests));

/// What a worker sums up.
#[derive(Clone, Debug)]
pub struct ProfileSums {
    parts: Parts,
    facts: RowFacts,
}

/// What consecutive rows remember of their ends.
#[derive(Clone, Debug)]
pub struct ProfileBoundary(<Parts as Part>::Boundary);

/// What boundaries, in the order of their rows, make.
#[derive(Clone, Debug)]
pub struct ClosedProfile(<Parts as Part>::Closed);

impl Pass for Profiling<'_> {
    type Sums = ProfileSums;
    type Boundary = ProfileBoundary;
    type Closed = ClosedProfile;
    type Output = Profile;

    fn columns(&self) -> Columns {
        Columns::CASE | Columns::PID | Columns::START | Parts::columns()
    }

    fn asks(&self) -> Asks {
        Asks { selection: true, activities: self.options.files_by == FilesBy::Map, whole_log: false }
    }

    fn sums(&self) -> ProfileSums {
        let io_table = IoTable::new(Arc::clone(&self.kinds));
        let parts = (
            (Extent::default(), io_table),
            (Calls::new(Arc::clone(&self.kinds)), Requests::new(&self.file_groups)),
        );
        ProfileSums { parts, facts: RowFacts::default() }
    }

    fn closed(&self) -> ClosedProfile {
        ClosedProfile(<Parts as Part>::Closed::default())
    }

    fn add(&self, ProfileSums { parts, facts }: &mut ProfileSums, rows: &Rows<'_>) -> ProfileBoundary {
        facts.look(rows, &self.context);
        ProfileBoundary(parts.add(rows.batch, facts, &self.context))
    }

    fn merge(&self, sums: &mut ProfileSums, other: ProfileSums) {
        sums.parts.merge(other.parts);
    }

    fn close(&self, boundaries: &mut ClosedProfile, ProfileBoundary(boundary): ProfileBoundary) {
        Parts::close(&mut boundaries.0, boundary);
    }

    fn finish(&self, sums: ProfileSums, ClosedProfile(closed): ClosedProfile) -> Profile {
        let Context { log, query, groups, .. } = self.context;
        let ((extent, io_table), (calls, requests)) = sums.parts.finish(closed, &self.context);
        let groups_shown = names(groups, extent.strays);
        let (phases, total) =
            phases(&io_table.summary, &groups_shown, extent.span.map(|(_, end)| end), &self.context);
        let throughput =
            io_table.throughput.table(&groups_shown, |case| query.rank_name(CaseId::from_index(case)));
        let (files, processes) = io_table.patterns.rows(&self.context);
        let group_calls = calls.by_group.into_iter().take(groups_shown.len()).collect();
        Profile {
            format: PROFILE_FORMAT,
            sources: log.trails().iter().map(Trail::name).collect(),
            by: self.options.by.clone(),
            paths: self.options.paths,
            selection: query.selection(),
            layers: query.layers().to_vec(),
            span: extent.span,
            groups: groups_shown,
            calls: calls.all,
            group_calls,
            class_calls: calls.by_class,
            phases,
            total,
            distributions: calls.latency.into_iter().chain(requests).collect(),
            files,
            processes,
            throughput,
            limitations: log.missing_events(),
            coverage: log.coverage(),
        }
    }
}

/// The names of the groups by slot; the last one stands for no group, if anything is in none.
fn names(groups: &ProcessGroups, strays: bool) -> Vec<String> {
    let mut names = groups.names.clone();
    if strays || groups.of_process.iter().any(Option::is_none) {
        names.push(NO_GROUP.to_owned());
    }
    names
}
