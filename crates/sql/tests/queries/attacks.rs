//! Queries and trails of others reach no other file and change nothing.

use crate::util::{Dir, fails};
use std::os::unix::fs::symlink;

const SECRET: &str = "the-secret-of-another-file";

/// A small trail, and beside it files that nobody may read.
fn dir() -> Dir {
    let dir = Dir::small();
    std::fs::write(dir.path("secret.csv"), format!("a\n{SECRET}\n")).expect("a file");
    std::fs::write(dir.path("secret.json"), format!("{{\"a\":\"{SECRET}\"}}\n")).expect("a file");
    std::fs::copy(dir.path("t.trail/cases.parquet"), dir.path("secret.parquet")).expect("a file");
    std::fs::create_dir(dir.path("sink")).expect("a directory");
    dir
}

#[track_caller]
fn is_refused(dir: &Dir, query: &str) -> String {
    let before = dir.names();
    let said = dir.refused(query);
    assert!(!said.contains(SECRET), "{query}: {said}");
    assert!(said.starts_with("error: "), "{query}: {said}");
    assert!(!said.contains("panicked"), "{query}: {said}");
    assert_eq!(dir.names(), before, "{query}");
    said
}

#[test]
fn no_table_is_found_by_a_path_or_an_address() {
    let dir = dir();
    let here = dir.path("secret.csv").display().to_string();
    for place in [
        "'/etc/passwd'",
        "\"/etc/passwd\"",
        "'secret.csv'",
        "'./secret.csv'",
        "'secret.parquet'",
        "'t.trail/cases.parquet'",
        "'*.parquet'",
        "'file:///etc/passwd'",
        "'https://localhost/x.parquet'",
        "'s3://bucket/x.parquet'",
        "\"secret.json\"",
        &format!("'{here}'"),
        &format!("\"file://{here}\""),
    ] {
        let said = is_refused(&dir, &format!("SELECT * FROM {place}"));
        assert!(said.contains("not found") || said.contains("out of reach"), "{place}: {said}");
        is_refused(&dir, &format!("SELECT count(*) FROM events, {place} AS other"));
        is_refused(&dir, &format!("WITH x AS (SELECT * FROM {place}) SELECT * FROM x"));
        is_refused(&dir, &format!("DESCRIBE {place}"));
    }
}

#[test]
fn no_function_reads_a_file() {
    let dir = dir();
    for call in [
        "read_csv('secret.csv')",
        "read_csv_auto('secret.csv')",
        "read_json('secret.json')",
        "read_parquet('secret.parquet')",
        "read_text('secret.csv')",
        "read_blob('secret.csv')",
        "glob('*')",
        "parquet_metadata('secret.parquet')",
        "parquet_scan('secret.parquet')",
        "metadata_cache()",
        "list_files_cache()",
        "statistics_cache()",
        "dfg('secret.csv')",
        "dfg('/etc/passwd')",
        "dfg('rules.toml')",
        "dfg_nodes('../rules.toml')",
        "dfg(secret)",
    ] {
        is_refused(&dir, &format!("SELECT * FROM {call}"));
    }
    for call in [
        "read_text('secret.csv')",
        "load_extension('x.so')",
        "pg_read_file('/etc/passwd')",
        "getenv('HOME')",
        "activity('rules.toml', 'read', '/x')",
        "activity('/etc/passwd', 'read', '/x')",
    ] {
        is_refused(&dir, &format!("SELECT {call}"));
    }
}

#[test]
fn statements_that_do_more_than_ask_are_refused() {
    let dir = dir();
    for statement in [
        "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION 'secret.csv'",
        "CREATE EXTERNAL TABLE x STORED AS PARQUET LOCATION 'secret.parquet'",
        "CREATE UNBOUNDED EXTERNAL TABLE x (a TEXT) STORED AS CSV LOCATION 'sink/x'",
        "COPY (SELECT 1) TO 'sink/x.csv'",
        "COPY events TO 'sink/x.parquet' STORED AS PARQUET",
        "COPY (SELECT 1) TO 'file:///tmp/x' STORED AS CSV",
        "EXPLAIN COPY (SELECT 1) TO 'sink/x.csv'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'sink/x.csv'",
        "CREATE TABLE x AS SELECT 1",
        "CREATE TABLE x (a INT)",
        "CREATE VIEW events AS SELECT 1",
        "CREATE SCHEMA s",
        "CREATE DATABASE d",
        "CREATE FUNCTION f() RETURNS INT RETURN 1",
        "DROP TABLE events",
        "DROP VIEW IF EXISTS events",
        "INSERT INTO cases VALUES (1)",
        "UPDATE cases SET cid = 'x'",
        "DELETE FROM cases",
        "TRUNCATE TABLE cases",
        "SET datafusion.execution.batch_size = 1",
        "SET datafusion.runtime.temp_directory = '/tmp/x'",
        "SET datafusion.runtime.memory_limit = '100G'",
        "RESET datafusion.runtime.memory_limit",
        "PREPARE p AS SELECT 1",
        "EXECUTE p",
        "BEGIN",
        "LOAD 'x.so'",
        "INSTALL httpfs",
        "ATTACH DATABASE 'x.db' AS x",
        "PRAGMA database_list",
        "SELECT 1; COPY (SELECT 1) TO 'sink/x.csv'",
        "SELECT * INTO x FROM cases",
    ] {
        is_refused(&dir, statement);
        let left = std::fs::read_dir(dir.path("sink")).expect("a directory").count();
        assert_eq!(left, 0, "{statement}");
    }
}

