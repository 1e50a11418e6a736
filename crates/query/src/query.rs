//! The checked plan: a query bound to one event log.

use crate::activities::Activities;
use crate::attribute::Attribute;
use crate::auto::Auto;
use crate::case_by::CaseBy;
use crate::case_names;
use crate::classified::{CaseKey, GroupId};
use crate::classifier::Classifier;
use crate::error::QueryError;
use crate::facts::Facts;
use crate::filter::Filter;
use crate::group::{GroupBy, Groups};
use crate::images::Images;
use crate::layers::OneLayer;
use crate::mapping::{AUTO, Mapping, Subject};
use crate::process_table::ProcessTable;
use crate::reused::Reused;
use crate::rules;
use crate::select::Selection;
use crate::spec::{QuerySpec, SelectSpec};
use crate::variables::Variables;
use crate::warning::Warning;
use iotrail_model::calls::{Call, Transfer};
use iotrail_model::canonical::canonical;
use iotrail_model::threads::one_per_core;
use iotrail_model::{Case, CaseId, Layer, PathId, Pid, Timestamp};
use iotrail_trail::{Columns, EventLog, RowGroupMeta, Trail};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A query bound to one event log. Workers share it; what it says does not change, but its table of activities grows
/// while they work.
#[derive(Clone, Debug)]
pub struct Query {
    plan: Arc<Plan>,
}

/// What every worker reads.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) mapping: Mapping,
    pub(crate) variables: Variables,
    pub(crate) filter: Filter,
    pub(crate) case_by: CaseBy,
    pub(crate) images: Images,
    pub(crate) reused: Reused,
    pub(crate) cases: Vec<Case>,
    /// Cases that no rule of the mapping tells apart have the same number.
    pub(crate) classes: Vec<u32>,
    pub(crate) calls: Vec<Arc<str>>,
    pub(crate) moves_data: Vec<bool>,
    pub(crate) paths: Vec<Arc<str>>,
    pub(crate) activities: Activities,
    spec: QuerySpec,
    selection: Selection,
    layers: Vec<Layer>,
    layer_words: Option<String>,
    reason: String,
    groups: Groups,
    case_names: Vec<String>,
    warnings: Vec<Warning>,
}

impl Query {
    /// The query that `spec` means in `log`.
    ///
    /// # Errors
    /// If a word of it makes no sense, a rules file cannot be read or understood, or the log cannot be read.
    pub fn new(spec: QuerySpec, log: &EventLog) -> Result<Self, QueryError> {
        let (trails, layers) = (trail_names(log), log.layers());
        let by = kind_of_case(&spec).and_then(|word| CaseBy::from_name(&word));
        let needs_processes = by.unwrap_or_else(|| CaseBy::choose(log.cases()).0) != CaseBy::Rank;
        let is_auto = spec.map.as_deref() == Some(AUTO);
        let processes = if needs_processes || is_auto { log.processes()? } else { Vec::new() };
        let is_relative = Selection::check(&spec.select)?.is_relative();
        let spans = if is_relative { spans(log)? } else { Vec::new() };
        let facts = Facts {
            cases: log.cases(),
            names: log.names(),
            trails: &trails,
            processes: &processes,
            layers: &layers,
            spans: &spans,
        };
        let (mut mapping, file_variables) = Self::load(&spec)?;
        let variables = Self::variables_of(&spec, &file_variables)?;
        if is_auto {
            let auto = Auto::of(log, &processes, &variables, one_per_core())?;
            mapping = Mapping::Auto(Box::new(auto));
        }
        Self::bind(spec, &facts, mapping, variables)
    }

    /// The query that `spec` means in the log that `facts` describe; without the log the mapping `auto` is `dir2`.
    ///
    /// # Errors
    /// If a word of it makes no sense, or a rules file cannot be read or understood.
    pub fn over(spec: QuerySpec, facts: &Facts<'_>) -> Result<Self, QueryError> {
        let (mapping, file_variables) = Self::load(&spec)?;
        let variables = Self::variables_of(&spec, &file_variables)?;
        Self::bind(spec, facts, mapping, variables)
    }

    /// The mapping that does not depend on the log.
    fn load(spec: &QuerySpec) -> Result<(Mapping, Variables), QueryError> {
        Mapping::load(spec.map.as_deref().filter(|word| *word != AUTO))
    }

    fn variables_of(spec: &QuerySpec, of_mapping: &Variables) -> Result<Variables, QueryError> {
        let of_site = spec.config.as_deref().map(rules::load_variables).transpose()?.unwrap_or_default();
        Ok(Variables::parse(&spec.variables)?.or(of_mapping).or(&of_site))
    }

