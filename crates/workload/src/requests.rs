//! Calls of a stream to its requests: what prepares a request is a part of it.
//!
//! Source: PIONEER, sections IV-A and IV-B (`read0`, `read1`).

use crate::file_class::FileIndex;
use iotrail_model::calls::CallKind;
use std::fmt;
use std::sync::Arc;

/// A call about a file, as recorded; failed ones too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its name.
    pub name: Arc<str>,
    /// What it does.
    pub kind: CallKind,
    /// The file.
    pub file: FileIndex,
    /// The open file description that it makes or uses; NULL if it needs none or that is unknown.
    pub open: Option<u64>,
    /// Flags of an open, as recorded.
    pub mode: Option<Arc<str>>,
    /// Where a transfer begins, in bytes; NULL if unknown.
    pub offset: Option<i64>,
    /// Bytes that it asks to move; NULL unless it is a transfer.
    pub size: Option<i64>,
    /// When it began, in ns.
    pub start: i64,
    /// When it ended, in ns; NULL if that was not seen.
    pub end: Option<i64>,
    /// Time before it that the stream spent in synchronisation, in ns.
    pub waited: i64,
}

/// An operation, and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variant {
    /// Name of the call.
    pub operation: Arc<str>,
    /// Whether a call that set the position came directly before: `read.s`.
    pub seek: bool,
}

/// A request of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub variant: Variant,
    /// What it does.
    pub kind: CallKind,
    /// The file.
    pub file: FileIndex,
    /// Its open file description, if it has one that is known.
    pub open: Option<u64>,
    /// Flags of an open.
    pub mode: Option<Arc<str>>,
    /// Where a transfer begins, in bytes.
    pub offset: Option<i64>,
    /// Bytes that it asks to move.
    pub size: Option<i64>,
    /// Between the request before and this one; NULL for the first of a stream, and if the end of the one before is
    /// unknown.
    pub slack: Option<Slack>,
    /// When it began, in ns.
    pub start: i64,
    /// When it ended, in ns; NULL if that was not seen.
    pub end: Option<i64>,
}

/// Time between two requests that neither a wait nor the recorder explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slack {
    /// In ns, at least 0.
    pub ns: i64,
    /// Whether it was below 0: requests overlap, or less time passed than was to be taken off.
    pub clamped: bool,
}

impl Request {
    /// Whether it moves data.
    #[must_use]
    pub fn is_data(&self) -> bool {
        matches!(self.kind, CallKind::Read | CallKind::Write)
    }

    /// Where a transfer ends if nothing cuts it short, in bytes.
    #[must_use]
    pub fn end_offset(&self) -> Option<i64> {
        self.offset?.checked_add(self.size?)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.operation, if self.seek { ".s" } else { "" })
    }
}

/// The requests of a stream, whose calls are in the order of their starts. A call that sets a position directly before a
/// transfer through the same description becomes a part of it. `cost` is what the recorder adds between two calls,
/// in ns.
#[must_use]
pub fn requests(calls: &[Call], cost: i64) -> Vec<Request> {
    let mut requests = Vec::with_capacity(calls.len());
    let mut ended = None;
    let mut rest = calls;
    while let [call, after @ ..] = rest {
        let folded = after.first().filter(|next| is_prepared(call, next));
        let (last, left) = folded.map_or((call, after), |next| (next, &after[1..]));
        requests.push(Request {
            variant: Variant { operation: Arc::clone(&last.name), seek: folded.is_some() },
            kind: last.kind,
            file: last.file,
            open: last.open,
            mode: last.mode.clone(),
            offset: last.offset,
            size: last.size,
            slack: ended.flatten().map(|end: i64| slack(call, end, cost)),
            start: call.start,
            end: last.end,
        });
        ended = Some(last.end);
        rest = left;
    }
    requests
}

fn is_prepared(seek: &Call, transfer: &Call) -> bool {
    seek.kind == CallKind::Seek
        && matches!(transfer.kind, CallKind::Read | CallKind::Write)
        && seek.open.is_some()
        && seek.open == transfer.open
}

fn slack(call: &Call, end: i64, cost: i64) -> Slack {
    let ns = call.start.saturating_sub(end).saturating_sub(call.waited).saturating_sub(cost);
    Slack { ns: ns.max(0), clamped: ns < 0 }
}
