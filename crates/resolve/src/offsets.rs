//! Offsets: where transfers start and where they leave the cursor of the open file description.
//!
//! Opening sets it to 0; reads and writes move it by the bytes moved; lseek sets it; calls that carry an offset leave it
//! alone. It is unknown, never guessed:
//! - after a write to the end of a file that is open for appending, and after calls of two threads were in flight on one
//!   description together, because the trace does not say which of them the kernel served first. The next lseek makes it
//!   known again;
//! - after a write to a file that may leave it where it is ([`Positions::OfReads`]);
//! - after a call that could not be read ([`crate::lost`]), until one tells the position again;
//! - for ever while somebody may move it who is not followed ([`crate::files::Description::followed`]): what was open
//!   before and is not known to be ours alone, what was sent away, what a process that is not followed inherited.

use crate::cursor::{Move, Moved};
use crate::descriptor_tables::{DescriptionId, DescriptorTables, TableId};
use crate::operands::Position;
use crate::positions::Positions;
use iotrail_model::Nullable;

/// Which way bytes go between a process and an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To the process.
    Read,
    /// To the file.
    Write,
    /// To the file, wherever it ends.
    ToEnd,
}

impl DescriptorTables {
    /// The offset at which a transfer starts. Moves the cursor.
    #[inline]
    pub(crate) fn transfer(
        &mut self,
        id: DescriptionId,
        step: &Move,
        position: Position,
        way: Way,
    ) -> Nullable<i64> {
        match position {
            Position::At(offset) if way != Way::ToEnd => Nullable::some(offset),
            Position::At(_) | Position::Unseen => Nullable::NULL,
            Position::Cursor => self.transfer_at_cursor(id, step, way),
        }
    }

    fn transfer_at_cursor(&mut self, id: DescriptionId, step: &Move, way: Way) -> Nullable<i64> {
        if !self.description(id).positions.exist() {
            return Nullable::NULL;
        }
        let cursor = self.cursor(id);
        let contended = self.is_contended(id, step);
        let offset = if way == Way::ToEnd || contended { Nullable::NULL } else { cursor };
        if !step.failed && step.bytes != Some(0) {
            let after = offset.get().zip(step.bytes).and_then(|(offset, bytes)| offset.checked_add(bytes));
            let is_told = way == Way::Read || self.description(id).positions == Positions::All;
            self.move_cursor(id, step, after.filter(|_| is_told).into());
        }
        self.trusted(id, offset)
    }

    /// lseek: the cursor before it. Afterwards it is at `to`, or unknown.
    pub(crate) fn seek(&mut self, id: DescriptionId, step: &Move, to: Option<i64>) -> Nullable<i64> {
        if !self.description(id).positions.exist() {
            return Nullable::NULL;
        }
        let cursor = self.cursor(id);
        let contended = self.is_contended(id, step);
        let before = if contended { Nullable::NULL } else { cursor };
        if !step.failed {
            self.move_cursor(id, step, to.filter(|_| !contended).into());
        }
        self.trusted(id, before)
    }

    /// Where the next transfer starts, if that is certain.
    pub(crate) fn certain_cursor(&self, id: DescriptionId) -> Nullable<i64> {
        self.trusted(id, self.cursor(id))
    }

    /// `offset`, unless somebody may have moved the cursor unseen.
    #[inline]
    fn trusted(&self, id: DescriptionId, offset: Nullable<i64>) -> Nullable<i64> {
        match self.is_trusted(id) {
            true => offset,
            false => Nullable::NULL,
        }
    }

    fn move_cursor(&mut self, id: DescriptionId, step: &Move, cursor: Nullable<i64>) {
        self.set_cursor(id, cursor);
        let description = self.description_mut(id);
        description.moved = Some(Moved::next(description.moved, step));
    }

    /// Whether another thread's call, or a request, was in flight on the description at the same time.
    fn is_contended(&self, id: DescriptionId, step: &Move) -> bool {
        let description = self.description(id);
        let overtaken = step.moves.is_some_and(|moves| moves != self.moves(id));
        let overlaps = description.moved.is_some_and(|last| last.overlaps(step));
        description.in_flight > 0 || overtaken || overlaps
    }

    /// There is a thread of which nothing says who made it: it may share descriptors with any other.
    pub(crate) fn meets_unknown_parent(&mut self) {
        if self.source.is_trace {
            self.unknown_parent_appears();
        }
    }

    /// A thread makes another. If only the calls of one thread are in order, nobody knows who moves first what both have.
    pub(crate) fn divides(&mut self, table: TableId, shared: bool) {
        match (self.source.is_trace && self.source.own_files, shared) {
            (false, _) => {}
            (true, true) => self.unknown_parent_appears(),
            (true, false) => self.distrust_all(table),
        }
    }

    /// It is known now that a thread inherited the descriptors of `table`. What it did before was not told of them.
    pub(crate) fn learns_parent(&mut self, table: TableId) {
        if self.source.is_trace {
            self.parent_becomes_known();
            self.distrust_all(table);
        }
    }
}
