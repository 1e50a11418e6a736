//! The first bytes of a file, rewritten in place so often that a system call each time would be too slow.
//!
//! As with [`crate::AppendFile`], what is stored is in the page cache at once and outlives SIGKILL; space is allocated before it
//! is mapped; a file system that cannot allocate or map is written to instead, and so is a file that another program cut.

use crate::append_file::{allocate, map};
use crate::cut_guard::Guarded;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The first bytes of a file, to store into.
#[derive(Debug)]
pub struct SharedBytes {
    file: File,
    map: Option<Guarded>,
}

impl SharedBytes {
    /// The first `length` bytes of a file that is that long or longer.
    #[must_use]
    pub fn of(file: File, length: usize) -> Self {
        let map = allocate(&file, 0, length).ok().and_then(|()| map(&file, 0, length).ok());
        Self { file, map }
    }

    /// Stores `bytes` from byte `at` on.
    ///
    /// # Errors
    /// The bytes lie beyond those of this value, or the file cannot be mapped and not be written to either.
    #[inline]
    pub fn put(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        let Some(map) = &mut self.map else { return self.file.write_all_at(bytes, at as u64) };
        let space = map.bytes().get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len()));
        space.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(bytes);
        if map.is_cut() {
            self.map = None;
            return self.file.write_all_at(bytes, at as u64);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_in_the_file_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("counts");
        std::fs::write(&path, [7; 4096]).unwrap();
        let open = || File::options().read(true).write(true).open(&path).unwrap();
        let mapped = SharedBytes::of(open(), 4096);
        let written = SharedBytes { file: open(), map: None };
        for (mut bytes, text) in [(mapped, *b"mapped!!"), (written, *b"written!")] {
            bytes.put(16, &text).unwrap();
            let found = std::fs::read(&path).unwrap();
            assert_eq!((&found[..16], &found[16..24], found.len()), (&[7; 16][..], &text[..], 4096));
        }
        let mut cut = SharedBytes::of(open(), 4096);
        open().set_len(0).unwrap();
        for at in [16, 32] {
            cut.put(at, b"again").unwrap();
            assert_eq!(std::fs::read(&path).unwrap()[at..], *b"again");
        }
        let mut mapped = SharedBytes::of(open(), 4096);
        assert!(mapped.put(4090, b"too long").is_err());
    }
}
