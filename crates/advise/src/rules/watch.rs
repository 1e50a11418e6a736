//! The pass that shows the calls of a log to all rules, in the order of the log.

use super::beside::Beside;
use super::habit::{Context, Outcome, ProcessHabit, Seen, is_of_system};
use super::slow_start::is_code;
use super::{Rule, all};
use crate::in_flight::InFlight;
use iotrail_model::calls::mpi::{Together, together};
use iotrail_model::calls::{
    CallKind, CallSpec, Class, EventClasses, Family, LockRequest, OpenFlags, PerCall, Transfer, flags,
};
use iotrail_model::{CaseId, Event, FileId, Names, OpenId, PathId, Pid, Timestamp};
use iotrail_query::auto::startup;
use iotrail_query::{Asks, OneLayer, Pass, ProcessId, ProcessTable, Query, Rows};
use iotrail_trail::{Columns, EventLog};
use iotrail_workflow::why::PathTimes;
use std::collections::{HashMap, HashSet};

/// Shows calls to rules.
pub(crate) struct Watching<'a> {
    log: &'a EventLog,
    names: &'a Names,
    layers: OneLayer,
    process_table: &'a ProcessTable,
    path: &'a PathTimes,
    /// Time that recording takes behind each call, in ns.
    behind: u64,
    calls: PerCall<Option<Watched>>,
    together: PerCall<Together>,
    classes: EventClasses,
    missing: Vec<bool>,
    is_file: Vec<bool>,
    /// The directory of each path.
    parents: Vec<Option<PathId>>,
    /// Whether programs read each path before they begin with what is theirs.
    on_the_way: Vec<bool>,
    /// Whether each path is the system's own.
    of_system: Vec<bool>,
}

/// What recording added to each call, less what stands in the call's duration.
fn cost_behind(log: &EventLog) -> u64 {
    let cost = log.coverage().recording.as_ref().map(|recording| recording.cost);
    let behind = cost.and_then(|cost| Some(cost.per_call()?.0.saturating_sub(cost.inside_per_call()?.0)));
    behind.and_then(|behind| u64::try_from(behind).ok()).unwrap_or_default()
}

/// What is known of a call by its name.
#[derive(Clone, Copy, Default)]
struct Watched {
    kind: CallKind,
    transfer: Transfer,
    is_request: bool,
}

/// All rules, and what they need to know of what was before.
pub(crate) struct Watch {
    rules: Vec<Box<dyn Rule>>,
    beside: Beside,
    /// Open file descriptions whose writes are on storage before they return.
    synchronous: HashSet<(CaseId, OpenId)>,
    /// Those whose writes go to the end of the file.
    appending: HashSet<(CaseId, OpenId)>,
    /// How many programs each process has executed.
    images: HashMap<(CaseId, Pid), u32>,
    /// When the last transfer of all ranks that each process made ends.
    for_all: HashMap<(CaseId, Pid), i64>,
    in_flight: InFlight,
}

