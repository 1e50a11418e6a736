//! Recorded and hand-written traces: every line is accounted for.

use crate::parser::support::{Parsed, parse, parse_in_pieces};
use std::path::PathBuf;

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/strace");
    let mut fixtures: Vec<_> = std::fs::read_dir(&folder)
        .expect("the fixtures lie in tests/fixtures/strace of the repository")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "st"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    fixtures.sort();
    assert!(fixtures.len() >= 40, "only {} fixtures", fixtures.len());
    fixtures
}

#[test]
fn every_line_of_every_fixture_is_accounted_for() {
    for (name, input) in fixtures() {
        let Parsed { coverage, .. } = parse(&input);
        let lines = &coverage.lines;
        assert_eq!(lines.total, input.iter().filter(|&&byte| byte == b'\n').count() as u64, "{name}: lines");
        assert_eq!(lines.total, lines.sum(), "{name}: sum of kinds");
        assert_eq!(lines.noise, coverage.noise.values().sum::<u64>(), "{name}: noise");
        if name.ends_with(".unparsed") {
            assert!(lines.unparsed > 0, "{name}");
        } else {
            assert_eq!(lines.unparsed, 0, "{name}: {:#?}", coverage.examples);
        }
    }
}

#[test]
fn what_became_of_interrupted_calls_is_counted() {
    let (_, input) = fixtures().into_iter().find(|(name, _)| name == "interruptions").expect("a fixture");
    let Parsed { items, coverage } = parse(&input);
    // A read, a sleep and a poll that the handler ended; a read, a stopped sleep and one whose child stopped; a killed sleep.
    let counts = (coverage.interrupted_ended, coverage.interrupted, coverage.interrupted_unknown);
    assert_eq!(counts, (3, 3, 1));
    let failed = items.iter().filter(|item| item.ends_with("= EINTR") && !item.contains("rt_sigreturn"));
    assert_eq!(failed.count(), 3);
}

#[test]
fn pieces_of_any_size_give_the_same_items() {
    for (name, input) in fixtures() {
        let whole = parse(&input);
        for piece in [1, 7, 64, 1000, 4096] {
            assert_eq!(parse_in_pieces(&input, piece), whole, "{name} in pieces of {piece}");
        }
    }
}

#[test]
fn hand_written_fixtures_mean_what_they_say() {
    for (name, input) in fixtures().into_iter().filter(|(name, _)| name.starts_with("hand-")) {
        let Parsed { items, coverage } = parse(&input);
        let text = format!("{}\n{coverage:#?}", items.join("\n"));
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn both_halves_of_recorded_calls_meet() {
    for (name, input) in fixtures().into_iter().filter(|(name, _)| !name.starts_with("hand-")) {
        let Parsed { items, coverage } = parse(&input);
        let calls =
            items.iter().filter(|item| item.contains('(') && !item.starts_with("entered")).count() as u64;
        let expected = coverage.lines.event + coverage.lines.unfinished - coverage.interrupted;
        assert_eq!(calls, expected, "{name}");
        let halves = coverage.lines.unfinished - coverage.lines.resumed;
        assert!(coverage.incomplete <= halves + 2, "{name}: {} incomplete", coverage.incomplete);
    }
}
