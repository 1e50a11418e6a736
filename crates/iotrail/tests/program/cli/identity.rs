//! Files and their names on the command line: what counts once, and what `--paths` shows.

use crate::cli::util::{Dir, csv};
use serde_json::Value;

/// A file with two names that moves with its directory, is replaced and removed; without a word on where the trace began.
const TRACE: &str = "\
1 10:00:00.000000 execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0 <0.000100>
1 10:00:00.001000 mkdir(\"d\", 0777) = 0 <0.000100>
1 10:00:00.002000 openat(AT_FDCWD, \"d/a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3 <0.000010>
1 10:00:00.003000 write(3, \"\"..., 50) = 50 <0.000060>
1 10:00:00.004000 link(\"d/a\", \"twin\") = 0 <0.000010>
1 10:00:00.005000 rename(\"d\", \"e\") = 0 <0.000010>
1 10:00:00.006000 openat(AT_FDCWD, \"e/a\", O_RDONLY) = 4 <0.000010>
1 10:00:00.007000 read(4, \"\"..., 4096) = 50 <0.000020>
1 10:00:00.008000 symlink(\"e\", \"f\") = 0 <0.000010>
1 10:00:00.009000 symlink(\"f/a\", \"g\") = 0 <0.000010>
1 10:00:00.010000 openat(AT_FDCWD, \"g\", O_RDONLY) = 5 <0.000010>
1 10:00:00.011000 read(5, \"\"..., 4096) = 50 <0.000020>
1 10:00:00.012000 openat(AT_FDCWD, \"twin\", O_RDONLY) = 6 <0.000010>
1 10:00:00.013000 read(6, \"\"..., 4096) = 50 <0.000020>
1 10:00:00.014000 unlink(\"f/a\") = 0 <0.000020>
1 10:00:00.015000 openat(AT_FDCWD, \"e/a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 7 <0.000010>
1 10:00:00.016000 write(7, \"\"..., 8) = 8 <0.000060>
1 10:00:00.017000 exit_group(0) = ?
1 10:00:00.017100 +++ exited with 0 +++
";

fn accesses(dir: &Dir, words: &[&str]) -> (bool, Vec<String>) {
    let words: Vec<&str> = ["stats", "t.trail", "--json"].iter().chain(words).copied().collect();
    let profile: Value = serde_json::from_str(&dir.run(words).succeeds().text()).expect("JSON");
    let rows = profile["files"].as_array().expect("rows").iter();
    let rows = rows.map(|row| format!("{} {} {}", row["name"], row["bytes_read"], row["bytes_written"]));
    (profile["paths"] == true, rows.collect())
}

#[test]
fn a_file_with_several_names_is_one_row_and_with_paths_a_row_for_each() {
    let dir = Dir::with_trace(TRACE);
    let (by_name, rows) = accesses(&dir, &[]);
    assert_eq!((by_name, rows), (false, vec!["\"twin\" 150 50".to_owned(), "\"e/a\" 0 8".to_owned()]));
    let (by_name, rows) = accesses(&dir, &["--paths"]);
    assert!(by_name);
    assert_eq!(rows, ["\"e/a\" 100 8", "\"d/a\" 0 50", "\"twin\" 50 0"]);
}

#[test]
fn names_that_a_file_lost_are_gone() {
    let dir = Dir::with_trace(TRACE);
    let text = dir.run(["files", "t.trail", "--paths", "--csv"]).succeeds().text();
    let table = csv(&text);
    let column = |name: &str| table[0].iter().position(|title| title == name).expect("a column");
    let (path, file, gone) = (column("path"), column("file"), column("gone"));
    let mut rows: Vec<String> =
        table[1..].iter().map(|row| format!("{} {} {}", row[file], row[path], row[gone])).collect();
    rows.retain(|row| row.contains("/a ") || row.contains("twin"));
    let number = |row: &String| row.split(' ').next().unwrap_or_default().to_owned();
    let first = number(&rows[0]);
    rows.iter_mut().for_each(|row| *row = row.replacen(&first, "#", usize::from(number(row) == first)));
    rows.sort();
    // `f/a` was never a name of it, but what a link was made to point to.
    assert_eq!(rows[..4], ["# d/a true", "# e/a true", "# f/a true", "# twin false"], "{rows:?}");
    assert!(rows[4].ends_with(" e/a false") && rows.len() == 5, "{rows:?}");
}

#[test]
fn the_graph_prints_every_name_of_a_file() {
    let dir = Dir::with_trace(TRACE);
    let text = dir.run(["workflow", "t.trail", "--paths", "--csv"]).succeeds().text();
    let table = csv(&text);
    assert_eq!(table[0], ["key", "label", "path"]);
    let names: Vec<&str> = table[1..].iter().filter(|row| row[0] == "e/a@1").map(|row| &*row[2]).collect();
    assert!(names.contains(&"e/a") && names.contains(&"twin"), "{text}");
    dir.run(["workflow", "t.trail", "--paths"]).succeeds();
}

/// Two files that were exchanged have each other's names, also where no call is on these.
#[test]
fn files_that_were_exchanged_have_the_names_that_they_got() {
    let dir = Dir::with_trace(
        "\
7 10:00:00.000000 execve(\"/bin/p\", [\"p\"], 0x0 /* 0 vars */) = 0 <0.000100>
7 10:00:00.001000 openat(AT_FDCWD, \"/w/p\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3</w/p> <0.000100>
7 10:00:00.002000 openat(AT_FDCWD, \"/w/q\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 4</w/q> <0.000100>
7 10:00:00.003000 renameat2(AT_FDCWD, \"/w/p\", AT_FDCWD, \"/w/q\", RENAME_EXCHANGE) = 0 <0.000100>
",
    );
    let select = ["--path", "/w/*"];
    let text = dir.run(["files", "t.trail", "--paths", "--csv"].into_iter().chain(select)).succeeds().text();
    let table = csv(&text);
    let column = |name: &str| table[0].iter().position(|title| title == name).expect("a column");
    let (path, file, gone) = (column("path"), column("file"), column("gone"));
    let first = table[1..].iter().find(|row| row[path] == "/w/p" && row[gone] == "true").expect("a row");
    let mut rows: Vec<(bool, &str, &str)> =
        table[1..].iter().map(|row| (row[file] == first[file], &*row[path], &*row[gone])).collect();
    rows.sort_unstable();
    let expected =
        [(false, "/w/p", "false"), (false, "/w/q", "true"), (true, "/w/p", "true"), (true, "/w/q", "false")];
    assert_eq!(rows, expected);
    let text = dir.run(["files", "t.trail", "--paths"].into_iter().chain(select)).succeeds().text();
    assert!(text.starts_with("2 files of 4 names"), "{text}");
}
