//! What a writer acknowledged is there after it was killed, at whatever moment.
//!
//! The child is this test program itself: it writes records and acknowledges each with a byte on its standard error,
//! after the writer's call returned.

use crate::{Header, Spool, SpoolWriter, numbered};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Tells the child where to write.
const DIRECTORY: &str = "IOTRAIL_SPOOL_TEST_DIRECTORY";
const KILLS: u64 = 100;

#[test]
#[ignore = "the child of the other test"]
fn child_that_writes_until_it_is_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let mut writer = SpoolWriter::create(&directory, &Header::default()).unwrap();
    let mut stderr = std::io::stderr();
    let mut names = numbered::names();
    for number in 0.. {
        numbered::write(&mut writer, number, &mut names).unwrap();
        stderr.write_all(b".").unwrap();
    }
}

/// Kills a writer after it acknowledged at least `wanted` records; answers how many it acknowledged in the end.
fn kill_after(directory: &Path, wanted: u64) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "kill::child_that_writes_until_it_is_killed", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stderr.take().unwrap();
    let mut acknowledged = 0;
    let mut buffer = [0; 64];
    while acknowledged < wanted {
        let count = pipe.read(&mut buffer).unwrap();
        assert!(count > 0, "the child ended on its own");
        assert!(buffer[..count].iter().all(|byte| *byte == b'.'), "{}", String::from_utf8_lossy(&buffer));
        acknowledged += count as u64;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut rest = Vec::new();
    pipe.read_to_end(&mut rest).unwrap();
    acknowledged + rest.len() as u64
}

#[test]
fn every_acknowledged_record_survives_a_hundred_kills() {
    let mut seed = 7_u64;
    for kill in 0..KILLS {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().join("spool");
        // From the first record to the second piece.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wanted = if kill % 4 == 0 { kill / 4 } else { (seed >> 33) % 2500 };
        let acknowledged = kill_after(&directory, wanted);

        if !directory.join("header.json").exists() {
            assert_eq!(acknowledged, 0);
            continue;
        }
        let spool = Spool::open(&directory).unwrap();
        assert!(!spool.is_finished() && !spool.is_being_written());
        assert_eq!(spool.damage(), []);
        let mut found = numbered::SequenceCheck::default();
        let mut reader = spool.reader();
        reader.read_all(&mut found).unwrap();
        assert_eq!(reader.damage(), []);
        assert!(
            (acknowledged..=acknowledged + 1).contains(&found.next),
            "{acknowledged} records were acknowledged, {} are there",
            found.next
        );
    }
}