impl<'a> Watching<'a> {
    pub(crate) fn new(
        log: &'a EventLog,
        query: &Query,
        process_table: &'a ProcessTable,
        path: &'a PathTimes,
    ) -> Self {
        let names = log.names();
        let watched = |call: iotrail_model::calls::Call<'_>| {
            let (kind, transfer) = (call.kind(), call.transfer());
            let families = [Family::Sync, Family::Wait, Family::Poll, Family::Metadata, Family::Directory];
            let is_looked_at =
                transfer != Transfer::None || families.contains(&call.family()) || is_watched(kind);
            let is_request = call.spec.is_some_and(CallSpec::is_request);
            is_looked_at.then_some(Watched { kind, transfer, is_request })
        };
        Self {
            log,
            names,
            layers: query.one_layer(log),
            process_table,
            path,
            behind: cost_behind(log),
            parents: parents(names),
            calls: PerCall::new(&names.calls, watched),
            together: PerCall::new(&names.calls, |call| together(call.name)),
            classes: EventClasses::new(names, log.files(), HashSet::new()).recorded_at(&log.coverage()),
            on_the_way: names.paths.iter().map(|path| is_loaded(path)).collect(),
            of_system: names.paths.iter().map(|path| is_of_system(path)).collect(),
            missing: names.errnos.iter().map(|name| matches!(&**name, "ENOENT" | "ENOTDIR")).collect(),
            is_file: log.holds_bytes(),
        }
    }

    fn seen(&self, call: Watched, event: &Event, class: Option<Class>, selected: bool) -> Seen {
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let is_file = |file: &FileId| self.is_file.get(file.index()) == Some(&true);
        let symbols = self.names.flags(event.flags).unwrap_or_default();
        let text = symbols.as_bytes();
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
        let time = number(event.dur.get().map(|duration| duration.0));
        let path = event.path.get();
        let lock = match call.kind {
            CallKind::Lock | CallKind::Control => {
                LockRequest::of(self.names.flags(event.flags).unwrap_or_default())
            }
            _ => None,
        };
        let process = self.process_table.find(event.case, event.pid, Timestamp(event.start.0));
        let on_path = |(process, time)| self.on_path(event, process, time, lock);
        Seen {
            case: event.case,
            pid: event.pid,
            image: 0,
            tid: event.tid,
            process,
            seq: event.seq,
            behind: self.behind,
            start: event.start.0,
            time,
            spent: time,
            on_path: process.zip(time).map_or(0, on_path),
            is_request: call.is_request,
            kind: call.kind,
            class,
            transfer: call.transfer,
            result,
            path,
            parent: path.and_then(|path| self.parents.get(path.index()).copied().flatten()),
            file: event.file.get().filter(is_file),
            is_pipe: path.is_some_and(|path| self.names.paths[path.index()].starts_with("pipe:")),
            open: event.open.get(),
            numbering: self.log.numbering(event.case),
            offset: number(event.offset.get()),
            size: number(event.size.get()),
            ret: event.ret.get(),
            opened,
            lock,
            syncs: opened.syncs()
                || call.transfer == Transfer::Write
                    && ["RWF_DSYNC", "RWF_SYNC"].iter().any(|word| flags::has_word(text, word)),
            shares: call.kind == CallKind::Map && !flags::has_word(text, "MAP_PRIVATE"),
            may_store: flags::has_word(text, "PROT_WRITE") || !symbols.contains("PROT_"),
            appends: opened.appends(),
            is_own: path.is_some_and(|path| self.is_own(path, process)),
            is_of_system: path.is_some_and(|path| self.of_system.get(path.index()) == Some(&true)),
            seeks_from_begin: call.kind == CallKind::Seek && flags::has_word(text, "SEEK_SET"),
            together: Together::No,
            is_for_all: false,
            is_counted: true,
            selected,
        }
    }

    /// Whether a path is none that programs read before they begin with what is theirs.
    fn is_own(&self, path: PathId, process: Option<ProcessId>) -> bool {
        let exe = process.and_then(|process| self.process_table.last_image(process).exe.as_deref());
        self.on_the_way.get(path.index()) == Some(&false)
            && !exe.is_some_and(|exe| startup::lies_beside(&self.names.paths[path.index()], exe))
    }

    /// Leaves to a request what is not of one that its thread began before.
    fn count_once(&self, call: &mut Seen, in_flight: &mut InFlight) {
        let own = in_flight.own((call.case, call.tid), (call.start, call.end()));
        call.spent = call.time.map(|_| own.1.abs_diff(own.0));
        call.on_path = call.process.map_or(0, |process| self.path.of_thread(process, call.tid, own));
    }

    /// How much of a call explains the elapsed time: of a wait for a lock also while somebody else held it.
    fn on_path(&self, event: &Event, process: ProcessId, time: u64, lock: Option<LockRequest>) -> u64 {
        let span = (event.start.0, event.start.0.saturating_add_unsigned(time));
        let own = self.path.of_thread(process, event.tid, span);
        match lock {
            Some(LockRequest::Wait) => {
                own.saturating_add(self.path.awaited(process, event.tid, span)).min(time)
            }
            _ => own,
        }
    }
}

/// Calls that move no data and that a rule asks for.
fn is_watched(kind: CallKind) -> bool {
    matches!(
        kind,
        CallKind::Open
            | CallKind::Create
            | CallKind::Close
            | CallKind::CloseRange
            | CallKind::Seek
            | CallKind::Stat
            | CallKind::Access
            | CallKind::ReadLink
            | CallKind::List
            | CallKind::Exec
            | CallKind::ExitProcess
            | CallKind::Spawn
            | CallKind::Vfork
            | CallKind::WaitChild
            | CallKind::Sleep
            | CallKind::Restart
            | CallKind::Poll
            | CallKind::Lock
            | CallKind::Control
            | CallKind::Map
            | CallKind::Rename
            | CallKind::Link
            | CallKind::Unlink
            | CallKind::Truncate
            | CallKind::Allocate
            | CallKind::DeviceControl
            | CallKind::Accept
            | CallKind::Connect
            | CallKind::RingEnter
            | CallKind::AioGetEvents
            | CallKind::Futex
    )
}

