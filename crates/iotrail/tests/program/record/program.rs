//! Programs of `tests/programs`, compiled and recorded.

use crate::record::truth::{Note, Row};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs");
/// With this status a program says that it cannot do its work here.
const CANNOT: i32 = 77;

/// A recorded run of a program.
pub(crate) struct Recorded {
    /// What it noted; in the order of each thread.
    pub(crate) notes: Vec<Note>,
    /// What was recorded.
    pub(crate) rows: Vec<Row>,
    /// What `iotrail info` says.
    pub(crate) info: Value,
}

/// Compiles a program; `None` if the compiler cannot with these options.
pub(crate) fn compile(name: &str, options: &[&str], to: &Path) -> Option<PathBuf> {
    let program = to.join(name);
    let source = Path::new(SOURCES).join(format!("{name}.c"));
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-pthread", "-o"]).arg(&program).arg(source).args(options);
    let output = compiler.output().expect("a C compiler");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || !options.is_empty(), "{complaint}");
    output.status.success().then_some(program)
}

/// Records a program with these options for the compiler and the recorder; `None`, said aloud, if it cannot be run here.
pub(crate) fn record(name: &str, compiler: &[&str], recorder: &[&str]) -> Option<Recorded> {
    let directory = TempDir::new().expect("a directory");
    let root = directory.path().canonicalize().expect("a path");
    let Some(program) = compile(name, compiler, &root) else {
        eprintln!("NOT TESTED: {name} cannot be compiled with {compiler:?} here");
        return None;
    };
    let (work, notes) = (root.join("work"), root.join("notes"));
    std::fs::create_dir(&work).expect("a directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotrail"));
    command.args(["record", "-q", "-o", "t.trail"]).args(recorder).arg("--").arg(program);
    command.args([&notes, &work]).current_dir(&root).stdin(Stdio::null());
    let output = command.output().expect("the recorder runs");
    if output.status.code() == Some(CANNOT) {
        eprintln!("NOT TESTED: the kernel does not let {name} do its work here");
        return None;
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    assert_eq!((&*messages, &output.stdout[..]), ("", &b""[..]), "the streams belong to the program");
    Some(Recorded { notes: notes_in(&root), rows: rows_in(&root), info: info_in(&root) })
}

/// The notes of the program and of those that it started.
fn notes_in(root: &Path) -> Vec<Note> {
    let entries = std::fs::read_dir(root).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> =
        paths.filter(|path| path.file_stem().is_some_and(|name| name == "notes")).collect();
    files.sort();
    assert!(!files.is_empty(), "the program noted nothing");
    let text = |path| std::fs::read_to_string(path).expect("notes");
    let lines: Vec<String> = files.iter().map(text).collect();
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    lines.iter().flat_map(|text| text.lines()).map(parse).collect()
}

fn rows_in(root: &Path) -> Vec<Row> {
    let text = printed(root, "events");
    text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
}

fn info_in(root: &Path) -> Value {
    serde_json::from_str(&printed(root, "info")).expect("JSON")
}

/// What a command prints about the trail.
fn printed(root: &Path, about: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotrail"));
    let output = command.args([about, "t.trail", "--json"]).current_dir(root).output().expect("a run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}
