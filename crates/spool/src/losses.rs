//! `losses`: how many events could not be kept, and why. Its space is taken at the start, so that a full disk can be
//! stated on the full disk.
//!
//! Each refused event is one more in the file at once: a recorder that is killed afterwards has stated it. A recorder that
//! comes to its end and has no room for its last coverage statement in the spool leaves it here.
//!
//! Each record that was appended is counted here, too, so that a spool that was cut afterwards, however smoothly, is not taken
//! for one whose recorder was killed earlier.

use crate::error::SpoolError;
use crate::regular_file::open_regular;
use crate::sum::Sum;
use iotrail_kernel::SharedBytes;
use iotrail_model::Coverage;
use iotrail_model::text::printable;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{Ordering, fence};

pub(crate) const NAME: &str = "losses";
const MARK: [u8; 8] = *b"iotlost\x03";
/// Of files without a sum of the reason.
const UNSUMMED_MARK: [u8; 8] = *b"iotlost\x02";
/// Of files without a copy of the counts.
const OLD_MARK: [u8; 8] = *b"iotlost\x01";
/// The counts: mark, identity, refused for good, refused one by one.
const COUNTS: u64 = 16;
/// Length and bytes of the reason.
const REASON: usize = 32;
const MAX_REASON: usize = 1024;
/// The sum of length and reason.
const REASON_SUM: usize = 1072;
/// What was appended: events, other rows; then both once more, with every bit inverted.
const APPENDED: usize = 1088;
/// The counts once more: a recorder that is killed between both writes leaves them one apart.
const COPY: u64 = 2032;
/// Length, sum and bytes of the statement.
const STATEMENT: usize = 2048;
/// Without so many bytes there is no recording.
const LEAST: usize = 4096;
/// Room for a statement of usual size.
const WANTED: usize = 32 << 10;

/// Events that a spool refused, and what its writer stated at its end if the spool had no room for that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Losses {
    /// Events that came when nothing could be written any more.
    pub failed: u64,
    /// Events that no record can hold.
    pub too_long: u64,
    /// Why nothing could be written any more.
    pub reason: Option<String>,
    /// The last coverage statement; it tells of the refused events, too.
    pub statement: Option<Coverage>,
    /// Whether the file is damaged, so that nothing tells how many events were refused or are missing.
    pub unreadable: bool,
    /// What the writer appended to the spool; `None` if the file does not tell.
    pub(crate) appended: Option<Appended>,
}

/// How much a writer appended to its spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Appended {
    pub(crate) events: u64,
    /// Process rows, images, file facts and coverage statements.
    pub(crate) rows: u64,
}

/// The file of the losses, while the spool is written.
#[derive(Debug)]
pub(crate) struct LossesFile {
    file: File,
    shared: SharedBytes,
    room: usize,
    failed: u64,
    too_long: u64,
}

impl LossesFile {
    /// Takes the space.
    pub(crate) fn create(directory: &Path, identity: u64) -> Result<Self, SpoolError> {
        let path = directory.join(NAME);
        let mut options = File::options();
        let mut file = options
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(SpoolError::io("create", &path))?;
        let mut head = vec![0; LEAST];
        head[..8].copy_from_slice(&MARK);
        head[8..16].copy_from_slice(&identity.to_le_bytes());
        head[APPENDED + 16..APPENDED + 32].fill(0xff);
        file.write_all(&head).map_err(SpoolError::io("write", &path))?;
        // Less room is enough for the counts.
        let more = file.write_all(&[0; WANTED - LEAST]);
        let shared = SharedBytes::of(file.try_clone().map_err(SpoolError::io("open", &path))?, LEAST);
        Ok(Self { file, shared, room: if more.is_ok() { WANTED } else { LEAST }, failed: 0, too_long: 0 })
    }

    /// One more record is in the spool.
    #[inline]
    pub(crate) fn appended(&mut self, now: Appended) {
        // The record before its count: what is counted is there.
        fence(Ordering::Release);
        for (index, number) in [now.events, now.rows, !now.events, !now.rows].into_iter().enumerate() {
            // Where even space that is taken cannot be written to, nothing more can be stated.
            let _ = self.shared.put(APPENDED + 8 * index, &number.to_le_bytes());
        }
    }

    /// One more event is refused.
    #[cold]
    pub(crate) fn count(&mut self, error: &SpoolError) {
        if error.is_about_one_record() {
            self.too_long += 1;
        } else {
            if self.failed == 0 {
                self.give_reason(&error.to_string());
            }
            self.failed += 1;
        }
        let mut counts = [0; 16];
        counts[..8].copy_from_slice(&self.failed.to_le_bytes());
        counts[8..].copy_from_slice(&self.too_long.to_le_bytes());
        self.put(&counts, COUNTS);
        self.put(&counts, COPY);
    }

