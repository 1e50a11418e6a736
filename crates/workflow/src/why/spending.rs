//! The second look at a log: what the threads on the path did there, and what all calls together took.

use super::account::{Account, Amount, Call, Cost, Kind, Threads};
use super::amounts::Amounts;
use super::path::{Leg, What, channel_of};
use crate::waits::gather::CALL_COLUMNS;
use crate::waits::ranks::LibraryCall;
use crate::waits::{Act, LineId, Waits};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::{AT_ONCE, CallKind, CallSpec, Class, EventClasses};
use iotrail_model::{CallId, EventBatch, Layer, Nullable, PathId, Tid};
use iotrail_query::{Asks, Pass, ProcessId, ProcessTable, Rows};
use iotrail_trail::Columns;

/// Copying a byte takes no longer than this, in ns.
const COPYING: i64 = 10;

/// What a log says beside the path.
#[derive(Clone, Debug, Default)]
pub struct InAll {
    /// By class: calls and their time.
    pub(super) classes: HashMap<Kind, Amount, RandomState>,
    /// Calls of no class, or of one that depends on what is not known.
    pub(super) unclassed: HashMap<CallId, Amount, RandomState>,
    /// Calls whose end was not seen.
    pub(super) unfinished: u64,
}

/// What the pass has found.
#[derive(Debug)]
pub struct Spent {
    /// The time of the paths.
    pub(super) amounts: Amounts,
    pub(super) all: InAll,
}

impl InAll {
    fn merge(&mut self, other: Self) {
        let classes = other.classes.into_iter();
        classes.for_each(|(kind, amount)| self.classes.entry(kind).or_default().add(amount));
        let unclassed = other.unclassed.into_iter();
        unclassed.for_each(|(call, amount)| self.unclassed.entry(call).or_default().add(amount));
        self.unfinished += other.unfinished;
    }
}

/// The pass over the calls on the paths.
#[derive(Debug)]
pub struct Spending<'a> {
    processes: &'a ProcessTable,
    waits: &'a Waits,
    classes: &'a EventClasses,
    threads: Threads<'a>,
    legs: &'a [Leg],
    layer: Layer,
    cost: Cost,
    /// Own legs of each thread, in the order of time.
    own: HashMap<LineId, Vec<(i64, i64)>, RandomState>,
    lines: HashMap<(ProcessId, Tid), LineId, RandomState>,
}

impl<'a> Spending<'a> {
    pub(super) fn new(
        processes: &'a ProcessTable,
        classes: &'a EventClasses,
        threads: Threads<'a>,
        legs: &'a [Leg],
        (layer, cost): (Layer, Cost),
    ) -> Self {
        let mut own: HashMap<LineId, Vec<(i64, i64)>, RandomState> = HashMap::default();
        for leg in legs.iter().filter(|leg| leg.what == What::Own) {
            own.entry(leg.line).or_default().push((leg.from, leg.to));
        }
        own.values_mut().for_each(|legs| legs.sort_unstable());
        let waits = threads.waits;
        let lines = waits.lines().map(|line| ((waits.process(line), waits.tid(line)), line)).collect();
        Self { processes, waits, classes, threads, legs, layer, cost, own, lines }
    }

    /// Whether a call from `start` to `end` touches the own time of a thread on the path.
    fn touches(&self, line: LineId, start: i64, end: i64) -> bool {
        self.own.get(&line).is_some_and(|legs| {
            let at = legs.partition_point(|(_, to)| *to < start);
            legs.get(at).is_some_and(|(from, _)| *from <= end)
        })
    }

    /// When a call ended of which no end was seen: with its process or its record, if that ended it.
    fn unseen_end(&self, spec: Option<&CallSpec>, process: ProcessId, start: i64) -> i64 {
        let kind = spec.map(|spec| spec.kind).unwrap_or_default();
        match self.waits.last_seen(process) {
            Some(end) if kind != CallKind::ExitThread && !self.waits.is_untimed() => end.max(start),
            _ => start,
        }
    }

    fn kind(&self, batch: &EventBatch, row: usize, (process, start, time): (ProcessId, i64, i64)) -> Kind {
        let ended_before = |child| self.waits.child_ended_before(process, child, start);
        match self.classes.among_processes(batch, row, Some(time), ended_before) {
            Some(Class::Data) => Kind::Data,
            Some(Class::Sync) => Kind::Sync,
            Some(Class::Metadata) => Kind::Metadata,
            Some(Class::Memory) => Kind::Memory,
            Some(Class::Process) => Kind::Process,
            Some(Class::Sleep) => Kind::Sleep,
            Some(Class::Transfer) => Kind::Transfer,
            Some(Class::Wait) => {
                let at_once = time <= AT_ONCE + self.cost.inside;
                match at_once || self.only_copied(batch, row, process, (start, time)) {
                    true => Kind::Transfer,
                    false => Kind::Waiting,
                }
            }
            None => Kind::Other,
        }
    }

