//! A selection bound to a log: bits for each name, bounds for each number.
//!
//! Patterns are matched once for each case, call and path of the dictionaries, so that a row costs a few look-ups.

use crate::error::QueryError;
use crate::facts::Facts;
use crate::moment::{self, Moment};
use crate::select::{CasePattern, Selection};
use crate::variables::Variables;
use globset::GlobSet;
use iotrail_model::canonical::canonical;
use iotrail_model::{Case, CaseId, Clock, EventBatch, Layer, Nullable, PathId, Pid, Timestamp};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The conditions on rows. `None` is no condition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// By number of the layer.
    layers: Option<[bool; Layer::ALL.len()]>,
    cases: Option<Vec<bool>>,
    calls: Option<Vec<bool>>,
    paths: Option<Vec<bool>>,
    not_paths: Option<Vec<bool>>,
    pid: Vec<(u32, u32)>,
    not_pid: Vec<(u32, u32)>,
    time: Option<Times>,
    size: Option<(i64, i64)>,
    failed: Option<bool>,
}

/// Half-open intervals of starts: a time that is relative to a trail is another one in each.
#[derive(Clone, Debug, Default)]
struct Times {
    of_case: Vec<(Timestamp, Timestamp)>,
    /// The interval of other cases.
    else_: (Timestamp, Timestamp),
}

impl Times {
    fn of(&self, case: CaseId) -> (Timestamp, Timestamp) {
        self.of_case.get(case.index()).copied().unwrap_or(self.else_)
    }

    fn may_match(&self, cases: &RangeInclusive<CaseId>, starts: &RangeInclusive<Timestamp>) -> bool {
        let overlaps =
            |(since, until): &(Timestamp, Timestamp)| *starts.start() < *until && *since <= *starts.end();
        let (first, end) = (cases.start().index(), cases.end().index().saturating_add(1));
        let known = self.of_case.get(first..end.min(self.of_case.len())).unwrap_or_default();
        known.iter().any(overlaps) || end > self.of_case.len() && overlaps(&self.else_)
    }
}

impl Filter {
    pub(crate) fn bind(
        selection: &Selection,
        facts: &Facts<'_>,
        variables: &Variables,
    ) -> Result<Self, QueryError> {
        let paths = |globs: &Option<GlobSet>| {
            globs.as_ref().map(|globs| path_bits(globs, &facts.names.paths, variables))
        };
        let size = (selection.min_size.unwrap_or(0), selection.max_size.unwrap_or(i64::MAX));
        Ok(Self {
            layers: selection.layers.bits(facts.layers),
            cases: case_bits(selection, facts),
            calls: call_bits(selection, &facts.names.calls),
            paths: paths(&selection.path),
            not_paths: paths(&selection.not_path),
            pid: selection.pid.clone(),
            not_pid: selection.not_pid.clone(),
            time: times(selection, facts)?,
            size: (selection.min_size.is_some() || selection.max_size.is_some()).then_some(size),
            failed: selection.failed,
        })
    }

    /// Whether every event is selected.
    pub(crate) fn is_everything(&self) -> bool {
        let Self { layers, cases, calls, paths, not_paths, pid, not_pid, time, size, failed } = self;
        layers.is_none()
            && [cases, calls, paths, not_paths].into_iter().all(Option::is_none)
            && pid.is_empty()
            && not_pid.is_empty()
            && time.is_none()
            && size.is_none()
            && failed.is_none()
    }

    /// Whether every call of a selected process is selected, in the layers that count.
    pub(crate) fn takes_whole_processes(&self) -> bool {
        let Self { layers: _, cases: _, pid: _, not_pid: _, calls, paths, not_paths, time, size, failed } =
            self;
        [calls, paths, not_paths].into_iter().all(Option::is_none)
            && time.is_none()
            && size.is_none()
            && failed.is_none()
    }

