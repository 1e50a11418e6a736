//! Damaged and hostile files: what is sound is read, what is not is named, nothing is invented, nothing panics.

use crate::format::{BLOCK, FOOTER, segment_name};
use crate::header_file::HeaderFile;
use crate::round_trip::{All, Record, write_synthetic};
use crate::{Damage, Header, Spool, SpoolWriter, numbered};
use proptest::prelude::*;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Everything that can be read, and all damage.
fn read(directory: &Path) -> (Vec<Record>, Vec<Damage>) {
    let spool = Spool::open(directory).unwrap();
    let mut all = All::default();
    let mut reader = spool.reader();
    reader.read_all(&mut all).unwrap();
    spool.tables().unwrap();
    let damage = spool.damage().iter().chain(reader.damage()).cloned().collect();
    (all.records, damage)
}

fn segment(directory: &Path, number: u32) -> PathBuf {
    directory.join(segment_name(number))
}

fn overwrite(path: &Path, offset: usize, bytes: &[u8]) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, offset as u64).unwrap();
}

/// Whether all of `found` are among `expected`, in their order.
fn is_part_of(found: &[Record], expected: &[Record]) -> bool {
    let mut rest = expected.iter();
    found.iter().all(|record| rest.any(|other| other == record))
}

#[test]
fn cut_anywhere_the_records_before_the_cut_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let expected = write_synthetic(dir.path(), 25);
    let path = segment(dir.path(), 0);
    let whole = fs::read(&path).unwrap();
    let mut known = 0;
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let (records, damage) = read(dir.path());
        assert_eq!(records, expected[..records.len()], "cut at {length}");
        assert!(records.len() >= known, "cut at {length}: {damage:?}");
        let lost: u64 = damage.iter().filter_map(|damage| damage.events).sum();
        assert_eq!(lost, 25 - records.len() as u64, "cut at {length}: {damage:?}");
        assert!(!Spool::open(dir.path()).unwrap().is_finished());
        known = records.len();
    }
    assert_eq!(known, 25);
}

/// A spool whose writer is gone without having come to its end.
fn write_killed(directory: &Path, events: u64) {
    let mut writer = SpoolWriter::create(directory, &Header::default()).unwrap();
    let mut names = numbered::names();
    (0..events).for_each(|number| numbered::write(&mut writer, number, &mut names).unwrap());
}

#[test]
fn a_cut_at_a_block_a_page_or_the_start_is_told_from_a_writer_that_was_killed_earlier() {
    let dir = tempfile::tempdir().unwrap();
    write_killed(dir.path(), 700);
    let path = segment(dir.path(), 0);
    let whole = fs::read(&path).unwrap();
    let numbers =
        |records: &[Record]| records.iter().filter(|record| matches!(record, Record::Event(..))).count();
    let (records, damage) = read(dir.path());
    let all = numbers(&records);
    assert_eq!(damage, []);
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap();
    assert!(used > 3 * BLOCK, "{used}");
    for length in (0..used).step_by(BLOCK / 2) {
        for is_zeroed in [false, true] {
            let mut cut = whole[..length].to_vec();
            cut.resize(if is_zeroed { whole.len() } else { length }, 0);
            fs::write(&path, cut).unwrap();
            let (records, damage) = read(dir.path());
            let lost: u64 = damage.iter().filter_map(|damage| damage.events).sum();
            assert_eq!(numbers(&records) as u64 + lost, all as u64, "{length}: {damage:?}");
        }
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(read(dir.path()).1[0].events, Some(all as u64));
}

#[test]
fn a_block_that_is_a_copy_of_another_does_not_count() {
    let dir = tempfile::tempdir().unwrap();
    write_killed(dir.path(), 700);
    let written = Spool::open(dir.path()).unwrap().events();
    let path = segment(dir.path(), 0);
    let mut bytes = fs::read(&path).unwrap();
    bytes.copy_within(BLOCK..2 * BLOCK, 2 * BLOCK);
    fs::write(&path, bytes).unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    assert_eq!(spool.written(), Some(written));
}

#[test]
fn without_its_count_a_spool_does_not_pass_for_complete() {
    let dir = tempfile::tempdir().unwrap();
    write_killed(dir.path(), 9);
    fs::remove_file(dir.path().join("losses")).unwrap();
    assert!(Spool::open(dir.path()).unwrap().losses().unreadable);
}

#[test]
fn a_flipped_bit_is_found_and_takes_only_what_follows_in_its_block() {
    let dir = tempfile::tempdir().unwrap();
    let expected = write_synthetic(dir.path(), 25);
    let path = segment(dir.path(), 0);
    let whole = fs::read(&path).unwrap();
    for index in 0..whole.len() {
        let bit = index * 5 % 8;
        let mut flipped = whole.clone();
        flipped[index] ^= 1 << bit;
        fs::write(&path, &flipped).unwrap();
        let (records, damage) = read(dir.path());
        assert_eq!(records, expected[..records.len()], "byte {index}, bit {bit}");
        // Without its first byte, the mark of the end is a record that was not finished.
        let is_unfinished = flipped[index] == 0 && records.len() == expected.len();
        assert!(!damage.is_empty() || is_unfinished, "byte {index}, bit {bit}");
        assert!(!damage.is_empty() || !Spool::open(dir.path()).unwrap().is_finished());
    }
}

#[test]
fn a_lost_page_costs_the_rest_of_its_block_and_the_number_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let expected = write_synthetic(dir.path(), 40_000);
    overwrite(&segment(dir.path(), 0), 3 * BLOCK + 8192, &[0; 4096]);
    let (records, damage) = read(dir.path());
    let lost: u64 = damage.iter().filter_map(|damage| damage.events).sum();
    assert_eq!(records.len() as u64 + lost, expected.len() as u64);
    assert!(lost > 100, "{lost}");
    let first = &damage[0];
    let place = 3 * BLOCK as u64 + 8192;
    assert!(first.byte <= place && place - first.byte < 200, "{first}");
    // Names that the lost page defined are unknown in the rest of the piece: that is said, too.
    let rest = &records[records.len() - 1000..];
    assert_eq!(rest, &expected[expected.len() - 1000..]);
}

