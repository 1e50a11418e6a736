//! Offsets: where transfers start and where they leave the cursor of the open file description.
//!
//! Opening sets it to 0; reads and writes move it by the bytes moved; lseek sets it; calls that carry an offset leave it
//! alone. It is unknown, never guessed: after an opening that was not seen, after a write to the end of a file that is
//! open for appending, and after calls of two threads were in flight on one description together, because the trace
//! does not say which of them the kernel served first. The next lseek makes it known again.

use crate::files::{Description, DescriptionId};
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
}

impl Move {
    pub(crate) fn of(call: &RawCall<'_>, is_request: bool) -> Self {
        let bytes = match call.ret {
            Return::Value(bytes, _) if bytes >= 0 => Some(bytes),
            _ => None,
        };
        let failed = matches!(call.ret, Return::Failed(_) | Return::Value(i64::MIN..=-1, _));
        let end = call.dur.map_or(call.start, |dur| call.start + dur);
        Self { tid: call.tid, start: call.start, end, bytes, failed, is_request }
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
        let description = self.files.description(id);
        if !description.seekable {
            return Nullable::NULL;
        }
        let offset = match to_end || self.is_contended(id, step) {
            true => Nullable::NULL,
            false => self.cursor(id),
        };
        if !step.failed && step.bytes != Some(0) {
            let after = offset.get().zip(step.bytes).and_then(|(offset, bytes)| offset.checked_add(bytes));
            self.set_cursor(id, step, after.into());
        }
        offset
    }

    /// lseek: the cursor before it. Afterwards it is at `to`, or unknown.
    pub(crate) fn seek(&mut self, id: DescriptionId, step: &Move, to: Option<i64>) -> Nullable<i64> {
        if !self.files.description(id).seekable {
            return Nullable::NULL;
        }
        let contended = self.is_contended(id, step);
        let before = if contended { Nullable::NULL } else { self.cursor(id) };
        if !step.failed {
            self.set_cursor(id, step, to.filter(|_| !contended).into());
        }
        before
    }

    pub(crate) fn cursor(&self, id: DescriptionId) -> Nullable<i64> {
        match self.files.has_cursor(id) {
            true => self.files.description(id).cursor,
            false => Nullable::NULL,
        }
    }

    fn set_cursor(&mut self, id: DescriptionId, step: &Move, cursor: Nullable<i64>) {
        let Description { opened, kin, .. } = *self.files.description(id);
        if !opened {
            self.files.unseen_move(kin);
        }
        let epoch = self.files.epoch(kin);
        let description = self.files.description_mut(id);
        description.cursor = cursor;
        description.moved = Some((step.tid, step.end));
        description.epoch = epoch;
    }

    /// Whether another thread's call, or a request, was in flight on the description at the same time.
    fn is_contended(&self, id: DescriptionId, step: &Move) -> bool {
        let description = self.files.description(id);
        let moved = description
            .moved
            .is_some_and(|(tid, end)| (tid != step.tid || step.is_request) && step.start < end);
        moved || description.in_flight > 0
    }
}
