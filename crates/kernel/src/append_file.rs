//! A file that grows at its end through a shared mapping, so that what was written survives the writer's death.
//!
//! Bytes stored into a shared mapping are in the page cache at once: they outlive SIGKILL without a system call per
//! record. A store into a page that the file system cannot back would be SIGBUS, so space is allocated
//! (`man 2 fallocate`) before it is mapped, and a full disk is an error of [`AppendFile::reserve`]. File systems that
//! cannot allocate or map are written to instead, a call per [`AppendFile::commit`]. A file that another program cuts takes
//! nothing more: [`AppendFile::commit`] fails.

use crate::cut_guard::Guarded;
use crate::file_limit::survive_file_limit;
use memmap2::MmapOptions;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Why nothing more is written to a file.
pub const CUT: &str = "another program cut the file while it was written";

/// A new file to which bytes are appended in place.
///
/// After a crash the file is longer than what was committed: the rest is zero, or what was reserved and not committed.
/// What others cut off while it is written is lost.
#[derive(Debug)]
pub struct AppendFile {
    file: File,
    chunk: usize,
    committed: u64,
    space: Space,
}

#[derive(Debug)]
enum Space {
    /// Nothing is reserved yet.
    None,
    /// The bytes of the file from `start` on.
    Mapped { map: Guarded, start: u64 },
    /// The file system cannot map: a reservation lives here until it is committed.
    Buffered(Vec<u8>),
}

impl AppendFile {
    /// Makes the file `path`, which must not exist. It grows by `chunk` bytes (rounded up to pages) at a time.
    ///
    /// # Errors
    /// The file exists or cannot be made.
    pub fn create(path: &Path, chunk: usize) -> io::Result<Self> {
        survive_file_limit();
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        Ok(Self { file, chunk: chunk.max(1), committed: 0, space: Space::None })
    }

    /// `bytes` bytes at the end of what was committed. They are zero, unless an earlier reservation wrote to them and did
    /// not commit them.
    ///
    /// # Errors
    /// The disk or a quota is full, or the file system failed. The file stays as it was, and a later try may succeed.
    pub fn reserve(&mut self, bytes: usize) -> io::Result<&mut [u8]> {
        self.check_whole()?;
        if !self.has_room(bytes) {
            self.make_room(bytes)?;
        }
        match &mut self.space {
            Space::Mapped { map, start } => {
                let used = (self.committed - *start) as usize;
                Ok(&mut map.bytes()[used..used + bytes])
            }
            Space::Buffered(buffer) => {
                if buffer.len() < bytes {
                    buffer.resize(bytes, 0);
                }
                Ok(&mut buffer[..bytes])
            }
            Space::None => Ok(&mut []),
        }
    }

    /// The first `used` bytes of the latest reservation belong to the file.
    ///
    /// # Errors
    /// More is committed than was reserved; another program cut the file; where it cannot be mapped also: the bytes cannot be
    /// written.
    pub fn commit(&mut self, used: usize) -> io::Result<()> {
        self.check_whole()?;
        let reserved = match &self.space {
            Space::Mapped { map, start } => map.len() - (self.committed - start) as usize,
            Space::Buffered(buffer) => buffer.len(),
            Space::None => 0,
        };
        if used > reserved {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "more bytes are committed than were reserved",
            ));
        }
        if let Space::Buffered(buffer) = &mut self.space {
            self.file.write_all_at(&buffer[..used], self.committed)?;
            buffer.clear();
        }
        self.committed += used as u64;
        Ok(())
    }

    /// Number of bytes committed.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.committed
    }

    /// Whether nothing was committed yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.committed == 0
    }

    /// Cuts the file to what was committed and waits until it is on storage.
    ///
    /// # Errors
    /// The file system failed.
    pub fn finish(self) -> io::Result<()> {
        drop(self.space);
        self.file.set_len(self.committed)?;
        self.file.sync_all()
    }

    /// Whether all that was stored is in the file, as far as stores tell it.
    #[inline]
    fn check_whole(&self) -> io::Result<()> {
        match &self.space {
            Space::Mapped { map, .. } if map.is_cut() => Err(io::Error::other(CUT)),
            _ => Ok(()),
        }
    }

    fn has_room(&self, bytes: usize) -> bool {
        match &self.space {
            Space::None => bytes == 0,
            Space::Mapped { map, start } => (self.committed - start) as usize + bytes <= map.len(),
            Space::Buffered(_) => true,
        }
    }

    /// Allocates and maps the bytes behind the committed ones, as many as a chunk or at least `bytes`.
    fn make_room(&mut self, bytes: usize) -> io::Result<()> {
        let page = rustix::param::page_size();
        let start = self.committed - self.committed % page as u64;
        let needed = ((self.committed - start) as usize + bytes).next_multiple_of(page);
        let wanted = needed.max(self.chunk.next_multiple_of(page));
        let allocated = match self.allocate(start, wanted) {
            Ok(()) => Some(wanted),
            Err(error) if is_unsupported(error) => None,
            Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) if needed < wanted => {
                self.allocate(start, needed)?;
                Some(needed)
            }
            Err(error) => return Err(error.into()),
        };
        let map = allocated.and_then(|length| map(&self.file, start, length).ok());
        self.space = match map {
            Some(map) => Space::Mapped { map, start },
            None => Space::Buffered(Vec::new()),
        };
        Ok(())
    }

    fn allocate(&self, start: u64, length: usize) -> Result<(), Errno> {
        allocate(&self.file, start, length)
    }
}