    fn bind(
        spec: QuerySpec,
        facts: &Facts<'_>,
        mapping: Mapping,
        variables: Variables,
    ) -> Result<Self, QueryError> {
        let (case_by, reason) = match kind_of_case(&spec) {
            Some(word) => (CaseBy::parse(&word)?, "as asked".to_owned()),
            None => CaseBy::choose(facts.cases),
        };
        let selection = Selection::check(&select(&spec))?;
        let filter = Filter::bind(&selection, facts, &variables)?;
        let groups = match (&spec.groups, &spec.group_by) {
            (Some(groups), _) => groups.clone(),
            (None, Some(word)) => {
                GroupBy::parse(word)?.divide(facts.cases, |case| facts.trail(case)).led_by(&spec.groups_first)
            }
            (None, None) => Groups::default(),
        };
        let plan = Plan {
            classes: classes(facts.cases, mapping.attributes()),
            images: if case_by == CaseBy::Exec { Images::new(facts.processes) } else { Images::default() },
            reused: match case_by {
                CaseBy::Pid | CaseBy::Tid => Reused::new(&ProcessTable::new(facts.processes.to_vec())),
                CaseBy::Rank | CaseBy::Exec => Reused::default(),
            },
            case_names: case_names::unique(facts.cases),
            cases: facts.cases.to_vec(),
            calls: facts.names.calls.clone(),
            moves_data: facts.names.calls.iter().map(|name| moves_data(name)).collect(),
            paths: facts.names.paths.clone(),
            activities: Activities::default(),
            warnings: warnings(&selection, &groups, facts, spec.group_by.is_some() && spec.groups.is_none()),
            mapping,
            variables,
            filter,
            case_by,
            spec,
            layers: selection.layers.of(facts.layers),
            layer_words: selection.layers.describe(facts.layers),
            selection,
            reason,
            groups,
        };
        Ok(Self { plan: Arc::new(plan) })
    }

    /// What one thread needs to classify batches.
    #[must_use]
    pub fn worker(&self) -> Classifier {
        Classifier::new(Arc::clone(&self.plan))
    }

    /// Whether rows of these cases and starts may be selected; row groups for which not need not be read.
    #[must_use]
    pub fn may_match(&self, cases: RangeInclusive<CaseId>, starts: RangeInclusive<Timestamp>) -> bool {
        self.plan.filter.may_match(cases, starts)
    }

    /// Whether rows of this row group may be selected.
    #[must_use]
    pub fn may_match_group(&self, group: &RowGroupMeta) -> bool {
        let cases = group.cases.clone().unwrap_or(CaseId(0)..=CaseId(u32::MAX));
        let starts = group.starts.clone().unwrap_or(Timestamp(i64::MIN)..=Timestamp(i64::MAX));
        self.may_match(cases, starts)
    }

    /// Whether every call of this process is selected; NULL if that depends on the call.
    #[must_use]
    pub fn selects_process(&self, case: CaseId, pid: Pid) -> Option<bool> {
        let filter = &self.plan.filter;
        match filter.may_match_process(case, pid) {
            false => Some(false),
            true => filter.takes_whole_processes().then_some(true),
        }
    }

    /// Whether processes are selected as wholes: all calls of one, or none.
    #[must_use]
    pub fn selects_whole_processes(&self) -> bool {
        self.plan.filter.takes_whole_processes()
    }

    /// The columns that batches must have to be classified.
    #[must_use]
    pub fn columns(&self) -> Columns {
        let Plan { filter, case_by, mapping, reused, .. } = &*self.plan;
        let by_process = matches!(case_by, CaseBy::Pid | CaseBy::Exec);
        let sees_time = matches!(mapping, Mapping::Auto(_));
        [
            (Columns::LAYER, filter.needs_layer()),
            (Columns::PATH2, filter.needs_path()),
            (Columns::PID, by_process || filter.needs_pid() || sees_time),
            (Columns::TID, *case_by == CaseBy::Tid),
            (
                Columns::START,
                *case_by == CaseBy::Exec || !reused.is_empty() || filter.needs_start() || sees_time,
            ),
            (Columns::SIZE, filter.needs_size()),
            (Columns::ERRNO, mapping.sees_failure() || filter.needs_errno()),
        ]
        .into_iter()
        .filter(|(_, needed)| *needed)
        .fold(Columns::CASE | Columns::CALL | Columns::PATH, |all, (column, _)| all | column)
    }

    /// The mapping as the user wrote it.
    #[must_use]
    pub fn mapping(&self) -> &str {
        self.plan.spec.map.as_deref().unwrap_or("dir2")
    }

