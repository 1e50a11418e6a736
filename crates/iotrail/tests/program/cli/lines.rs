//! Every physical line of every fixture is accounted for.

use crate::cli::util::{Dir, STRACE};

const KINDS: [&str; 7] = ["event", "unfinished", "resumed", "signal", "exit", "noise", "unparsed"];

/// Lines as `wc -l` counts them, and one more for a last line without its end.
fn physical_lines(text: &[u8]) -> u64 {
    let ends = text.iter().filter(|byte| **byte == b'\n').count() as u64;
    ends + u64::from(text.last().is_some_and(|byte| *byte != b'\n'))
}

#[test]
fn lines_are_the_sum_of_their_kinds_for_every_fixture() {
    let dir = Dir::new();
    let mut checked = 0;
    for entry in std::fs::read_dir(STRACE).expect("fixtures") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "st") {
            continue;
        }
        let name = path.display().to_string();
        let words = ["import", "-q", "--force", "--json", "-o", "t.trail", &name];
        let summary = dir.json(words);
        let lines = &summary["coverage"]["lines"];
        let sum: u64 = KINDS.iter().map(|kind| lines[kind].as_u64().expect("a number")).sum();
        assert_eq!(lines["total"], sum, "{name}: {lines}");
        let text = std::fs::read(&path).expect("a fixture");
        assert_eq!(lines["total"], physical_lines(&text), "{name}: {lines}");
        let unparsed = lines["unparsed"].as_u64() > Some(0);
        assert_eq!(unparsed, name.contains("unparsed"), "{name}: {}", summary["coverage"]["examples"]);
        assert_eq!(dir.json(["info", "t.trail", "--json"])["coverage"], summary["coverage"], "{name}");
        checked += 1;
    }
    assert!(checked > 50, "{checked} fixtures");
}

#[test]
fn all_fixtures_make_one_sound_trail() {
    let dir = Dir::new();
    dir.run(["import", "-q", "-o", "all.trail", STRACE]).succeeds();
    assert_eq!(dir.run(["check", "all.trail"]).succeeds().text(), "all.trail: sound\n");
    dir.run(["dfg", "-q", "all.trail"]).succeeds();
}
