//! The calls of a program on the files of a name, as far as they can be issued again.

use iotrail_advise::program;
use iotrail_model::calls::{ArgKind, CallKind, CallSpec, Forces, OpenFlags, PerCall, Transfer};
use iotrail_model::{CaseId, Event, FileId, OpenId, Pid, Tid};
use iotrail_query::ProcessTable;
use iotrail_replay::OpenMode;
use iotrail_trail::{Columns, EventLog, TrailError};
use std::collections::HashMap;

/// Calls of one finding that are issued; what is beyond is left out.
pub(crate) const MAX_CALLS: usize = 200_000;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CallAction {
    /// Opens the file.
    Open(OpenMode),
    /// Closes a descriptor.
    Close,
    /// Reads or writes.
    Transfer(Moved),
    /// Moves where the description stands to an offset.
    Seek(u64),
    /// Forces the file to storage.
    Sync,
    /// Forces its data.
    SyncData,
    /// Sets its length.
    Truncate(u64),
    /// Looks at it.
    Stat,
    /// It failed, and fails on scratch files for the same reason.
    Refused(Refusal),
}

/// A call that failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusal {
    /// An open: there is no such file.
    Open(OpenMode),
    /// An open that makes a file: it is there.
    Create(OpenMode),
    /// A look at a file: it is not there.
    Stat,
}

/// A read or write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// Whether it writes.
    pub writes: bool,
    /// Whether the call names the offset (`pread`), instead of using that of its description.
    pub positioned: bool,
    /// Where it begins, if that is known.
    pub offset: Option<u64>,
    /// Bytes asked for.
    pub asked: u64,
    /// Bytes moved.
    pub moved: u64,
    /// Buffers in memory. Trails do not have those of recorded calls: one.
    pub buffers: u32,
}

impl Moved {
    /// Its bytes, if its place is known.
    #[must_use]
    pub fn range(self) -> Option<(u64, u64)> {
        let offset = self.offset?;
        Some((offset, offset.saturating_add(self.moved)))
    }
}

/// An open file description: its number, and the case that numbers it.
pub type Description = (CaseId, OpenId);

/// A thread.
pub type Thread = (CaseId, Pid, Tid);

/// A call that can be issued again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// The case and the number of the call.
    pub place: (CaseId, u64),
    /// When it began.
    pub start: i64,
    /// When it was over.
    pub end: i64,
    /// Time since the call before it that is issued by the same thread, in ns.
    pub think: u64,
    /// Its process.
    pub pid: Pid,
    /// Its thread.
    pub tid: Tid,
    /// The file.
    pub file: FileId,
    /// Through which description.
    pub open: Option<Description>,
    /// What it does.
    pub action: CallAction,
}

impl Call {
    /// Its thread.
    #[must_use]
    pub const fn thread(&self) -> Thread {
        (self.place.0, self.pid, self.tid)
    }

    /// The process.
    #[must_use]
    pub const fn process(&self) -> (CaseId, Pid) {
        (self.place.0, self.pid)
    }

    pub(crate) const fn with(&self, action: CallAction) -> Self {
        Self { action, ..*self }
    }

    pub(crate) const fn transfer(&self) -> Option<Moved> {
        match self.action {
            CallAction::Transfer(moved) => Some(moved),
            _ => None,
        }
    }
}

/// The calls of one finding, in the order of their starts.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) calls: Vec<Call>,
    /// Further calls: there are too many.
    pub(crate) left_out: u64,
    /// Calls that scratch files cannot stand for: mappings, copies, other failures, what happens to names.
    pub(crate) not_issued: u64,
}

/// Whose calls on what: the path and the base name of the executable.
pub(crate) struct Wanted<'a> {
    pub(crate) file: &'a str,
    pub(crate) program: &'a str,
}

