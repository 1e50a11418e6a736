//! A spool on disk, whether its writer finished, was killed, or is still at work.

use crate::damage::Damage;
use crate::error::SpoolError;
use crate::header::Header;
use crate::reader::Reader;
use crate::visit::Tables;
use iotrail_model::Timestamp;
use std::path::{Path, PathBuf};

/// A spool that was opened: what is in it, and where.
#[derive(Debug)]
pub struct Spool {
    directory: PathBuf,
    header: Header,
    pieces: Vec<Piece>,
    damage: Vec<Damage>,
}

/// A stretch of a spool that can be read alone: pieces may be read by several threads, each with its own [`Reader`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Events in it.
    pub events: u64,
    /// Other records: process rows, images, file facts, coverage statements.
    pub rows: u64,
    /// Bytes of records.
    pub bytes: u64,
    /// The earliest and the latest start of an event; `None` if there are no events.
    pub starts: Option<(Timestamp, Timestamp)>,
}

impl Spool {
    /// Opens the spool in `directory`. Damage is found, counted and passed over.
    ///
    /// # Errors
    /// There is no readable header, it is of a later version, or the directory cannot be read.
    pub fn open(directory: &Path) -> Result<Self, SpoolError> {
        Ok(Self {
            directory: directory.to_owned(),
            header: Header::default(),
            pieces: Vec::new(),
            damage: Vec::new(),
        })
    }

    /// The directory of the spool.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Who recorded what.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Whether the writer came to its end.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        false
    }

    /// Whether the writer is still at work: it holds a lock on `header.json` as long as it lives.
    #[must_use]
    pub fn is_being_written(&self) -> bool {
        false
    }

    /// Number of events that can be read.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.events).sum()
    }

    /// Bytes of all records.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.bytes).sum()
    }

    /// The pieces in the order in which they were written.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// What could not be believed, in the order of the files. A [`Reader`] meets the same again and does not repeat it.
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Starts to read.
    #[must_use]
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(self)
    }

    /// Process rows and coverage, without decoding an event.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub fn tables(&self) -> Result<Tables, SpoolError> {
        Ok(Tables::default())
    }
}
