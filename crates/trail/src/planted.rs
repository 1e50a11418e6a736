//! Each defect that is planted into a sound trail is found by the check, with file and row group.

use crate::columns::Columns;
use crate::decode::decode;
use crate::event_file::EventFile;
use crate::memory::small_trail;
use crate::meta::Table;
use crate::own_names::OwnNames;
use crate::parquet_file::ParquetFile;
use crate::tables::TableWriter;
use crate::{Problem, check};
use iotrail_model::{
    CallId, CaseId, EventBatch, FileId, FileRow, Layer, Nanos, Nullable, PathId, Pid, Process, Timestamp,
    Usage,
};
use std::fs;
use std::path::{Path, PathBuf};

const EVENTS: &str = "events-0000.parquet";

/// The problems of a small trail whose events were changed by `plant`; they are in two row groups.
fn problems(plant: impl Fn(&mut EventBatch, &mut OwnNames)) -> Vec<Problem> {
    let (_guard, path) = exchangeable_trail();
    let mut names = OwnNames::default();
    let file = ParquetFile::open(&path.join(EVENTS), Table::Events).unwrap();
    let mut batch = decode(&file, 0, Columns::ALL, &mut names).unwrap();
    plant(&mut batch, &mut names);
    fs::remove_file(path.join(EVENTS)).unwrap();
    let mut file = EventFile::create(&path.join(EVENTS)).unwrap();
    file.write(&batch, 0..20, &names).unwrap();
    file.write(&batch, 20..batch.len, &names).unwrap();
    file.finish().unwrap();
    check(&path).unwrap()
}

/// A small trail whose files may be exchanged.
pub(crate) fn exchangeable_trail() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.trail");
    small_trail(&path).unwrap();
    // As older versions wrote it, so that files may be exchanged.
    let meta = path.join("trail.json");
    let text = fs::read_to_string(&meta).unwrap();
    fs::write(meta, text.replace("\"checksum\": \"", "\"none\": \"no ").replace("\"footer\"", "\"none\""))
        .unwrap();
    (directory, path)
}

fn only(file: &str, row_group: Option<usize>, what: &str) -> Vec<Problem> {
    vec![Problem { file: file.to_owned(), row_group, what: what.to_owned() }]
}

fn row_of(batch: &EventBatch, names: &OwnNames, call: &str) -> usize {
    batch.call.iter().position(|id| names.calls.text(id.0) == call.as_bytes()).unwrap()
}

#[test]
fn two_row_groups_are_no_problem() {
    assert_eq!(problems(|_, _| ()), []);
}

#[test]
fn disorder_within_and_between_row_groups_is_found() {
    let within = problems(|batch, _| batch.start.swap(22, 25));
    assert_eq!(within, only(EVENTS, Some(1), "row 3 comes before the row above it"));
    let between = problems(|batch, _| batch.case[19] = CaseId(1));
    assert_eq!(between[0].row_group, Some(1));
    assert!(between[0].what.starts_with("row 0 comes before"), "{between:?}");
}

#[test]
fn a_case_that_is_not_there_is_found() {
    let found = problems(|batch, _| *batch.case.last_mut().unwrap() = CaseId(7));
    assert_eq!(found, only(EVENTS, Some(1), "row 19: case 7 is not in `cases`"));
}

#[test]
fn a_negative_duration_is_found() {
    let found = problems(|batch, _| batch.dur[4] = Nullable::some(Nanos(-1)));
    assert_eq!(found.len(), 1);
    assert!(found[0].what.starts_with("row 4: `dur` of `"), "{found:?}");
}

#[test]
fn sizes_of_failed_calls_and_negative_sizes_are_found() {
    let found = problems(|batch, names| {
        let row = row_of(batch, names, "read");
        let failed = batch.errno.iter().find(|errno| !errno.is_null()).copied().unwrap();
        batch.errno[row] = failed;
    });
    let what: Vec<&str> = found.iter().map(|problem| problem.what.split_once(": ").unwrap().1).collect();
    assert_eq!(
        what,
        ["`read` failed, but has a `size`", "`read` has an `errno`, but `ret` says that it did not fail"]
    );
    let found = problems(|batch, names| {
        let row = row_of(batch, names, "read");
        batch.size[row] = Nullable::some(-5);
    });
    assert!(found[0].what.ends_with("`size` of `read` is negative"), "{found:?}");
}

#[test]
fn a_path_that_is_not_in_files_is_found() {
    let found = problems(|batch, names| {
        batch.path2[30] = Nullable::some(PathId(names.paths.intern("/no\u{1b}where")))
    });
    let what = "column `path2` has `/no\\u{1b}where`, which is not in the table `files`";
    assert_eq!(found, only(EVENTS, Some(1), what));
}

