//! The parallel scan: events to records.
//!
//! Records of one process and one path become one where the graph cannot tell them apart: reads while nobody changed the
//! file, writes while nobody else changed the file and the writer took nothing in. What takes effect in which order is thereby
//! kept exactly, and a program that copies a gigabyte in small pieces costs no more than two records for every row group.

use super::meaning::{Action, Meanings, Place};
use super::record::{Op, Record, one_call};
use crate::graph::Transfer;
use crate::system::System;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use iotrail_model::{CaseId, EventBatch, Layer, Nanos, Nullable, PathId, Timestamp};
use iotrail_query::{ActivityId, Classified, Classifier, LifeId, Lives, Query};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::num::NonZeroUsize;

/// All records in the order in which they take effect, and what could not become one.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) records: Vec<Record>,
    /// By [`PathId`]: whether somebody changed what is there.
    pub(super) changed: Vec<bool>,
    pub(super) tally: Tally,
}

/// Events without a place in the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Transfers of which the file is unknown.
    pub(super) no_path: Transfer,
    /// Transfers of which the process is unknown.
    pub(super) no_process: Transfer,
    /// Events of other layers than system calls.
    pub(super) other_layers: u64,
    /// Mappings that can be written and are shared: what they wrote is unknown.
    pub(super) shared_mappings: u64,
    /// First start and last end of all events.
    pub(super) span: Option<(Timestamp, Timestamp)>,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.no_path.add(&other.no_path);
        self.no_process.add(&other.no_process);
        self.other_layers += other.other_layers;
        self.shared_mappings += other.shared_mappings;
        self.span = match (self.span, other.span) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        };
    }
}

const COLUMNS: [Columns; 13] = [
    Columns::CASE,
    Columns::PID,
    Columns::LAYER,
    Columns::CALL,
    Columns::START,
    Columns::DUR,
    Columns::PATH,
    Columns::PATH2,
    Columns::OFFSET,
    Columns::SIZE,
    Columns::ERRNO,
    Columns::RET,
    Columns::FLAGS,
];

/// Reads the log.
pub(super) fn gather(
    log: &EventLog,
    lives: &Lives,
    meanings: &Meanings,
    query: Option<&Query>,
    threads: NonZeroUsize,
) -> Result<Gathered, TrailError> {
    let columns = COLUMNS.into_iter().fold(query.map_or(Columns::NONE, Query::columns), Columns::union);
    let shared =
        if log.cases().len() > 1 { shared_paths(log, meanings.paths(), threads)? } else { Vec::new() };
    let state = || Worker::new(lives, meanings, &shared, query);
    let wanted = |group: &_| query.is_none_or(|query| query.may_match_group(group));
    let parts = log.scan_only(wanted, columns, threads, state, |worker, _, batch| worker.batch(batch))?;
    let mut gathered = Gathered { changed: vec![false; meanings.paths()], ..Gathered::default() };
    gathered.records.reserve_exact(parts.iter().map(|part| part.0.len()).sum());
    for (records, tally) in parts {
        for record in records.iter().filter(|record| record.op.changes()) {
            gathered.changed[record.path.index()] = true;
            if record.path2.index() < gathered.changed.len() {
                gathered.changed[record.path2.index()] = true;
            }
        }
        gathered.records.extend(records);
        gathered.tally.add(&tally);
    }
    gathered.records.sort_by_key(Record::order);
    Ok(gathered)
}

/// Paths that events of several cases name, whose rows may lie in different row groups.
fn shared_paths(log: &EventLog, paths: usize, threads: NonZeroUsize) -> Result<Vec<bool>, TrailError> {
    let columns = Columns::CASE | Columns::PATH | Columns::PATH2;
    let pairs = log.scan(
        columns,
        threads,
        || (),
        |(), _, batch: &EventBatch| {
            let mut pairs: HashMap<(PathId, CaseId), (), RandomState> = HashMap::default();
            for (case, (path, path2)) in batch.case.iter().zip(batch.path.iter().zip(&batch.path2)) {
                for path in [path.get(), path2.get()].into_iter().flatten() {
                    pairs.insert((path, *case), ());
                }
            }
            pairs
        },
    )?;
    let mut owner: Vec<Option<CaseId>> = vec![None; paths];
    let mut shared = vec![false; paths];
    for (path, case) in pairs.iter().flat_map(HashMap::keys) {
        match owner.get_mut(path.index()) {
            Some(Some(known)) if known != case => shared[path.index()] = true,
            Some(owner) => *owner = Some(*case),
            None => {}
        }
    }
    Ok(shared)
}