#[test]
fn a_refusal_says_what_is_allowed() {
    let said = Dir::small().refused("COPY (SELECT 1) TO 'x.csv'");
    assert!(said.contains("is not allowed: queries only read the trails that were given"), "{said}");
}

#[test]
fn files_of_a_trail_that_are_links_are_not_followed() {
    for table in ["events-0000", "cases", "files-0000", "processes-0000"] {
        let dir = Dir::small();
        let file = dir.path(&format!("t.trail/{table}.parquet"));
        std::fs::rename(&file, dir.path("elsewhere.parquet")).expect("a move");
        symlink(dir.path("elsewhere.parquet"), &file).expect("a link");
        let said = fails(&dir.sql(&["t.trail", "SELECT count(*) FROM events, cases, files, processes"]));
        assert!(said.contains("it is a symbolic link, a trail holds regular files only"), "{said}");
    }
}

#[test]
fn a_link_that_appears_after_the_trail_was_opened_is_not_followed() {
    use std::io::{Read, Write};
    let dir = Dir::small();
    let file = dir.path("t.trail/events-0000.parquet");
    let mut child = dir
        .command(&["t.trail", "-q"])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program runs");
    // It opens the trail before it reads statements; whichever comes first, the link must not be followed.
    let mut pipe = child.stdin.take().expect("a pipe");
    std::fs::rename(&file, dir.path("elsewhere.parquet")).expect("a move");
    symlink(dir.path("elsewhere.parquet"), &file).expect("a link");
    pipe.write_all(b"SELECT sum(size) FROM events").expect("the program reads");
    drop(pipe);
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("an end").code(), Some(1));
    assert!(said.contains("it is a symbolic link"), "{said}");
}

#[test]
fn a_trail_cannot_name_files_outside_of_itself() {
    for name in ["../secret.parquet", "/etc/passwd", "../../etc/x", "sub/cases.parquet", "cases.parquet/../x"]
    {
        let dir = dir();
        let json = dir.path("t.trail/trail.json");
        let text = std::fs::read_to_string(&json).expect("text");
        // One who forges a trail leaves out its checksum.
        let text = text.replace("\"checksum\": \"", "\"none\": \"no ");
        std::fs::write(&json, text.replace("\"events-0000.parquet\"", &format!("\"{name}\"")))
            .expect("written");
        let said = fails(&dir.sql(&["t.trail", "SELECT * FROM events"]));
        assert!(said.contains("which is not a file name of this format"), "{name}: {said}");
    }
}

#[test]
fn damaged_pages_are_an_error_and_no_crash() {
    let dir = Dir::small();
    let file = dir.path("t.trail/events-0000.parquet");
    let sound = std::fs::read(&file).expect("bytes");
    for index in (4..sound.len() / 2).step_by(7) {
        let mut bytes = sound.clone();
        bytes[index] ^= 0x55;
        std::fs::write(&file, &bytes).expect("written");
        let output = dir.sql(&["t.trail", "SELECT * FROM events", "--json"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code().is_some_and(|code| code < 2), "byte {index}: {said}");
        assert!(!said.contains("panicked"), "byte {index}: {said}");
    }
}

#[test]
fn hostile_names_move_no_cursor_and_break_no_table() {
    let dir = Dir::small();
    let text = "SELECT chr(27) || '[2J' || chr(10) || 'x' AS \"a\u{1b}[2J\"";
    let output = dir.sql(&["t.trail", text]);
    assert!(output.status.success());
    assert!(!output.stdout.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stdout));
    let said = dir.refused("SELECT \"\u{1b}[2J\" FROM events");
    assert!(!said.contains('\u{1b}'), "{said:?}");
}
