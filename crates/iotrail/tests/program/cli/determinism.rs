//! Same input, same bytes.

use crate::cli::util::{Dir, STRACE};

#[test]
fn every_export_has_the_same_bytes_twice_and_with_any_number_of_threads() {
    let dir = Dir::with_paper();
    let extensions = ["json", "csv", "dot", "svg", "png", "pdf", "graphml", "mmd"];
    for (directory, threads) in [("one", "1"), ("two", "2"), ("again", "2")] {
        std::fs::create_dir(dir.path(directory)).expect("a directory");
        for extension in extensions {
            let file = format!("{directory}/g.{extension}");
            let words = ["dfg", "-q", "paper.trail", "--by", "cid"];
            dir.run(words.into_iter().chain(["--threads", threads, "-o", &file])).succeeds();
        }
        let file = format!("{directory}/c.json");
        let words = ["compare", "-q", "paper.trail", "--by", "cid", "--threads", threads, "-o", &file];
        dir.run(words).succeeds();
    }
    let files = ["g.json", "g.nodes.csv", "g.edges.csv", "g.dot", "g.svg", "g.png", "g.pdf", "g.graphml"];
    for file in files.into_iter().chain(["g.mmd", "c.json"]) {
        let first = dir.read(format!("one/{file}"));
        assert!(first == dir.read(format!("two/{file}")), "{file} depends on the number of threads");
        assert!(first == dir.read(format!("again/{file}")), "{file} differs from run to run");
    }
}

#[test]
fn a_report_has_the_same_bytes_twice() {
    let dir = Dir::with_paper();
    let page = || dir.run(["report", "paper.trail", "--by", "cid", "-o", "-"]).succeeds().stdout;
    assert!(page() == page());
}

#[test]
fn a_trail_does_not_depend_on_the_number_of_threads() {
    let dir = Dir::new();
    for (trail, threads) in [("one", "1"), ("two", "2"), ("again", "2")] {
        dir.run(["import", "-q", "--threads", threads, "-o", trail, STRACE]).succeeds();
    }
    let events = |trail: &str| dir.run(["events", trail, "--json"]).succeeds().stdout;
    let first = events("one");
    assert!(!first.is_empty());
    for trail in ["two", "again"] {
        assert!(first == events(trail), "{trail}");
        let mut names: Vec<_> = std::fs::read_dir(dir.path(trail))
            .expect("a trail")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        for name in names {
            let of = |trail: &str| dir.read(dir.path(trail).join(&name));
            assert!(of("one") == of(trail), "{trail}/{}", name.display());
        }
    }
}