    /// The layers whose calls are selected, of those that the log has, the lowest first.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.plan.layers
    }

    /// The same query with these layers where none were asked for.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn or_layers(&self, layers: &[Layer], log: &EventLog) -> Result<Self, QueryError> {
        let mut spec = self.plan.spec.clone();
        if !spec.select.layer.is_empty() {
            return Ok(self.clone());
        }
        spec.select.layer = layers.iter().map(|layer| layer.name().to_owned()).collect();
        Self::new(spec, log)
    }

    /// The layers to look at for what happened, each byte once: see [`OneLayer`].
    #[must_use]
    pub fn one_layer(&self, log: &EventLog) -> OneLayer {
        OneLayer::new(self.layers(), &log.layers())
    }

    /// The selection in words, empty if everything is selected.
    #[must_use]
    pub fn selection(&self) -> String {
        let Plan { layer_words, selection, .. } = &*self.plan;
        let words = Some(selection.describe()).filter(|words| !words.is_empty());
        layer_words.iter().cloned().chain(words).collect::<Vec<_>>().join("; ")
    }

    /// Whether the selection left something, `selected` being how many rows, events or vertices of `log` the answer is about.
    ///
    /// # Errors
    /// [`QueryError::NothingSelected`] if conditions were given and nothing is left.
    pub fn check_selected(&self, selected: u64, log: &EventLog) -> Result<(), QueryError> {
        if selected > 0 || self.selects_everything() || log.rows() == 0 {
            return Ok(());
        }
        let events = iotrail_model::units::counted(log.rows(), "event", "events");
        Err(QueryError::NothingSelected { selection: self.selection(), events })
    }

    /// Whether every event is selected.
    #[must_use]
    pub fn selects_everything(&self) -> bool {
        self.plan.filter.is_everything()
    }

    /// The canonical path with site variables, as mappings see it.
    #[must_use]
    pub fn path(&self, path: PathId) -> Option<String> {
        self.plan.path(path.0)
    }

    /// Site variables with their `$` and what they stand for.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.plan.variables.iter()
    }

    /// What a case is.
    #[must_use]
    pub fn case_by(&self) -> CaseBy {
        self.plan.case_by
    }

    /// Why it is that, as a clause.
    #[must_use]
    pub fn case_by_reason(&self) -> &str {
        &self.plan.reason
    }

    /// A unique name of a case. Hostile characters are in it as they were found.
    #[must_use]
    pub fn case_name(&self, key: CaseKey) -> String {
        let name = self.plan.case_names.get(key.case().index()).map_or("?", String::as_str);
        case_names::part(name, key, self.plan.case_by, &self.plan.images, &self.plan.reused)
    }

    /// A unique name of a recorded case. Hostile characters are in it as they were found.
    #[must_use]
    pub fn rank_name(&self, case: CaseId) -> String {
        self.plan.case_names.get(case.index()).map_or("?", String::as_str).to_owned()
    }

    /// Names of the groups by [`GroupId`]; empty without a partition.
    #[must_use]
    pub fn groups(&self) -> &[String] {
        &self.plan.groups.names
    }

    /// Whether the groups are trails, or sides of several.
    #[must_use]
    pub fn groups_trails(&self) -> bool {
        let by = self.plan.spec.group_by.as_deref().map(str::trim);
        self.plan.spec.groups.is_some() || by.and_then(Attribute::from_name) == Some(Attribute::Trail)
    }

    /// Whether events of a recorded case may be selected.
    #[must_use]
    pub fn may_select_case(&self, case: CaseId) -> bool {
        self.may_match(case..=case, Timestamp(i64::MIN)..=Timestamp(i64::MAX))
    }

    /// The group of a recorded case.
    #[must_use]
    pub fn group(&self, case: CaseId) -> Option<GroupId> {
        self.plan.groups.of(case)
    }

    /// How many recorded cases belong to no group although there is a partition.
    #[must_use]
    pub fn cases_without_group(&self) -> usize {
        self.plan.groups.of_case.iter().filter(|group| group.is_none()).count()
    }

    /// Names of the activities met so far, by [`crate::ActivityId`]. Their order depends on the threads; sort by name.
    #[must_use]
    pub fn activities(&self) -> Vec<Arc<str>> {
        self.plan.activities.names()
    }

    /// What is allowed but probably not meant: a word that matches nothing. One sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.plan.warnings
    }

    /// The query in one line.
    #[must_use]
    pub fn describe(&self) -> String {
        let selection = self.selection();
        let selected = if selection.is_empty() { "all events".to_owned() } else { selection };
        let map = iotrail_model::text::printable(self.mapping());
        format!("mapping {map}; {selected}; case = {} ({})", self.case_by(), self.case_by_reason())
    }
}

