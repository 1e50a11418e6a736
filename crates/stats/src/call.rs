//! One selected call as the accumulators of a profile see it.

use crate::across_cases::AcrossCases;
use crate::call_kind::{CallKind, CallKinds, Moved};
use crate::file_kinds::FileKinds;
use iotrail_model::calls::{Class, EventClasses};
use iotrail_model::{Case, CaseId, Event, EventBatch, FileId, Nullable, OpenId, Pid};
use iotrail_query::{ProcessId, ProcessTable, event_classes};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::num::NonZeroUsize;

/// What accumulators look at in every event.
pub(crate) fn columns() -> Columns {
    Columns::CASE
        | Columns::PID
        | Columns::CALL
        | Columns::START
        | Columns::DUR
        | Columns::FD
        | Columns::PATH
        | Columns::PATH2
        | Columns::OFFSET
        | Columns::REQUESTED
        | Columns::SIZE
        | Columns::RET
        | Columns::ERRNO
        | Columns::FLAGS
        | Columns::FILE
        | Columns::FILE2
        | Columns::OPEN
        | Columns::OPEN2
}

/// What is known of the calls and files of a log by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    pub(crate) calls: CallKinds,
    pub(crate) files: FileKinds,
    pub(crate) classes: EventClasses,
    /// The case that stands for all with the same numbers of open file descriptions.
    numberings: Vec<CaseId>,
    pub(crate) across_cases: AcrossCases,
}

impl Kinds {
    pub(crate) fn new(log: &EventLog, threads: NonZeroUsize) -> Result<Self, TrailError> {
        let numberings: Vec<_> = log.cases().iter().map(Case::numbering).collect();
        Ok(Self {
            across_cases: AcrossCases::of(log, &numberings, threads)?,
            calls: CallKinds::new(log.names()),
            files: FileKinds::new(log, threads)?,
            classes: event_classes(log, threads)?,
            numberings,
        })
    }

    /// An event of process `process`, whose group is `slot`.
    #[inline]
    pub(crate) fn call(&self, event: Event, process: Option<ProcessId>, slot: usize) -> Call {
        let kind = self.calls.of(&event);
        let moved = kind.moved(&event);
        let file = self.files.file(event.file);
        let second = if kind.second { self.files.file(event.file2) } else { None };
        let [open, open2] = [event.open, event.open2].map(|open| self.description(event.case, open));
        let is_request = self.classes.is_request(event.call);
        Call { event, process, slot, kind, moved, file, second, open, open2, class: None, is_request }
    }

    /// What the time of a row counts as.
    pub(crate) fn class(
        &self,
        batch: &EventBatch,
        row: usize,
        process: Option<ProcessId>,
        processes: &ProcessTable,
    ) -> Option<Class> {
        let ended_before = |child| {
            process.is_some_and(|process| processes.child_ended_before(process, Pid(child), batch.start[row]))
        };
        let time = batch.dur[row].get().map(|dur| dur.0);
        self.classes.among_processes(batch, row, time, ended_before)
    }

    /// What a number of an event stands for.
    #[inline]
    pub(crate) fn description(&self, case: CaseId, open: Nullable<OpenId>) -> Option<Description> {
        Description::of(case, open, &self.numberings)
    }
}

/// An open file description of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Description {
    /// The case whose numbers these are: of several that share them the first.
    case: CaseId,
    pub(crate) open: OpenId,
}

impl Description {
    /// What a number in `case` stands for; `numberings` has for each case the one whose numbers it has.
    #[inline]
    pub(crate) fn of(case: CaseId, open: Nullable<OpenId>, numberings: &[CaseId]) -> Option<Self> {
        let case = numberings.get(case.index()).copied().unwrap_or(case);
        open.get().map(|open| Self { case, open })
    }
}

/// One selected call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) event: Event,
    /// The process; NULL if the table of processes does not know it.
    pub(crate) process: Option<ProcessId>,
    /// The group of the process: its number, or one more than the last for processes of no group.
    pub(crate) slot: usize,
    pub(crate) kind: CallKind,
    /// What it moved.
    pub(crate) moved: Option<Moved>,
    /// What `path` denoted, if it is a file.
    pub(crate) file: Option<FileId>,
    /// What `path2` denoted, if it is a file that the call uses.
    pub(crate) second: Option<FileId>,
    /// The open file description that it acted on.
    pub(crate) open: Option<Description>,
    /// That of its second descriptor.
    pub(crate) open2: Option<Description>,
    /// What its time counts as.
    pub(crate) class: Option<Class>,
    /// Whether it is a request: its time is work in flight, and none of a thread.
    pub(crate) is_request: bool,
}

impl Call {
    /// The file that bytes come out of.
    #[inline]
    pub(crate) fn source(&self) -> Option<FileId> {
        self.file
    }

    /// The file that bytes go into.
    #[inline]
    pub(crate) fn target(&self) -> Option<FileId> {
        if self.is_copy() { self.second } else { self.file }
    }

    #[inline]
    pub(crate) fn is_copy(&self) -> bool {
        self.moved.is_some_and(|moved| moved.read && moved.written)
    }

    /// Bytes that it asked for, as far as known. A copy asks for "all there is": that is no size.
    pub(crate) fn requested(&self) -> Option<u64> {
        let requested = self.event.requested.get().filter(|_| !self.is_copy());
        requested.and_then(|bytes| u64::try_from(bytes).ok())
    }

    /// Whether it failed, and so used no file.
    #[inline]
    pub(crate) fn failed(&self) -> bool {
        !self.event.errno.is_null()
    }
}
