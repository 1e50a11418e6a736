//! Events column by column: what analyses read.

use crate::event::Layer;
use crate::ids::{CallId, CaseId, ErrnoId, FileId, FlagsId, PathId, Pid, Tid};
use crate::nullable::Nullable;
use crate::time::{Nanos, Timestamp};
use std::sync::Arc;

/// Consecutive rows of an event log, column by column, sorted by (case, start, seq).
///
/// Every column is either `len` long or, when the reader was not asked for it, empty.
/// Ids refer to the log's [`Names`].
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "the fields are the columns of crate::Event")]
pub struct EventBatch {
    pub len: usize,
    pub case: Vec<CaseId>,
    pub seq: Vec<u64>,
    pub pid: Vec<Pid>,
    pub tid: Vec<Tid>,
    pub layer: Vec<Layer>,
    pub call: Vec<CallId>,
    pub start: Vec<Timestamp>,
    pub dur: Vec<Nullable<Nanos>>,
    pub fd: Vec<Nullable<i32>>,
    pub path: Vec<Nullable<PathId>>,
    pub path2: Vec<Nullable<PathId>>,
    pub offset: Vec<Nullable<i64>>,
    pub requested: Vec<Nullable<i64>>,
    pub size: Vec<Nullable<i64>>,
    pub ret: Vec<Nullable<i64>>,
    pub errno: Vec<Nullable<ErrnoId>>,
    pub flags: Vec<Nullable<FlagsId>>,
    pub file: Vec<Nullable<FileId>>,
    pub file2: Vec<Nullable<FileId>>,
}

impl EventBatch {
    /// A batch of whole events, all columns filled.
    #[must_use]
    pub fn from_events(events: &[crate::Event]) -> Self {
        let mut batch = Self::default();
        events.iter().for_each(|event| batch.push(event));
        batch
    }

    /// Appends one event to every column.
    pub fn push(&mut self, event: &crate::Event) {
        self.len += 1;
        self.case.push(event.case);
        self.seq.push(event.seq);
        self.pid.push(event.pid);
        self.tid.push(event.tid);
        self.layer.push(event.layer);
        self.call.push(event.call);
        self.start.push(event.start);
        self.dur.push(event.dur);
        self.fd.push(event.fd);
        self.path.push(event.path);
        self.path2.push(event.path2);
        self.offset.push(event.offset);
        self.requested.push(event.requested);
        self.size.push(event.size);
        self.ret.push(event.ret);
        self.errno.push(event.errno);
        self.flags.push(event.flags);
        self.file.push(event.file);
        self.file2.push(event.file2);
    }

    /// Row `row` as an event; columns that were not read are NULL or zero.
    #[must_use]
    pub fn event(&self, row: usize) -> crate::Event {
        fn at<T: Copy + Default>(column: &[T], row: usize) -> T {
            column.get(row).copied().unwrap_or_default()
        }
        crate::Event {
            case: at(&self.case, row),
            seq: at(&self.seq, row),
            pid: at(&self.pid, row),
            tid: at(&self.tid, row),
            layer: at(&self.layer, row),
            call: at(&self.call, row),
            start: at(&self.start, row),
            dur: at(&self.dur, row),
            fd: at(&self.fd, row),
            path: at(&self.path, row),
            path2: at(&self.path2, row),
            offset: at(&self.offset, row),
            requested: at(&self.requested, row),
            size: at(&self.size, row),
            ret: at(&self.ret, row),
            errno: at(&self.errno, row),
            flags: at(&self.flags, row),
            file: at(&self.file, row),
            file2: at(&self.file2, row),
        }
    }
}

/// The dictionaries of an event log: `names.calls[CallId.index()]` and so on.
///
/// Paths are in the text form of [`crate::text::path_to_text`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Call names by [`CallId`].
    pub calls: Vec<Arc<str>>,
    /// Paths by [`PathId`].
    pub paths: Vec<Arc<str>>,
    /// Error names by [`ErrnoId`].
    pub errnos: Vec<Arc<str>>,
    /// Flag texts by [`FlagsId`].
    pub flags: Vec<Arc<str>>,
}

impl Names {
    /// The name of a call.
    #[must_use]
    pub fn call(&self, id: CallId) -> &str {
        &self.calls[id.index()]
    }

    /// The path, if it is known.
    #[must_use]
    pub fn path(&self, id: Nullable<PathId>) -> Option<&str> {
        id.get().map(|id| &*self.paths[id.index()])
    }

    /// The error name, if the call failed.
    #[must_use]
    pub fn errno(&self, id: Nullable<ErrnoId>) -> Option<&str> {
        id.get().map(|id| &*self.errnos[id.index()])
    }

    /// The flags, if there are any.
    #[must_use]
    pub fn flags(&self, id: Nullable<FlagsId>) -> Option<&str> {
        id.get().map(|id| &*self.flags[id.index()])
    }
}
