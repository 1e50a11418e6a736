//! Appends records to the segments of a spool.

use crate::error::SpoolError;
use crate::header::Header;
use iotrail_model::{Coverage, Dictionaries, Event, FileFacts, PathId, Process};
use std::path::{Path, PathBuf};

/// What a writer wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Events in the spool.
    pub events: u64,
    /// Process rows, images, file facts and coverage statements in the spool.
    pub rows: u64,
    /// Bytes of the segments.
    pub bytes: u64,
    /// Events that were refused after an error: they are lost.
    pub refused_events: u64,
    /// Other records that were refused.
    pub refused_rows: u64,
}

/// Writes a spool. Every record is in the page cache before the call that wrote it returns.
///
/// After an error everything written before stays readable; each further record is refused with the same error and counted.
#[derive(Debug)]
pub struct SpoolWriter {
    directory: PathBuf,
}

impl SpoolWriter {
    /// Starts a spool in `directory`, which is made if it is not there.
    ///
    /// # Errors
    /// There is a spool in it already, or it cannot be written.
    pub fn create(directory: &Path, _header: &Header) -> Result<Self, SpoolError> {
        Ok(Self { directory: directory.to_owned() })
    }

    /// The directory of the spool.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Appends an event.
    ///
    /// # Errors
    /// The disk is full or failed, the spool was removed, or an id is not in `names`.
    pub fn event(&mut self, _event: &Event, _names: &Dictionaries) -> Result<(), SpoolError> {
        Ok(())
    }

    /// Appends the final row of an executable image.
    ///
    /// # Errors
    /// See [`SpoolWriter::event`].
    pub fn process(&mut self, _process: &Process) -> Result<(), SpoolError> {
        Ok(())
    }

    /// Appends the provisional row of an executable image that began.
    ///
    /// # Errors
    /// See [`SpoolWriter::event`].
    pub fn image(&mut self, _process: &Process) -> Result<(), SpoolError> {
        Ok(())
    }

    /// Appends what was found at a path.
    ///
    /// # Errors
    /// See [`SpoolWriter::event`].
    pub fn file(
        &mut self,
        _path: PathId,
        _facts: &FileFacts,
        _names: &Dictionaries,
    ) -> Result<(), SpoolError> {
        Ok(())
    }

    /// Appends the coverage statement as it stands, so that a recording that is killed knows what it dropped until then.
    ///
    /// # Errors
    /// See [`SpoolWriter::event`].
    pub fn coverage(&mut self, _coverage: &Coverage) -> Result<(), SpoolError> {
        Ok(())
    }

    /// From here on, ids of names mean something else.
    pub fn rotate(&mut self) {}

    /// What was written and refused so far.
    #[must_use]
    pub fn written(&self) -> Written {
        Written::default()
    }

    /// Marks the spool as complete.
    ///
    /// # Errors
    /// The error that an earlier call met, or the mark cannot be written.
    pub fn finish(self) -> Result<Written, SpoolError> {
        Ok(self.written())
    }
}
