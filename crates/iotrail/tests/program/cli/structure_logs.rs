//! Analyses of structures are those of the trails that these are of.

use crate::cli::util::{Dir, STRACE, wait_until};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;

/// Every analysis, of a log called `run.trail`. Rows of events and points may stand in another order.
const ANALYSES: [&str; 18] = [
    "events run.trail --json | sort",
    "files run.trail --json",
    "files run.trail",
    "sessions run.trail --json",
    "stats run.trail --json",
    "stats run.trail",
    "dfg run.trail -o -",
    "why run.trail --json",
    "tree run.trail --json",
    "processes run.trail --json",
    "workflow run.trail --json",
    "workflow run.trail -q -o w.json && cat w.json",
    "advise run.trail --json",
    "compare run.trail run.trail --json",
    "characterize run.trail --json",
    // The page of a structure has its loops as well.
    r#"report -q run.trail -o - | sed 's/"structured":.*,"workflow":/"workflow":/'"#,
    "export influx run.trail -o - | sort",
    "info run.trail run.trail --json | grep -v disk_bytes",
];

/// Traces of several kinds.
const TRACES: [&str; 4] = ["f-tt-T-yy.st", "threads.st", "signals.st", "hand-order.st"];

/// A directory with the trail of a trace in `trail` and its structure of the same name in `structure`.
fn both(trace: &str, precision: &str) -> Dir {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("trail")).expect("a directory");
    std::fs::create_dir(dir.path("structure")).expect("a directory");
    dir.run(["import", "-q", "-o", "trail/run.trail", &format!("{STRACE}/{trace}")]).succeeds();
    let compress = ["compress", "-q", "trail/run.trail", "-o", "structure/run.trail"];
    dir.run(compress.into_iter().chain(["--time-precision", precision])).succeeds();
    dir
}

#[test]
fn with_every_time_an_analysis_is_that_of_the_trail_to_the_byte() {
    for trace in TRACES {
        let dir = both(trace, "100");
        for analysis in ANALYSES {
            let answer = |of: &str| {
                let ran = dir.shell(&format!("cd {of} && $IOTRAIL {analysis}"));
                (ran.status.code(), ran.text(), ran.messages())
            };
            let of_trail = answer("trail");
            // Not every trace has files.
            assert!(of_trail.0 == Some(0) || trace != TRACES[0], "{analysis}: {}", of_trail.2);
            assert!(answer("structure") == of_trail, "{trace}: {analysis}");
        }
    }
}

/// What an analysis tells without times.
fn without_times(rows: &[Value]) -> Vec<Value> {
    let of_row = |row: &Value| {
        let fields = row.as_object().expect("a row").iter();
        let untimed =
            |name: &str| !name.ends_with("_ns") && !["start", "dur", "seq", "parent"].contains(&name);
        fields.filter(|(name, _)| untimed(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    rows.iter().map(of_row).map(Value::Object).collect()
}

#[test]
fn with_drawn_times_counts_and_bytes_are_those_of_the_trail() {
    for trace in TRACES {
        let dir = both(trace, "95");
        for table in ["files", "events"] {
            let rows = |of: &str| {
                let ran = dir.run([table, &format!("{of}/run.trail"), "--json"]);
                let mut rows = without_times(&ran.json_lines());
                rows.sort_by_key(Value::to_string);
                rows
            };
            assert_eq!(rows("structure"), rows("trail"), "{trace}: {table}");
        }
        let calls = |of: &str| -> Vec<[Value; 4]> {
            let stats = dir.json(["stats", &format!("{of}/run.trail"), "--json"]);
            let calls = stats["calls"].as_array().expect("calls").iter();
            let mut calls: Vec<_> = calls
                .map(|row| ["call", "count", "failures", "bytes"].map(|name| row[name].clone()))
                .collect();
            calls.sort_by_key(|row| row[0].to_string());
            calls
        };
        assert_eq!(calls("structure"), calls("trail"), "{trace}");
    }
}

#[test]
fn trails_and_structures_mix_and_keep_their_names() {
    let dir = Dir::with_paper();
    dir.run(["compress", "-q", "paper.trail", "-o", "paper.structure", "--time-precision", "100"]).succeeds();
    let compared = dir.run(["compare", "paper.structure", "paper.trail"]).succeeds().text();
    assert!(compared.contains("No change") && !compared.contains("expanded"), "{compared}");
    let info = dir.json(["info", "paper.trail", "paper.structure", "--json"]);
    assert_eq!(info["trails"], serde_json::json!(["paper", "paper.structure"]));
    assert_eq!(info["events"], 2 * 75);
    let size = dir.path("paper.structure").metadata().expect("a file").len();
    let alone = dir.json(["info", "paper.trail", "--json"])["disk_bytes"].as_u64().expect("bytes");
    assert_eq!(info["disk_bytes"], alone + size);
    dir.run(["report", "-q", "paper.structure"]).succeeds();
    assert!(dir.path("paper.html").exists());
}

/// What is left of temporary trails in the directory `tmp`.
fn left(dir: &Dir) -> Vec<String> {
    let entries = std::fs::read_dir(dir.path("tmp")).expect("a directory");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

fn with_temporary_directory() -> Dir {
    let dir = Dir::with_paper();
    dir.run(["compress", "-q", "paper.trail", "-o", "paper.structure"]).succeeds();
    std::fs::create_dir(dir.path("tmp")).expect("a directory");
    dir
}

#[test]
fn no_temporary_trail_outlives_its_command() {
    let dir = with_temporary_directory();
    let tmp = dir.path("tmp").to_string_lossy().into_owned();
    dir.command(["files", "paper.structure"]).env("TMPDIR", &tmp).run().succeeds();
    assert_eq!(left(&dir), [""; 0]);
    let error =
        dir.command(["dfg", "paper.structure", "--map", "nowhere"]).env("TMPDIR", &tmp).run().refuses();
    assert!(error.contains("nowhere"), "{error}");
    assert_eq!(left(&dir), [""; 0]);
    // A page is more than a pipe takes: the command waits for a reader, with the trail there.
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let mut child =
            dir.command(["report", "-q", "paper.structure", "-o", "-"]).env("TMPDIR", &tmp).start();
        wait_until("a temporary trail", || !left(&dir).is_empty());
        let pid = child.id().to_string();
        let killed = std::process::Command::new("kill").args(["-s", name, &pid]).status();
        assert!(killed.expect("kill").success());
        let output = child.wait().map(|status| (status, left(&dir)));
        let (status, left) = output.expect("an end");
        assert_eq!((status.signal(), left), (Some(number), Vec::new()), "{name}");
    }
}

#[test]
fn where_there_is_no_room_for_a_temporary_trail_the_error_names_structure_and_directory() {
    let dir = with_temporary_directory();
    let nowhere = dir.path("none").to_string_lossy().into_owned();
    let error = dir.command(["stats", "paper.structure"]).env("TMPDIR", &nowhere).run().fails();
    let expected = format!("cannot expand paper.structure in {nowhere} (TMPDIR names another directory)");
    assert!(error.contains(&expected), "{error}");
    let full = dir.shell("ulimit -f 1; TMPDIR=$PWD/tmp $IOTRAIL stats paper.structure").fails();
    assert!(full.contains("cannot expand paper.structure in") && full.contains("too large"), "{full}");
    assert_eq!(left(&dir), [""; 0]);
}