/// The calls of each of `wanted`, in one reading of the log.
pub(crate) fn gather(
    log: &EventLog,
    process_table: &ProcessTable,
    wanted: &[Wanted<'_>],
) -> Result<Vec<Calls>, TrailError> {
    let names = log.names();
    let known = PerCall::new(&names.calls, |call| {
        // What a ring or a control block does is no call of a thread.
        call.spec.filter(|spec| spec.request.is_none())
    });
    let path = |file: FileId| &*names.paths[log.distinct_files()[file.index()].path.index()];
    let whose: Vec<Vec<usize>> = (0..log.distinct_files().len())
        .map(|file| {
            let path = path(FileId(file as u32));
            (0..wanted.len()).filter(|index| wanted[*index].file == path).collect()
        })
        .collect();
    let mut found: Vec<Calls> = wanted.iter().map(|_| Calls::default()).collect();
    let columns = Columns::CASE | Columns::SEQ | Columns::PID | Columns::TID | Columns::LAYER;
    let columns = columns | Columns::CALL | Columns::START | Columns::DUR;
    let columns = columns | Columns::OFFSET | Columns::REQUESTED | Columns::SIZE | Columns::RET;
    let columns = columns | Columns::ERRNO | Columns::FLAGS | Columns::FILE | Columns::OPEN;
    // A call of a library is issued as the system calls that it makes.
    let lowest = log.layers().first().copied().unwrap_or_default();
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, columns)?;
        for row in 0..batch.call.len() {
            let event = batch.event(row);
            let Some(wanting) = event.file.get().and_then(|file| whose.get(file.index())) else { continue };
            if wanting.is_empty() || event.layer != lowest {
                continue;
            }
            let Some(spec) = known.of(event.call) else { continue };
            let flags = names.flags(event.flags).unwrap_or_default();
            let error = event.errno.get().map(|error| &*names.errnos[error.index()]);
            let call = call(&event, log.numbering(event.case), spec, flags, error);
            let program = program(process_table, event.case, event.pid, event.start.0);
            for index in wanting.iter().filter(|index| wanted[**index].program == &*program) {
                found[*index].add(call);
            }
        }
    }
    found.iter_mut().for_each(Calls::sort);
    Ok(found)
}

impl Calls {
    fn add(&mut self, call: Option<Call>) {
        match call {
            None => self.not_issued += 1,
            Some(call) => self.calls.push(call),
        }
        if self.calls.len() >= 2 * MAX_CALLS {
            self.keep_first();
        }
    }

    /// Keeps the calls that began first: logs of several recorders are not in the order of time.
    fn keep_first(&mut self) {
        self.calls.sort_by_key(|call| (call.start, call.place));
        self.left_out += self.calls.len().saturating_sub(MAX_CALLS) as u64;
        self.calls.truncate(MAX_CALLS);
    }

    /// By start. A call without an end lasts until the next one of its thread.
    fn sort(&mut self) {
        self.keep_first();
        let mut next: HashMap<Thread, i64> = HashMap::new();
        for call in self.calls.iter_mut().rev() {
            let limit = next.insert(call.thread(), call.start);
            let end = if call.end == i64::MAX { limit.unwrap_or(call.start) } else { call.end };
            call.end = end.max(call.start);
        }
    }
}

/// `None` if scratch files cannot stand for it.
fn call(event: &Event, numbering: CaseId, spec: &CallSpec, flags: &str, error: Option<&str>) -> Option<Call> {
    let action = match error {
        None => CallAction::of(event, spec, flags)?,
        Some(error) => CallAction::Refused(refusal(spec, flags, error)?),
    };
    let open = event.open.get().filter(|_| error.is_none()).map(|open| (numbering, open));
    let needs_open = !matches!(action, CallAction::Stat | CallAction::Refused(_));
    if needs_open && open.is_none() {
        return None;
    }
    Some(Call {
        place: (event.case, event.seq),
        start: event.start.0,
        end: event.dur.get().map_or(i64::MAX, |duration| event.start.0.saturating_add(duration.0)),
        think: 0,
        pid: event.pid,
        tid: event.tid,
        file: event.file.get()?,
        open,
        action,
    })
}

