//! A trail appears whole or not at all.
#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use iotrail_model::{Case, CaseId, Coverage, Dictionaries, Event};
use iotrail_trail::memory::small_trail;
use iotrail_trail::{Capture, CreateOptions, EventLog, Trail, TrailError, TrailWriter};
use std::fs;
use std::path::Path;

const OVERWRITE: CreateOptions = CreateOptions { overwrite: true };

fn entries(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn an_unfinished_trail_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let writer = TrailWriter::create(&directory.path().join("t.trail"), CreateOptions::default()).unwrap();
    let part = writer.part().unwrap();
    assert_eq!(entries(directory.path()).len(), 1);
    drop((writer, part));
    assert_eq!(entries(directory.path()), Vec::<String>::new());
}

#[test]
fn nothing_is_overwritten_unless_asked() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("t.trail");
    small_trail(&target).unwrap();
    let error = TrailWriter::create(&target, CreateOptions::default()).unwrap_err();
    assert!(matches!(error, TrailError::Exists { .. }), "{error}");
    let writer = TrailWriter::create(&target, OVERWRITE).unwrap();
    assert_eq!(
        Trail::open(&target).unwrap().meta().totals.events,
        40,
        "the old trail is there until the end"
    );
    writer.finish(&[], Vec::new(), Capture::default(), &Coverage::default()).unwrap();
    assert_eq!(Trail::open(&target).unwrap().meta().totals.events, 0);
    assert_eq!(entries(directory.path()), ["t.trail"]);
}

#[test]
fn what_is_no_trail_is_never_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("home");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("thesis.tex"), "years of work").unwrap();
    let error = TrailWriter::create(&target, OVERWRITE).unwrap_err();
    assert!(error.to_string().contains("is not a trail, so it is not overwritten"), "{error}");
    assert_eq!(fs::read_to_string(target.join("thesis.tex")).unwrap(), "years of work");
}

#[test]
fn events_of_unknown_cases_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("t.trail");
    let writer = TrailWriter::create(&target, CreateOptions::default()).unwrap();
    let mut names = Dictionaries::default();
    names.calls.intern(b"read");
    let mut part = writer.part().unwrap();
    part.push(&Event { case: CaseId(1), ..Event::default() }, &names).unwrap();
    let summary = part.finish(&names).unwrap();
    let error = writer
        .finish(&[Case::default()], vec![summary], Capture::default(), &Coverage::default())
        .unwrap_err();
    assert!(error.to_string().contains("refers to case 1, but there are 1 cases"), "{error}");
    assert_eq!(entries(directory.path()), Vec::<String>::new());
}

#[test]
fn equal_input_gives_equal_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b] = ["a.trail", "b.trail"].map(|name| directory.path().join(name));
    small_trail(&a).unwrap();
    small_trail(&b).unwrap();
    for name in entries(&a) {
        assert!(fs::read(a.join(&name)).unwrap() == fs::read(b.join(&name)).unwrap(), "{name}");
    }
}

#[test]
fn several_trails_are_one_log() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a.trail", "b.trail"].map(|name| directory.path().join(name));
    paths.iter().for_each(|path| small_trail(path).unwrap());
    let log = EventLog::open(&paths).unwrap();
    assert_eq!((log.rows(), log.cases().len(), log.files().len()), (80, 4, 5));
    assert_eq!(log.trail_of(CaseId(1)).name(), "a");
    assert_eq!(log.trail_of(CaseId(2)).name(), "b");
    assert_eq!(log.row_group(1).cases, Some(CaseId(2)..=CaseId(3)));
    let batch = log.read(1, iotrail_trail::Columns::CASE).unwrap();
    assert_eq!((batch.case[0], batch.case[39]), (CaseId(2), CaseId(3)));
    let info = log.info().unwrap();
    assert_eq!((info.events, info.cases, info.calls["read"], info.bytes.read), (80, 4, 40, info.bytes.read));
    let threads = std::num::NonZeroUsize::new(4).unwrap();
    let rows = log.scan(iotrail_trail::Columns::NONE, threads, || (), |(), group, batch| (group, batch.len));
    assert_eq!(rows.unwrap(), [(0, 40), (1, 40)]);
}
