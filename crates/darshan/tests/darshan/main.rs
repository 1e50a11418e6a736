//! Real and hand-written logs of Darshan through the whole import.

#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use iotrail_darshan::DarshanDxt;
use iotrail_import::{ImportOptions, ImportSummary, Input, Silent, import};
use iotrail_model::{Coverage, Layer};
use iotrail_trail::{Columns, EventLog};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/darshan").join(name)
}

/// The trail of some logs.
fn imported(inputs: &[PathBuf]) -> (tempfile::TempDir, ImportSummary, EventLog) {
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("t.trail");
    let inputs: Vec<Input> = inputs.iter().cloned().map(Input::Path).collect();
    let summary =
        import(&[&DarshanDxt], &inputs, &ImportOptions::default(), &target, &Silent).expect("a trail");
    assert_eq!(iotrail_trail::check(&target).expect("a trail"), []);
    let log = EventLog::open(&[target]).expect("a trail");
    assert_eq!(summary.coverage.lines.sum(), summary.coverage.lines.total);
    assert_eq!(summary.events, log.rows());
    (dir, summary, log)
}

type Sums = BTreeMap<(String, String, String, bool), (u64, i64)>;

/// Calls and bytes by rank, file, layer and direction.
fn sums(log: &EventLog) -> Sums {
    let mut sums = Sums::new();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, Columns::ALL).expect("rows");
        for event in (0..batch.len).map(|row| batch.event(row)) {
            let rank = log.cases()[event.case.0 as usize].name.rid.clone().unwrap_or_default();
            let path = log.names().path(event.path).unwrap_or("(null)").to_owned();
            let writes = log.names().call(event.call).contains("write");
            let layer = if event.layer == Layer::Mpiio { "X_MPIIO" } else { "X_POSIX" };
            let sum = sums.entry((rank, path, layer.to_owned(), writes)).or_default();
            *sum = (sum.0 + 1, sum.1 + event.size.get().expect("a size"));
        }
    }
    sums
}

/// The same of the text.
fn sums_of_text(text: &str) -> Sums {
    let (mut sums, mut path) = (Sums::new(), String::new());
    for line in text.lines() {
        if let Some((_, name)) = line.split_once(", file_name: ") {
            path = name.to_owned();
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [layer @ ("X_POSIX" | "X_MPIIO"), rank, way, _, _, length, _, _, ..] = words[..] {
            let key = (rank.to_owned(), path.clone(), layer.to_owned(), way == "write");
            let sum = sums.entry(key).or_default();
            *sum = (sum.0 + 1, sum.1 + length.parse::<i64>().expect("a length"));
        }
    }
    sums
}

#[test]
fn calls_and_bytes_of_each_rank_and_file_are_those_of_the_text() {
    for name in ["threads.txt", "ranks.txt", "hand-old-lustre.txt"] {
        let text = std::fs::read_to_string(fixture(name)).expect("a fixture");
        let (_dir, summary, log) = imported(&[fixture(name)]);
        assert_eq!(sums(&log), sums_of_text(&text), "{name}");
        assert_eq!(summary.coverage.lines.total, text.lines().count() as u64, "{name}");
    }
}

/// What a log has of its events, with times as the text has them, to 100 us.
fn events(log: &EventLog) -> Vec<String> {
    let mut events = Vec::new();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, Columns::ALL).expect("rows");
        events.extend((0..batch.len).map(|row| batch.event(row)).map(|event| {
            let tenths = |nanos: i64| (nanos + 50_000).div_euclid(100_000);
            let end = event.start.0 + event.dur.get().map_or(0, |dur| dur.0);
            let case = &log.cases()[event.case.0 as usize].name;
            let (path, call) = (log.names().path(event.path), log.names().call(event.call));
            format!(
                "{:?} {:?} {} {call} {path:?} {:?} {:?} {:?} {} {}",
                case.rid,
                case.host,
                event.tid,
                event.offset.get(),
                event.requested.get(),
                event.size.get(),
                tenths(event.start.0),
                tenths(end)
            )
        }));
    }
    events.sort_unstable();
    events
}

#[test]
fn a_log_has_the_events_of_its_text() {
    for name in ["ior-321", "ior-341"] {
        let (_text_dir, of_text, text) = imported(&[fixture(&format!("{name}.txt"))]);
        let (_log_dir, of_log, log) = imported(&[fixture(&format!("{name}.darshan"))]);
        assert_eq!(events(&log), events(&text), "{name}");
        assert_eq!((of_log.events, of_log.cases, of_log.processes), (118, 4, 4), "{name}");
        assert_eq!(of_log.coverage.lines.unparsed + of_log.coverage.lost, 0, "{name}");
        assert_eq!((of_text.events, log.cases()[0].resolution.known()), (118, Some(1)), "{name}");
        let process = &log.processes().expect("processes")[0];
        assert!(process.exe.as_deref().is_some_and(|exe| exe.ends_with("/ior")), "{process:?}");
        assert_eq!(log.processes().expect("processes"), text.processes().expect("processes"), "{name}");
    }
}

