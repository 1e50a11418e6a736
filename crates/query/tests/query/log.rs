//! A tiny builder of event logs for the tests of this crate.

use iotrail_model::{Case, CaseId, CaseName, Event, Nullable, Pid, Tid, Timestamp};
use iotrail_trail::EventLog;
use iotrail_trail::memory::MemoryLog;

/// An event log under construction.
pub(crate) struct Log {
    memory: MemoryLog,
    seq: u64,
}

/// A case named `cid/host/rid`; `-` is unknown.
pub(crate) fn case(id: u32, name: &str) -> Case {
    let mut parts = name.split('/').map(|part| (part != "-").then(|| part.to_owned()));
    let mut next = || parts.next().flatten();
    Case { id: CaseId(id), name: CaseName { cid: next(), host: next(), rid: next() }, ..Case::default() }
}

impl Log {
    pub(crate) fn new(cases: Vec<Case>) -> Self {
        Self { memory: MemoryLog::new(cases).row_group_rows(7), seq: 0 }
    }

    /// An event of `case`, one microsecond after the one before; an empty path is none.
    pub(crate) fn event(&mut self, case: u32, call: &str, path: &str) -> &mut Self {
        self.with(case, call, path, |_, _| ())
    }

    /// The same, changed by `edit`.
    pub(crate) fn with(
        &mut self,
        case: u32,
        call: &str,
        path: &str,
        edit: impl FnOnce(&mut Event, &mut MemoryLog),
    ) -> &mut Self {
        self.seq += 1;
        let mut event = Event {
            case: CaseId(case),
            seq: self.seq,
            pid: Pid(100 + case),
            tid: Tid(100 + case),
            call: self.memory.call(call),
            start: Timestamp(1_000_000_000 + self.seq as i64 * 1000),
            path: if path.is_empty() { Nullable::NULL } else { self.memory.path(path) },
            ..Event::default()
        };
        edit(&mut event, &mut self.memory);
        self.memory.push(event);
        self
    }

    pub(crate) fn memory(&mut self) -> &mut MemoryLog {
        &mut self.memory
    }

    pub(crate) fn build(self) -> EventLog {
        self.memory.build()
    }
}