    /// Whether a transfer through a channel had nobody to wait for: both ends are known, nobody did anything at the other end
    /// meanwhile, and copying its bytes may have taken that long.
    fn only_copied(
        &self,
        batch: &EventBatch,
        row: usize,
        process: ProcessId,
        (start, time): (i64, i64),
    ) -> bool {
        let size = batch.size[row].get().unwrap_or_default().max(0);
        if time - AT_ONCE - self.cost.inside > size.saturating_mul(COPYING) {
            return false;
        }
        let wait = || {
            let line = *self.lines.get(&(process, batch.tid[row]))?;
            let number = self.waits.before(line, start.checked_add(1)?).checked_sub(1)?;
            let (begun, end, act) = self.waits.wait(line, number)?;
            let through = matches!(act, Act::Read { .. } | Act::Write(_)) && begun == start;
            through.then_some((line, number, end))
        };
        wait().is_some_and(|(line, number, end)| {
            self.waits.cause(line, number, end).is_none()
                && self.waits.unexplained(line, number, end).is_none()
        })
    }

    /// What a call was on; of a wait for descriptors what it was for.
    fn path(&self, batch: &EventBatch, row: usize, line: LineId, start: i64) -> Nullable<PathId> {
        let polls = self.classes.spec(batch, row).is_some_and(|spec| spec.kind == CallKind::Poll);
        let wait = || {
            let number = self.waits.before(line, start.checked_add(1)?).checked_sub(1)?;
            let (begun, _, act) = self.waits.wait(line, number)?;
            channel_of(act).filter(|_| begun == start)
        };
        match polls {
            true => wait().into(),
            false => batch.path[row],
        }
    }
}

impl Spending<'_> {
    /// The call that begins or ends MPI that a row is, if it touches the path.
    fn library_call(&self, batch: &EventBatch, row: usize) -> Option<Call> {
        let process = self.processes.find(batch.case[row], batch.pid[row], batch.start[row])?;
        let line = *self.lines.get(&(process, batch.tid[row]))?;
        let start = batch.start[row].0;
        let LibraryCall { end, call, .. } =
            self.waits.library_call(line, start).filter(|call| call.start == start)?;
        let touches = call == batch.call[row] && self.touches(line, start, end);
        touches.then_some(Call { line, start, end, kind: Kind::Mpi, call, path: Nullable::NULL })
    }
}

impl Pass for Spending<'_> {
    type Sums = InAll;
    type Boundary = Vec<Call>;
    type Closed = Account;
    type Output = Spent;

    fn columns(&self) -> Columns {
        Columns::of(CALL_COLUMNS)
    }

    fn asks(&self) -> Asks {
        Asks::COLUMNS
    }

    fn sums(&self) -> InAll {
        InAll::default()
    }

    fn closed(&self) -> Account {
        Account::new(self.cost, self.legs, &self.threads)
    }

    fn add(&self, all: &mut InAll, rows: &Rows<'_>) -> Vec<Call> {
        let batch = rows.batch;
        let mut calls = Vec::new();
        for row in 0..batch.len {
            let spec = self.classes.spec(batch, row);
            if batch.layer[row] == Layer::Mpi && self.layer != Layer::Mpi {
                calls.extend(self.library_call(batch, row));
            }
            if batch.layer[row] != self.layer || spec.is_some_and(CallSpec::is_request) {
                continue;
            }
            let at = batch.start[row];
            let Some(process) = self.processes.find(batch.case[row], batch.pid[row], at) else { continue };
            let start = at.0;
            let end = match batch.dur[row].get() {
                Some(dur) => start.saturating_add(dur.0.max(0)),
                None => self.unseen_end(spec, process, start),
            };
            let kind = self.kind(batch, row, (process, start, end - start));
            let ends =
                spec.is_some_and(|spec| matches!(spec.kind, CallKind::ExitThread | CallKind::ExitProcess));
            if batch.dur[row].is_null() {
                all.unfinished += u64::from(!ends);
            } else {
                let amounts = [Some(all.classes.entry(kind).or_default())];
                let unclassed =
                    (kind == Kind::Other).then(|| all.unclassed.entry(batch.call[row]).or_default());
                for amount in amounts.into_iter().chain([unclassed]).flatten() {
                    amount.time = amount.time.saturating_add(end - start);
                    amount.calls += 1;
                }
            }
            let Some(line) = self.lines.get(&(process, batch.tid[row])) else { continue };
            if self.touches(*line, start, end) {
                let path = self.path(batch, row, *line, start);
                calls.push(Call { line: *line, start, end, kind, call: batch.call[row], path });
            }
        }
        calls
    }

    fn merge(&self, all: &mut InAll, other: InAll) {
        all.merge(other);
    }

    fn close(&self, account: &mut Account, calls: Vec<Call>) {
        calls.iter().for_each(|call| account.call(call, &self.threads));
    }

    fn finish(&self, all: InAll, account: Account) -> Spent {
        Spent { amounts: account.finish(&self.threads), all }
    }
}
