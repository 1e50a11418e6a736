//! What rules see of a call, and what they find.

use crate::result::Example;
use iotrail_model::calls::{CallKind, Transfer};
use iotrail_model::{CaseId, FileId, OpenId, PathId, Pid, Tid};
use std::sync::Arc;

/// A call, as far as rules look at it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) case: CaseId,
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) seq: u64,
    pub(crate) start: i64,
    /// How long it took, in ns.
    pub(crate) time: Option<u64>,
    pub(crate) kind: CallKind,
    pub(crate) transfer: Transfer,
    pub(crate) result: Outcome,
    pub(crate) path: Option<PathId>,
    /// Of regular files and block devices.
    pub(crate) file: Option<FileId>,
    pub(crate) open: Option<OpenId>,
    pub(crate) offset: Option<u64>,
    pub(crate) size: Option<u64>,
    /// Whether it empties its file, or its bytes are on storage before it returns.
    pub(crate) truncates: bool,
    pub(crate) syncs: bool,
    /// Whether it maps its file so that others see what is stored there.
    pub(crate) shares: bool,
    /// Whether the user asked about it.
    pub(crate) selected: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// There is no such name.
    Missing,
    Failed,
}

impl Seen {
    pub(crate) fn process(&self) -> (CaseId, Pid) {
        (self.case, self.pid)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.result == Outcome::Done
    }

    pub(crate) fn example(&self, case: String, calls: u64) -> Example {
        Example {
            case,
            pid: self.pid.0,
            tid: self.tid.0,
            first: self.seq,
            last: self.seq,
            start_ns: self.start,
            calls,
            offset: self.offset.unwrap_or_default(),
            bytes: self.size.unwrap_or_default(),
        }
    }
}

/// Calls that need not be, and their time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saved {
    pub(crate) calls: u64,
    /// NULL if a duration is not known.
    pub(crate) time: Option<u64>,
}

impl Default for Saved {
    fn default() -> Self {
        Self { calls: 0, time: Some(0) }
    }
}

impl Saved {
    pub(crate) fn add(&mut self, call: &Seen) {
        self.calls += 1;
        self.time = self.time.zip(call.time).map(|(sum, time)| sum.saturating_add(time));
    }

    /// Of these calls as many as remain when so many in a hundred are dropped.
    pub(crate) fn percent(self, percent: u64) -> Self {
        let part = |number: u64| (u128::from(number) * u128::from(percent) / 100) as u64;
        Self { calls: part(self.calls), time: self.time.map(part) }
    }

    /// The time without what tracing added to each call.
    pub(crate) fn time(&self, tracing: u64) -> Option<u64> {
        self.time.map(|time| time.saturating_sub(tracing.saturating_mul(self.calls)))
    }
}

/// A habit of one process.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) rule: &'static str,
    /// The file or directory.
    pub(crate) file: Arc<str>,
    pub(crate) calls: u64,
    pub(crate) saved: Saved,
    /// What the rule counts beside calls: bytes, names.
    pub(crate) amount: u64,
    pub(crate) fix: &'static str,
    pub(crate) assumes: &'static str,
    pub(crate) example: Seen,
}

/// The text of a path.
pub(crate) fn text(names: &iotrail_model::Names, path: Option<PathId>) -> Arc<str> {
    path.and_then(|path| names.paths.get(path.index())).cloned().unwrap_or_else(|| Arc::from("?"))
}
