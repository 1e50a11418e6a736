//! Real outputs of ltrace through the whole import.

#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use iotrail_import::{Format, ImportOptions, ImportSummary, Input, Silent, import};
use iotrail_ltrace::Ltrace;
use iotrail_model::{Event, Layer, Note};
use iotrail_trail::{Columns, EventLog};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/ltrace").join(name)
}

fn imported(path: &Path) -> (tempfile::TempDir, ImportSummary, EventLog) {
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("t.trail");
    let inputs = [Input::Path(path.to_owned())];
    let summary = import(&[&Ltrace], &inputs, &ImportOptions::default(), &target, &Silent).expect("a trail");
    assert_eq!(iotrail_trail::check(&target).expect("a trail"), []);
    let log = EventLog::open(&[target]).expect("a trail");
    assert_eq!(summary.coverage.lines.sum(), summary.coverage.lines.total);
    assert_eq!(summary.events, log.rows());
    (dir, summary, log)
}

fn events(log: &EventLog) -> Vec<Event> {
    let batches = (0..log.row_groups()).map(|group| log.read(group, Columns::ALL).expect("rows"));
    batches.flat_map(|batch| (0..batch.len).map(|row| batch.event(row)).collect::<Vec<_>>()).collect()
}

#[test]
fn every_line_of_every_fixture_is_understood() {
    let directory = fixture("");
    let mut seen = 0;
    for entry in std::fs::read_dir(directory).expect("fixtures") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "lt") {
            continue;
        }
        let text = std::fs::read(&path).expect("a fixture");
        assert!(Ltrace.recognises(&text[..text.len().min(4096)]), "{}", path.display());
        let (_dir, summary, _) = imported(&path);
        let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!((summary.coverage.lines.total, summary.coverage.lines.unparsed), (lines, 0), "{path:?}");
        assert_eq!(summary.coverage.incomplete, 0, "{path:?}");
        let has_system_calls = path.file_name().is_some_and(|name| name.to_string_lossy().contains('S'));
        assert_eq!(
            summary.coverage.notes.iter().any(|note| *note == Note::FunctionsOnly),
            !has_system_calls,
            "{path:?}"
        );
        seen += 1;
    }
    assert!(seen >= 6, "{seen} fixtures");
}

#[test]
fn functions_are_the_parents_of_the_system_calls_that_they_make() {
    let (_dir, summary, log) = imported(&fixture("S-f-tt-T.lt"));
    assert_eq!(log.layers(), [Layer::Syscall, Layer::Libc]);
    let events = events(&log);
    let by_seq: BTreeMap<u64, &Event> = events.iter().map(|event| (event.seq, event)).collect();
    let name = |event: &Event| log.names().call(event.call).to_owned();
    let mut made = BTreeMap::new();
    for event in &events {
        let Some(outer) = event.parent.get().map(|seq| by_seq[&seq]) else { continue };
        assert_eq!((event.layer, outer.layer, outer.tid), (Layer::Syscall, Layer::Libc, event.tid));
        let path = log.names().path(event.path).unwrap_or("-");
        if event.fd.get().is_some() && path.starts_with("/tmp/") {
            made.insert((name(outer), name(event), path.to_owned()), (event.offset.get(), event.size.get()));
        }
    }
    let of = |outer: &str, call: &str, file: &str| {
        made.get(&(outer.to_owned(), call.to_owned(), format!("/tmp/iotrail-ltrace/{file}"))).copied()
    };
    assert_eq!(of("fopen", "openat", "out.txt"), Some((None, None)), "{made:?}");
    assert_eq!(of("fclose", "write", "out.txt"), Some((Some(0), Some(26))));
    assert_eq!(of("fgets", "read", "out.txt"), Some((Some(0), Some(26))));
    assert_eq!(of("write", "write", "raw.bin"), Some((Some(0), Some(50))));
    assert_eq!(of("fclose", "write", "thread.txt"), Some((Some(0), Some(9))));
    // A process with two threads, and its child.
    assert_eq!(summary.processes, 2);
    assert!(summary.coverage.interrupted > 0);
}

#[test]
fn a_program_that_is_executed_takes_the_place_of_the_one_before() {
    let (_dir, _, log) = imported(&fixture("exec-S-f.lt"));
    let mut programs: Vec<String> =
        log.processes().expect("processes").into_iter().filter_map(|process| process.exe).collect();
    programs.sort();
    assert_eq!(programs, ["/bin/true", "/usr/bin/cat", "/usr/bin/head"]);
}

#[test]
fn paths_of_openat_are_those_that_a_configuration_of_ltrace_shows() {
    let (_dir, _, log) = imported(&fixture("openat-S-f-ttt-T.lt"));
    let paths = &log.names().paths;
    assert!(paths.iter().any(|path| &**path == "/etc/ld.so.cache"), "{paths:?}");
}

#[test]
fn output_of_strace_and_text_are_not_taken_for_ltrace() {
    for text in [
        "16:33:12.709054 openat(AT_FDCWD, \"SYS_read(\", O_RDONLY) = 3 <0.000018>\n+++ exited with 0 +++\n",
        "Dear reader,\nprintf is a function\n",
        "",
    ] {
        assert!(!Ltrace.recognises(text.as_bytes()), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_damaged_trace_is_imported_line_by_line(
        cuts in prop::collection::vec((0_usize..10_000, 0_usize..60, "[ -~\n]{0,20}"), 1..8)
    ) {
        let mut text = std::fs::read(fixture("S-f-tt-T.lt")).expect("a fixture");
        for (at, length, with) in cuts {
            let at = at.clamp(200, text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, with.into_bytes());
        }
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("damaged.lt");
        std::fs::write(&path, &text).expect("a file");
        let (_dir, summary, _) = imported(&path);
        let lines = text.split(|byte| *byte == b'\n').count() - usize::from(text.ends_with(b"\n"));
        prop_assert_eq!(summary.coverage.lines.total, lines as u64);
    }
}