#[test]
fn a_lost_footer_is_named_and_the_records_of_its_block_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let expected = write_synthetic(dir.path(), 40_000);
    overwrite(&segment(dir.path(), 0), 2 * BLOCK - FOOTER, &[0; FOOTER]);
    let (records, damage) = read(dir.path());
    assert!(records == expected);
    assert_eq!(damage.len(), 1, "{damage:?}");
    assert_eq!(damage[0].what, "the rest of a block was lost with its footer");
}

#[test]
fn pages_of_another_spool_or_place_are_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    write_synthetic(dir.path(), 40_000);
    write_synthetic(other.path(), 40_000);
    let path = segment(dir.path(), 0);
    let mut bytes = fs::read(&path).unwrap();
    let moved = bytes[BLOCK..2 * BLOCK].to_vec();
    bytes[2 * BLOCK..3 * BLOCK].copy_from_slice(&moved);
    fs::write(&path, &bytes).unwrap();
    let (_, damage) = read(dir.path());
    assert!(damage.iter().any(|damage| damage.byte == 2 * BLOCK as u64), "{damage:?}");

    // Another header is another identity.
    let third = tempfile::tempdir().unwrap();
    drop(HeaderFile::create(third.path(), &Header { rank: Some(7), ..Header::default() }).unwrap());
    fs::copy(third.path().join("header.json"), other.path().join("header.json")).unwrap();
    let (records, damage) = read(other.path());
    assert_eq!(records, []);
    let found: Vec<_> = damage.iter().map(|damage| damage.what.as_str()).collect();
    let [counts, segment] = [
        "this is not what the recorder of this spool counted",
        "the file does not begin as a segment of this spool",
    ];
    assert_eq!(found[..2], [counts, segment]);
}

#[test]
fn missing_files_and_missing_blocks_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let expected = write_synthetic(dir.path(), 300_000);
    assert!(segment(dir.path(), 2).is_file());
    fs::remove_file(segment(dir.path(), 1)).unwrap();
    let (records, damage) = read(dir.path());
    assert!(is_part_of(&records, &expected));
    assert_eq!(damage[0].what, "1 files are missing from here on");
    let lost: u64 = damage.iter().filter_map(|damage| damage.events).sum();
    assert_eq!(records.len() as u64 + lost, 300_000);
}

#[test]
fn a_file_of_any_size_is_read_in_bounded_time() {
    let dir = tempfile::tempdir().unwrap();
    write_synthetic(dir.path(), 60);
    OpenOptions::new().write(true).open(segment(dir.path(), 0)).unwrap().set_len(1 << 40).unwrap();
    let (records, damage) = read(dir.path());
    assert_eq!(records.len(), 60);
    assert_eq!(damage.len(), 1);
    fs::write(dir.path().join("4000000000.spool"), "x").unwrap();
    let (records, damage) = read(dir.path());
    assert_eq!(records.len(), 60);
    let what: Vec<&str> = damage.iter().map(|damage| &*damage.what).collect();
    assert_eq!(
        what,
        [
            "3999999999 files are missing from here on",
            "the file is longer than any segment",
            "the rest of a block was lost with its footer"
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]
    #[test]
    fn random_bytes_anywhere_invent_nothing(
        patches in prop::collection::vec(
            (0_usize..400_000, prop::collection::vec(any::<u8>(), 1..5000)),
            1..4,
        ),
        length in prop::option::of(0_u64..400_000),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let expected = write_synthetic(dir.path(), 16_000);
        let path = segment(dir.path(), 0);
        for (place, bytes) in &patches {
            overwrite(&path, *place, bytes);
        }
        if let Some(length) = length {
            OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
        }
        let (records, _) = read(dir.path());
        // A definition may be lost; what stays of an event is true.
        let known = |records: &[Record]| records.iter().map(timing).collect::<Vec<_>>();
        let (found, all) = (known(&records), known(&expected));
        let mut rest = all.iter();
        prop_assert!(found.iter().all(|record| rest.any(|other| other == record)));
    }

    #[test]
    fn files_of_random_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        let dir = tempfile::tempdir().unwrap();
        write_synthetic(dir.path(), 1);
        fs::write(segment(dir.path(), 0), &bytes).unwrap();
        let (records, _) = read(dir.path());
        prop_assert_eq!(records, []);
    }
}

/// The numbers of an event.
fn timing(record: &Record) -> (u64, i64, Option<i64>) {
    match record {
        Record::Event(event, _) => (event.seq, event.start.0, event.offset.get()),
        _ => (0, 0, None),
    }
}
