//! Hand-made calls, and what is issued for them.

use crate::calls::{Call, CallAction, Moved};
use crate::issue::Files;
use crate::lanes::Lanes;
use iotrail_model::{CaseId, FileId, OpenId, Pid, Tid};
use iotrail_replay::{Action, Buffers, Interface, OpenMode, Plan};

/// A call of a process through the description of that number, from one moment to another.
pub(crate) fn call(index: usize, pid: u32, open: u32, (start, end): (i64, i64), action: CallAction) -> Call {
    Call {
        place: (CaseId(0), index as u64),
        start,
        end,
        think: 0,
        pid: Pid(pid),
        tid: Tid(pid),
        file: FileId(0),
        open: Some((CaseId(0), OpenId(open))),
        action,
    }
}

/// Calls of one process on one file through the descriptions of these numbers.
pub(crate) fn calls(deeds: &[(u32, CallAction)]) -> Vec<Call> {
    let deeds = deeds.iter().enumerate();
    deeds
        .map(|(index, (open, action))| call(index, 1, *open, (index as i64, index as i64), *action))
        .collect()
}

/// Calls of several processes, which overlap if their times do: process, description, start, end.
pub(crate) fn calls_of(rows: &[(u32, u32, i64, i64, CallAction)]) -> Vec<Call> {
    let rows = rows.iter().enumerate();
    rows.map(|(index, (pid, open, start, end, action))| call(index, *pid, *open, (*start, *end), *action))
        .collect()
}

pub(crate) fn moved(writes: bool, offset: u64, bytes: u64) -> CallAction {
    let offset = Some(offset);
    CallAction::Transfer(Moved { writes, positioned: false, offset, asked: bytes, moved: bytes, buffers: 1 })
}

pub(crate) fn at(writes: bool, offset: u64, bytes: u64) -> CallAction {
    let offset = Some(offset);
    CallAction::Transfer(Moved { writes, positioned: true, offset, asked: bytes, moved: bytes, buffers: 1 })
}

pub(crate) const OPEN: CallAction = CallAction::Open(OpenMode {
    read: true,
    write: true,
    create: false,
    exclusive: false,
    truncate: false,
    append: false,
    sync: false,
    direct: false,
    directory: false,
    interface: Interface::System,
});

/// What each thread issues, checked as the engine does.
pub(crate) fn streams(recorded: &[Call], calls: &[Call]) -> Vec<Vec<String>> {
    let lanes = Lanes::of(recorded).unwrap();
    let plan = Plan::new(Files::of(recorded, calls).program(calls, &lanes, false)).unwrap();
    let word = |action: Action| match action {
        Action::Open { file: 0, .. } => "open".to_owned(),
        Action::Open { file, .. } => format!("open {file}"),
        Action::Close(_) => "close".to_owned(),
        Action::Read(_, bytes) => format!("read {bytes}"),
        Action::Write(_, bytes) => format!("write {bytes}"),
        Action::ReadAt(_, offset, bytes) => format!("pread {bytes} at {offset}"),
        Action::WriteAt(_, offset, bytes) => format!("pwrite {bytes} at {offset}"),
        Action::ReadVector(_, offset, Buffers { bytes, count }) => {
            format!("readv {bytes} in {count} at {offset:?}")
        }
        Action::WriteVector(_, offset, Buffers { bytes, count }) => {
            format!("writev {bytes} in {count} at {offset:?}")
        }
        Action::Seek(_, to) => format!("seek {to}"),
        Action::Sync(_) | Action::SyncData(_) => "sync".to_owned(),
        Action::Truncate(_, size) => format!("truncate {size}"),
        Action::Stat(file) => format!("stat {file}"),
        Action::Barrier(group) => format!("barrier {group}"),
        Action::Meet(number) => format!("meet {number}"),
        Action::NotBefore(ns) => format!("not before {ns} ns"),
        Action::Signal(event) => format!("signal {event}"),
        Action::Await(event) => format!("await {event}"),
        Action::Share { event, .. } => format!("share {event}"),
        Action::Inherit { event, .. } => format!("inherit {event}"),
        // Advice does not speak of names, nor of processes.
        Action::Access(_)
        | Action::ListOpen(_)
        | Action::Duplicate { .. }
        | Action::Other(_)
        | Action::Attach { .. }
        | Action::Leave(_)
        | Action::Adopt { .. }
        | Action::StatOpen(_)
        | Action::Lock { .. }
        | Action::Unlock(_)
        | Action::Unlink(_)
        | Action::Rename(..)
        | Action::Link(..)
        | Action::Symlink(_)
        | Action::TruncateNamed(..)
        | Action::MakeDirectory(_)
        | Action::RemoveDirectory(_)
        | Action::List(_) => unreachable!("{action:?}"),
    };
    let streams = plan.program().streams.iter();
    streams.map(|stream| stream.iter().map(|operation| word(operation.action)).collect()).collect()
}

/// What the one thread issues.
pub(crate) fn issued(recorded: &[Call], calls: &[Call]) -> Vec<String> {
    let mut streams = streams(recorded, calls);
    assert_eq!(streams.len(), 1);
    streams.remove(0)
}

/// Numbers without a pattern.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) const fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
