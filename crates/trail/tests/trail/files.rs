//! The table `files` says what was found, and else what names tell.
#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use iotrail_model::{
    CallId, Case, CaseId, Coverage, Dictionaries, Event, FileFacts, FileId, FileKind, FileRow, NamedFile,
    Nullable, PathId,
};
use iotrail_trail::memory::MemoryLog;
use iotrail_trail::{Capture, CreateOptions, EventLog, TrailWriter, check};
use std::path::Path;

const FILE: FileFacts =
    FileFacts { device: 1, inode: 2, size: Some(3), kind: Some(FileKind::File), birth: None };

fn row<'a>(log: &'a EventLog, path: &str) -> &'a FileRow {
    log.files().iter().find(|row| &*row.path == path).unwrap()
}

/// Paths that a part mentions, and facts that it knows.
type Part<'a> = (&'a [&'a str], &'a [(&'a str, FileFacts)]);

fn trail(target: &Path, parts: &[Part<'_>]) {
    let writer = TrailWriter::create(target, CreateOptions::default()).unwrap();
    let mut summaries = Vec::new();
    for (paths, facts) in parts {
        let mut names = Dictionaries::default();
        let read = CallId(names.calls.intern(b"read"));
        let mut part = writer.part().unwrap();
        for (seq, path) in paths.iter().enumerate() {
            let path = Nullable::some(PathId(names.paths.intern(path.as_bytes())));
            let event = Event { call: read, seq: seq as u64, path, ..Event::default() };
            part.push(&event, &names).unwrap();
        }
        facts.iter().for_each(|(path, facts)| part.push_file(path.as_bytes(), facts).unwrap());
        summaries.push(part.finish(&names).unwrap());
    }
    writer.finish(&[Case::default()], summaries, Capture::default(), &Coverage::default()).unwrap();
}

#[test]
fn the_latest_facts_stand_beside_the_path() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("t.trail");
    let grown = FileFacts { size: Some(9), ..FILE };
    let unnamed = FileFacts { kind: None, size: None, ..FILE };
    let facts = [("/a", FILE), ("/dev/null", FILE), ("pipe:[7]", unnamed), ("/a", grown), ("/never", FILE)];
    trail(&target, &[(&["/a", "/dev/null", "pipe:[7]", "/dev/zero"], &facts)]);
    let log = EventLog::open(std::slice::from_ref(&target)).unwrap();
    assert_eq!((row(&log, "/a").size, row(&log, "/a").inode), (Some(9), Some(2)));
    assert_eq!(row(&log, "/dev/null").kind.as_deref(), Some("file"), "what was found beats the name");
    let pipe = row(&log, "pipe:[7]");
    assert_eq!((pipe.kind.as_deref(), pipe.size, pipe.device), (Some("pipe"), None, Some(1)));
    let zero = row(&log, "/dev/zero");
    assert_eq!((zero.kind.as_deref(), zero.device, zero.inode), (Some("char"), None, None));
    assert_eq!(log.files().len(), 4, "no event mentions /never");
    assert_eq!(check(&target).unwrap(), []);
}

#[test]
fn a_part_that_knows_more_of_a_path_tells_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("t.trail");
    let other = FileFacts { inode: 77, ..FILE };
    trail(&target, &[(&["/a"], &[]), (&["/a"], &[("/a", FILE)]), (&["/a"], &[("/a", other)])]);
    let log = EventLog::open(&[target]).unwrap();
    assert_eq!((row(&log, "/a").inode, row(&log, "/a").kind.as_deref()), (Some(2), Some("file")));
}

#[test]
fn a_log_in_memory_knows_files_too() {
    let mut log = MemoryLog::new(vec![Case::default()]);
    let (call, path) = (log.call("read"), log.path("/a"));
    log.push_file(b"/a", &FILE);
    log.push(Event { call, path, ..Event::default() });
    assert_eq!(row(&log.build(), "/a").size, Some(3));
}

#[test]
fn what_was_found_of_a_file_is_known_under_each_of_its_names() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("t.trail");
    let writer = TrailWriter::create(&target, CreateOptions::default()).unwrap();
    let mut names = Dictionaries::default();
    let rename = CallId(names.calls.intern(b"rename"));
    let mut part = writer.part().unwrap();
    part.numbering(CaseId(0), FileId(0));
    let [path, path2] = ["/d", "/e"].map(|path| Nullable::some(PathId(names.paths.intern(path.as_bytes()))));
    let file = names.next_file();
    part.push(&Event { call: rename, path, path2, file, file2: file, ..Event::default() }, &names).unwrap();
    let facts = FileFacts { kind: Some(FileKind::Directory), size: None, ..FILE };
    part.push_file(b"/d", NamedFile { file, gone: true, ..NamedFile::default() }).unwrap();
    part.push_file(b"/e", NamedFile { file, facts: Some(facts), ..NamedFile::default() }).unwrap();
    let summary = part.finish(&names).unwrap();
    writer.finish(&[Case::default()], vec![summary], Capture::default(), &Coverage::default()).unwrap();
    let log = EventLog::open(std::slice::from_ref(&target)).unwrap();
    let known = |path| (row(&log, path).kind.as_deref(), row(&log, path).inode);
    assert_eq!([known("/d"), known("/e")], [(Some("directory"), Some(2)); 2]);
}
