//! The small tables of a trail: processes and files.

use crate::cli::util::{Dir, csv};
use serde_json::{Value, json};

const TRACE: &str = "\
7 1700000000.000000 execve(\"/bin/sh\", [\"sh\", \"-c\", \"a;b\"], 0x7ffd /* 3 vars */) = 0
7 1700000000.100000 openat(AT_FDCWD, \"/tmp/a \\\"b\\\", c\", O_RDONLY) = 3
7 1700000000.200000 read(3, \"\"..., 10) = 10
7 1700000000.300000 +++ exited with 3 +++
";

#[test]
fn processes_come_as_table_csv_and_json_lines() {
    let dir = Dir::with_trace(TRACE);
    let rows = dir.run(["processes", "t.trail", "--json"]).succeeds().json_lines();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!((&row["pid"], &row["exit_code"], &row["bytes_read"]), (&json!(7), &json!(3), &json!(10)));
    assert_eq!((&row["user"], &row["env"]), (&Value::Null, &json!([])));
    assert_eq!(row["cmdline"], "sh\0-c\0a;b");
    let table = csv(&dir.run(["processes", "t.trail", "--csv"]).succeeds().text());
    assert_eq!(table.len(), 2);
    for (name, cell) in table[0].iter().zip(&table[1]) {
        match &row[name] {
            Value::Null => assert_eq!(cell, "", "{name}"),
            Value::String(text) => assert_eq!(*cell, text.replace('\0', " "), "{name}"),
            Value::Array(_) => assert_eq!(cell, "", "{name}"),
            other => assert_eq!(*cell, other.to_string(), "{name}"),
        }
    }
    let text = dir.run(["processes", "t.trail"]).succeeds().text();
    assert!(text.contains("exit 3") && text.contains("sh -c a;b") && text.contains("300 ms"), "{text}");
}

#[test]
fn files_come_as_table_csv_and_json_lines() {
    let dir = Dir::with_trace(TRACE);
    let rows = dir.run(["files", "t.trail", "--json", "--sort", "path"]).succeeds().json_lines();
    let paths: Vec<&str> = rows.iter().filter_map(|row| row["path"].as_str()).collect();
    assert_eq!(paths, ["/bin/sh", "/tmp/a \"b\", c"]);
    let table = csv(&dir.run(["files", "t.trail", "--csv", "--sort", "path"]).succeeds().text());
    assert_eq!(table[2][0], "/tmp/a \"b\", c");
    for (name, cell) in table[0].iter().zip(&table[1]) {
        match &rows[0][name] {
            Value::Null => assert_eq!(cell, "", "{name}"),
            Value::String(text) => assert_eq!(cell, text, "{name}"),
            other => assert_eq!(*cell, other.to_string(), "{name}"),
        }
    }
    let not_in_csv = ["errors", "ranges_read", "ranges_written", "read_sizes", "write_sizes"];
    let keys = rows[0].as_object().unwrap().keys().filter(|key| !not_in_csv.contains(&key.as_str()));
    let mut keys: Vec<&String> = keys.collect();
    let mut header: Vec<&String> = table[0].iter().collect();
    keys.sort();
    header.sort();
    assert_eq!(keys, header);
    assert!(dir.run(["files", "t.trail"]).succeeds().text().contains("/tmp/a \"b\", c"));
}

/// A file that is made anew again and again, next to one that is read.
const AGAIN: &str = "\
7  1700000000.000000 openat(AT_FDCWD, \"/d/in\", O_RDONLY) = 3</d/in> <0.000010>
7  1700000000.001000 read(3</d/in>, \"\"..., 4096) = 4096 <0.000100>
7  1700000000.002000 openat(AT_FDCWD, \"/d/x-journal\", O_RDWR|O_CREAT|O_EXCL, 0644) = 4</d/x-journal> <0.000010>
7  1700000000.003000 pwrite64(4</d/x-journal>, \"\"..., 512, 0) = 512 <0.000200>
7  1700000000.004000 fsync(4</d/x-journal>) = 0 <0.005000>
7  1700000000.010000 close(4</d/x-journal>) = 0 <0.000010>
7  1700000000.011000 unlink(\"/d/x-journal\") = 0 <0.000010>
7  1700000000.012000 openat(AT_FDCWD, \"/d/x-journal\", O_RDWR|O_CREAT|O_EXCL, 0644) = 4</d/x-journal> <0.000010>
7  1700000000.013000 pwrite64(4</d/x-journal>, \"\"..., 512, 0) = 512 <0.000200>
7  1700000000.014000 access(\"/d/none\", R_OK) = -1 ENOENT (No such file or directory) <0.000010>
";

#[test]
fn files_with_most_io_time_come_first_and_those_of_one_name_together() {
    let dir = Dir::with_trace(AGAIN);
    let text = dir.run(["files", "t.trail"]).succeeds().text();
    let first = "4 files of 3 names: 4.10 kB read, 1.02 kB written, 5.56 ms of I/O time; 97.8 % of it in /d/x-journal";
    assert!(text.starts_with(first), "{text}");
    let rows = |words: &[&str]| {
        let command = ["files", "t.trail", "--json"];
        let rows = dir.run(command.iter().chain(words)).succeeds().json_lines();
        let row = |row: &Value| {
            let figure = |name: &str| row[name].as_u64().unwrap_or_default();
            (row["path"].as_str().unwrap().to_owned(), figure("files"), figure("overwritten"))
        };
        rows.iter().map(row).collect::<Vec<_>>()
    };
    let row = |path: &str, files| (path.to_owned(), files, 0);
    let (journal, input, none) = ("/d/x-journal", "/d/in", "/d/none");
    assert_eq!(rows(&[]), [row(journal, 2), row(input, 1), row(none, 1)]);
    assert_eq!(rows(&["--each"]), [row(journal, 1), row(journal, 1), row(input, 1), row(none, 1)]);
    assert_eq!(rows(&["--sort", "read", "--top", "1"]), [row(input, 1)]);
    assert_eq!(rows(&["--failed"]), [row(none, 1)]);
}

#[test]
fn a_relative_time_is_that_of_each_trail() {
    let dir = Dir::new();
    for (run, day) in [("a", 19_675), ("b", 19_683)] {
        let line = |second: u32| {
            format!("7  {}.0 read(3</data/{run}{second}>, \"\"..., 10) = 10\n", day * 86_400 + second)
        };
        dir.write(format!("{run}_h_1.st"), (0..5).map(line).collect::<String>());
        dir.run(["import", "-q", "-o", &format!("{run}.trail"), &format!("{run}_h_1.st")]).succeeds();
    }
    let selected = |words: &[&str]| {
        let command = ["events", "-q", "a.trail", "b.trail", "--csv"];
        let text = dir.run(command.iter().chain(words)).succeeds().text();
        let names: Vec<String> =
            text.match_indices("/data/").map(|(at, _)| text[at + 6..at + 8].to_owned()).collect();
        names.join(" ")
    };
    assert_eq!(selected(&["--since", "50%"]), "a2 a3 a4 b2 b3 b4");
    assert_eq!(selected(&["--until", "+1s"]), "a0 b0");
    assert_eq!(selected(&["--since", "00:00:03"]), "a3 a4 b3 b4");
    assert_eq!(selected(&["--since", "2023-11-20T00:00:00Z"]), "b0 b1 b2 b3 b4");
}

#[test]
fn what_is_in_no_row_is_said_above_the_rows() {
    let dir = Dir::with_trace(
        "7 10:00:00.000100 openat(AT_FDCWD, \"/x\", O_RDONLY) = 3 <0.000010>\n\
         7 10:00:00.000200 read(3, \"\"..., 100) = 100 <0.000010>\n\
         7 10:00:00.000300 write(9, \"\"..., 40) = 40 <0.000010>\n\
         7 10:00:00.000400 getpid() = 7 <0.000025>\n",
    );
    let text = dir.run(["files", "t.trail"]).succeeds().text();
    let first = text.lines().next().unwrap_or_default();
    assert!(first.contains("100 B read, 0 B written"), "{text}");
    assert!(first.ends_with("; without 40 B written through unknown descriptors"), "{text}");
    let text = dir.run(["dfg", "t.trail", "--map", "dir2"]).succeeds().text();
    assert!(text.contains("4, 1 of them (25.0 us) matches no activity and is not shown"), "{text}");
    assert_eq!(dir.json(["dfg", "t.trail", "--map", "dir2", "--json"])["events"]["unmapped_ns"], 25_000);
}
