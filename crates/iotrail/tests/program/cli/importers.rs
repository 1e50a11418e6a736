//! Traces of several programs in one import.

use crate::cli::util::Dir;
use iotrail_model::Dictionaries;
use iotrail_model::raw::RawItem;
use iotrail_strace::parser::{Parser, ParserSetup};
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

/// What the parser of strace delivers for a trace, as another recorder would write it.
fn as_raw_records(trace: &[u8]) -> Vec<u8> {
    let (mut parser, mut names, mut lines) =
        (Parser::new(ParserSetup::default()), Dictionaries::default(), Vec::new());
    parser.parse(trace, true, &mut names, &mut |item: RawItem<'_>, names: &mut Dictionaries| {
        iotrail_raw::write(&mut lines, &item, names).expect("memory");
    });
    lines
}

#[test]
fn raw_records_of_real_programs_make_the_same_events_and_processes() {
    let dir = Dir::new();
    let events = |trail: &str| dir.run(["events", trail, "--json"]).succeeds().text();
    // Traces with times: without them a trail has none, raw records always have.
    for name in ["f-all-y", "threads", "interruptions"] {
        let trace = std::fs::read(fixture(&format!("strace/{name}.st"))).expect("a fixture");
        dir.write("a/trace.st", &trace);
        dir.write("b/trace.jsonl", as_raw_records(&trace));
        let import =
            |trail: &str, input: &str| dir.json(["import", "-q", "--json", "--force", "-o", trail, input]);
        let (of_text, of_records) = (import("a.trail", "a/trace.st"), import("b.trail", "b/trace.jsonl"));
        for counted in ["events", "processes", "cases"] {
            assert_eq!(of_text[counted], of_records[counted], "{name}: {counted}");
        }
        assert_eq!(of_records["coverage"]["lines"]["unparsed"], 0, "{name}");
        assert_eq!(events("a.trail"), events("b.trail"), "{name}");
        let tree = |trail: &str| dir.run(["tree", trail]).succeeds().text();
        assert_eq!(tree("a.trail"), tree("b.trail"), "{name}");
        assert_eq!(dir.json(["info", "b.trail", "--json"])["source"], "raw");
        dir.run(["check", "b.trail"]).succeeds();
    }
}

#[test]
fn lines_that_are_no_records_are_counted_and_the_rest_is_imported() {
    let dir = Dir::new();
    let call = r#"{"item":"call","tid":7,"call":"getpid","start":1700000000000000000,"dur":5,"ret":{"value":{"value":7}},"args":[]}"#;
    dir.write("a.jsonl", format!("{call}\n{{\"item\":\"call\"}}\nhello\n{call}"));
    let ran = dir.run(["import", "-o", "t.trail", "a.jsonl"]).succeeds();
    let said = ran.messages();
    assert!(said.contains("2 events of 1 process") && said.contains("2 lines not understood"), "{said}");
    dir.write("b.jsonl", "{\"item\":\"nothing\"}\n");
    let said = dir.run(["import", "-o", "u.trail", "b.jsonl"]).fails();
    assert!(said.contains("no line of it is a raw record"), "{said}");
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
    assert!(said.contains("possible values: strace, ltrace, darshan-dxt, raw"), "{said}");
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