    /// Keeps the last statement, if there is room for it.
    pub(crate) fn state(&self, coverage: &Coverage) {
        let Ok(json) = serde_json::to_vec(coverage) else { return };
        if json.len() > self.room - STATEMENT - 16 {
            return;
        }
        let mut front = [0; 16];
        front[..8].copy_from_slice(&(json.len() as u64).to_le_bytes());
        front[8..].copy_from_slice(&Sum::of(&json).0.to_le_bytes());
        self.put(&json, STATEMENT as u64 + 16);
        self.put(&front, STATEMENT as u64);
    }

    fn give_reason(&self, reason: &str) {
        let bytes = &reason.as_bytes()[..reason.len().min(MAX_REASON)];
        self.put(bytes, REASON as u64 + 4);
        self.put(&reason_sum(bytes).to_le_bytes(), REASON_SUM as u64);
        self.put(&(bytes.len() as u32).to_le_bytes(), REASON as u64);
    }

    /// Where even space that is taken cannot be written to, nothing more can be stated.
    fn put(&self, bytes: &[u8], at: u64) {
        let _ = self.file.write_all_at(bytes, at);
    }
}

/// Reads the losses of the spool in `directory`; `None` if it has no such file.
pub(crate) fn read(directory: &Path, identity: u64) -> Result<Option<Losses>, SpoolError> {
    let path = directory.join(NAME);
    let mut bytes = Vec::new();
    match open_regular(&path) {
        Ok(file) => {
            file.take(WANTED as u64).read_to_end(&mut bytes).map_err(SpoolError::io("read", &path))?
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SpoolError::io("open", &path)(error)),
    };
    let unreadable = Losses { unreadable: true, ..Losses::default() };
    let is_marked = |bytes: &[u8]| [MARK, UNSUMMED_MARK, OLD_MARK].contains(&mark(bytes));
    if bytes.len() < LEAST || !is_marked(&bytes) || number(&bytes, 8) != identity {
        return Ok(Some(unreadable));
    }
    let (Some([failed, too_long]), Ok(appended), Some(reason)) =
        (counts(&bytes), appended(&bytes), reason(&bytes))
    else {
        return Ok(Some(Losses { statement: statement(&bytes), ..unreadable }));
    };
    let reason = String::from_utf8_lossy(reason);
    Ok(Some(Losses {
        failed,
        too_long,
        unreadable: false,
        reason: (!reason.is_empty()).then(|| printable(&reason).into_owned()),
        statement: statement(&bytes),
        appended,
    }))
}

/// What kind of file it is.
fn mark(bytes: &[u8]) -> [u8; 8] {
    std::array::from_fn(|at| bytes[at])
}

/// The reason, empty if none was given; `None` if it is not that which was written.
fn reason(bytes: &[u8]) -> Option<&[u8]> {
    let length = usize::try_from(number(bytes, REASON) as u32).unwrap_or(usize::MAX).min(MAX_REASON);
    let reason = &bytes[REASON + 4..REASON + 4 + length];
    // The length is written last: without it, the sum is that of a reason to come.
    let is_kept = mark(bytes) != MARK
        || number(bytes, REASON_SUM) == reason_sum(reason)
        || length == 0 && number(bytes, COUNTS as usize) == 0;
    is_kept.then_some(reason)
}

fn reason_sum(reason: &[u8]) -> u64 {
    if reason.is_empty() { 0 } else { Sum::of(reason).0 }
}

/// What was appended; `None` in files of writers that did not count, an error if both copies are not of one recorder.
fn appended(bytes: &[u8]) -> Result<Option<Appended>, ()> {
    let at = |index: usize| number(bytes, APPENDED + 8 * index);
    let (counts, copy) = ([at(0), at(1)], [at(2), at(3)]);
    if counts == [0; 2] && copy == [0; 2] {
        return Ok(None);
    }
    let agree = |(count, copy): (u64, u64)| count == !copy || count.checked_sub(1) == Some(!copy);
    match counts.into_iter().zip(copy).all(agree) {
        true => Ok(Some(Appended { events: counts[0], rows: counts[1] })),
        false => Err(()),
    }
}

/// The counts; `None` if both copies are not of one recorder.
fn counts(bytes: &[u8]) -> Option<[u64; 2]> {
    let at = |index: u64| [number(bytes, index as usize), number(bytes, index as usize + 8)];
    let (counts, copy) = (at(COUNTS), at(COPY));
    let agree =
        counts.iter().zip(copy).all(|(count, copy)| *count == copy || count.checked_sub(1) == Some(copy));
    (agree || mark(bytes) == OLD_MARK).then_some(counts)
}