    /// Whether calls of a process may be selected.
    pub(crate) fn may_match_process(&self, case: CaseId, pid: Pid) -> bool {
        self.cases.as_ref().is_none_or(|bits| bit(bits, case.index()))
            && (self.pid.is_empty() || within(&self.pid, pid.0))
            && !within(&self.not_pid, pid.0)
    }

    pub(crate) fn needs_layer(&self) -> bool {
        self.layers.is_some()
    }

    pub(crate) fn needs_path(&self) -> bool {
        self.paths.is_some() || self.not_paths.is_some()
    }

    pub(crate) fn needs_pid(&self) -> bool {
        !self.pid.is_empty() || !self.not_pid.is_empty()
    }

    pub(crate) fn needs_start(&self) -> bool {
        self.time.is_some()
    }

    pub(crate) fn needs_size(&self) -> bool {
        self.size.is_some()
    }

    pub(crate) fn needs_errno(&self) -> bool {
        self.failed.is_some()
    }

    /// Whether rows of these cases and starts may be selected.
    pub(crate) fn may_match(&self, cases: RangeInclusive<CaseId>, starts: RangeInclusive<Timestamp>) -> bool {
        let case = self.cases.as_ref().is_none_or(|bits| {
            let (first, last) =
                (cases.start().index(), cases.end().index().min(bits.len().saturating_sub(1)));
            first <= last && bits.get(first..=last).is_some_and(|bits| bits.contains(&true))
        });
        case && self.time.as_ref().is_none_or(|times| times.may_match(&cases, &starts))
    }

    /// Sets `mask` to whether each row is selected.
    pub(crate) fn mask(&self, batch: &EventBatch, mask: &mut Vec<bool>) {
        mask.clear();
        mask.resize(batch.len, true);
        if let Some(bits) = &self.layers {
            and(mask, &batch.layer, |layer| bits[layer as usize]);
        }
        if let Some(bits) = &self.cases {
            and(mask, &batch.case, |case| bit(bits, case.index()));
        }
        if let Some(bits) = &self.calls {
            and(mask, &batch.call, |call| bit(bits, call.index()));
        }
        if let Some(bits) = &self.paths {
            and_pair(mask, batch, |path, path2| names(bits, path) | names(bits, path2));
        }
        if let Some(bits) = &self.not_paths {
            and_pair(mask, batch, |path, path2| !(names(bits, path) | names(bits, path2)));
        }
        if !self.pid.is_empty() {
            and(mask, &batch.pid, |pid| within(&self.pid, pid.0));
        }
        if !self.not_pid.is_empty() {
            and(mask, &batch.pid, |pid| !within(&self.not_pid, pid.0));
        }
        if let Some(times) = &self.time {
            debug_assert_eq!(mask.len(), batch.start.len(), "a column that the query needs was not read");
            for ((keep, start), case) in mask.iter_mut().zip(&batch.start).zip(&batch.case) {
                let (since, until) = times.of(*case);
                *keep &= since <= *start && *start < until;
            }
        }
        if let Some((min, max)) = self.size {
            and(mask, &batch.size, |size| size.get().is_some_and(|size| min <= size && size <= max));
        }
        if let Some(failed) = self.failed {
            and(mask, &batch.errno, |errno| errno.is_null() != failed);
        }
    }
}

fn and<T: Copy>(mask: &mut [bool], column: &[T], holds: impl Fn(T) -> bool) {
    debug_assert_eq!(mask.len(), column.len(), "a column that the query needs was not read");
    for (keep, value) in mask.iter_mut().zip(column) {
        *keep &= holds(*value);
    }
}

fn and_pair(
    mask: &mut [bool],
    batch: &EventBatch,
    holds: impl Fn(Nullable<PathId>, Nullable<PathId>) -> bool,
) {
    debug_assert_eq!(mask.len(), batch.path2.len(), "a column that the query needs was not read");
    for ((keep, path), path2) in mask.iter_mut().zip(&batch.path).zip(&batch.path2) {
        *keep &= holds(*path, *path2);
    }
}

