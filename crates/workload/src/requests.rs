//! Calls of a stream to its requests: what prepares a request is a part of it.
//!
//! Source: PIONEER, sections IV-A and IV-B (`read0`, `read1`).

use crate::file_class::FileIndex;
use crate::model::SessionLayer;
use iotrail_model::Nullable;
use iotrail_model::calls::CallKind;
use std::fmt;
use std::sync::Arc;

/// What calls that are alike have in common; it is held once for all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallForm {
    /// Name of the call.
    pub name: Arc<str>,
    /// What it does.
    pub kind: CallKind,
    /// Flags of an open, as recorded.
    pub mode: Option<Arc<str>>,
    /// Of which layer it is, and whether all ranks make it together.
    pub layer: SessionLayer,
}

/// A call about a file, as recorded; failed ones too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which.
    pub form: Arc<CallForm>,
    /// The file.
    pub file: FileIndex,
    /// The open file description that it makes or uses; NULL if it needs none or that is unknown.
    pub open: Nullable<u64>,
    /// Where a transfer begins, in bytes; NULL if unknown.
    pub offset: Nullable<i64>,
    /// Bytes that it asks to move; NULL unless it is a transfer.
    pub size: Nullable<i64>,
    /// When it began, in ns.
    pub start: i64,
    /// When it ended, in ns; NULL if that was not seen.
    pub end: Nullable<i64>,
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

/// A request of a stream. There are as many as a recording has events: 64 bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its call.
    pub form: Arc<CallForm>,
    /// Whether a call that set the position came directly before.
    pub seek: bool,
    /// Whether its slack was below 0.
    pub clamped: bool,
    /// The file.
    pub file: FileIndex,
    /// Its open file description, if it has one that is known.
    pub open: Nullable<u64>,
    /// Where a transfer begins, in bytes.
    pub offset: Nullable<i64>,
    /// Bytes that it asks to move.
    pub size: Nullable<i64>,
    /// Between the request before and this one, in ns, at least 0 (see [`Slack`]); NULL for the first of a stream, and if the end of the one
    /// before is unknown.
    pub slack_ns: Nullable<i64>,
    /// When it began, in ns.
    pub start: i64,
    /// When it ended, in ns; NULL if that was not seen.
    pub end: Nullable<i64>,
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
    /// What it does.
    #[must_use]
    pub fn kind(&self) -> CallKind {
        self.form.kind
    }

    /// Its operation, and what belongs to it.
    #[must_use]
    pub fn variant(&self) -> Variant {
        Variant { operation: Arc::clone(&self.form.name), seek: self.seek }
    }

    /// Time before it that neither a wait nor the recorder explains.
    #[must_use]
    pub fn slack(&self) -> Option<Slack> {
        Some(Slack { ns: self.slack_ns.get()?, clamped: self.clamped })
    }

    /// Whether it moves data.
    #[must_use]
    pub fn is_data(&self) -> bool {
        matches!(self.kind(), CallKind::Read | CallKind::Write)
    }

    /// Where a transfer ends if nothing cuts it short, in bytes.
    #[must_use]
    pub fn end_offset(&self) -> Option<i64> {
        self.offset.get()?.checked_add(self.size.get()?)
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
    let mut ended: Option<Nullable<i64>> = None;
    let mut rest = calls;
    while let [call, after @ ..] = rest {
        let folded = after.first().filter(|next| is_prepared(call, next));
        let (last, left) = folded.map_or((call, after), |next| (next, &after[1..]));
        let slack = ended.and_then(Nullable::get).map(|end: i64| slack(call, end, cost));
        requests.push(Request {
            form: Arc::clone(&last.form),
            seek: folded.is_some(),
            clamped: slack.is_some_and(|slack| slack.clamped),
            file: last.file,
            open: last.open,
            offset: last.offset,
            size: last.size,
            slack_ns: slack.map(|slack| slack.ns).into(),
            start: call.start,
            end: last.end,
        });
        ended = Some(last.end);
        rest = left;
    }
    requests
}

fn is_prepared(seek: &Call, transfer: &Call) -> bool {
    seek.form.kind == CallKind::Seek
        && matches!(transfer.form.kind, CallKind::Read | CallKind::Write)
        && !seek.open.is_null()
        && seek.open == transfer.open
}

fn slack(call: &Call, end: i64, cost: i64) -> Slack {
    // Calls of MPI-IO are not what a tracer stops at.
    let cost = if call.form.layer == SessionLayer::System { cost } else { 0 };
    let ns = call.start.saturating_sub(end).saturating_sub(call.waited).saturating_sub(cost);
    Slack { ns: ns.max(0), clamped: ns < 0 }
}