/// Whether programs read a file before they begin with what is theirs.
fn is_loaded(path: &str) -> bool {
    startup::is_on_the_way(path) || is_code(path)
}

/// The directory of each path, where it is a path of the log.
fn parents(names: &Names) -> Vec<Option<PathId>> {
    let ids: HashMap<&str, PathId> =
        names.paths.iter().enumerate().map(|(index, path)| (&**path, PathId(index as u32))).collect();
    let parent = |path: &std::sync::Arc<str>| ids.get(path.rsplit_once('/')?.0).copied();
    names.paths.iter().map(parent).collect()
}

impl Pass for Watching<'_> {
    type Sums = ();
    type Boundary = Vec<Seen>;
    type Closed = Watch;
    type Output = Vec<ProcessHabit>;

    fn columns(&self) -> Columns {
        Columns::CASE
            | Columns::SEQ
            | Columns::PID
            | Columns::TID
            | Columns::CALL
            | Columns::START
            | Columns::DUR
            | Columns::PATH
            | Columns::PATH2
            | Columns::OFFSET
            | Columns::SIZE
            | Columns::RET
            | Columns::ERRNO
            | Columns::FLAGS
            | Columns::FILE
            | Columns::OPEN
            | self.layers.columns()
    }

    fn asks(&self) -> Asks {
        Asks { activities: false, selection: true, whole_log: true }
    }

    fn sums(&self) {}

    fn closed(&self) -> Watch {
        Watch {
            rules: all(),
            beside: Beside::default(),
            synchronous: HashSet::new(),
            appending: HashSet::new(),
            images: HashMap::new(),
            for_all: HashMap::new(),
            in_flight: InFlight::default(),
        }
    }

    fn add(&self, (): &mut (), rows: &Rows<'_>) -> Vec<Seen> {
        let mut seen = Vec::new();
        for (row, call) in rows.batch.call.iter().enumerate() {
            let is_counted = self.layers.has(rows.batch, row);
            let together = self.together.of(*call);
            let watched = match together {
                Together::No => self.calls.of(*call).filter(|_| is_counted),
                _ => Some(self.calls.of(*call).unwrap_or_default()),
            };
            if let Some(call) = watched {
                let selected = rows.selected.get(row).copied().unwrap_or_default();
                let class = self.classes.of(rows.batch, row);
                let call = self.seen(call, &rows.batch.event(row), class, selected);
                seen.push(Seen { together, is_counted, ..call });
            }
        }
        seen
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, watch: &mut Watch, calls: Vec<Seen>) {
        for mut call in calls {
            if call.together == Together::Moves {
                watch.for_all.insert((call.case, call.pid), call.end());
            }
            if call.together != Together::No {
                watch.rules.iter_mut().for_each(|rule| rule.see_together(&call));
            }
            if !call.is_counted {
                continue;
            }
            watch.remember(&mut call);
            if call.is_request {
                self.count_once(&mut call, &mut watch.in_flight);
            }
            watch.beside.see(&call);
            watch.rules.iter_mut().for_each(|rule| rule.see(&call));
            if matches!(call.kind, CallKind::ExitProcess | CallKind::Exec) && call.is_done() {
                watch.rules.iter_mut().for_each(|rule| rule.ended(call.process()));
            }
        }
    }

    fn finish(&self, (): (), watch: Watch) -> Vec<ProcessHabit> {
        let context = Context {
            names: self.names,
            process_table: self.process_table,
            path: self.path,
            beside: &watch.beside,
        };
        watch.rules.iter().flat_map(|rule| rule.found(&context)).collect()
    }
}

impl Watch {
    /// Tells the call what was before: which programs its process executed, and how its file was opened.
    fn remember(&mut self, call: &mut Seen) {
        call.is_for_all = self.for_all.get(&(call.case, call.pid)).is_some_and(|end| call.start < *end);
        let executes = call.kind == CallKind::Exec && call.is_done();
        let image = self.images.get(&(call.case, call.pid)).copied();
        call.image = image.unwrap_or_default();
        if executes {
            self.images.insert((call.case, call.pid), call.image + 1);
        }
        let Some(open) = call.description() else { return };
        if call.kind == CallKind::Open {
            if call.syncs {
                self.synchronous.insert(open);
            }
            if call.appends {
                self.appending.insert(open);
            }
        } else if call.transfer == Transfer::Write {
            call.syncs |= self.synchronous.contains(&open);
            call.appends |= self.appending.contains(&open);
        }
    }
}
