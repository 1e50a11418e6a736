//! One file of a spool under construction: blocks of checked records.

use crate::error::SpoolError;
use crate::footer::Footer;
use crate::format::{BLOCK, FOOTER, GROWTH, MAX_FRONT, PIECE, PREAMBLE, preamble, segment_name};
use crate::sum::Sum;
use iotrail_kernel::{AppendFile, CUT};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// Bytes of a record that are stored before the others: a copy need not go forward, and a record that was not finished is
/// told from a lost page by how it begins.
pub(crate) const FIRST: usize = 8;

/// A payload with room before it for its length and check.
#[derive(Debug)]
pub(crate) struct Frame(Vec<u8>);

impl Default for Frame {
    fn default() -> Self {
        Self(vec![0; MAX_FRONT])
    }
}

impl Frame {
    /// An empty payload to append to.
    #[inline]
    pub(crate) fn start(&mut self) -> &mut Vec<u8> {
        self.0.truncate(MAX_FRONT);
        &mut self.0
    }

    pub(crate) fn payload(&self) -> &[u8] {
        &self.0[MAX_FRONT..]
    }

    /// Bytes of the whole record.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        let payload = self.0.len() - MAX_FRONT;
        length_size(payload) + 2 + payload
    }

    /// The whole record.
    #[inline]
    fn seal(&mut self, check: [u8; 2]) -> &[u8] {
        let mut length = self.0.len() - MAX_FRONT;
        let size = length_size(length);
        let start = MAX_FRONT - 2 - size;
        for place in &mut self.0[start..start + size - 1] {
            *place = length as u8 | 0x80;
            length >>= 7;
        }
        self.0[start + size - 1] = length as u8;
        self.0[MAX_FRONT - 2..MAX_FRONT].copy_from_slice(&check);
        &self.0[start..]
    }
}

#[inline]
const fn length_size(length: usize) -> usize {
    match length {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        _ => 3,
    }
}

/// The end of the file that is being written.
#[derive(Debug)]
pub(crate) struct Segment {
    file: AppendFile,
    path: Arc<Path>,
    /// Device and inode, by which the file is known again.
    place: (u64, u64),
    identity: u64,
    number: u32,
    /// Bytes used in the present block.
    at: usize,
    footer: Footer,
}

impl Segment {
    pub(crate) fn create(directory: &Path, number: u32, identity: u64) -> Result<Self, SpoolError> {
        let path: Arc<Path> = directory.join(segment_name(number)).into();
        let file = AppendFile::create(&path, GROWTH).map_err(SpoolError::io("create", &path))?;
        let metadata = path.symlink_metadata().map_err(SpoolError::io("create", &path))?;
        let mut segment = Self {
            file,
            place: (metadata.dev(), metadata.ino()),
            path,
            identity,
            number,
            at: 0,
            footer: Footer::default(),
        };
        segment.start_block();
        segment.append_bytes(&preamble(number, identity))?;
        debug_assert_eq!(segment.at, PREAMBLE);
        Ok(segment)
    }

    /// The file was moved into `directory`.
    pub(crate) fn moved_to(&mut self, directory: &Path) {
        self.path = directory.join(segment_name(self.number)).into();
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Bytes of the file so far.
    pub(crate) fn len(&self) -> u64 {
        self.file.len()
    }

    /// Bytes left for records in the present block.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        BLOCK - FOOTER - self.at
    }

    /// Bytes left for records in the present piece.
    pub(crate) fn room_in_piece(&self) -> usize {
        let blocks = (PIECE - (self.file.len() % PIECE as u64) as usize).div_ceil(BLOCK) - 1;
        self.room() + blocks * (BLOCK - FOOTER)
    }

    /// Whether the present block is the first of a piece.
    pub(crate) fn is_at_piece(&self) -> bool {
        (self.file.len() - self.at as u64).is_multiple_of(PIECE as u64)
    }

    /// What is in the present block, to count the next record in.
    #[inline]
    pub(crate) fn footer(&mut self) -> &mut Footer {
        &mut self.footer
    }

    /// Appends a record, which must fit into the block. Without its first byte, there is no record.
    #[inline]
    pub(crate) fn append(&mut self, frame: &mut Frame) -> Result<(), SpoolError> {
        let sum = self.footer.sum.with(frame.payload());
        self.append_bytes(frame.seal(sum.check()))?;
        self.footer.sum = sum;
        self.footer.records += 1;
        Ok(())
    }

    /// Stores the first byte last.
    #[inline]
    fn append_bytes(&mut self, bytes: &[u8]) -> Result<(), SpoolError> {
        let reserved = self.file.reserve(bytes.len()).map(|space| {
            let front = FIRST.min(bytes.len());
            space[1..front].copy_from_slice(&bytes[1..front]);
            fence(Ordering::Release);
            space[front..].copy_from_slice(&bytes[front..]);
            fence(Ordering::Release);
            space[0] = bytes[0];
        });
        match reserved.and_then(|()| self.file.commit(bytes.len())) {
            Ok(()) => {
                self.at += bytes.len();
                Ok(())
            }
            Err(error) => Err(self.failure(error)),
        }
    }

    #[cold]
    fn failure(&self, source: io::Error) -> SpoolError {
        SpoolError::io("extend", &self.path)(source)
    }

    /// Fills the block up and begins the next.
    pub(crate) fn close_block(&mut self) -> Result<(), SpoolError> {
        self.check_place()?;
        self.footer.used = self.at as u32;
        let footer = self.footer.encode();
        let rest = BLOCK - self.at;
        let reserved = self.file.reserve(rest).map(|space| {
            let (unused, end) = space.split_at_mut(rest - FOOTER);
            unused.fill(0);
            end.copy_from_slice(&footer);
        });
        reserved.and_then(|()| self.file.commit(rest)).map_err(|error| self.failure(error))?;
        self.start_block();
        Ok(())
    }

    fn start_block(&mut self) {
        self.at = 0;
        let sum = Sum::of_block(self.identity, self.number, self.file.len());
        self.footer = Footer { sum, ..Footer::default() };
    }

    /// Whether the file still is in its directory, and whole. A mapping of a removed file takes every byte and keeps none.
    pub(crate) fn check_place(&self) -> Result<(), SpoolError> {
        let place = self.path.symlink_metadata();
        match place.map(|metadata| ((metadata.dev(), metadata.ino()), metadata.len())) {
            Ok((place, bytes)) if place == self.place && bytes < self.file.len() => {
                Err(SpoolError::io("extend", &self.path)(io::Error::other(CUT)))
            }
            Ok((place, _)) if place == self.place => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(SpoolError::io("read", &self.path)(error))
            }
            _ => Err(SpoolError::Vanished { path: Arc::clone(&self.path) }),
        }
    }

    /// Ends the file after its last record. The kernel brings it to storage in its own time: waiting for a file that
    /// becomes Parquet next would double the writing.
    pub(crate) fn close(self) -> Result<(), SpoolError> {
        self.check_place()?;
        let (path, length) = (self.path, self.file.len());
        drop(self.file);
        OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_len(length))
            .map_err(SpoolError::io("cut", &path))
    }
}
