//! From an event log to a profile: every table from one pass.

use crate::call::Kinds;
use crate::calls::Calls;
use crate::error::StatsError;
use crate::extent::Extent;
use crate::file_uses::{FileUsing, RowBy};
use crate::in_out::InOut;
use crate::lengths::{FileGroups, Requests};
use crate::options::{FilesBy, ProfileOptions};
use crate::part::{Context, Part, RowFacts};
use crate::phases::phases;
use crate::result::{PROFILE_FORMAT, Profile};
use iotrail_model::CaseId;
use iotrail_query::{Asks, Lives, NO_GROUP, Pass, ProcessGroups, Query, Rows, scan};
use iotrail_trail::{Columns, EventLog, Trail};
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
    let pass = Profiling::new(log, query, lives, groups, options)?;
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
    /// For the events that `query` selects in `log`, whose processes are `lives` and divided into `groups`.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn new(
        log: &'a EventLog,
        query: &'a Query,
        lives: &'a Lives,
        groups: &'a ProcessGroups,
        options: &'a ProfileOptions,
    ) -> Result<Self, StatsError> {
        Ok(Self {
            context: Context { log, query, lives, groups, only: options.only },
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
type Parts = ((Extent, InOut), (Calls, Requests));

/// What a worker sums up.
#[derive(Clone, Debug)]
pub struct ProfileSums {
    parts: Parts,
    facts: RowFacts,
}

/// What consecutive rows remember of their ends.
#[derive(Clone, Debug)]
pub struct ProfileSeam(<Parts as Part>::Seam);

/// What seams, in the order of their rows, make.
#[derive(Clone, Debug)]
pub struct ProfileSeams(<Parts as Part>::Closed);

impl Pass for Profiling<'_> {
    type Sums = ProfileSums;
    type Seam = ProfileSeam;
    type Closed = ProfileSeams;
    type Output = Profile;

    fn columns(&self) -> Columns {
        Columns::CASE | Columns::PID | Columns::START | Parts::columns()
    }

    fn asks(&self) -> Asks {
        Asks { selection: true, activities: self.options.files_by == FilesBy::Map, whole_log: false }
    }

    fn sums(&self) -> ProfileSums {
        let in_out = InOut::new(Arc::clone(&self.kinds));
        let parts = (
            (Extent::default(), in_out),
            (Calls::new(Arc::clone(&self.kinds)), Requests::new(&self.file_groups)),
        );
        ProfileSums { parts, facts: RowFacts::default() }
    }

    fn closed(&self) -> ProfileSeams {
        ProfileSeams(<Parts as Part>::Closed::default())
    }

    fn add(&self, ProfileSums { parts, facts }: &mut ProfileSums, rows: &Rows<'_>) -> ProfileSeam {
        facts.look(rows, &self.context);
        ProfileSeam(parts.add(rows.batch, facts, &self.context))
    }

    fn merge(&self, sums: &mut ProfileSums, other: ProfileSums) {
        sums.parts.merge(other.parts);
    }

    fn close(&self, seams: &mut ProfileSeams, ProfileSeam(seam): ProfileSeam) {
        Parts::close(&mut seams.0, seam);
    }

    fn finish(&self, sums: ProfileSums, ProfileSeams(closed): ProfileSeams) -> Profile {
        let Context { log, query, groups, .. } = self.context;
        let ((extent, in_out), (calls, requests)) = sums.parts.finish(closed, &self.context);
        let groups_shown = names(groups, extent.strays);
        let (phases, total) =
            phases(&in_out.summary, &groups_shown, extent.span.map(|(_, end)| end), &self.context);
        let throughput =
            in_out.throughput.table(&groups_shown, |case| query.rank_name(CaseId::from_index(case)));
        let (files, processes) = in_out.patterns.rows(&self.context);
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
            coverage: log.coverage(),
        }
    }
}

/// The names of the groups by slot; the last one stands for no group, if anything is in none.
fn names(groups: &ProcessGroups, strays: bool) -> Vec<String> {
    let mut names = groups.names.clone();
    if strays || groups.of_life.iter().any(Option::is_none) {
        names.push(NO_GROUP.to_owned());
    }
    names
}
