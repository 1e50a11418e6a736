//! Looks at every row of a trail and names what is wrong.

use crate::columns::Columns;
use crate::decode::decode;
use crate::error::TrailError;
use crate::log::{EventLog, part_of};
use crate::meta::Table;
use crate::name_index::NameIndex;
use crate::parquet_file::ParquetFile;
use crate::read_tables;
use crate::rows::{Key, key};
use crate::sites;
use crate::trail::Trail;
use iotrail_model::calls::{self, Transfer};
use iotrail_model::{CallId, EventBatch, FileId, FileKind, Layer, Nullable, PathId, Process, SiteId, Usage};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

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
    check_trail(&Trail::open(path)?)
}

/// The same of a trail that was opened.
///
/// # Errors
/// If it cannot be read at all.
pub fn check_trail(trail: &Trail) -> Result<Vec<Problem>, TrailError> {
    let mut check = Check::default();
    check.paths(trail);
    check.sites(trail);
    let log = match EventLog::of_trails(vec![trail.clone()]) {
        Ok(log) => log,
        // A table `files` or `sites` cannot be read; that was named, and without it no path can be told.
        Err(_) => return Ok(check.problems),
    };
    for file in trail.tables(Table::Events) {
        check.events(file, &log);
    }
    for file in trail.tables(Table::Processes) {
        check.processes(file, trail.cases().len());
    }
    check.totals(trail);
    check.problems.truncate(MAX_PROBLEMS);
    Ok(check.problems)
}

#[derive(Default)]
struct Check {
    problems: Vec<Problem>,
    /// The names of each file of each part, by what the part's files are called.
    names: HashMap<String, HashSet<(Arc<str>, u32)>>,
    /// Numbers of call sites.
    sites: BTreeSet<SiteId>,
    counted: Counted,
}

/// Events, as counted.
#[derive(Default)]
struct Counted {
    calls: BTreeMap<String, u64>,
    errnos: BTreeMap<String, u64>,
    layers: BTreeMap<String, u64>,
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
            let names = rows.into_iter().filter_map(|row| Some((row.path, row.file?)));
            self.names.insert(part_of(file).to_owned(), names.collect());
        }
    }

    fn sites(&mut self, trail: &Trail) {
        for file in trail.tables(Table::Sites) {
            match sites::read(file) {
                Ok(sites) => self.sites.extend(sites.into_keys()),
                Err(error) => self.add_error(file.path(), error),
            }
        }
    }

    fn events(&mut self, file: &ParquetFile, log: &EventLog) {
        let mut last: Option<Key> = None;
        let names = self.names.remove(part_of(file)).unwrap_or_default();
        let mut known = HashSet::new();
        let sites = self.sites.clone();
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
            if let Some(site) = batch.site.iter().filter_map(|site| site.get()).find(|s| !sites.contains(s)) {
                self.add(file.path(), Some(row_group), sites::unknown(site));
            }
            for (column, files, paths) in
                [("file", &batch.file, &batch.path), ("file2", &batch.file2, &batch.path2)]
            {
                if let Some(what) = unlisted(column, (files, paths), &names, &mut known, log) {
                    self.add(file.path(), Some(row_group), what);
                }
            }
            self.counted.add(&batch, log);
        }
        // A second table of events of the part, if a trail has one.
        self.names.insert(part_of(file).to_owned(), names);
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
        // Row groups that cannot be read were named already; their events are missing here.
        if self.problems.is_empty() {
            let (said, found) = (&trail.meta().totals, &self.counted);
            let wrong = [
                differing(&said.calls, &found.calls, "of"),
                differing(&said.errnos, &found.errnos, "that failed with"),
                differing(&said.by_layer(), &found.layers, "of the layer"),
            ];
            for what in wrong.into_iter().flatten() {
                self.add(&trail.path().join("trail.json"), None, what);
            }
        }
        let coverage = trail.coverage();
        if coverage.lines.total != coverage.lines.sum() {
            let (total, sum) = (coverage.lines.total, coverage.lines.sum());
            let what = format!("the coverage statement speaks of {total} lines, their kinds add up to {sum}");
            self.add(&trail.path().join("trail.json"), None, what);
        }
    }
}

impl Counted {
    fn add(&mut self, batch: &EventBatch, log: &EventLog) {
        let names = log.names();
        count(&mut self.calls, &names.calls, batch.call.iter().map(|call| call.index()));
        let errnos = batch.errno.iter().filter_map(|errno| errno.get());
        count(&mut self.errnos, &names.errnos, errnos.map(|errno| errno.index()));
        let layers = batch.layer.iter().map(|layer| *layer as usize);
        count(&mut self.layers, &Layer::ALL.map(Layer::name), layers);
    }
}

/// Counts names by their ids.
fn count(counts: &mut BTreeMap<String, u64>, names: &[impl AsRef<str>], ids: impl Iterator<Item = usize>) {
    let mut by_id = vec![0; names.len()];
    ids.for_each(|id| by_id[id] += 1);
    for (name, count) in names.iter().zip(by_id).filter(|(_, count)| *count > 0) {
        *counts.entry(name.as_ref().to_owned()).or_default() += count;
    }
}

/// The first name whose counts differ.
fn differing(said: &BTreeMap<String, u64>, found: &BTreeMap<String, u64>, which: &str) -> Option<String> {
    let of = |counts: &BTreeMap<String, u64>, name: &String| counts.get(name).copied().unwrap_or_default();
    let names: BTreeSet<&String> = said.keys().chain(found.keys()).collect();
    let name = names.into_iter().find(|name| of(said, name) != of(found, name))?;
    let (said, found) = (of(said, name), of(found, name));
    Some(format!("its totals say {said} events {which} `{}`, there are {found}", printable(name)))
}

/// The first file that does not have the name under which an event found it. `known` are pairs that were looked at before.
fn unlisted(
    column: &str,
    (files, paths): (&[Nullable<FileId>], &[Nullable<PathId>]),
    names: &HashSet<(Arc<str>, u32)>,
    known: &mut HashSet<(PathId, FileId)>,
    log: &EventLog,
) -> Option<String> {
    let (row, path, file) = files.iter().zip(paths).enumerate().find_map(|(row, (file, path))| {
        let (file, path) = (file.get()?, path.get()?);
        let is_new = known.insert((path, file));
        let name = &log.names().paths[path.index()];
        (is_new && !names.contains(&(Arc::clone(name), file.0))).then_some((row, name, file))
    })?;
    let file = file.0;
    Some(format!(
        "row {row}: `{column}` is {file}, which the table `files` does not have under the path `{}`",
        printable(path)
    ))
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
