//! The pass that shows the calls of a log to all rules, in the order of the log.

use super::habit::{Found, Outcome, Seen};
use super::{Rule, all};
use crate::gather::is_file;
use iotrail_model::calls::{CallKind, Family, OpenFlags, PerCall, Transfer, flags};
use iotrail_model::{CaseId, Event, FileId, Names, OpenId};
use iotrail_query::{Asks, Pass, Rows};
use iotrail_trail::{Columns, EventLog};
use std::collections::HashSet;

/// Shows calls to rules.
pub(crate) struct Watching<'a> {
    names: &'a Names,
    calls: PerCall<Option<Watched>>,
    missing: Vec<bool>,
    is_file: Vec<bool>,
}

/// What is known of a call by its name.
#[derive(Clone, Copy)]
struct Watched {
    kind: CallKind,
    transfer: Transfer,
}

/// All rules, and what they need to know of what was before.
pub(crate) struct Watch {
    rules: Vec<Box<dyn Rule>>,
    /// Open file descriptions whose writes are on storage before they return.
    synchronous: HashSet<(CaseId, OpenId)>,
}

impl<'a> Watching<'a> {
    pub(crate) fn new(log: &'a EventLog) -> Self {
        let names = log.names();
        let watched = |call: iotrail_model::calls::Call<'_>| {
            let (kind, transfer) = (call.kind(), call.transfer());
            let is_looked_at = transfer != Transfer::None
                || call.family() == Family::Sync
                || matches!(
                    kind,
                    CallKind::Open
                        | CallKind::Create
                        | CallKind::Close
                        | CallKind::Seek
                        | CallKind::Stat
                        | CallKind::Access
                        | CallKind::ReadLink
                        | CallKind::Exec
                        | CallKind::ExitProcess
                        | CallKind::Spawn
                        | CallKind::Vfork
                        | CallKind::Map
                        | CallKind::Truncate
                        | CallKind::Allocate
                        | CallKind::DeviceControl
                );
            is_looked_at.then_some(Watched { kind, transfer })
        };
        Self {
            names,
            calls: PerCall::new(&names.calls, watched),
            missing: names.errnos.iter().map(|name| matches!(&**name, "ENOENT" | "ENOTDIR")).collect(),
            is_file: is_file(log),
        }
    }

    fn seen(&self, call: Watched, event: &Event, selected: bool) -> Seen {
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let is_file = |file: &FileId| self.is_file.get(file.index()) == Some(&true);
        let text = self.names.flags(event.flags).unwrap_or_default().as_bytes();
        let opened = match call.kind {
            CallKind::Open => OpenFlags::parse(text),
            CallKind::Create => OpenFlags::CREAT,
            _ => OpenFlags::default(),
        };
        let result = match event.errno.get() {
            None => Outcome::Done,
            Some(errno) if self.missing.get(errno.index()) == Some(&true) => Outcome::Missing,
            Some(_) => Outcome::Failed,
        };
        Seen {
            case: event.case,
            pid: event.pid,
            tid: event.tid,
            seq: event.seq,
            start: event.start.0,
            time: number(event.dur.get().map(|duration| duration.0)),
            kind: call.kind,
            transfer: call.transfer,
            result,
            path: event.path.get(),
            file: event.file.get().filter(is_file),
            open: event.open.get(),
            offset: number(event.offset.get()),
            size: number(event.size.get()),
            truncates: opened.truncates(),
            syncs: opened.syncs()
                || call.transfer == Transfer::Write
                    && ["RWF_DSYNC", "RWF_SYNC"].iter().any(|word| flags::has_word(text, word)),
            shares: call.kind == CallKind::Map && !flags::has_word(text, "MAP_PRIVATE"),
            selected,
        }
    }
}

impl Pass for Watching<'_> {
    type Sums = ();
    type Seam = Vec<Seen>;
    type Closed = Watch;
    type Output = Vec<Found>;

    fn columns(&self) -> Columns {
        Columns::CASE
            | Columns::SEQ
            | Columns::PID
            | Columns::TID
            | Columns::CALL
            | Columns::START
            | Columns::DUR
            | Columns::PATH
            | Columns::OFFSET
            | Columns::SIZE
            | Columns::ERRNO
            | Columns::FLAGS
            | Columns::FILE
            | Columns::OPEN
    }

    fn asks(&self) -> Asks {
        Asks { activities: false, selection: true, whole_log: true }
    }

    fn sums(&self) {}

    fn closed(&self) -> Watch {
        Watch { rules: all(), synchronous: HashSet::new() }
    }

    fn add(&self, (): &mut (), rows: &Rows<'_>) -> Vec<Seen> {
        let mut seen = Vec::new();
        for (row, call) in rows.batch.call.iter().enumerate() {
            if let Some(call) = self.calls.of(*call) {
                let selected = rows.selected.get(row).copied().unwrap_or_default();
                seen.push(self.seen(call, &rows.batch.event(row), selected));
            }
        }
        seen
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, watch: &mut Watch, calls: Vec<Seen>) {
        for mut call in calls {
            let open = call.open.map(|open| (call.case, open));
            match open {
                Some(open) if call.syncs && call.kind == CallKind::Open => {
                    watch.synchronous.insert(open);
                }
                Some(open) if call.transfer == Transfer::Write && watch.synchronous.contains(&open) => {
                    call.syncs = true;
                }
                _ => {}
            }
            watch.rules.iter_mut().for_each(|rule| rule.see(&call));
        }
    }

    fn finish(&self, (): (), watch: Watch) -> Vec<Found> {
        watch.rules.iter().flat_map(|rule| rule.found(self.names)).collect()
    }
}