/// Makes sure that the file system has room for these bytes of the file.
pub(crate) fn allocate(file: &File, start: u64, length: usize) -> Result<(), Errno> {
    rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, FallocateFlags::empty(), start, length as u64))
}

fn is_unsupported(error: Errno) -> bool {
    matches!(error, Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::NODEV)
}

pub(crate) fn map(file: &File, start: u64, length: usize) -> io::Result<Guarded> {
    // SAFETY: the file was just made by this process and its space is allocated; where somebody cuts it, the guard gives
    // private memory. Bytes that another process changes are bytes all the same.
    let map = unsafe { MmapOptions::new().offset(start).len(length).map_mut(file) };
    map.map(Guarded::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(file: &mut AppendFile, bytes: &[u8]) {
        file.reserve(bytes.len()).unwrap().copy_from_slice(bytes);
        file.commit(bytes.len()).unwrap();
    }

    #[test]
    fn what_was_committed_is_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spool");
        let mut file = AppendFile::create(&path, 1).unwrap();
        let mut expected = Vec::new();
        for round in 0..200_usize {
            let bytes = vec![round as u8; round * 7];
            append(&mut file, &bytes);
            expected.extend_from_slice(&bytes);
            assert_eq!(file.len(), expected.len() as u64);
        }
        file.reserve(100).unwrap().fill(0xff);
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), expected);
    }

    #[test]
    fn bytes_are_in_the_file_before_it_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spool");
        let mut file = AppendFile::create(&path, 1 << 16).unwrap();
        append(&mut file, b"seen at once");
        let seen = std::fs::read(&path).unwrap();
        assert_eq!(&seen[..12], b"seen at once");
        assert!(seen[12..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_file_that_exists_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spool");
        std::fs::write(&path, "mine").unwrap();
        assert_eq!(AppendFile::create(&path, 1).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn more_than_was_reserved_cannot_be_committed() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = AppendFile::create(&dir.path().join("spool"), 1).unwrap();
        file.reserve(10).unwrap();
        assert!(file.commit(rustix::param::page_size() + 1).is_err());
        file.commit(10).unwrap();
    }

    #[test]
    fn a_file_system_that_cannot_map_is_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spool");
        let mut file = AppendFile::create(&path, 1).unwrap();
        file.space = Space::Buffered(Vec::new());
        append(&mut file, b"one");
        append(&mut file, b"");
        append(&mut file, b"three");
        assert!(file.commit(1).is_err(), "nothing is reserved any more");
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"onethree");
    }

    #[test]
    fn a_file_that_another_program_cuts_is_an_error_and_not_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spool");
        let mut file = AppendFile::create(&path, 1 << 14).unwrap();
        append(&mut file, b"kept nowhere");
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        for _ in 0..3 {
            let stored = file.reserve(1 << 13).map(|space| space.fill(7));
            let error = stored.and_then(|()| file.commit(1 << 13)).unwrap_err();
            assert!(error.to_string().contains("cut"), "{error}");
        }
        assert_eq!(file.len(), 12);
        assert_eq!(path.metadata().unwrap().len(), 0);
        drop(file);
        let mut next = AppendFile::create(&dir.path().join("next"), 1 << 14).unwrap();
        append(&mut next, b"as ever");
        next.finish().unwrap();
        assert_eq!(std::fs::read(dir.path().join("next")).unwrap(), b"as ever");
    }

    #[test]
    fn a_full_disk_is_an_error_and_what_was_written_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spool");
        let mut file = AppendFile::create(&path, 1 << 12).unwrap();
        append(&mut file, b"kept");
        // No file system of ours holds an exabyte.
        assert!(file.reserve(1 << 60).is_err());
        append(&mut file, b" and more");
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"kept and more");
    }
}
