//! What people see of a trail whose recorder came to no end, and of one that lost its place.

use crate::cli::util::Dir;
use serde_json::Value;

#[test]
fn every_command_warns_of_an_unfinished_trail() {
    let dir = Dir::with_killed_recorder("t.trail");
    for words in
        [&["stats", "t.trail"][..], &["files", "t.trail", "--json"], &["why", "t.trail"], &["dfg", "t.trail"]]
    {
        let run = dir.run(words).succeeds();
        assert!(run.messages().contains("t.trail: "), "{words:?}: {}", run.messages());
        assert!(run.messages().contains("iotrail recover t.trail"), "{words:?}: {}", run.messages());
    }
    let check = dir.run(["check", "t.trail"]).succeeds().text();
    assert!(check.starts_with("t.trail: sound\n"), "{check}");
    assert!(check.contains("iotrail recover t.trail"), "{check}");
    let findings: Value =
        serde_json::from_str(&dir.run(["check", "--json", "t.trail"]).succeeds().text()).expect("JSON");
    assert_eq!(findings[0]["sound"], true);
    assert!(!findings[0]["unfinished"].as_array().expect("a list").is_empty(), "{findings}");
}

#[test]
fn a_redacted_copy_of_an_unfinished_trail_is_finished() {
    let dir = Dir::with_killed_recorder("t.trail");
    dir.run(["redact", "t.trail", "-o", "r.trail"]).succeeds();
    let run = dir.run(["files", "r.trail"]).succeeds();
    assert_eq!(run.messages(), "");
    assert!(dir.run(["check", "r.trail"]).succeeds().text().starts_with("r.trail: sound\n"));
    let lines = |trail| dir.run(["events", "--csv", trail]).succeeds().text().lines().count();
    assert_eq!(lines("r.trail"), lines("t.trail"));
}

#[test]
fn a_finished_trail_is_copied_by_recover_and_that_is_said() {
    let dir = Dir::with_paper();
    let run = dir.run(["recover", "paper.trail", "-o", "copy.trail"]).succeeds();
    let said = "paper.trail: nothing to recover, the trail is finished\ncopy.trail: a copy of it\n";
    assert_eq!(run.messages(), said);
    let events = |trail| dir.run(["events", "--csv", trail]).succeeds().text();
    assert_eq!(events("copy.trail"), events("paper.trail"));
}

#[test]
fn a_trail_that_is_moved_while_it_is_recorded_is_finished_where_it_is() {
    let dir = Dir::new();
    let program = "for i in 1 2 3; do echo $i > file-$i; done; mv t.trail moved.trail; echo 4 > file-4";
    let run = dir.run(["record", "-q", "-o", "t.trail", "--", "sh", "-c", program]);
    assert!(run.messages().contains("moved.trail"), "{}", run.messages());
    assert!(!dir.path("t.trail").exists());
    dir.run(["recover", "moved.trail"]).succeeds();
    let files = dir.run(["files", "moved.trail", "--csv"]).succeeds().text();
    for number in 1..=3 {
        assert!(files.contains(&format!("file-{number}")), "{files}");
    }
}
