//! Who waited for whom, where processes talk through sockets and FIFOs: `messages.c` tells what happens.

use crate::record::program::compile;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// What the child sleeps, less what clocks may differ.
const ASLEEP_NS: i64 = 390_000_000;
/// With this status the program says that it cannot do its work here.
const CANNOT: i32 = 77;

fn iotrail(root: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotrail"));
    command.args(words).current_dir(root).stdin(Stdio::null()).output().expect("a run")
}

/// The time on the path of others than the program itself, and the notes.
fn path_of(root: &Path) -> (i64, String) {
    let output = iotrail(root, &["workflow", "t.trail", "--critical-path", "--json"]);
    let tables: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = tables[0]["rows"].as_array().expect("rows");
    let others = rows.iter().filter(|row| row["key"] != rows[0]["key"]);
    (others.map(|row| row["span_ns"].as_i64().expect("a number")).sum(), tables[0]["notes"].to_string())
}

#[test]
fn who_waits_at_a_socket_waits_for_who_is_at_its_other_end() {
    let directory = TempDir::new().expect("a directory");
    let program = compile("talk", &[], directory.path()).expect("a program");
    let program = program.to_str().expect("a name");
    for how in
        ["pair", "poll", "select", "close", "shutdown", "local", "internet", "nonblocking", "both", "fifo"]
    {
        let work = TempDir::new().expect("a directory");
        let words = ["record", "-q", "--calls", "io,wait", "-o", "t.trail", "--", program, how];
        let recorded = iotrail(work.path(), &words);
        if recorded.status.code() == Some(CANNOT) {
            eprintln!("NOT TESTED: `talk {how}` cannot do its work here");
            continue;
        }
        assert_eq!(recorded.status.code(), Some(0), "{how}: {}", String::from_utf8_lossy(&recorded.stderr));
        let (others, notes) = path_of(work.path());
        // Some kernels, and some containers, do not tell who is at the other end.
        if notes.contains("other end is not recorded")
            && ["local", "internet", "nonblocking", "both"].contains(&how)
        {
            assert!(!is_told_here(work.path(), how), "{how}: {notes}");
            eprintln!("NOT TESTED: the kernel does not tell the other end of `talk {how}` here");
            continue;
        }
        assert!(others > ASLEEP_NS, "{how}: {others} ns are the child's; {notes}");
        assert_eq!(notes, "[]", "{how}");
    }
}

/// Whether the recording has a socket with a name that tells both its ends.
fn is_told_here(root: &Path, how: &str) -> bool {
    let events = iotrail(root, &["events", "t.trail", "--json"]);
    let rows = String::from_utf8_lossy(&events.stdout).into_owned();
    let tells = |row: &str| match how {
        "local" => row.contains("\"accept") && row.contains("->"),
        _ => row.contains("\"connect\"") && row.contains("TCP:[127.0.0.1:"),
    };
    rows.lines().any(tells)
}

#[test]
fn a_socket_whose_other_end_nobody_recorded_is_named_in_a_note() {
    let directory = TempDir::new().expect("a directory");
    let program = compile("talk", &[], directory.path()).expect("a program");
    let program = program.to_str().expect("a name");
    // Without the calls that make and connect sockets nothing tells which belong together.
    let words = ["record", "-q", "--calls", "data,process,wait", "-o", "t.trail", "--", program, "pair"];
    assert_eq!(iotrail(directory.path(), &words).status.code(), Some(0));
    let (_, notes) = path_of(directory.path());
    assert!(notes.contains("whose other end is not recorded"), "{notes}");
}
