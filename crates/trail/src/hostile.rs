//! Trails that were cut, forged or damaged give errors that say so.

use crate::memory::small_trail;
use crate::{Columns, EventLog, Trail, TrailError, check};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn trail() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("t.trail");
    small_trail(&target).unwrap();
    (directory, target)
}

fn error(path: &Path) -> String {
    Trail::open(path).unwrap_err().to_string()
}

fn edit_meta(path: &Path, from: &str, to: &str) {
    let meta = path.join("trail.json");
    let text = fs::read_to_string(&meta).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    // One who forges a trail leaves out its checksum.
    fs::write(meta, text.replace(from, to).replace("\"checksum\": \"", "\"none\": \"no ")).unwrap();
}

#[test]
fn a_sound_trail_has_no_problems() {
    let (_guard, path) = trail();
    assert_eq!(check(&path).unwrap(), []);
}

#[test]
fn what_is_no_trail_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    assert!(error(&path).contains("cannot open"), "{}", error(&path));
    fs::write(&path, "text").unwrap();
    assert!(error(&path).contains("is not a directory"));
    assert!(error(directory.path()).contains("holds no trail.json"));
    fs::write(directory.path().join("trail.json"), "{\"format\": ").unwrap();
    assert!(error(directory.path()).contains("EOF while parsing"));
    fs::write(directory.path().join("trail.json"), "{\"format\": \"other\", \"format_version\": 1}").unwrap();
    assert!(error(directory.path()).contains("describes something else"));
}

#[test]
fn a_trail_that_was_never_finished_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let partial = directory.path().join(".t.trail.partial-7");
    fs::create_dir(&partial).unwrap();
    assert!(error(&partial).contains("never finished"));
}

#[test]
fn a_later_version_names_the_iotrail_that_reads_it() {
    let (_guard, path) = trail();
    edit_meta(&path, "\"format_version\": 1", "\"format_version\": 9");
    edit_meta(
        &path,
        &format!("\"tool_version\": \"{}\"", env!("CARGO_PKG_VERSION")),
        "\"tool_version\": \"7.8.9\"",
    );
    assert!(error(&path).contains("format version 9") && error(&path).contains("use iotrail 7.8.9 or later"));
}

#[test]
fn a_cut_file_is_named() {
    let (_guard, path) = trail();
    let file = path.join("events-0000.parquet");
    let bytes = fs::read(&file).unwrap();
    for length in [0, 5, 100, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&file, &bytes[..length]).unwrap();
        let error = error(&path);
        assert!(error.contains("events-0000.parquet") && error.contains("cut"), "{length}: {error}");
    }
    fs::remove_file(&file).unwrap();
    assert!(error(&path).contains("cannot read") && error(&path).contains("events-0000.parquet"));
}

#[test]
fn a_foreign_table_is_told_by_its_columns() {
    let (_guard, path) = trail();
    fs::copy(path.join("files-0000.parquet"), path.join("events-0000.parquet")).unwrap();
    let error = error(&path);
    let why = "column `case_id` is column 9 of the file, it should be 0, expected UInt32";
    assert!(error.contains(why), "{error}");
}

#[test]
fn names_that_lead_out_of_the_trail_are_refused() {
    for name in
        ["../events-0000.parquet", "/etc/passwd", "events-0.parquet", "events-0000.parquet\\u001b[31m"]
    {
        let (_guard, path) = trail();
        edit_meta(&path, "\"events-0000.parquet\"", &format!("\"{name}\""));
        let error = error(&path);
        assert!(error.contains("not a file name of this format") && !error.contains('\u{1b}'), "{error}");
    }
    let (_guard, path) = trail();
    edit_meta(&path, "\"events-0000.parquet\"", "\"events-0001.parquet\"");
    fs::rename(path.join("events-0000.parquet"), path.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(path.join("elsewhere"), path.join("events-0001.parquet")).unwrap();
    assert!(error(&path).contains("a symbolic link"));
}

#[test]
fn counts_that_differ_are_named() {
    let (_guard, path) = trail();
    edit_meta(&path, "\"rows\": 40", "\"rows\": 41");
    assert!(error(&path).contains("it has 40 rows, trail.json says 41"));
    let (_guard, path) = trail();
    edit_meta(&path, "\"rows\": 40", "\"rows\": -1");
    assert!(error(&path).contains("invalid value: integer `-1`"));
    let (_guard, path) = trail();
    edit_meta(&path, "\"events\": 40", "\"events\": 18446744073709551615");
    assert!(error(&path).contains("its totals say 18446744073709551615 events, the files hold 40"));
}

#[test]
fn an_unknown_name_is_a_damage_not_a_panic() {
    let (_guard, path) = trail();
    edit_meta(&path, "\"read\"", "\"raed\"");
    let log = EventLog::open(std::slice::from_ref(&path)).unwrap();
    let error = (0..log.row_groups()).find_map(|group| log.read(group, Columns::CALL).err());
    // Names of the call table are known to every reader; what is wrong then are the counts.
    let told = error.is_some_and(|error| error.to_string().contains("`read`, which is not in the totals"));
    let counted = check(&path).unwrap().iter().any(|problem| problem.what.contains("raed"));
    assert!(told || counted);
}

/// Reads everything there is.
fn read_all(path: &Path) -> Result<usize, TrailError> {
    let log = EventLog::open(&[path.to_owned()])?;
    log.processes()?;
    let mut rows = 0;
    for row_group in 0..log.row_groups() {
        rows += log.read(row_group, Columns::ALL)?.len;
    }
    check(path)?;
    Ok(rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn flipped_bytes_never_panic(file in 0_usize..5, places in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4)) {
        let (_guard, path) = trail();
        let name = ["trail.json", "cases.parquet", "events-0000.parquet", "files-0000.parquet", "processes-0000.parquet"][file];
        let mut bytes = fs::read(path.join(name)).unwrap();
        for (place, flip) in places {
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
        }
        fs::write(path.join(name), bytes).unwrap();
        if let Err(error) = read_all(&path) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
