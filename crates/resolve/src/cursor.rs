//! Calls that move the cursor of an open file description, and how they overlap.

use iotrail_model::raw::{RawCall, Return};
use iotrail_model::{Tid, Timestamp};

/// A call that moves data through a description.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    tid: Tid,
    start: Timestamp,
    end: Timestamp,
    /// Bytes moved; `None` if that was not seen.
    pub(crate) bytes: Option<i64>,
    pub(crate) failed: bool,
    /// Whether it was served beside the calls of its own thread.
    is_request: bool,
    /// Of an announced call: how often the cursor had been moved when it was entered.
    pub(crate) moves: Option<u64>,
}

/// When the cursor of a description was moved last, by one thread and by all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    tid: Tid,
    end: Timestamp,
    end_of_others: Timestamp,
}

impl Moved {
    pub(crate) fn next(before: Option<Self>, step: &Move) -> Self {
        let Move { tid, end, .. } = *step;
        match before {
            None => Self { tid, end, end_of_others: Timestamp(i64::MIN) },
            Some(last) if last.tid == tid => Self { end: last.end.max(end), ..last },
            Some(last) => Self { tid, end, end_of_others: last.end_of_others.max(last.end) },
        }
    }

    /// Whether a move by another thread, or a request, was not over when `step` began.
    pub(crate) fn overlaps(&self, step: &Move) -> bool {
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