impl CallAction {
    /// What a call that succeeded did to a file; `None` if that cannot be done to another one.
    #[must_use]
    pub fn of(event: &Event, spec: &CallSpec, flags: &str) -> Option<Self> {
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        Some(match (spec.kind, spec.transfer) {
            (_, transfer @ (Transfer::Read | Transfer::Write)) => {
                let moved = number(event.size.get())?;
                CallAction::Transfer(Moved {
                    writes: transfer == Transfer::Write,
                    positioned: spec.has(ArgKind::Offset),
                    offset: number(event.offset.get()),
                    asked: number(event.requested.get()).unwrap_or(moved).max(moved),
                    moved,
                    buffers: 1,
                })
            }
            (CallKind::Open, _) => CallAction::Open(mode(OpenFlags::parse(flags.as_bytes()))?),
            (CallKind::Create, _) => CallAction::Open(mode(OpenFlags::CREAT)?),
            (CallKind::Close, _) => CallAction::Close,
            (CallKind::Seek, _) => CallAction::Seek(number(event.ret.get())?),
            (CallKind::Sync, _) => match spec.forces()? {
                Forces::File => CallAction::Sync,
                Forces::Data => CallAction::SyncData,
                Forces::Part | Forces::Everything => return None,
            },
            (CallKind::Truncate, _) => CallAction::Truncate(number(event.offset.get())?),
            (CallKind::Stat, _) => CallAction::Stat,
            _ => return None,
        })
    }
}

/// What fails for a reason that scratch files can have.
fn refusal(spec: &CallSpec, flags: &str, error: &str) -> Option<Refusal> {
    let flags = match spec.kind {
        CallKind::Open => OpenFlags::parse(flags.as_bytes()),
        CallKind::Create => OpenFlags::CREAT,
        CallKind::Stat => return (error == "ENOENT").then_some(Refusal::Stat),
        _ => return None,
    };
    match error {
        "ENOENT" if !flags.creates() => Some(Refusal::Open(mode(flags)?)),
        "EEXIST" if flags.creates() && flags.exclusive() => {
            Some(Refusal::Create(OpenMode { exclusive: true, truncate: false, ..mode(flags)? }))
        }
        _ => None,
    }
}

/// None for descriptors that give no access to data, and for directories.
fn mode(flags: OpenFlags) -> Option<OpenMode> {
    let is_file = !flags.is_path() && !flags.directory() && !flags.nameless();
    is_file.then(|| OpenMode {
        read: flags.reads(),
        write: flags.writes(),
        create: flags.creates(),
        // What it made is made again; a name that several files had has one for each.
        exclusive: false,
        truncate: flags.truncates(),
        append: flags.appends(),
        sync: flags.syncs(),
        ..OpenMode::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::call;

    #[test]
    fn of_too_many_calls_those_are_kept_that_began_first() {
        let mut calls = Calls::default();
        let all = 2 * MAX_CALLS + 5;
        for index in 0..all {
            let start = (all - index) as i64;
            calls.add(Some(call(index, 1, 1, (start, start), CallAction::Stat)));
        }
        calls.add(None);
        calls.sort();
        assert_eq!((calls.left_out, calls.not_issued), ((all - MAX_CALLS) as u64, 1));
        assert!(calls.calls.iter().map(|call| call.start).eq(1..=MAX_CALLS as i64));
    }

    #[test]
    fn a_call_without_an_end_lasts_until_the_next_one_of_its_thread() {
        let mut calls = Calls::default();
        for (index, (pid, start, end)) in
            [(1, 0, i64::MAX), (2, 3, 9), (1, 7, 8), (2, 11, i64::MAX)].into_iter().enumerate()
        {
            calls.add(Some(call(index, pid, 1, (start, end), CallAction::Stat)));
        }
        calls.sort();
        let ends: Vec<i64> = calls.calls.iter().map(|call| call.end).collect();
        assert_eq!(ends, [7, 9, 8, 11]);
    }
}
