//! Of a trail that lacks events, each analysis says above its figures, and in its JSON, that they are of a part.

use crate::cli::util::Dir;
use serde_json::json;

/// What `--max-events` left out of a recording, beside a whole one.
fn cut() -> Dir {
    let dir = Dir::new();
    let program = ["--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo $i > file-$i; done"];
    for (trail, limit) in [("whole.trail", "100000"), ("cut.trail", "30")] {
        let words = ["record", "-q", "--max-events", limit, "-o", trail];
        dir.run(words.iter().chain(&program)).succeeds();
    }
    dir
}

const MISSING: &str = "left out of the recording (limit of events): figures of calls are of the rest.";

#[test]
fn every_analysis_says_first_what_was_left_out() {
    let dir = cut();
    for command in ["files", "sessions", "stats", "advise", "dfg", "workflow", "processes", "tree", "why"] {
        let text = dir.run([command, "cut.trail"]).succeeds().text();
        let first = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        let expected = if command == "why" { "left out of the recording (limit of events)" } else { MISSING };
        assert!(first.starts_with("Incomplete: ") && first.contains(expected), "{command}: {text}");
        let whole = dir.run([command, "whole.trail"]).succeeds().text();
        assert!(!whole.contains("Incomplete"), "{command}: {whole}");
    }
    let text = dir.run(["compare", "whole.trail", "cut.trail"]).succeeds().text();
    let first = text.lines().take(2).collect::<Vec<_>>().join(" ");
    assert!(first.starts_with("Incomplete: cut: ") && first.contains(MISSING), "{text}");
}

#[test]
fn documents_have_it_in_the_same_field_and_rows_are_warned_of() {
    let dir = cut();
    let of = |words: &[&str]| dir.json(words)["limitations"][0].clone();
    let expected = dir.json(["why", "cut.trail", "--json"])["trails"][0]["limitations"][0].clone();
    assert_eq!((&expected["what"], &expected["names"]), (&json!("left-out"), &json!(["limit of events"])));
    for command in ["stats", "advise", "workflow", "dfg"] {
        assert_eq!(of(&[command, "cut.trail", "--json"]), expected, "{command}");
    }
    let compared = of(&["compare", "whole.trail", "cut.trail", "--json"]);
    assert_eq!((&compared["trail"], &compared["number"]), (&json!("cut"), &expected["number"]));
    for command in ["files", "sessions", "processes"] {
        let ran = dir.run([command, "cut.trail", "--json"]).succeeds();
        assert!(ran.messages().contains("left out of the recording"), "{command}: {}", ran.messages());
    }
}

#[test]
fn what_follows_from_coarse_clocks_is_said_to_be_imprecise_first() {
    let trace = |from: u32| {
        format!(
            "1 10:00:0{from} openat(AT_FDCWD, \"/x\", O_RDONLY) = 3</x> <0.000010>\n\
             1 10:00:0{from} read(3</x>, \"\"..., 10) = 10 <0.000010>\n\
             1 10:00:05 +++ exited with 0 +++\n"
        )
    };
    let dir = Dir::with_trace(trace(0));
    dir.write("b_h_1.st", trace(3));
    dir.run(["import", "-q", "-o", "b.trail", "b_h_1.st"]).succeeds();
    let first =
        "Imprecise: Time stamps are multiples of 1.00 s: times that follow from them are right to that";
    let text = dir.run(["why", "t.trail"]).succeeds().text().replace('\n', " ");
    assert!(text.starts_with(first), "{text}");
    let text = dir.run(["compare", "t.trail", "b.trail"]).succeeds().text().replace('\n', " ");
    assert!(text.starts_with(&first.replace("Time", "t: Time")), "{text}");
    let compared = dir.json(["compare", "t.trail", "b.trail", "--json"]);
    let (what, unit) = (&compared["limitations"][1]["what"], &compared["limitations"][1]["time_ns"]);
    assert_eq!((what, unit), (&json!("coarse-times"), &json!(1_000_000_000)));
}