/// One thread of the scan.
struct Worker<'a> {
    lives: &'a Lives,
    meanings: &'a Meanings,
    shared: &'a [bool],
    classifier: Option<Classifier>,
    classified: Classified,
    singles: Vec<Record>,
    joined: Joined,
    seen: HashMap<PathId, bool, RandomState>,
    tally: Tally,
}

/// Where the records are that a later one may join.
#[derive(Default)]
struct Joined {
    of_process: HashMap<(LifeId, PathId, Op), u32, RandomState>,
    took_in: HashMap<LifeId, u32, RandomState>,
    changed: HashMap<PathId, u32, RandomState>,
}

impl<'a> Worker<'a> {
    fn new(lives: &'a Lives, meanings: &'a Meanings, shared: &'a [bool], query: Option<&Query>) -> Self {
        Self {
            lives,
            meanings,
            shared,
            classifier: query.map(Query::worker),
            classified: Classified::default(),
            singles: Vec::new(),
            joined: Joined::default(),
            seen: HashMap::default(),
            tally: Tally::default(),
        }
    }

    fn batch(&mut self, batch: &EventBatch) -> (Vec<Record>, Tally) {
        self.tally = Tally::default();
        self.seen.clear();
        if let Some(classifier) = &mut self.classifier {
            classifier.classify(batch, &mut self.classified);
        }
        for row in 0..batch.len {
            let selected = |row: usize| self.classified.activity.get(row) != Some(&ActivityId::UNSELECTED);
            if selected(row) {
                self.row(batch, row);
            }
        }
        self.singles.sort_by_key(Record::order);
        let end = batch.start.last().copied().unwrap_or_default();
        (self.join(end), self.tally)
    }

    fn row(&mut self, batch: &EventBatch, row: usize) {
        let (start, dur) = (batch.start[row], batch.dur[row].get().map(|dur| Nanos(dur.0.max(0))));
        let end = start + dur.unwrap_or_default();
        let span = self.tally.span.get_or_insert((start, end));
        *span = (span.0.min(start), span.1.max(end));
        if batch.layer[row] != Layer::Syscall {
            self.tally.other_layers += 1;
            return;
        }
        let action = self.meanings.action(batch.call[row]);
        if action == Action::None {
            return;
        }
        let call = Call { batch, row, start, end, dur, action };
        if batch.errno[row].is_null() { self.success(&call) } else { self.failure(&call) }
    }

    /// A failed call moves nothing, but may tell that nothing is at its path.
    fn failure(&mut self, call: &Call<'_>) {
        if matches!(call.action, Action::Open | Action::Creat | Action::Look)
            && self.meanings.is_missing(call.batch.errno[call.row])
        {
            self.look(call, false);
        }
    }

    fn success(&mut self, call: &Call<'_>) {
        let Call { batch, row, action, dur, .. } = *call;
        let size = batch.size[row].get();
        match action {
            Action::Read => self.transfer(call, Op::Read, batch.path[row], size),
            Action::Write => self.transfer(call, Op::Write, batch.path[row], size),
            Action::Copy => {
                self.transfer(call, Op::Read, batch.path[row], size);
                self.transfer(call, Op::Write, batch.path2[row], size);
            }
            // Whether a call whose return was not seen did anything is unknown.
            _ if batch.ret[row].is_null() && dur.is_none() => {}
            Action::Open => self.open(call, self.meanings.flags(batch.flags[row])),
            Action::Creat => self.push(call, Op::MakeOrEmpty),
            Action::Truncate if batch.offset[row].get() == Some(0) => self.push(call, Op::Empty),
            Action::Truncate | Action::Allocate => self.push(call, Op::Write),
            Action::Rename if self.meanings.flags(batch.flags[row]).exchange => self.push(call, Op::Exchange),
            Action::Rename => self.push(call, Op::Rename),
            Action::Link => self.push(call, Op::Link),
            Action::Unlink => self.push(call, Op::Unlink),
            Action::MakeNode if self.meanings.flags(batch.flags[row]).device => {}
            Action::MakeNode => self.push(call, Op::Make),
            Action::Channel => self.push(call, Op::Channel),
            Action::Map => self.map(call),
            Action::Exec => self.push(call, Op::Map),
            Action::Look => self.look(call, true),
            Action::None => {}
        }
    }

    fn open(&mut self, call: &Call<'_>, flags: super::meaning::Flags) {
        match flags {
            flags if flags.no_file => {}
            flags if flags.create && flags.exclusive => self.push(call, Op::Make),
            flags if flags.create && flags.truncate => self.push(call, Op::MakeOrEmpty),
            flags if flags.create => self.push(call, Op::MakeOrOpen),
            flags if flags.truncate => self.push(call, Op::Empty),
            _ => self.look(call, true),
        }
    }

