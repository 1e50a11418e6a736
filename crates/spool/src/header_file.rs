//! The file of the header: written once, whole, and locked as long as the writer lives.

use crate::error::SpoolError;
use crate::header::{FORMAT_VERSION, Header};
use crate::regular_file::open_regular;
use crate::sum::Sum;
use iotrail_model::text::printable;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

const NAME: &str = "header.json";
const UNFINISHED_NAME: &str = "header.json.new";
const FORMAT: &str = "iotrail spool";
/// The largest header that is read.
const MAX_BYTES: u64 = 1 << 26;

#[derive(Deserialize)]
struct Version {
    format: String,
    format_version: u64,
    #[serde(default)]
    tool_version: String,
    sum: Option<String>,
}

#[derive(Serialize)]
struct Versioned<'a> {
    format: &'a str,
    format_version: u64,
    tool_version: &'a str,
    sum: &'a str,
    #[serde(flatten)]
    header: &'a Header,
}

/// In the place of the sum of a header, for which it stands while that is computed.
const NO_SUM: &str = "0000000000000000";

/// Puts one sum in the place of another, which is as long; `false` if that is not there.
fn put_sum(json: &mut [u8], from: &str, to: &str) -> bool {
    let member = format!("\"sum\": \"{from}\"");
    let Some(at) = json.windows(member.len()).position(|bytes| bytes == member.as_bytes()) else {
        return false;
    };
    let digits = at + member.len() - 1 - from.len();
    json[digits..digits + to.len()].copy_from_slice(to.as_bytes());
    true
}

/// Whether a header has the sum that is written in it.
fn is_whole(json: &[u8], sum: Option<&str>) -> bool {
    let mut json = json.to_vec();
    sum.is_some_and(|sum| {
        sum.len() == NO_SUM.len()
            && put_sum(&mut json, sum, NO_SUM)
            && format!("{:016x}", Sum::of(&json).0) == sum
    })
}

/// The header of a spool that is being written.
#[derive(Debug)]
pub(crate) struct HeaderFile {
    file: File,
    identity: u64,
}

impl HeaderFile {
    /// Writes the header. It is forced to storage, since without it nothing else of the spool can be understood; that may take
    /// as long as a short program, which does not wait for it.
    pub(crate) fn create(directory: &Path, header: &Header) -> Result<Self, SpoolError> {
        let (path, unfinished) = (directory.join(NAME), directory.join(UNFINISHED_NAME));
        if path.symlink_metadata().is_ok() {
            return Err(SpoolError::Exists { path: directory.to_owned() });
        }
        let content = Versioned {
            format: FORMAT,
            format_version: FORMAT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION"),
            sum: NO_SUM,
            header,
        };
        let writing = || SpoolError::io("write", &path);
        let mut json = serde_json::to_vec_pretty(&content).map_err(|error| writing()(error.into()))?;
        let sum = format!("{:016x}", Sum::of(&json).0);
        put_sum(&mut json, NO_SUM, &sum);
        let mut file = File::create_new(&unfinished).map_err(SpoolError::io("create", &unfinished))?;
        // Where files cannot be locked, readers learn from the recorder's process id whether it is at work.
        let _ = file.try_lock();
        file.write_all(&json).and_then(|()| std::fs::rename(&unfinished, &path)).map_err(writing())?;
        sync_later(&[&path, directory]);
        Ok(Self { file, identity: Sum::of(&json).0 })
    }

    /// What the sums of this spool start from.
    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    /// Nothing is written any more.
    pub(crate) fn release(self) {
        // Closing the file unlocks it as well.
        let _ = self.file.unlock();
    }
}

/// Forces files and directories to storage while others work. What goes wrong there goes wrong for a later write, too.
pub fn sync_later(paths: &[&Path]) {
    let files: Vec<File> = paths.iter().filter_map(|path| File::open(path).ok()).collect();
    let sync = move || files.iter().for_each(|file| drop(file.sync_all()));
    // Where no thread can be made, the kernel writes in its own time.
    let _ = iotrail_kernel::work_aside(sync);
}

/// A header that was read.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) header: Header,
    pub(crate) identity: u64,
    pub(crate) is_being_written: bool,
}

