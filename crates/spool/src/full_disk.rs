//! A disk that is full, a limit on the size of files, a directory that is removed.

use crate::{Header, Spool, SpoolError, SpoolWriter, Written, numbered};
use std::path::Path;
use std::process::Command;

/// Writes until an error comes; answers the number of records before it, the error, and what the writer counted after
/// three more tries.
fn write_until_refused(directory: &Path) -> (u64, SpoolError, Written) {
    let mut writer = SpoolWriter::create(directory, &Header::default()).unwrap();
    let mut names = numbered::names();
    let mut number = 0;
    let error = loop {
        match numbered::write(&mut writer, number, &mut names) {
            Ok(()) => number += 1,
            Err(error) => break error,
        }
        assert!(number < 2_000_000, "no error came");
    };
    for more in 0..3 {
        let again = numbered::write(&mut writer, number + more, &mut names).unwrap_err();
        assert_eq!(again.to_string(), error.to_string());
    }
    let written = writer.written();
    assert_eq!(written.events + written.rows, number);
    assert_eq!(written.refused_events + written.refused_rows, 4);
    assert_eq!(writer.finish().unwrap_err().to_string(), error.to_string());
    (number, error, written)
}

fn check_records(directory: &Path, expected: u64) {
    let spool = Spool::open(directory).unwrap();
    assert!(!spool.is_finished());
    let mut found = numbered::SequenceCheck::default();
    spool.reader().read_all(&mut found).unwrap();
    assert_eq!(found.next, expected);
}

/// A file system of one megabyte; unmounted when dropped.
struct Small(tempfile::TempDir);

impl Small {
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(dir.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then_some(Self(dir))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn on_a_full_disk_everything_before_stays_readable_and_the_rest_is_counted() {
    let Some(small) = Small::mount() else {
        eprintln!("NOT TESTED: this user cannot mount a small file system");
        return;
    };
    let directory = small.0.path().join("spool");
    let (number, error, _) = write_until_refused(&directory);
    let message = error.to_string();
    assert!(message.contains("0000.spool") && message.contains("No space left"), "{message}");
    assert!(number > 500, "{number}");
    check_records(&directory, number);
}

const DIRECTORY: &str = "IOTRAIL_SPOOL_TEST_LIMITED";

#[test]
#[ignore = "the child of the next test"]
fn child_under_a_limit() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let (number, error, _) = write_until_refused(Path::new(&directory));
    assert!(error.to_string().contains("File too large"), "{error}");
    check_records(Path::new(&directory), number);
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_where_its_signal_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 1500; exec \"$0\" --ignored --exact full_disk::child_under_a_limit",
        ])
        .arg(std::env::current_exe().unwrap())
        .env(DIRECTORY, dir.path().join("spool"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(dir.path().join("spool/0000.spool").is_file(), "the child did not run");
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let error = SpoolWriter::create(&dir.path().join("file/spool"), &Header::default()).unwrap_err();
    assert!(error.to_string().starts_with("cannot create "), "{error}");
}

#[test]
fn a_removed_spool_is_noticed_within_a_block_and_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let directory = dir.path().join("spool");
    let mut writer = SpoolWriter::create(&directory, &Header::default()).unwrap();
    let mut names = numbered::names();
    numbered::write(&mut writer, 0, &mut names).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let error = (1..2000).find_map(|number| numbered::write(&mut writer, number, &mut names).err());
    assert!(matches!(error, Some(SpoolError::Vanished { .. })), "{error:?}");

    let mut writer = SpoolWriter::create(&directory, &Header::default()).unwrap();
    numbered::write(&mut writer, 0, &mut numbered::names()).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    let error = writer.finish().unwrap_err().to_string();
    assert!(error.contains("0000.spool was removed while it was written"), "{error}");
}

#[test]
fn a_spool_is_not_written_over_another() {
    let dir = tempfile::tempdir().unwrap();
    drop(SpoolWriter::create(dir.path(), &Header::default()).unwrap());
    let error = SpoolWriter::create(dir.path(), &Header::default()).unwrap_err().to_string();
    assert!(error.contains("holds a spool already"), "{error}");
}

#[test]
fn a_spool_that_another_program_cuts_is_an_error_and_what_is_lost_is_counted() {
    for length in [0, 100_000] {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().join("spool");
        let mut writer = SpoolWriter::create(&directory, &Header::default()).unwrap();
        let mut names = numbered::names();
        (0..3000).for_each(|number| numbered::write(&mut writer, number, &mut names).unwrap());
        let file = std::fs::File::options().write(true).open(directory.join("0000.spool")).unwrap();
        assert!(file.metadata().unwrap().len() > length);
        file.set_len(length).unwrap();
        let refused =
            (3000..6000).filter(|number| numbered::write(&mut writer, *number, &mut names).is_err());
        assert!(refused.count() > 0, "cut to {length}");
        let written = writer.written();
        let error = writer.finish().unwrap_err().to_string();
        assert!(error.contains("another program cut the file"), "{error}");
        let spool = Spool::open(&directory).unwrap();
        let told = (spool.losses().failed, spool.written());
        assert_eq!(told, (written.refused_events, Some(written.events)));
    }
}
