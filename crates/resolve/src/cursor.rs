//! Offsets: where transfers start and where they leave the cursor of the open file description.
//!
//! Opening sets it to 0; reads and writes move it by the bytes moved; lseek sets it; calls that carry an offset leave it
//! alone. It is unknown, never guessed:
//! - after a write to the end of a file that is open for appending, and after calls of two threads were in flight on one
//!   description together, because the trace does not say which of them the kernel served first. The next lseek makes it
//!   known again;
//! - after a call that could not be read ([`crate::lost`]), until one tells the position again;
//! - for ever while somebody may move it who is not followed ([`crate::files::Description::followed`]): what was open
//!   before and is not known to be ours alone, what was sent away, what a process that is not followed inherited.

use crate::files::{DescriptionId, TableId};
use crate::operands::Position;
use crate::resolver::Resolver;
use iotrail_model::raw::{RawCall, Return};
use iotrail_model::{Nullable, Tid, Timestamp};

/// A call that moves data through a description.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    tid: Tid,
    start: Timestamp,
    end: Timestamp,
    /// Bytes moved; `None` if that was not seen.
    bytes: Option<i64>,
    failed: bool,
    /// Whether it was served beside the calls of its own thread.
    is_request: bool,
    /// Of an announced call: how often the cursor had been moved when it was entered.
    moves: Option<u64>,
}

/// When the cursor of a description was moved last, by one thread and by all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    tid: Tid,
    end: Timestamp,
    end_of_others: Timestamp,
}

impl Moved {
    fn next(before: Option<Self>, step: &Move) -> Self {
        let Move { tid, end, .. } = *step;
        match before {
            None => Self { tid, end, end_of_others: Timestamp(i64::MIN) },
            Some(last) if last.tid == tid => Self { end: last.end.max(end), ..last },
            Some(last) => Self { tid, end, end_of_others: last.end_of_others.max(last.end) },
        }
    }

    /// Whether a move by another thread, or a request, was not over when `step` began.
    fn overlaps(&self, step: &Move) -> bool {
        let own = self.tid == step.tid && !step.is_request;
        step.start < self.end_of_others || (!own && step.start < self.end)
    }
}

impl Move {
    pub(crate) fn of(call: &RawCall<'_>, is_request: bool) -> Self {
        let bytes = match call.ret {
            Return::Value(bytes, _) if bytes >= 0 => Some(bytes),
            _ => None,
        };
        let failed =
            matches!(call.ret, Return::Failed(_) | Return::Injected(..) | Return::Value(i64::MIN..=-1, _));
        let end = call.dur.map_or(call.start, |dur| call.start + dur);
        Self { tid: call.tid, start: call.start, end, bytes, failed, is_request, moves: None }
    }

    /// The same of a call that was announced, when the cursor had been moved so often.
    pub(crate) fn since(self, moves: Option<u64>) -> Self {
        Self { moves, ..self }
    }
}

impl Resolver {
    /// The offset at which a transfer starts. Moves the cursor.
    #[inline]
    pub(crate) fn transfer(
        &mut self,
        id: DescriptionId,
        step: &Move,
        position: Position,
        to_end: bool,
    ) -> Nullable<i64> {
        match position {
            Position::At(offset) if !to_end => Nullable::some(offset),
            Position::At(_) | Position::Unseen => Nullable::NULL,
            Position::Cursor => self.transfer_at_cursor(id, step, to_end),
        }
    }

    fn transfer_at_cursor(&mut self, id: DescriptionId, step: &Move, to_end: bool) -> Nullable<i64> {
        if !self.files.description(id).seekable {
            return Nullable::NULL;
        }
        let cursor = self.files.cursor(id);
        let contended = self.is_contended(id, step);
        let offset = if to_end || contended { Nullable::NULL } else { cursor };
        if !step.failed && step.bytes != Some(0) {
            let after = offset.get().zip(step.bytes).and_then(|(offset, bytes)| offset.checked_add(bytes));
            self.set_cursor(id, step, after.into());
        }
        self.trusted(id, offset)
    }

    /// lseek: the cursor before it. Afterwards it is at `to`, or unknown.
    pub(crate) fn seek(&mut self, id: DescriptionId, step: &Move, to: Option<i64>) -> Nullable<i64> {
        if !self.files.description(id).seekable {
            return Nullable::NULL;
        }
        let cursor = self.files.cursor(id);
        let contended = self.is_contended(id, step);
        let before = if contended { Nullable::NULL } else { cursor };
        if !step.failed {
            self.set_cursor(id, step, to.filter(|_| !contended).into());
        }
        self.trusted(id, before)
    }

    /// Where the next transfer starts, if that is certain.
    pub(crate) fn cursor(&self, id: DescriptionId) -> Nullable<i64> {
        self.trusted(id, self.files.cursor(id))
    }

    /// `offset`, unless somebody may have moved the cursor unseen.
    #[inline]
    fn trusted(&self, id: DescriptionId, offset: Nullable<i64>) -> Nullable<i64> {
        match self.files.is_trusted(id) {
            true => offset,
            false => Nullable::NULL,
        }
    }

    fn set_cursor(&mut self, id: DescriptionId, step: &Move, cursor: Nullable<i64>) {
        self.files.set_cursor(id, cursor);
        let description = self.files.description_mut(id);
        description.moved = Some(Moved::next(description.moved, step));
    }
}

/// The cursors of a trace of calls.
impl Resolver {
    /// Whether another thread's call, or a request, was in flight on the description at the same time.
    fn is_contended(&self, id: DescriptionId, step: &Move) -> bool {
        let description = self.files.description(id);
        let overtaken = step.moves.is_some_and(|moves| moves != self.files.moves(id));
        let overlaps = description.moved.is_some_and(|last| last.overlaps(step));
        description.in_flight > 0 || overtaken || overlaps
    }

    /// There is a thread of which nothing says who made it: it may share descriptors with any other.
    pub(crate) fn meets_unknown_parent(&mut self) {
        if self.is_trace {
            self.files.unknown_parent_appears();
        }
    }

    /// A thread makes another. If only the calls of one thread are in order, nobody knows who moves first what both have.
    pub(crate) fn divides(&mut self, table: TableId, shared: bool) {
        match (self.is_trace && self.own_files, shared) {
            (false, _) => {}
            (true, true) => self.files.unknown_parent_appears(),
            (true, false) => self.files.distrust_all(table),
        }
    }

    /// It is known now that a thread inherited the descriptors of `table`. What it did before was not told of them.
    pub(crate) fn learns_parent(&mut self, table: TableId) {
        if self.is_trace {
            self.files.parent_becomes_known();
            self.files.distrust_all(table);
        }
    }
}