    fn map(&mut self, call: &Call<'_>) {
        if self.meanings.flags(call.batch.flags[call.row]).shared_writable
            && self.file_path(call.batch.path[call.row]).is_some()
        {
            self.tally.shared_mappings += 1;
            self.push(call, Op::Write);
        }
        self.push(call, Op::Map);
    }

    /// Tells the sequential pass only what changes what it knows.
    fn look(&mut self, call: &Call<'_>, exists: bool) {
        let Some(path) = self.file_path(call.batch.path[call.row]) else { return };
        match self.seen.entry(path) {
            Entry::Occupied(known) if *known.get() == exists => {}
            entry => {
                entry.insert(exists);
                self.push(call, if exists { Op::Exists } else { Op::Missing });
            }
        }
    }

    /// The path, if a file of the workflow can be there.
    fn file_path(&self, path: Nullable<PathId>) -> Option<PathId> {
        path.get().filter(|path| matches!(self.meanings.place(*path), Place::File | Place::Channel))
    }

    fn transfer(&mut self, call: &Call<'_>, op: Op, path: Nullable<PathId>, size: Option<i64>) {
        let Some(size) = size else { return };
        let moved = one_call(size, call.dur);
        match path.get() {
            Some(path) => self.record(call, op, path, moved),
            None => self.tally.no_path.add(&moved),
        }
    }

    fn push(&mut self, call: &Call<'_>, op: Op) {
        let Some(path) = call.batch.path[call.row].get() else { return };
        if op.changes() && op != Op::Unlink {
            self.seen.insert(path, true);
        }
        self.record(call, op, path, Transfer::default());
    }

    fn record(&mut self, call: &Call<'_>, op: Op, path: PathId, moved: Transfer) {
        let place = self.meanings.place(path);
        let transfers = matches!(op, Op::Read | Op::Write);
        let matters = match place {
            Place::File | Place::Channel => true,
            Place::Directory => transfers || matches!(op, Op::Rename | Op::Exchange),
            Place::System(System::Installed) => !matches!(op, Op::Exists | Op::Missing),
            Place::System(System::Pseudo) => transfers || op == Op::Map,
        };
        if !matters {
            return;
        }
        let process = (call.batch.case[call.row], call.batch.pid[call.row]);
        let Some(life) = self.lives.find(process.0, process.1, call.start) else {
            self.tally.no_process.add(&moved);
            return;
        };
        let path2 = match op {
            Op::Rename | Op::Exchange | Op::Link => call.batch.path2[call.row].raw(),
            _ => Nullable::<PathId>::NULL.raw(),
        };
        let at = if op.takes_in() { call.end } else { call.start };
        self.singles.push(Record { at, first: call.start, last: call.end, moved, life, path, path2, op });
    }

    /// The records of the batch; `end` is its last start.
    fn join(&mut self, end: Timestamp) -> Vec<Record> {
        let Joined { of_process, took_in, changed } = &mut self.joined;
        of_process.clear();
        took_in.clear();
        changed.clear();
        let mut records: Vec<Record> = Vec::with_capacity(self.singles.len() / 4);
        for single in self.singles.drain(..) {
            let Record { life, path, op, .. } = single;
            let place = records.len() as u32;
            let unshared = !self.shared.get(path.index()).copied().unwrap_or(false);
            let earlier = of_process.get(&(life, path, op)).copied().filter(|_| unshared && single.at <= end);
            let since_change = changed.get(&path).copied();
            let joins = earlier.filter(|earlier| match op {
                Op::Read | Op::Map => since_change.is_none_or(|changed| changed < *earlier),
                Op::Write => {
                    since_change == Some(*earlier)
                        && took_in.get(&life).is_none_or(|took_in| took_in < earlier)
                }
                _ => false,
            });
            if let Some(record) = joins.and_then(|earlier| records.get_mut(earlier as usize)) {
                record.join(&single);
                continue;
            }
            if op.takes_in() {
                took_in.insert(life, place);
            }
            if op.changes() {
                changed.insert(path, place);
                if !Nullable::some(single.path2).is_null() {
                    changed.insert(single.path2, place);
                }
            }
            of_process.insert((life, path, op), place);
            records.push(single);
        }
        records.shrink_to_fit();
        records
    }
}

/// A row that may matter.
struct Call<'a> {
    batch: &'a EventBatch,
    row: usize,
    start: Timestamp,
    end: Timestamp,
    dur: Option<Nanos>,
    action: Action,
}