impl Plan {
    /// The canonical path with site variables.
    pub(crate) fn path(&self, path: u32) -> Option<String> {
        let exact = self.paths.get(path as usize)?;
        Some(self.variables.shorten(&canonical(exact)).into_owned())
    }

    /// f of an event.
    pub(crate) fn map(&self, call: u32, path: u32, case: CaseId, failed: bool) -> Option<String> {
        let path = self.path(path);
        self.mapping.activity(&Subject {
            call: self.calls.get(call as usize)?,
            path: path.as_deref(),
            moves_data: self.moves_data[call as usize],
            failed,
            case: self.cases.get(case.index())?,
        })
    }
}

/// The word that says what a case is. On the command line `--case` says both this and which cases are meant.
fn kind_of_case(spec: &QuerySpec) -> Option<String> {
    let words = &spec.select.case;
    let among_patterns = || words.iter().rfind(|word| CaseBy::from_name(word).is_some());
    spec.case_by.as_ref().or_else(among_patterns).cloned()
}

/// The selection without that word.
fn select(spec: &QuerySpec) -> SelectSpec {
    let mut select = spec.select.clone();
    if spec.case_by.is_none() {
        select.case.retain(|word| CaseBy::from_name(word).is_none());
    }
    select
}

/// The name of each case's trail; trails of the same name are numbered apart.
fn trail_names(log: &EventLog) -> Vec<String> {
    let plain: Vec<String> = log.trails().iter().map(Trail::name).collect();
    let unique = case_names::unique_texts(plain);
    let name = |case: &Case| unique.get(log.trail_number(case.id)).cloned().unwrap_or_default();
    log.cases().iter().map(name).collect()
}

/// First and last start in the trail of each case: several trails are several runs, at times of their own.
fn spans(log: &EventLog) -> Result<Vec<Option<(Timestamp, Timestamp)>>, QueryError> {
    let mut of_trail: Vec<Option<(Timestamp, Timestamp)>> = vec![None; log.trails().len().max(1)];
    for group in 0..log.row_groups() {
        let meta = log.row_group(group);
        let (case, starts) = match (&meta.cases, &meta.starts) {
            (Some(cases), Some(starts)) => (Some(*cases.start()), Some((*starts.start(), *starts.end()))),
            _ => {
                let batch = log.read(group, Columns::CASE | Columns::START)?;
                let starts = batch.start.iter().min().copied().zip(batch.start.iter().max().copied());
                (batch.case.first().copied(), starts)
            }
        };
        let Some(span) = case.and_then(|case| of_trail.get_mut(log.trail_number(case))) else { continue };
        *span = match (*span, starts) {
            (Some(span), Some(starts)) => Some((span.0.min(starts.0), span.1.max(starts.1))),
            (span, starts) => span.or(starts),
        };
    }
    Ok(log.cases().iter().map(|case| of_trail[log.trail_number(case.id)]).collect())
}

fn classes(cases: &[Case], attributes: &[Attribute]) -> Vec<u32> {
    let mut numbers = BTreeMap::new();
    let class = |case| {
        let values: Vec<Option<&str>> = attributes.iter().map(|attribute| attribute.of(case, "")).collect();
        let next = numbers.len() as u32;
        *numbers.entry(values).or_insert(next)
    };
    cases.iter().map(class).collect()
}

/// Whether a call is a read or write variant.
#[must_use]
pub fn moves_data(name: &str) -> bool {
    Call::named(name).transfer() != Transfer::None
}

fn warnings(selection: &Selection, groups: &Groups, facts: &Facts<'_>, grouped: bool) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = selection.layers.warning(facts.layers).into_iter().collect();
    for pattern in &selection.case {
        if let Some(first) = facts.cases.first()
            && !facts.cases.iter().any(|case| pattern.matches(case, facts.trail(case)))
        {
            let example = first.name.to_string();
            warnings.push(Warning::NoSuchCase { word: pattern.word.to_string(), example });
        }
    }
    let unmatched = |globs: &Option<globset::GlobSet>, names: &[Arc<str>]| {
        globs.as_ref().is_some_and(|globs| !names.iter().any(|name| globs.is_match(&**name)))
    };
    if unmatched(&selection.call, &facts.names.calls) {
        let there = facts.names.calls.iter().map(ToString::to_string).collect();
        warnings.push(Warning::NoSuchCall { words: selection.spec().call.join(","), there });
    }
    if grouped && groups.of_case.iter().all(Option::is_none) {
        warnings.push(Warning::NoGroups);
    }
    warnings
}
