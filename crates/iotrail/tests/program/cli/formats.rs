//! Every format exists and is what its name says.

use crate::cli::util::{Dir, csv};

/// Extension and how the file begins.
const MAGIC: [(&str, &[u8]); 9] = [
    ("json", b"{\n"),
    ("dot", b"digraph"),
    ("gv", b"digraph"),
    ("svg", b"<svg "),
    ("png", b"\x89PNG\r\n\x1a\n"),
    ("pdf", b"%PDF-1."),
    ("graphml", b"<?xml "),
    ("mmd", b"flowchart "),
    ("html", b"<!doctype html>"),
];

#[test]
fn the_extension_names_the_format() {
    let dir = Dir::with_paper();
    let files: Vec<String> = MAGIC.iter().map(|(extension, _)| format!("g.{extension}")).collect();
    let outputs = files.iter().flat_map(|file| ["-o", file.as_str()]);
    let ran = dir.run(["dfg", "paper.trail"].into_iter().chain(outputs)).succeeds();
    assert_eq!(ran.text(), "");
    for (file, (_, magic)) in files.iter().zip(MAGIC) {
        let bytes = dir.read(file);
        let head = bytes[..magic.len().min(bytes.len())].to_ascii_lowercase();
        assert_eq!(head, magic.to_ascii_lowercase(), "{file}: {:?}", String::from_utf8_lossy(&head));
        assert!(ran.messages().contains(&format!("wrote {file}")), "{}", ran.messages());
    }
    assert!(dir.read("g.pdf").trim_ascii_end().ends_with(b"%%EOF"));
    assert!(dir.read("g.svg").trim_ascii_end().ends_with(b"</svg>"));
    assert!(dir.read("g.graphml").trim_ascii_end().ends_with(b"</graphml>"));
    serde_json::from_slice::<serde_json::Value>(&dir.read("g.json")).expect("JSON");
}

#[test]
fn csv_is_a_table_of_nodes_and_a_table_of_edges() {
    let dir = Dir::with_paper();
    dir.run(["dfg", "-q", "paper.trail", "-o", "g.csv", "-o", "only.edges.csv"]).succeeds();
    assert_eq!(dir.names(), ["g.edges.csv", "g.nodes.csv", "only.edges.csv", "paper.trail"]);
    for (file, records) in [("g.nodes.csv", 7..=9), ("g.edges.csv", 16..=16)] {
        let table = csv(&String::from_utf8(dir.read(file)).expect("UTF-8"));
        assert!(records.contains(&(table.len() - 1)), "{file}: {} records", table.len() - 1);
        assert!(table.iter().all(|record| record.len() == table[0].len()), "{file}");
    }
    assert_eq!(dir.read("g.edges.csv"), dir.read("only.edges.csv"));
}

#[test]
fn a_format_for_stdout_gives_the_same_bytes_as_a_file() {
    let dir = Dir::with_paper();
    let formats = ["json", "nodes.csv", "edges.csv", "dot", "svg", "png", "pdf", "graphml", "mmd"];
    for format in formats {
        let file = format!("g.{format}");
        let words = ["dfg", "-q", "paper.trail"];
        dir.run(words.into_iter().chain(["-o", &file])).succeeds();
        let printed = dir.run(words.into_iter().chain(["--format", format])).succeeds().stdout;
        assert_eq!(printed, dir.read(&file), "{format}");
        let dashed = dir.run(words.into_iter().chain(["-o", "-", "--format", format])).succeeds().stdout;
        assert_eq!(dashed, printed, "{format}");
    }
    let words = ["dfg", "-q", "paper.trail"];
    let json = dir.run(words.into_iter().chain(["-o", "-"])).succeeds().stdout;
    assert_eq!(json, dir.run(words.into_iter().chain(["--json"])).succeeds().stdout);
    assert_eq!(json, dir.read("g.json"));
}

#[test]
fn a_comparison_is_written_in_every_format_too() {
    let dir = Dir::with_paper();
    let files: Vec<String> = MAGIC.iter().map(|(extension, _)| format!("c.{extension}")).collect();
    let outputs = files.iter().flat_map(|file| ["-o", file.as_str()]);
    dir.run(["compare", "-q", "paper.trail", "--by", "cid"].into_iter().chain(outputs)).succeeds();
    for (file, (_, magic)) in files.iter().zip(MAGIC) {
        assert!(dir.read(file).to_ascii_lowercase().starts_with(&magic.to_ascii_lowercase()), "{file}");
    }
    let written = dir.read("c.json");
    assert_eq!(dir.run(["compare", "-q", "paper.trail", "--by", "cid", "--json"]).succeeds().stdout, written);
    assert_eq!(
        dir.run(["compare", "-q", "paper.trail", "--by", "cid", "-o", "-"]).succeeds().stdout,
        written
    );
}

#[test]
fn a_report_on_stdout_is_the_report() {
    let dir = Dir::with_paper();
    let page = dir.run(["report", "paper.trail", "-o", "-"]).succeeds();
    assert!(page.text().trim_end().ends_with("</html>"));
    assert!(!page.messages().contains("wrote"), "{}", page.messages());
    assert_eq!(dir.names(), ["paper.trail"]);
}

#[test]
fn how_many_calls_were_at_once_is_unknown_without_durations() {
    let dir = Dir::with_trace("7  10:00:00.000100 read(3</etc/passwd>, \"root\"..., 4096) = 1000\n");
    dir.run(["dfg", "-q", "t.trail", "-o", "g.json", "-o", "g.csv", "-o", "g.svg"]).succeeds();
    let graph: serde_json::Value = serde_json::from_slice(&dir.read("g.json")).expect("JSON");
    assert!(graph["nodes"][0]["max_concurrency"].is_null(), "{graph}");
    let rows = csv(&String::from_utf8_lossy(&dir.read("g.nodes.csv")));
    let column = rows[0].iter().position(|name| name == "max_concurrency").expect("the column");
    assert_eq!(rows[1][column], "");
    assert!(String::from_utf8_lossy(&dir.read("g.svg")).contains("at most – at once"));
}
