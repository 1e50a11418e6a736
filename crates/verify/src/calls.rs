//! The calls of a program on the files of a name, as far as they can be issued again.

use iotrail_advise::{CallPlace, program};
use iotrail_model::calls::{ArgKind, CallKind, CallSpec, Forces, OpenFlags, PerCall, Transfer};
use iotrail_model::{CaseId, Event, FileId, OpenId, Pid};
use iotrail_query::ProcessTable;
use iotrail_replay::OpenMode;
use iotrail_trail::{Columns, EventLog, TrailError};

/// Calls of one finding that are issued; what is beyond is left out.
pub(crate) const MAX_CALLS: usize = 200_000;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CallAction {
    Open(OpenMode),
    Close,
    Transfer(Moved),
    Seek(u64),
    Sync,
    SyncData,
    Truncate(u64),
    Stat,
}

/// A read or write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moved {
    pub(crate) writes: bool,
    /// Whether the call names the offset (`pread`), instead of using that of its description.
    pub(crate) positioned: bool,
    pub(crate) offset: Option<u64>,
    pub(crate) asked: u64,
    pub(crate) moved: u64,
    /// Buffers in memory. Trails do not have those of recorded calls: one.
    pub(crate) buffers: u32,
}

impl Moved {
    /// Its bytes, if its place is known.
    pub(crate) fn range(self) -> Option<(u64, u64)> {
        let offset = self.offset?;
        Some((offset, offset.saturating_add(self.moved)))
    }
}

/// An open file description.
pub(crate) type Description = (CaseId, OpenId);

/// A call that succeeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) place: CallPlace,
    pub(crate) start: i64,
    pub(crate) pid: Pid,
    pub(crate) file: FileId,
    pub(crate) open: Option<Description>,
    pub(crate) action: CallAction,
}

impl Call {
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
    pub(crate) left_out: u64,
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
    let columns = Columns::CASE | Columns::SEQ | Columns::PID | Columns::CALL | Columns::START;
    let columns = columns | Columns::OFFSET | Columns::REQUESTED | Columns::SIZE | Columns::RET;
    let columns = columns | Columns::ERRNO | Columns::FLAGS | Columns::FILE | Columns::OPEN;
    for row_group in 0..log.row_groups() {
        let batch = log.read(row_group, columns)?;
        for row in 0..batch.call.len() {
            let event = batch.event(row);
            let Some(wanting) = event.file.get().and_then(|file| whose.get(file.index())) else { continue };
            if wanting.is_empty() || !event.errno.is_null() {
                continue;
            }
            let Some(spec) = known.of(event.call) else { continue };
            let flags = names.flags(event.flags).unwrap_or_default();
            let Some(call) = call(&event, spec, flags) else { continue };
            let program = program(process_table, event.case, event.pid, event.start.0);
            for index in wanting.iter().filter(|index| wanted[**index].program == &*program) {
                let calls = &mut found[*index];
                if calls.calls.len() < MAX_CALLS {
                    calls.calls.push(call);
                } else {
                    calls.left_out += 1;
                }
            }
        }
    }
    found.iter_mut().for_each(|calls| calls.calls.sort_by_key(|call| (call.start, call.place)));
    Ok(found)
}

fn call(event: &Event, spec: &CallSpec, flags: &str) -> Option<Call> {
    let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
    let open = event.open.get().map(|open| (event.case, open));
    let action = match (spec.kind, spec.transfer) {
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
            Forces::Other => return None,
        },
        (CallKind::Truncate, _) => CallAction::Truncate(number(event.offset.get())?),
        (CallKind::Stat, _) => CallAction::Stat,
        _ => return None,
    };
    let needs_open = !matches!(action, CallAction::Stat);
    if needs_open && open.is_none() {
        return None;
    }
    let place = (event.case, event.seq);
    Some(Call { place, start: event.start.0, pid: event.pid, file: event.file.get()?, open, action })
}

/// None for descriptors that give no access to data, and for directories.
fn mode(flags: OpenFlags) -> Option<OpenMode> {
    let is_file = !flags.is_path() && !flags.directory() && !flags.nameless();
    is_file.then(|| OpenMode {
        read: flags.reads(),
        write: flags.writes(),
        create: flags.creates(),
        truncate: flags.truncates(),
        append: flags.appends(),
        sync: flags.syncs(),
        direct: false,
    })
}
