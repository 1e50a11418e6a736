//! `iotrail workflow`: operations in the order given, tables, forms.

use crate::util::Dir;
use serde_json::Value;

/// A shell that runs two programs; the second reads what the first wrote.
const SHELL: &str = "\
7  10:00:00.000000 execve(\"/bin/sh\", [\"sh\", \"run.sh\"], 0x7ffe /* 1 vars */) = 0 <0.000010>
7  10:00:00.001000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000010>
8  10:00:00.002000 execve(\"/opt/first\", [\"first\"], 0x7ffe /* 1 vars */) = 0 <0.000010>
8  10:00:00.003000 openat(AT_FDCWD, \"/data/in_1.dat\", O_RDONLY) = 3</data/in_1.dat> <0.000010>
8  10:00:00.003100 read(3</data/in_1.dat>, \"\"..., 4096) = 1000 <0.000020>
8  10:00:00.004000 openat(AT_FDCWD, \"/data/out_1.dat\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4</data/out_1.dat> <0.000010>
8  10:00:00.005000 write(4</data/out_1.dat>, \"\"..., 500) = 500 <0.000020>
8  10:00:00.006000 exit_group(0) = ?
8  10:00:00.006100 +++ exited with 0 +++
7  10:00:00.007000 clone(child_stack=NULL, flags=SIGCHLD) = 9 <0.000010>
9  10:00:00.008000 execve(\"/opt/second\", [\"second\"], 0x7ffe /* 1 vars */) = 0 <0.000010>
9  10:00:00.009000 openat(AT_FDCWD, \"/data/out_1.dat\", O_RDONLY) = 3</data/out_1.dat> <0.000010>
9  10:00:00.009100 read(3</data/out_1.dat>, \"\"..., 4096) = 500 <0.000020>
9  10:00:00.010000 exit_group(0) = ?
9  10:00:00.010100 +++ exited with 0 +++
7  10:00:00.011000 exit_group(0) = ?
7  10:00:00.011100 +++ exited with 0 +++
";

fn json(dir: &Dir, words: &[&str]) -> Value {
    let ran = dir.run(["workflow", "t.trail", "--json"].iter().chain(words)).succeeds();
    serde_json::from_slice(&ran.stdout).expect("JSON")
}

fn labels(graph: &Value) -> Vec<&str> {
    let vertices = graph["vertices"].as_array().expect("vertices");
    vertices.iter().map(|vertex| vertex["label"].as_str().expect("a label")).collect()
}

#[test]
fn operations_are_applied_in_the_order_in_which_they_are_written() {
    let dir = Dir::with_trace(SHELL);
    let whole = json(&dir, &[]);
    assert_eq!(whole["format"], 1);
    for label in ["first", "second", "in_1.dat", "out_1.dat"] {
        assert!(labels(&whole).contains(&label), "{label}");
    }
    let one = json(&dir, &["--phase", "first", "--aggregate", "file=ext"]);
    let other = json(&dir, &["--aggregate", "file=ext", "--phase", "first"]);
    let words = |graph: &Value| {
        let history = graph["history"].as_array().expect("sentences").iter();
        history.map(|text| text.as_str().expect("a text")[..5].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(words(&one), ["phase", "aggre"]);
    assert_eq!(words(&other), ["aggre", "phase"]);
    assert_eq!(labels(&json(&dir, &["--select", "kind=process", "--hide", "exe=sh"])), ["first", "second"]);
}

#[test]
fn the_steps_of_the_critical_path_sum_up_to_the_makespan() {
    let dir = Dir::with_trace(SHELL);
    let tables = json(&dir, &["--critical-path"]);
    let rows = tables[0]["rows"].as_array().expect("rows");
    let sum: i64 = rows.iter().map(|row| row["span_ns"].as_i64().expect("a number")).sum();
    let (first, last) = (&rows[0]["from_ns"], &rows[rows.len() - 1]["to_ns"]);
    assert_eq!(sum, last.as_i64().expect("a number") - first.as_i64().expect("a number"));
    let table = dir.run(["workflow", "t.trail", "--critical-path"]).succeeds();
    assert!(table.text().contains("Critical path as executed"), "{}", table.text());
}

#[test]
fn the_summary_the_picture_and_the_formats_exist() {
    let dir = Dir::with_trace(SHELL);
    let summary = dir.run(["workflow", "t.trail"]).succeeds();
    for part in ["Phases", "Critical path", "Clusters"] {
        assert!(summary.text().contains(part), "{}", summary.text());
    }
    dir.run(["workflow", "t.trail", "-q", "-o", "w.svg", "-o", "w.json", "-o", "w.dot"]).succeeds();
    assert!(dir.read("w.svg").starts_with(b"<svg"));
    assert!(dir.read("w.dot").starts_with(b"digraph"));
    let printed = dir.run(["workflow", "t.trail", "--json"]).succeeds().stdout;
    assert_eq!(printed, dir.read("w.json"));
    let csv = dir.run(["workflow", "t.trail", "--clusters", "--csv"]).succeeds();
    assert!(csv.text().starts_with("name,exe,processes"), "{}", csv.text());
}

#[test]
fn words_that_make_no_sense_are_named_with_their_place() {
    let dir = Dir::with_trace(SHELL);
    for (words, part) in [
        (["--select", "exe<3"], "at character 4"),
        (["--aggregate", "process=colour"], "process=exe|cmd|host"),
        (["--phase", "third"], "first, second"),
        (["--ancestors", "nothing"], "no vertex is meant"),
        (["--window", "1s"], "no `..`"),
        (["-o", "w.xyz"], "w.xyz"),
    ] {
        let ran = dir.run(["workflow", "t.trail"].into_iter().chain(words));
        assert!(ran.talk().starts_with("error: "), "{words:?}: {}", ran.talk());
        assert!(ran.talk().contains(part), "{words:?}: {}", ran.talk());
    }
}

#[test]
fn a_command_line_that_strace_cut_is_counted_and_never_executed() {
    let cut = SHELL.replace("[\"first\"]", "[\"first\", \"project_alpha/results_of_2026/tm\"...]");
    let dir = Dir::with_trace(&cut);
    let info = dir.run(["info", "t.trail"]).succeeds();
    let info = String::from_utf8_lossy(&info.stdout).into_owned();
    assert!(info.contains("1 (calls whose command line or path strace cut"), "{info}");
    assert!(!info.contains("complete:"), "{info}");
    for file in ["Makefile", "Snakefile", "w.dag"] {
        // The shell, whose command line is complete, runs it.
        let exported = dir.run(["workflow", "t.trail", "-o", file]).succeeds();
        assert!(exported.talk().contains("command line is not complete"), "{file}: {}", exported.talk());
        assert!(!String::from_utf8_lossy(&dir.read(file)).contains("project_alpha"), "{file}");
    }
    let all_cut = cut.replace("[\"sh\", \"run.sh\"]", "[\"sh\", \"ru\"...]");
    assert_ne!(all_cut, cut);
    let dir = Dir::with_trace(&all_cut);
    for file in ["Makefile", "Snakefile", "w.dag"] {
        let refused = dir.run(["workflow", "t.trail", "-o", file]);
        assert!(!refused.status.success(), "{file}");
        assert!(refused.talk().contains("command line is not complete"), "{file}: {}", refused.talk());
    }
}
