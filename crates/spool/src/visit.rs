//! Who takes what a spool holds.

use crate::error::SpoolError;
use iotrail_model::{Coverage, Dictionaries, Event, NamedFile, Process};

/// Takes records in the order in which they were written.
pub trait Visit {
    /// Why it may want no more.
    type Error: From<SpoolError>;

    /// An event; its ids refer to `names`.
    ///
    /// # Errors
    /// Reading ends with it.
    fn event(&mut self, event: &Event, names: &Dictionaries) -> Result<(), Self::Error>;

    /// From here on, ids of names mean something else.
    ///
    /// # Errors
    /// Reading ends with it.
    fn renamed(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A process row that is final.
    ///
    /// # Errors
    /// Reading ends with it.
    fn process(&mut self, _process: Process) -> Result<(), Self::Error> {
        Ok(())
    }

    /// An executable image that began: the row of a process that may never have been seen to end.
    ///
    /// # Errors
    /// Reading ends with it.
    fn image(&mut self, _process: Process) -> Result<(), Self::Error> {
        Ok(())
    }

    /// What is known of the file of that name.
    ///
    /// # Errors
    /// Reading ends with it.
    fn file(&mut self, _path: &[u8], _file: &NamedFile) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The coverage statement up to here; the last one counts.
    ///
    /// # Errors
    /// Reading ends with it.
    fn coverage(&mut self, _coverage: Coverage) -> Result<(), Self::Error> {
        Ok(())
    }
}
