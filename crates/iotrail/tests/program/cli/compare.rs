//! `iotrail compare`: verdict, difference of the elapsed time, sides of several runs, conditions.

#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not their helpers")]

use crate::cli::util::Dir;
use serde_json::Value;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/why");

fn words(words: &[&str]) -> Vec<String> {
    let trail = |word: &&str| match word.strip_prefix('@') {
        Some(name) => format!("{FIXTURES}/{name}"),
        None => (*word).to_owned(),
    };
    ["compare", "-q"].iter().chain(words).map(trail).collect()
}

fn json(dir: &Dir, arguments: &[&str]) -> Value {
    serde_json::from_str(&dir.run(words(&[&["--json"], arguments].concat())).succeeds().text()).unwrap()
}

fn figure<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    comparison["verdict"]["figures"].as_array().unwrap().iter().find(|row| row["figure"] == name).unwrap()
}

/// The elapsed time that `iotrail why` tells of the only run of a recording.
fn elapsed(dir: &Dir, name: &str) -> i64 {
    let text =
        dir.run(["why".to_owned(), format!("{FIXTURES}/{name}"), "--json".to_owned()]).succeeds().text();
    serde_json::from_str::<Value>(&text).unwrap()["trails"][0]["runs"][0]["elapsed_ns"].as_i64().unwrap()
}

#[test]
fn a_run_against_itself_has_not_changed() {
    let dir = Dir::new();
    let text = dir.run(words(&["@sqlite", "@sqlite"])).succeeds().text();
    assert!(text.starts_with("No change: calls, processes and bytes are equal, and "), "{text}");
    assert!(
        text.contains("One run of each cannot tell a change from noise: record each side at least 4 times"),
        "{text}"
    );
    let comparison = json(&dir, &["@sqlite", "@sqlite"]);
    assert_eq!(comparison["elapsed"]["causes"], Value::Array(Vec::new()));
    assert_eq!(comparison["activities"], Value::Array(Vec::new()));
}

#[test]
fn the_activities_add_up_to_the_difference_of_io_time() {
    let dir = Dir::new();
    for (a, b) in [("sqlite", "wait"), ("slow-producer", "slow-consumer"), ("join", "socket")] {
        let comparison = json(&dir, &["--map", "call", &format!("@{a}"), &format!("@{b}")]);
        let rows = comparison["activities"].as_array().unwrap();
        let sum: f64 = rows.iter().filter_map(|row| row["difference_ns"].as_f64()).sum();
        assert_eq!(figure(&comparison, "io")["difference"].as_f64().unwrap(), sum, "{a} {b}");
    }
}

#[test]
fn the_causes_add_up_to_the_difference_of_what_why_says() {
    let dir = Dir::new();
    for (a, b) in
        [("sqlite", "wait"), ("wait", "sqlite"), ("slow-producer", "slow-consumer"), ("join", "socket")]
    {
        let comparison = json(&dir, &[&format!("@{a}"), &format!("@{b}")]);
        let causes = comparison["elapsed"]["causes"].as_array().unwrap();
        let of = |name: &str| causes.iter().map(|cause| cause[name].as_i64().unwrap()).sum::<i64>();
        let difference = elapsed(&dir, b) - elapsed(&dir, a);
        assert_eq!(of("difference_ns"), difference, "{a} {b}");
        assert_eq!(comparison["elapsed"]["difference_ns"], difference, "{a} {b}");
        assert_eq!(
            figure(&comparison, "elapsed")["difference"].as_f64().unwrap(),
            difference as f64,
            "{a} {b}"
        );
    }
}

#[test]
fn several_runs_on_each_side_are_told_from_noise() {
    let dir = Dir::new();
    let sides = ["@sqlite", "@sqlite", "@sqlite", "@sqlite", "--", "@wait", "@wait", "@wait", "@wait"];
    let text = dir.run(words(&sides)).succeeds().text();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("(means of 4 and 4 runs)"), "{text}");
    assert!(text.contains("The elapsed time differs by more than noise (p = 0.029)."), "{text}");
    let comparison = json(&dir, &["@sqlite", "@sqlite", "--", "@wait"]);
    assert_eq!((&comparison["runs_a"], &comparison["runs_b"]), (&Value::from(2), &Value::from(1)));
    assert_eq!((&comparison["permutations"], &comparison["elapsed_chance"]), (&Value::from(0), &Value::Null));
    let alone = json(&dir, &["@sqlite", "@wait"]);
    assert_eq!(figure(&comparison, "calls"), figure(&alone, "calls"), "means of equal runs are those of one");
    dir.run(words(&["--groups", "a,b", "@sqlite", "--", "@wait"])).ends_with(2);
}

#[test]
fn a_condition_that_holds_fails_with_one_line() {
    let dir = Dir::new();
    let of = |condition: &str| words(&["@sqlite", "@wait", "--fail-on", condition]);
    dir.run(of("processes>+10000%")).ends_with(0);
    let failed = dir.run(of("written<-1%")).ends_with(1);
    let errors: Vec<String> =
        failed.messages().lines().filter(|line| line.starts_with("error: ")).map(str::to_owned).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].starts_with("error: written<-1%: written "), "{errors:?}");
    for wrong in ["elapsed", "speed>+1%", "elapsed>+1"] {
        dir.run(of(wrong)).ends_with(2);
    }
}

#[test]
fn a_picture_leads_with_the_verdict() {
    let dir = Dir::new();
    dir.run(words(&["@sqlite", "@sqlite", "-o", "c.svg"])).succeeds();
    let svg = String::from_utf8(dir.read("c.svg")).unwrap();
    assert!(svg.contains("No change: calls, processes and bytes are equal"), "the title is the verdict");
}
