//! Files and their names: every transfer of a program is of the file that the program says it is, recorded and imported.

use crate::record::program::compile;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The file of each transfer, by its number of bytes.
type Transfers = BTreeMap<i64, String>;

/// Runs `words` before the program; answers what the program says of its transfers.
fn truth(root: &Path, words: &[&str], arguments: &[&str]) -> Transfers {
    let work = root.join("work");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir(&work).expect("a directory");
    let program = root.join("identity");
    let mut command = Command::new(words.first().copied().unwrap_or("/usr/bin/env"));
    command.args(words.get(1..).unwrap_or_default()).arg(program).arg(&work).args(arguments);
    let output = command.current_dir(root).stdin(Stdio::null()).output().expect("the program runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    eprint!("{messages}");
    assert!(output.status.success(), "{messages}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let transfer = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        (words[0].parse().expect("a size"), words[1].to_owned())
    };
    text.lines().map(transfer).collect()
}

/// The number of the file of each transfer in the trail.
fn found(root: &Path) -> BTreeMap<i64, i64> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotrail"));
    let output = command.args(["events", "t.trail", "--json"]).current_dir(root).output().expect("a run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let work = root.join("work").to_string_lossy().into_owned();
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("an event"));
    let transfers = rows.filter(|row| {
        let in_work = row["path"].as_str().is_some_and(|path| path.starts_with(&work));
        in_work && matches!(row["call"].as_str(), Some("read" | "write"))
    });
    transfers
        .map(|row| (row["size"].as_i64().expect("a size"), row["file"].as_i64().expect("a file")))
        .collect()
}

/// Makes sure that numbers and files correspond one to one.
fn compare(truth: &Transfers, found: &BTreeMap<i64, i64>, how: &str) {
    let (mut labels, mut numbers) = (BTreeMap::new(), BTreeMap::new());
    for (size, label) in truth {
        let number =
            found.get(size).unwrap_or_else(|| panic!("{how}: no transfer of {size} bytes ({label})"));
        let same = *labels.entry(label).or_insert(*number) == *number;
        assert!(same, "{how}: {size} bytes of {label} are of file {number}, others of {}", labels[label]);
        let same = *numbers.entry(number).or_insert(label) == label;
        assert!(same, "{how}: {size} bytes of {label} are of file {number}, which is {}", numbers[&number]);
    }
}

#[test]
fn each_transfer_is_of_the_file_that_the_program_used() {
    let directory = TempDir::new().expect("a directory");
    let root = directory.path().canonicalize().expect("a path");
    compile("identity", &[], &root).expect("a program");
    let iotrail = env!("CARGO_BIN_EXE_iotrail");
    let told =
        truth(&root, &[iotrail, "record", "-q", "-o", "t.trail", "--"], &["with-rights", "with-mounts"]);
    compare(&told, &found(&root), "recorded");
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        eprintln!("NOT TESTED: strace is not installed");
        return;
    }
    for options in [&["-f"][..], &["-f", "-y"], &["-f", "-yy", "-v"]] {
        let trace = ["strace", "-ttt", "-T", "-s", "4096", "-o", "t.st"];
        // Without -y nothing tells what a descriptor is that came with a message.
        let arguments: &[&str] =
            if options.len() > 1 { &["with-rights", "with-mounts"] } else { &["with-mounts"] };
        let told = truth(&root, &[&trace, options].concat(), arguments);
        let import = ["import", "-q", "--force", "-o", "t.trail", "t.st"];
        let status = Command::new(iotrail).args(import).current_dir(&root).status().expect("a run");
        assert!(status.success());
        compare(&told, &found(&root), &format!("strace {}", options.join(" ")));
    }
}

/// Writes to new files, to old ones, behind a rename and to one that goes.
const WRITES: &str = "printf hello >new; cat old >>new; printf 12345 >old; printf 1 >a.tmp; mv a.tmp z; printf 23 >>z; \
                      printf gone >g; rm g; seq 99 | head -c 50 >longer; truncate -s 7 longer";

#[test]
fn files_that_were_written_are_as_long_as_they_are_at_the_end() {
    let directory = TempDir::new().expect("a directory");
    let root = directory.path().canonicalize().expect("a path");
    std::fs::write(root.join("old"), "x".repeat(300)).expect("a file");
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_iotrail")).args(words).current_dir(&root).output();
        let output = output.expect("a run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    run(&["record", "-q", "-o", "t.trail", "--", "sh", "-c", WRITES]);
    let of_files: BTreeMap<String, Option<i64>> = run(&["files", "t.trail", "--json"])
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a file"))
        .filter_map(|row| Some((row["path"].as_str()?.to_owned(), row["size"].as_i64())))
        .collect();
    let flow = run(&["workflow", "t.trail", "-q", "--manager", "sh", "--format", "wfformat"]);
    let flow: Value = serde_json::from_str(&flow).expect("JSON");
    let exported = flow["workflow"]["specification"]["files"].as_array().expect("files");
    for name in ["new", "old", "z", "longer"] {
        let path = root.join(name);
        let size = path.metadata().expect("a file").len() as i64;
        assert_eq!(of_files.get(&*path.to_string_lossy()), Some(&Some(size)), "{name}");
        let file =
            exported.iter().find(|file| file["id"] == name).unwrap_or_else(|| panic!("{name}: {flow}"));
        assert_eq!(file["sizeInBytes"], size, "{name}");
    }
}
