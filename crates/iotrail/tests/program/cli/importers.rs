//! Traces of several programs in one import.

use crate::cli::util::Dir;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name)
}

fn copy(dir: &Dir, name: &str, as_name: &str) {
    dir.write(as_name, std::fs::read(fixture(name)).expect("a fixture"));
}

#[test]
fn a_directory_may_hold_traces_of_several_formats() {
    let dir = Dir::new();
    copy(&dir, "darshan/ranks.txt", "in/ranks.txt");
    copy(&dir, "ltrace/S-f-tt-T.lt", "in/program.lt");
    copy(&dir, "strace/tt-T.st", "in/cat.st");
    let summary = dir.json(["import", "-q", "--json", "-o", "t.trail", "in"]);
    assert_eq!((&summary["files"], &summary["cases"]), (&3.into(), &5.into()));
    let info = dir.json(["info", "t.trail", "--json"]);
    assert_eq!(info["source"], "darshan-dxt,ltrace,strace");
    assert_eq!(info["layers"].as_object().expect("layers").len(), 4, "{info}");
    dir.run(["check", "t.trail"]).succeeds();
}

#[test]
fn a_pipe_tells_its_format_by_what_comes_first() {
    let dir = Dir::new();
    for (name, cases, layers) in
        [("darshan/ranks.txt", 3, 2), ("ltrace/S-r.lt", 1, 2), ("strace/tt-T.st", 1, 1)]
    {
        let text = std::fs::read(fixture(name)).expect("a fixture");
        let words = ["import", "-q", "--json", "--force", "-o", "t.trail", "-"];
        let ran = dir.command(words).input(String::from_utf8(text).expect("text")).run().succeeds();
        assert_eq!(ran.json()["cases"], cases, "{name}");
        let info = dir.json(["info", "t.trail", "--json"]);
        assert_eq!(info["layers"].as_object().expect("layers").len(), layers, "{name}");
        dir.run(["check", "t.trail"]).succeeds();
    }
}

#[test]
fn a_format_can_be_forced_and_must_be_known() {
    let dir = Dir::new();
    copy(&dir, "ltrace/S-r.lt", "a.lt");
    let forced = |format: &str| dir.run(["import", "--force", "-o", "t.trail", "--format", format, "a.lt"]);
    forced("ltrace").succeeds();
    forced("strace").succeeds();
    let said = forced("darshan-dxt").fails();
    assert!(said.contains("no line of it is text of darshan-dxt-parser"), "{said}");
    let said = forced("gdb").refuses();
    assert!(said.contains("possible values: strace, darshan-dxt, ltrace"), "{said}");
}

#[test]
fn transfers_that_were_announced_and_are_not_there_are_told() {
    let dir = Dir::new();
    copy(&dir, "darshan/hand-old-lustre.txt", "old.txt");
    let said = dir.run(["import", "-o", "t.trail", "old.txt"]).succeeds().messages();
    assert!(said.contains("1 line not understood, 2 missing events"), "{said}");
}

#[test]
fn a_binary_log_of_darshan_says_how_to_make_text_of_it() {
    let dir = Dir::new();
    let log = [b"3.41\0\0\0\0".as_slice(), &6_567_223_i64.to_le_bytes(), &[0; 2000]].concat();
    dir.write("a.darshan", log);
    let said = dir.run(["import", "-o", "t.trail", "a.darshan"]).fails();
    assert!(said.contains("darshan-dxt-parser --show-incomplete"), "{said}");
}

#[test]
fn analyses_of_darshan_count_one_layer_and_make_edges_of_it() {
    let dir = Dir::new();
    copy(&dir, "darshan/ranks.txt", "ranks.txt");
    dir.run(["import", "-q", "-o", "t.trail", "ranks.txt"]).succeeds();
    let profile = dir.json(["stats", "-q", "t.trail", "--json"]);
    assert_eq!(profile["layers"], serde_json::json!(["posix"]));
    dir.run(["dfg", "-q", "t.trail", "-o", "dfg.json"]).succeeds();
    dir.run(["report", "-q", "t.trail", "-o", "page.html"]).succeeds();
    let said = dir.run(["workflow", "t.trail"]).succeeds().text();
    assert!(said.contains("bytes moved  393 kB read, 983 kB written"), "{said}");
    assert!(!said.contains("edges        0"), "{said}");
}
