//! Looks at every row of a trail and names what is wrong.

use crate::columns::Columns;
use crate::decode::decode;
use crate::error::TrailError;
use crate::log::EventLog;
use crate::meta::Table;
use crate::name_index::NameIndex;
use crate::parquet_file::ParquetFile;
use crate::read_tables;
use crate::rows::{Key, key};
use crate::trail::Trail;
use iotrail_model::calls::{self, Transfer};
use iotrail_model::{CallId, EventBatch, FileKind, Process, Usage};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many problems a check reports at most.
pub const MAX_PROBLEMS: usize = 100;

/// Something wrong with a trail.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Name of the file within the trail.
    pub file: String,
    /// Number of the row group within the file, if one can be named.
    pub row_group: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.row_group {
            Some(row_group) => write!(f, "{}, row group {row_group}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

/// Checks the trail at `path` completely: structure, order, row counts, dictionaries, rules of NULL. At most
/// [`MAX_PROBLEMS`] problems, one per rule and row group.
///
/// # Errors
/// If the trail cannot be opened at all.
pub fn check(path: &Path) -> Result<Vec<Problem>, TrailError> {
    let trail = Trail::open(path)?;
    let mut check = Check { problems: Vec::new(), calls: BTreeMap::new() };
    check.paths(&trail);
    let log = match EventLog::of_trail(trail.clone()) {
        Ok(log) => log,
        // The table `files` cannot be read; that was named, and without it no path can be told.
        Err(_) => return Ok(check.problems),
    };
    for file in trail.tables(Table::Events) {
        check.events(file, &log);
    }
    for file in trail.tables(Table::Processes) {
        check.processes(file, trail.cases().len());
    }
    check.totals(&trail);
    check.problems.truncate(MAX_PROBLEMS);
    Ok(check.problems)
}

struct Check {
    problems: Vec<Problem>,
    /// Events by call, as counted.
    calls: BTreeMap<String, u64>,
}

impl Check {
    fn add(&mut self, path: &Path, row_group: Option<usize>, what: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.problems.push(Problem { file, row_group, what: what.into() });
        }
    }

    fn add_error(&mut self, path: &Path, error: TrailError) {
        match error {
            TrailError::Damaged { row_group, why, .. } => self.add(path, row_group, why),
            other => self.add(path, None, other.to_string()),
        }
    }

    fn paths(&mut self, trail: &Trail) {
        for file in trail.tables(Table::Files) {
            let rows = match read_tables::rows(file, read_tables::file) {
                Ok(rows) => rows,
                Err(error) => return self.add_error(file.path(), error),
            };
            let known = |kind: &String| FileKind::ALL.iter().any(|known| known.name() == kind);
            if let Some(row) = rows.iter().find(|row| row.kind.as_ref().is_some_and(|kind| !known(kind))) {
                let kind = printable(row.kind.as_deref().unwrap_or_default());
                self.add(
                    file.path(),
                    None,
                    format!("the path `{}` is of the unknown kind `{kind}`", printable(&row.path)),
                );
            }
            let mut seen = BTreeSet::new();
            if let Some(row) = rows.iter().find(|row| !seen.insert((&row.path, row.file))) {
                let what = format!("the path `{}` has two rows for one file", printable(&row.path));
                self.add(file.path(), None, what);
            }
        }
    }

    fn events(&mut self, file: &ParquetFile, log: &EventLog) {
        let mut last: Option<Key> = None;
        for row_group in 0..file.row_groups() {
            let batch = match decode(file, row_group, Columns::ALL, &mut log.name_index()) {
                Ok(batch) => batch,
                Err(error) => {
                    self.add_error(file.path(), error);
                    continue;
                }
            };
            let cases = log.cases().len();
            for what in rules(&batch, cases, log.name_index()) {
                self.add(file.path(), Some(row_group), what);
            }
            if let Some(row) = (0..batch.len).find(|row| {
                let key = Some(key(&batch, *row));
                std::mem::replace(&mut last, key) > key
            }) {
                self.add(file.path(), Some(row_group), format!("row {row} comes before the row above it"));
            }
            self.count_calls(&batch, log);
        }
    }

    fn count_calls(&mut self, batch: &EventBatch, log: &EventLog) {
        let mut counts = vec![0; log.names().calls.len()];
        batch.call.iter().for_each(|call| counts[call.index()] += 1);
        for (name, count) in log.names().calls.iter().zip(counts).filter(|(_, count)| *count > 0) {
            *self.calls.entry(name.to_string()).or_default() += count;
        }
    }

    fn processes(&mut self, file: &ParquetFile, cases: usize) {
        let wrong = |process: &Process| {
            let span = process.start.zip(process.end);
            if process.case.index() >= cases {
                Some(format!("process {} is of case {}, which is not in `cases`", process.pid, process.case))
            } else if span.is_some_and(|(start, end)| end < start) {
                Some(format!("process {} ends before it starts", process.pid))
            } else if has_negative_time(&process.usage) {
                Some(format!("process {} used a negative time", process.pid))
            } else if process.bytes_read < 0 || process.bytes_written < 0 {
                Some(format!("process {} moved a negative number of bytes", process.pid))
            } else {
                None
            }
        };
        match read_tables::rows(file, read_tables::process) {
            Ok(rows) => rows.iter().filter_map(wrong).for_each(|what| self.add(file.path(), None, what)),
            Err(error) => self.add_error(file.path(), error),
        }
    }

    fn totals(&mut self, trail: &Trail) {
        let said = &trail.meta().totals.calls;
        let names: BTreeSet<&String> = said.keys().chain(self.calls.keys()).collect();
        let of =
            |counts: &BTreeMap<String, u64>, name: &String| counts.get(name).copied().unwrap_or_default();
        let differs = names.into_iter().find(|name| of(said, name) != of(&self.calls, name));
        // Row groups that cannot be read were named already; their events are missing here.
        if let (Some(name), true) = (differs, self.problems.is_empty()) {
            let (said, found) = (of(said, name), of(&self.calls, name));
            let what = format!("its totals say {said} events of `{}`, there are {found}", printable(name));
            self.add(&trail.path().join("trail.json"), None, what);
        }
        let coverage = trail.coverage();
        if coverage.lines.total != coverage.lines.sum() {
            let (total, sum) = (coverage.lines.total, coverage.lines.sum());
            let what = format!("the coverage statement speaks of {total} lines, their kinds add up to {sum}");
            self.add(&trail.path().join("trail.json"), None, what);
        }
    }
}

/// What is wrong with rows by themselves: the first row of each kind.
fn rules(batch: &EventBatch, cases: usize, names: &NameIndex) -> Vec<String> {
    let rows = || 0..batch.len;
    let name = |row: usize| printable(names.names().call(batch.call[row]));
    let transfers: Vec<bool> =
        (0..names.names().calls.len()).map(|call| may_transfer(CallId::from_index(call))).collect();
    let is_transfer = |row: usize| transfers[batch.call[row].index()];
    let mut wrong = Vec::new();
    let mut rule = |broken: Option<usize>, what: &dyn Fn(usize) -> String| {
        wrong.extend(broken.map(|row| format!("row {row}: {}", what(row))));
    };
    rule(rows().find(|row| batch.case[*row].index() >= cases), &|row| {
        format!("case {} is not in `cases`", batch.case[row])
    });
    rule(rows().find(|row| batch.dur[*row].get().is_some_and(|dur| dur.0 < 0)), &|row| {
        format!("`dur` of `{}` is negative", name(row))
    });
    rule(rows().find(|row| !batch.size[*row].is_null() && !is_transfer(*row)), &|row| {
        format!("`{}` has a `size`, but moves no bytes", name(row))
    });
    rule(rows().find(|row| batch.size[*row].get().is_some_and(|size| size < 0)), &|row| {
        format!("`size` of `{}` is negative", name(row))
    });
    rule(rows().find(|row| !batch.errno[*row].is_null() && !batch.size[*row].is_null()), &|row| {
        format!("`{}` failed, but has a `size`", name(row))
    });
    rule(
        rows().find(|row| !batch.errno[*row].is_null() && batch.ret[*row].get().is_some_and(|ret| ret >= 0)),
        &|row| format!("`{}` has an `errno`, but `ret` says that it did not fail", name(row)),
    );
    wrong
}

fn has_negative_time(usage: &Usage) -> bool {
    [usage.user, usage.system, usage.io_delay].into_iter().flatten().any(|span| span.0 < 0)
}

/// Calls that are not in the call table may do anything.
fn may_transfer(call: CallId) -> bool {
    calls::spec(call).is_none_or(|spec| spec.transfer != Transfer::None)
}

fn printable(text: &str) -> String {
    iotrail_model::text::printable(text).into_owned()
}