#[test]
fn a_log_that_was_cut_is_imported_as_far_as_it_goes() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("cut.darshan");
    let whole = std::fs::read(fixture("ior-341.darshan")).expect("a fixture");
    std::fs::write(&path, &whole[..whole.len() - 300]).expect("a file");
    let (_dir, summary, _) = imported(&[path]);
    let coverage = &summary.coverage;
    assert!(summary.events >= 48 && coverage.lost > 0, "{} {}", summary.events, coverage.lost);
    assert_eq!(coverage.examples[0].text, "the data of the module DXT_MPIIO are damaged");
}

#[test]
fn each_rank_is_a_case_and_a_process() {
    let (_dir, summary, log) = imported(&[fixture("ranks.txt"), fixture("threads.txt")]);
    let names: Vec<_> = log.cases().iter().map(|case| case.name.rid.clone().expect("a rank")).collect();
    assert_eq!(names, ["0", "1", "2", "0"]);
    assert_eq!((summary.cases, summary.processes, summary.files), (4, 4, 2));
    assert_eq!(log.layers(), [Layer::Posix, Layer::Mpiio]);
}

#[test]
fn threads_are_told_apart_and_offsets_and_times_are_kept() {
    let (_dir, _, log) = imported(&[fixture("threads.txt")]);
    let batch = log.read(0, Columns::ALL).expect("rows");
    let mut threads: Vec<_> = batch.tid.iter().map(|tid| tid.0).collect();
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads, [0, 1 << 22]);
    let event = batch.event(5);
    assert_eq!(
        (event.offset.get(), event.size.get(), event.ret.get()),
        (Some(100_000), Some(1000), Some(1000))
    );
    assert!(event.requested.is_null() && event.fd.is_null());
    assert_eq!(log.cases()[0].resolution.known(), Some(100_000));
    assert!(event.start.0 > 1_700_000_000_000_000_000, "absolute time: {}", event.start.0);
}

#[test]
fn what_is_missing_or_not_understood_is_counted_and_said() {
    let (_dir, summary, log) = imported(&[fixture("hand-old-lustre.txt")]);
    let coverage = &summary.coverage;
    assert_eq!((coverage.lines.event, coverage.lines.unparsed), (5, 1));
    // A write and a read that were announced are not there.
    assert_eq!(coverage.lost, 2);
    assert_eq!(coverage.noise["lustre"], 2);
    assert_eq!(coverage.examples[0].text, " X_POSIX       3  write        garbage");
    assert!(
        coverage.notes.sentences().any(|note| note.starts_with("DXT_POSIX is incomplete")),
        "{coverage:?}"
    );
    let batch = log.read(0, Columns::ALL).expect("rows");
    let last = batch.event(batch.len - 1);
    assert_eq!((last.path.get(), last.offset.get(), last.size.get()), (None, None, Some(100)));
    assert_eq!(last.start.0, 1_510_000_008_000_000_000);
    let case = &log.cases()[1].name;
    assert_eq!((case.host.as_deref(), case.rid.as_deref()), (Some("nid00512"), Some("3")));
}

#[test]
fn a_log_without_transfers_is_a_trail_without_events() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("empty.txt");
    let text = "# darshan log version: 3.41\n# exe: ./a\n# start_time: 1700000000\n\n# no DXT module data available for this Darshan log.\n";
    std::fs::write(&path, text).expect("a file");
    let (_dir, summary, _) = imported(&[path]);
    assert_eq!((summary.events, summary.cases, summary.coverage.lines.total), (0, 1, 5));
    assert!(noted(&summary.coverage, "a job that recorded no DXT traces"), "{:?}", summary.coverage);
}

fn noted(coverage: &Coverage, words: &str) -> bool {
    coverage.notes.sentences().any(|note| note.contains(words))
}

#[test]
fn a_text_that_was_cut_between_two_lines_is_told() {
    let whole = std::fs::read_to_string(fixture("ranks.txt")).expect("a fixture");
    let cut = |before: &str| {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("cut.txt");
        let text = &whole[..whole.find(before).expect("a line")];
        std::fs::write(&path, text).expect("a file");
        imported(&[path]).1.coverage
    };
    assert!(noted(&cut("# log file regions"), "cut.txt ends in its header"));
    assert!(noted(&cut("# DXT_POSIX module data"), "before the data of DXT_MPIIO and DXT_POSIX,"));
    assert!(noted(&cut("# DXT_MPIIO module data"), "before the data of DXT_MPIIO,"));
    assert!(!noted(&imported(&[fixture("ranks.txt")]).1.coverage, "ranks.txt ends"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_damaged_log_is_imported_line_by_line(
        cuts in prop::collection::vec((0_usize..8000, 0_usize..40, "[ -~\n]{0,20}"), 1..6)
    ) {
        let mut text = std::fs::read(fixture("ranks.txt")).expect("a fixture");
        for (at, length, with) in cuts {
            let at = at.clamp(40, text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, with.into_bytes());
        }
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("damaged.txt");
        std::fs::write(&path, &text).expect("a file");
        let (_dir, summary, _) = imported(&[path]);
        let lines = text.split(|byte| *byte == b'\n').count() - usize::from(text.ends_with(b"\n"));
        prop_assert_eq!(summary.coverage.lines.total, lines as u64);
        prop_assert_eq!(summary.events, summary.coverage.lines.event);
    }
}