/// Reads the header of the spool in `directory`.
pub(crate) fn open(directory: &Path) -> Result<Opened, SpoolError> {
    let path = directory.join(NAME);
    let no_spool = |why: String| SpoolError::NotASpool { path: directory.to_owned(), why };
    let file = match open_regular(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(no_spool(format!("it has no {NAME}")));
        }
        Err(error) => return Err(SpoolError::io("open", &path)(error)),
    };
    let mut json = Vec::new();
    (&file).take(MAX_BYTES + 1).read_to_end(&mut json).map_err(SpoolError::io("read", &path))?;
    if json.len() as u64 > MAX_BYTES {
        return Err(no_spool(format!("{NAME} has more than {MAX_BYTES} bytes")));
    }
    let damaged = |error: serde_json::Error| no_spool(format!("{NAME}: {}", printable(&error.to_string())));
    let version: Version = serde_json::from_slice(&json).map_err(damaged)?;
    if version.format != FORMAT {
        return Err(no_spool(format!("{NAME} describes `{}`", printable(&version.format))));
    }
    let is_whole = is_whole(&json, version.sum.as_deref());
    if version.format_version > FORMAT_VERSION
        || (version.format_version < FORMAT_VERSION && version.sum.is_none())
    {
        return Err(SpoolError::FutureVersion {
            path: directory.to_owned(),
            found: version.format_version,
            supported: FORMAT_VERSION,
            tool_version: printable(&version.tool_version).into_owned(),
        });
    }
    if !is_whole {
        return Err(no_spool(format!(
            "{NAME} is damaged: it does not have the checksum that was written in it"
        )));
    }
    let header = serde_json::from_slice(&json).map_err(damaged)?;
    let is_being_written = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    Ok(Opened { header, identity: Sum::of(&json).0, is_being_written })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_back_and_locked_as_long_as_it_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let header = Header { label: Some("first".to_owned()), rank: Some(3), ..Header::default() };
        let file = HeaderFile::create(dir.path(), &header).unwrap();
        let opened = open(dir.path()).unwrap();
        assert_eq!((opened.header, opened.identity), (header.clone(), file.identity()));
        assert!(opened.is_being_written);
        assert!(matches!(HeaderFile::create(dir.path(), &header), Err(SpoolError::Exists { .. })));
        drop(file);
        assert!(!open(dir.path()).unwrap().is_being_written);
    }

    #[test]
    fn a_later_version_is_refused_with_the_iotrail_that_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        let json =
            r#"{"format": "iotrail spool", "format_version": 9, "tool_version": "7.1\u001b[2J", "case": 4}"#;
        std::fs::write(dir.path().join(NAME), json).unwrap();
        let error = open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("spool version 9") && error.contains("use iotrail 7.1"), "{error}");
        assert!(!error.contains('\u{1b}'));
    }

    #[test]
    fn each_bit_of_a_header_is_checked() {
        let dir = tempfile::tempdir().unwrap();
        let header = Header { label: Some("first".to_owned()), rank: Some(3), ..Header::default() };
        drop(HeaderFile::create(dir.path(), &header).unwrap());
        let path = dir.path().join(NAME);
        let written = std::fs::read(&path).unwrap();
        for bit in 0..8 * written.len() {
            let mut flipped = written.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, flipped).unwrap();
            let error = open(dir.path()).unwrap_err().to_string();
            let is_named = error.contains("header.json") || error.contains("has spool version");
            assert!(is_named, "bit {bit}: {error}");
        }
    }

    #[test]
    fn what_is_no_header_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = || open(dir.path()).unwrap_err().to_string();
        assert!(error().ends_with("is not a spool: it has no header.json"), "{}", error());
        for (json, expected) in [
            ("", "header.json: EOF"),
            ("[1", "header.json:"),
            (r#"{"format": "other", "format_version": 1}"#, "describes `other`"),
            (r#"{"format": "iotrail spool", "format_version": 3, "rank": "x"}"#, "is damaged"),
        ] {
            std::fs::write(dir.path().join(NAME), json).unwrap();
            assert!(error().contains(expected), "{json}: {}", error());
        }
    }
}