#[test]
fn a_file_that_is_not_in_files_under_its_path_is_found() {
    let found = problems(|batch, _| batch.file[25] = Nullable::some(FileId(99)));
    let what = "row 5: `file` is 99, which the table `files` does not have under the path `/data/1`";
    assert_eq!(found, only(EVENTS, Some(1), what));
}

#[test]
fn totals_of_layers_and_errors_are_compared() {
    let found = problems(|batch, _| batch.layer[3] = Layer::Mpi);
    assert_eq!(found, only("trail.json", None, "its totals say 0 events of the layer `mpi`, there are 1"));
    let found = problems(|batch, _| {
        let failed = (0..batch.len).find(|row| !batch.errno[*row].is_null()).unwrap();
        batch.errno[failed] = Nullable::NULL;
    });
    assert!(found[0].what.contains("events that failed with `E"), "{found:?}");
}

#[test]
fn totals_that_do_not_fit_the_rows_are_found() {
    let found = problems(|batch, names| {
        let row = row_of(batch, names, "openat");
        batch.call[row] = CallId(names.calls.intern("read"));
    });
    assert_eq!(found, only("trail.json", None, "its totals say 20 events of `openat`, there are 19"));
}

#[test]
fn times_and_kinds_that_cannot_be_are_found() {
    let (_guard, path) = exchangeable_trail();
    let usage = Usage { io_delay: Some(Nanos(-1)), ..Usage::default() };
    let process = |pid: u32| Process { pid: Pid(pid), ..Process::default() };
    let found = replaced(&path, vec![process(10), Process { usage, ..process(11) }, process(12)]);
    assert_eq!(found, only("processes-0000.parquet", None, "process 11 used a negative time"));
    let (_guard, path) = exchangeable_trail();
    let kind = Some("door".to_owned());
    let row =
        |n: usize| FileRow { path: format!("/data/{n}").into(), kind: kind.clone(), ..FileRow::default() };
    let found = replaced(&path, (0..5).map(row).collect());
    assert_eq!(found, only("files-0000.parquet", None, "the path `/data/0` is of the unknown kind `door`"));
}

/// Puts another table in the place of one that has as many rows.
fn replaced<R: crate::tables::Row>(path: &Path, rows: Vec<R>) -> Vec<Problem> {
    let file = path.join(R::TABLE.file_name(0));
    fs::remove_file(&file).unwrap();
    let mut table = TableWriter::create(&file).unwrap();
    rows.into_iter().for_each(|row| table.push(row).unwrap());
    table.finish().unwrap();
    check(path).unwrap()
}

#[test]
fn a_path_with_two_rows_is_found() {
    let (_guard, path) = exchangeable_trail();
    let row = |n: usize| FileRow { path: format!("/data/{n}").into(), ..FileRow::default() };
    let found = replaced(&path, vec![row(0), row(1), row(2), row(3), row(3)]);
    assert_eq!(found[0], only("files-0000.parquet", None, "the path `/data/3` has two rows for one file")[0]);
    assert!(found[1].what.contains("`/data/4`, which is not in the table `files`"), "{found:?}");
}

#[test]
fn processes_that_cannot_be_are_found() {
    let (_guard, path) = exchangeable_trail();
    let process = |pid: u32| Process { pid: Pid(pid), ..Process::default() };
    let lost = Process { case: CaseId(9), ..process(10) };
    let backwards = Process { start: Some(Timestamp(5)), end: Some(Timestamp(4)), ..process(11) };
    let negative = Process { bytes_read: -1, ..process(12) };
    let found = replaced(&path, vec![lost, backwards, negative]);
    let what: Vec<&str> = found.iter().map(|problem| problem.what.as_str()).collect();
    let expected = [
        "process 10 is of case 9, which is not in `cases`",
        "process 11 ends before it starts",
        "process 12 moved a negative number of bytes",
    ];
    assert_eq!(what, expected);
}

#[test]
fn a_coverage_statement_that_does_not_add_up_is_found() {
    let (_guard, path) = exchangeable_trail();
    let meta = path.join("trail.json");
    let text = fs::read_to_string(&meta).unwrap().replace("\"unparsed\": 0", "\"unparsed\": 3");
    let text = text.replace("\"checksum\": \"", "\"none\": \"no ");
    fs::write(meta, text).unwrap();
    let what = "the coverage statement speaks of 0 lines, their kinds add up to 3";
    assert_eq!(check(&path).unwrap(), only("trail.json", None, what));
}
