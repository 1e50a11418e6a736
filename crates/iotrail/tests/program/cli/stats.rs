//! Profiles on the command line: tables, CSV, JSON, pictures, SQL.

use crate::cli::util::{Dir, csv};
use serde_json::{Value, json};

/// A manager, two jobs that read what the other wrote, and a call that fails.
const TRACE: &str = "\
1 10:00:00.000000 execve(\"/usr/bin/make\", [\"make\"], 0x7ffd /* 3 vars */) = 0 <0.000100>
1 10:00:00.001000 fork() = 2 <0.000200>
2 10:00:00.002000 execve(\"/opt/mAdd\", [\"mAdd\", \"-p\", \"raw\"], 0x7ffd /* 3 vars */) = 0 <0.000300>
2 10:00:00.003000 openat(AT_FDCWD, \"/data/in_07.fits\", O_RDONLY) = 3</data/in_07.fits> <0.000010>
2 10:00:00.004000 read(3</data/in_07.fits>, \"\"..., 4096) = 4096 <0.000020>
2 10:00:00.005000 read(3</data/in_07.fits>, \"\"..., 4096) = 100 <0.000040>
2 10:00:00.006000 read(3</data/in_07.fits>, \"\", 4096) = 0 <0.000010>
2 10:00:00.007000 openat(AT_FDCWD, \"/data/none\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000030>
2 10:00:00.008000 openat(AT_FDCWD, \"/data/out\", O_WRONLY|O_CREAT, 0644) = 4</data/out> <0.000010>
2 10:00:00.009000 write(4</data/out>, \"\"..., 50) = 50 <0.000060>
2 10:00:00.010000 exit_group(0) = ?
2 10:00:00.010100 +++ exited with 0 +++
1 10:00:00.011000 exit_group(0) = ?
1 10:00:00.011100 +++ exited with 0 +++
";

fn profile(dir: &Dir, words: &[&str]) -> Value {
    let words: Vec<&str> = ["stats", "t.trail", "--json"].iter().chain(words).copied().collect();
    serde_json::from_str(&dir.run(words).succeeds().text()).expect("JSON")
}

#[test]
fn tables_say_what_was_called_by_which_program_and_of_which_layer_the_numbers_are() {
    let dir = Dir::with_trace(TRACE);
    insta::assert_snapshot!(dir.run(["stats", "t.trail"]).succeeds().text());
}

#[test]
fn every_table_has_a_title_with_its_layer() {
    let dir = Dir::with_trace(TRACE);
    let text = dir.run(["stats", "t.trail", "--table", "all"]).succeeds().text();
    for title in [
        "I/O of groups of processes, by exe (layer: system calls; ",
        "Calls (layer: system calls)",
        "Calls of mAdd (layer: system calls)",
        "Latency of calls (layer: system calls)",
        "Lifetime of processes (layer: processes)",
        "Access to files (layer: system calls)",
        "Access by processes (layer: system calls)",
        "Throughput by group, bins of ",
    ] {
        assert!(text.contains(title), "{title} in {text}");
    }
}

#[test]
fn json_holds_the_figures_by_hand() {
    let dir = Dir::with_trace(TRACE);
    let profile = profile(&dir, &[]);
    assert_eq!(profile["groups"], json!(["make", "mAdd"]));
    let rows = profile["calls"].as_array().expect("rows");
    let read = rows.iter().find(|row| row["call"] == "read").expect("reads");
    assert_eq!((&read["count"], &read["timed"], &read["bytes"]), (&json!(3), &json!(3), &json!(4196)));
    assert_eq!((&read["total_ns"], &read["min_ns"]), (&json!(70_000), &json!(10_000)));
    assert_eq!((&read["p50_ns"], &read["p99_ns"]), (&json!(20_000), &json!(40_000)));
    let open = rows.iter().find(|row| row["call"] == "openat").expect("opens");
    assert_eq!((&open["count"], &open["failures"]), (&json!(3), &json!(1)));
    let steps = |quantity: &str, series: &str| {
        let all = profile["distributions"].as_array().expect("distributions");
        let found = all.iter().find(|one| one["quantity"] == quantity && one["series"] == series);
        found.unwrap_or_else(|| panic!("{quantity} of {series}"))["steps"].clone()
    };
    assert_eq!(steps("latency", "read"), json!([[10_000, 1], [20_000, 2], [40_000, 3]]));
    assert_eq!(steps("read-length", "mAdd"), json!([[100, 1], [4096, 2]]));
    assert_eq!(steps("file-read-length", "/data/in_{}.fits"), json!([[100, 1], [4096, 2]]));
    assert_eq!(steps("process-read", "make"), json!([[0, 1]]));
    assert_eq!(steps("process-written", "mAdd"), json!([[50, 1]]));
}

#[test]
fn processes_are_grouped_and_files_too_as_asked() {
    let dir = Dir::with_trace(TRACE);
    assert_eq!(profile(&dir, &["--phases", "cmd~-p (\\S+)"])["groups"], json!(["raw", "(none)"]));
    assert_eq!(profile(&dir, &["--phases", "host"])["groups"], json!(["h"]));
    dir.write("rules.toml", "[[process]]\nexe = '/opt/(.)'\ngroup = 'job ${1}'\n");
    assert_eq!(profile(&dir, &["--phases", "rules.toml"])["groups"], json!(["job m", "(none)"]));
    let series = |words: &[&str]| {
        let profile = profile(&dir, words);
        let all = profile["distributions"].as_array().expect("distributions");
        let read = all.iter().find(|one| one["quantity"] == "file-read-length").expect("reads");
        read["series"].clone()
    };
    assert_eq!(series(&["--files-by", "ext"]), ".fits");
    assert_eq!(series(&["--files-by", "dir1"]), "/data");
    assert_eq!(series(&["--files-by", "map", "--map", "dir1"]), "read:/data");
}

#[test]
fn a_selection_leaves_out_what_does_not_take_part() {
    let dir = Dir::with_trace(TRACE);
    let profile = profile(&dir, &["--call", "read"]);
    assert_eq!(profile["calls"].as_array().expect("rows").len(), 1);
    let all = profile["distributions"].as_array().expect("distributions");
    assert!(all.iter().all(|one| one["series"] != "make"), "{all:?}");
}

#[test]
fn each_table_comes_as_csv_with_all_rows() {
    let dir = Dir::with_trace(TRACE);
    let table = |name: &str| csv(&dir.run(["stats", "t.trail", "--csv", "--table", name]).succeeds().text());
    assert_eq!(table("phases").last().expect("rows")[0], "total");
    assert_eq!(table("group-calls")[0][..2], ["group", "call"]);
    for name in ["calls", "distributions", "files", "processes", "throughput"] {
        let rows = table(name);
        assert!(rows.len() > 1 && rows.iter().all(|row| row.len() == rows[0].len()), "{name}: {rows:?}");
    }
    dir.run(["stats", "t.trail", "--table", "calls", "-o", "calls.csv"]).succeeds();
    assert_eq!(csv(&String::from_utf8(dir.read("calls.csv")).expect("text")), table("calls"));
}

#[test]
fn plots_become_pictures() {
    let dir = Dir::with_trace(TRACE);
    dir.run(["stats", "t.trail", "-o", "all.svg"]).succeeds();
    dir.run(["stats", "t.trail", "--plot", "ecdf:latency", "--plot", "box", "-o", "one.png"]).succeeds();
    assert!(dir.read("all.svg").starts_with(b"<svg") || dir.read("all.svg").starts_with(b"<?xml"));
    assert_eq!(dir.read("one.png")[1..4], *b"PNG");
}

#[test]
fn the_sql_behind_each_table_is_printed() {
    let dir = Dir::with_trace(TRACE);
    let text = dir.run(["stats", "t.trail", "--show-sql", "--table", "all"]).succeeds().text();
    assert!(text.matches(";\n").count() >= 7, "{text}");
    assert!(text.contains("FROM events") && text.contains("stddev_pop(dur)"), "{text}");
}

#[test]
fn wrong_words_are_refused_with_what_is_allowed() {
    let dir = Dir::with_trace(TRACE);
    let said = |words: &[&str]| {
        let words: Vec<&str> = ["stats", "t.trail"].iter().chain(words).copied().collect();
        dir.run(words).refuses()
    };
    for (words, part) in [
        (&["--phases", "exec"][..], "write one of exe, job, host"),
        (&["--table", "x"], "write calls, group-calls"),
        (&["--csv"], "CSV holds one table"),
        (&["--plot", "ecdf"], "name a file for it with -o"),
    ] {
        assert!(said(words).contains(part), "{words:?}: {}", said(words));
    }
}

#[test]
fn the_csv_of_calls_has_the_rows_of_the_json() {
    let dir = Dir::with_trace(TRACE);
    let profile: Value =
        serde_json::from_str(&dir.run(["stats", "-q", "t.trail", "--json"]).succeeds().text()).unwrap();
    let cell =
        |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned).replace("null", "");
    let rows = profile["class_calls"].as_array().unwrap();
    let rows: Vec<String> = rows
        .iter()
        .map(|row| ["class", "waits", "call", "count"].map(|name| cell(&row[name])).join(","))
        .collect();
    let csv = dir.run(["stats", "-q", "t.trail", "--table", "calls", "--csv"]).succeeds().text();
    let lines: Vec<String> =
        csv.lines().skip(1).map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(lines, rows);
    assert!(csv.starts_with("class,waits,call,count,"), "{csv}");
}

#[test]
fn a_poll_that_only_looked_is_no_sleep_and_who_is_told_of_a_child_that_had_ended_does_not_wait() {
    let dir = Dir::with_trace(
        "1 10:00:00.000000 fork() = 2 <0.000100>\n\
         2 10:00:00.001000 exit_group(0) = ?\n\
         2 10:00:00.001100 +++ exited with 0 +++\n\
         1 10:00:00.010000 poll([{fd=3, events=POLLIN}], 1, 0) = 0 (Timeout) <0.000350>\n\
         1 10:00:00.020000 poll([{fd=3, events=POLLIN}], 1, 5) = 0 (Timeout) <0.005000>\n\
         1 10:00:00.030000 wait4(2, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 2 <0.000050>\n\
         1 10:00:00.040000 exit_group(0) = ?\n\
         1 10:00:00.041000 +++ exited with 0 +++\n",
    );
    let rows = dir.json(["stats", "t.trail", "--json"])["class_calls"].clone();
    let row = |call: &str, class: &str| -> Option<u64> {
        let mut rows = rows.as_array().expect("rows").iter();
        rows.find(|row| row["call"] == call && row["class"] == class)?["count"].as_u64()
    };
    assert_eq!((row("poll", "sleep"), row("poll", "transfer")), (Some(1), Some(1)));
    assert_eq!((row("wait4", "process"), row("wait4", "wait")), (Some(1), None));
    let why = dir.json(["why", "t.trail", "--json"]);
    let classes = why["trails"][0]["classes"].as_array().expect("classes");
    let calls =
        |class: &str| classes.iter().find(|row| row["class"] == class).map(|row| row["calls"].clone());
    assert_eq!((calls("sleep"), calls("transfer"), calls("wait")), (Some(1.into()), Some(1.into()), None));
}
