//! Laws that hold for every log.

use super::script::{flows, graph_of, log};
use crate::build::BuildOptions;
use crate::graph::{FileView, Graph};
use proptest::prelude::*;
use std::num::NonZeroUsize;

const WORDS: [&str; 14] = [
    "read", "write", "read", "write", "open", "creat", "append", "excl", "trunc", "rename", "link", "unlink",
    "missing", "copy",
];

fn line() -> impl Strategy<Value = String> {
    (1_u32..5, 0..WORDS.len(), 0_u32..4, 0_u32..4, 0_u32..3, 1_u32..100).prop_map(
        |(pid, word, path, path2, blocked, size)| {
            let word = WORDS[word];
            let path = ["/a", "/b", "/c", "pipe:[1]"][path as usize];
            let path2 = ["/a", "/b", "/c", "/d"][path2 as usize];
            let since = if blocked > 0 { format!("blocked {blocked} ") } else { String::new() };
            match word {
                "read" | "write" => format!("{since}{pid} {word} {path} {size}"),
                "rename" | "link" => format!("{pid} {word} {path} {path2}"),
                "copy" => format!("{pid} copy {path} {path2} {size}"),
                _ => format!("{pid} {word} {path}"),
            }
        },
    )
}

/// A thread makes one call at a time.
fn script() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 1..60).prop_map(|lines| {
        let mut script = vec!["1 fork 2".to_owned(), "1 fork 3".to_owned(), "2 fork 4".to_owned()];
        for line in lines {
            let alone = match line.strip_prefix("blocked ").and_then(|rest| rest.split_once(' ')) {
                Some((since, call)) if overlaps(&script, since, call) => call.to_owned(),
                _ => line,
            };
            script.push(alone);
        }
        script.join("\n")
    })
}

/// Whether the thread of `call` would have made one of the last calls while it waited.
fn overlaps(script: &[String], since: &str, call: &str) -> bool {
    let thread = |line: &str| {
        let mut words = line.split(' ');
        let first = words.next().unwrap_or_default().to_owned();
        if first == "blocked" { words.nth(1).unwrap_or_default().to_owned() } else { first }
    };
    let since: usize = since.parse().unwrap_or_default();
    script.iter().rev().take(since + 1).any(|line| thread(line) == thread(call))
}

/// Bytes read and written by the calls of a script.
fn moved(script: &str) -> (u64, u64) {
    script.lines().fold((0, 0), |(read, written), line| {
        let size = || line.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        match line {
            line if line.contains(" read ") => (read + size(), written),
            line if line.contains(" write ") => (read, written + size()),
            line if line.contains(" copy ") => (read + size(), written + size()),
            _ => (read, written),
        }
    })
}

fn on_edges(graph: &Graph) -> (u64, u64) {
    graph
        .edges
        .iter()
        .fold((0, 0), |(read, written), edge| (read + edge.read.bytes, written + edge.written.bytes))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_log_has_a_topological_order_and_keeps_its_bytes(script in script(), rows in 1_usize..40) {
        for view in [FileView::Version, FileView::File] {
            let options = BuildOptions { view, threads: NonZeroUsize::MIN, ..BuildOptions::default() };
            let graph = graph_of(&log(&script, 1 << 17), &options);
            prop_assert_eq!(on_edges(&graph), moved(&script));
            prop_assert_eq!(graph.left_out.bytes, 0);
            // The size of row groups and the number of threads are seen by nobody.
            let threads = NonZeroUsize::new(3).unwrap();
            let other = graph_of(&log(&script, rows), &BuildOptions { threads, ..options });
            prop_assert_eq!(flows(&other), flows(&graph));
        }
    }
}