fn bit(bits: &[bool], index: usize) -> bool {
    bits.get(index).copied().unwrap_or(false)
}

/// NULL is the largest id and lies behind the bits.
fn names(bits: &[bool], path: Nullable<PathId>) -> bool {
    bit(bits, path.raw().index())
}

fn within(ranges: &[(u32, u32)], value: u32) -> bool {
    ranges.iter().any(|&(first, last)| first <= value && value <= last)
}

fn call_bits(selection: &Selection, calls: &[Arc<str>]) -> Option<Vec<bool>> {
    let (yes, no) = (&selection.call, &selection.not_call);
    let selected = |name: &Arc<str>| {
        yes.as_ref().is_none_or(|globs| globs.is_match(&**name))
            && !no.as_ref().is_some_and(|globs| globs.is_match(&**name))
    };
    (yes.is_some() || no.is_some()).then(|| calls.iter().map(selected).collect())
}

fn path_bits(globs: &GlobSet, paths: &[Arc<str>], variables: &Variables) -> Vec<bool> {
    let matches = |path: &Arc<str>| {
        let canonical = canonical(path);
        let short = variables.shorten(&canonical);
        globs.is_match(&**path)
            || (*canonical != **path && globs.is_match(&*canonical))
            || (*short != *canonical && globs.is_match(&*short))
    };
    paths.iter().map(matches).collect()
}

impl CasePattern {
    pub(crate) fn matches(&self, case: &Case, trail: &str) -> bool {
        match self.attribute {
            Some(attribute) => attribute.of(case, trail).is_some_and(|value| self.globs.is_match(value)),
            None => self.globs.is_match(case.name.to_string()),
        }
    }
}

fn case_bits(selection: &Selection, facts: &Facts<'_>) -> Option<Vec<bool>> {
    let any =
        |patterns: &[CasePattern], case: &Case| patterns.iter().any(|p| p.matches(case, facts.trail(case)));
    let selected = |case: &Case| {
        (selection.case.is_empty() || any(&selection.case, case)) && !any(&selection.not_case, case)
    };
    (!selection.case.is_empty() || !selection.not_case.is_empty())
        .then(|| facts.cases.iter().map(selected).collect())
}

/// The interval of each case's trail.
fn times(selection: &Selection, facts: &Facts<'_>) -> Result<Option<Times>, QueryError> {
    if selection.since.is_none() && selection.until.is_none() {
        return Ok(None);
    }
    let mut spans = facts.spans.to_vec();
    spans.dedup();
    if let [] | [_] = spans[..] {
        let else_ = interval(selection, facts, spans.first().copied().flatten())?;
        return Ok(Some(Times { of_case: Vec::new(), else_ }));
    }
    let of_case =
        facts.spans.iter().map(|span| interval(selection, facts, *span)).collect::<Result<_, _>>()?;
    Ok(Some(Times { of_case, else_: interval(selection, facts, None)? }))
}

/// The half-open interval of starts in a trail whose events start in `span`.
fn interval(
    selection: &Selection,
    facts: &Facts<'_>,
    span: Option<(Timestamp, Timestamp)>,
) -> Result<(Timestamp, Timestamp), QueryError> {
    let clocks: Vec<Clock> = facts.cases.iter().map(|case| case.clock).collect();
    let resolve = |option, moment: Option<Moment>, word: &Option<String>, after| {
        let word = word.as_deref().unwrap_or_default();
        let at = moment.map(|moment| moment.resolve(span, &clocks, after));
        at.transpose().map_err(|problem| QueryError::word(option, word, problem, moment::ALLOWED))
    };
    let since = resolve("since", selection.since, &selection.spec().since, None)?;
    let both_of_day = matches!(selection.since, Some(Moment::TimeOfDay(_)));
    let until = resolve("until", selection.until, &selection.spec().until, since.filter(|_| both_of_day))?;
    Ok((since.unwrap_or(Timestamp(i64::MIN)), until.unwrap_or(Timestamp(i64::MAX))))
}
