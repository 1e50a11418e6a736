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
            Value::String(text) => assert_eq!(cell, text, "{name}"),
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
    let rows = dir.run(["files", "t.trail", "--json"]).succeeds().json_lines();
    let paths: Vec<&str> = rows.iter().filter_map(|row| row["path"].as_str()).collect();
    assert_eq!(paths, ["/bin/sh", "/tmp/a \"b\", c"]);
    let table = csv(&dir.run(["files", "t.trail", "--csv"]).succeeds().text());
    assert_eq!(table[2][0], "/tmp/a \"b\", c");
    assert!(dir.run(["files", "t.trail"]).succeeds().text().contains("/tmp/a \"b\", c"));
}