fn statement(bytes: &[u8]) -> Option<Coverage> {
    let length = usize::try_from(number(bytes, STATEMENT)).ok().filter(|length| *length > 0)?;
    let json = bytes.get(STATEMENT + 16..)?.get(..length)?;
    (Sum::of(json).0 == number(bytes, STATEMENT + 8)).then(|| serde_json::from_slice(json).ok())?
}

/// The number at `at`, which must lie within the bytes.
fn number(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn full() -> SpoolError {
        SpoolError::Io {
            action: "extend",
            path: Path::new("0000.spool").into(),
            source: Arc::new(std::io::Error::from_raw_os_error(28)),
        }
    }

    #[test]
    fn each_loss_is_in_the_file_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = LossesFile::create(dir.path(), 7).unwrap();
        let fresh = Losses { appended: Some(Appended::default()), ..Losses::default() };
        assert_eq!(read(dir.path(), 7).unwrap().unwrap(), fresh);
        for failed in 1..4 {
            file.count(&full());
            let losses = read(dir.path(), 7).unwrap().unwrap();
            assert_eq!((losses.failed, losses.too_long), (failed, 0));
            assert!(losses.reason.unwrap().contains("0000.spool: No space left"));
        }
        file.count(&SpoolError::TooLong { what: "a name", bytes: 9, limit: 8 });
        assert_eq!(read(dir.path(), 7).unwrap().unwrap().too_long, 1);
        assert!(read(dir.path(), 8).unwrap().unwrap().unreadable, "that of another spool");
    }

    #[test]
    fn a_flipped_bit_in_the_counts_or_the_reason_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = LossesFile::create(dir.path(), 7).unwrap();
        (0..5).for_each(|_| file.count(&full()));
        let appended = Appended { events: 300, rows: 2 };
        file.appended(appended);
        let path = dir.path().join(NAME);
        let sound = std::fs::read(&path).unwrap();
        let counts =
            [0..48, REASON_SUM..REASON_SUM + 8, APPENDED..APPENDED + 32, COPY as usize..COPY as usize + 16];
        for bit in counts.into_iter().flat_map(|bytes| bytes.start * 8..bytes.end * 8) {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, bytes).unwrap();
            let losses = read(dir.path(), 7).unwrap().unwrap();
            let told_right = losses.failed.abs_diff(5) <= 1
                && losses.too_long <= 1
                && losses.reason.as_deref().is_some_and(|reason| reason == full().to_string())
                && losses
                    .appended
                    .is_some_and(|found| found.events.abs_diff(300) <= 1 && found.rows.abs_diff(2) <= 1);
            assert!(losses.unreadable || told_right, "bit {bit}: {losses:?}");
        }
    }

    #[test]
    fn what_was_appended_is_in_the_file_at_once_and_files_without_it_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = LossesFile::create(dir.path(), 7).unwrap();
        for events in 0..3 {
            let appended = Appended { events, rows: 9 };
            file.appended(appended);
            assert_eq!(read(dir.path(), 7).unwrap().unwrap().appended, Some(appended));
        }
        let mut bytes = std::fs::read(dir.path().join(NAME)).unwrap();
        bytes[APPENDED..APPENDED + 32].fill(0);
        std::fs::write(dir.path().join(NAME), bytes).unwrap();
        assert_eq!(read(dir.path(), 7).unwrap(), Some(Losses::default()));
    }

    #[test]
    fn the_last_statement_is_kept_if_it_fits() {
        let dir = tempfile::tempdir().unwrap();
        let file = LossesFile::create(dir.path(), 7).unwrap();
        let coverage = Coverage { lost: 5, ..Coverage::default() };
        file.state(&coverage);
        assert_eq!(read(dir.path(), 7).unwrap().unwrap().statement, Some(coverage.clone()));
        let mut large = coverage.clone();
        large.note(iotrail_model::Note::Said { text: "x".repeat(WANTED) });
        file.state(&large);
        assert_eq!(read(dir.path(), 7).unwrap().unwrap().statement, Some(coverage));
    }

    #[test]
    fn what_is_damaged_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        assert_eq!(read(dir.path(), 7).unwrap(), None);
        std::fs::write(&path, "short").unwrap();
        assert_eq!(read(dir.path(), 7).unwrap().unwrap(), Losses { unreadable: true, ..Losses::default() });
        std::fs::remove_file(&path).unwrap();
        LossesFile::create(dir.path(), 7).unwrap().state(&Coverage::default());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[STATEMENT..].fill(0xff);
        bytes[REASON..STATEMENT].fill(0xff);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read(dir.path(), 7).unwrap().unwrap().statement, None);
    }
}
