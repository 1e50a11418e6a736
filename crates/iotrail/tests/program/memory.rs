//! Files in memory (`/dev/shm`) are files like others, though they lie among the devices.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test may fail anywhere")]

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const MEMORY: &str = "/dev/shm";

fn iotrail(words: &[&str], directory: &Path) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_iotrail")).args(words).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A directory in memory, and one for trails.
fn directories() -> Option<(TempDir, TempDir)> {
    let work = tempfile::Builder::new().prefix("iotrail-test-").tempdir_in(MEMORY);
    let work = work.inspect_err(|error| eprintln!("NOT TESTED: {MEMORY}: {error}")).ok()?;
    Some((work, TempDir::new().unwrap()))
}

#[test]
fn jobs_depend_on_their_inputs_in_memory() {
    let Some((work, place)) = directories() else { return };
    std::fs::write(work.path().join("in.txt"), "b\na\n").unwrap();
    let trail = place.path().join("t.trail");
    let trail = trail.to_str().unwrap();
    iotrail(
        &[
            "-q",
            "record",
            "-o",
            trail,
            "--",
            "sh",
            "-c",
            "sort in.txt >mid.txt; tr a-z A-Z <mid.txt >out.txt",
        ],
        work.path(),
    );
    let makefile = iotrail(&["workflow", trail, "--format", "makefile", "-o", "-"], work.path());
    let rule = makefile.lines().find(|line| line.starts_with("mid.txt :")).unwrap();
    assert!(rule.ends_with(" in.txt"), "{rule}");
}

#[test]
fn models_and_advice_see_files_in_memory() {
    let Some((work, place)) = directories() else { return };
    let trail = place.path().join("t.trail");
    let trail = trail.to_str().unwrap();
    iotrail(
        &["-q", "record", "-o", trail, "--", "dd", "if=/dev/zero", "of=out", "bs=512", "count=4000"],
        work.path(),
    );
    let model = iotrail(&["-q", "characterize", trail, "-o", "-"], place.path());
    assert!(model.contains("size = \"512 B\""), "{model}");
    let advice: Value = serde_json::from_str(&iotrail(&["advise", trail, "--json"], place.path())).unwrap();
    assert!(advice.to_string().contains("/out\""), "{advice}");
}
