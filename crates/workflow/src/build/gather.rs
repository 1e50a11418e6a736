//! The pass that makes records of events.
//!
//! Records of one process and one path become one where the graph cannot tell them apart: reads while nobody changed the
//! file, writes while nobody else changed the file and the writer took nothing in. The graph is the same as without, and a
//! program that copies a gigabyte in small pieces costs no more than two records for every row group.
//!
//! Who read from a pipe may have waited, so that what was read may have been written after the read began. A read takes effect
//! when it ends. Where that is not known (`strace` without `-T`) it is taken to last until the next call of its thread: nothing
//! that the thread did depends on when within that time the data came.

use super::known::Known;
use super::open_reads::{self, OpenRead};
use super::record::{Extent, Op, Record, one_call};
use super::survey::Survey;
use super::vocabulary::{Action, PathKind, Vocabulary};
use crate::graph::Transfer;
use crate::system::System;
use crate::waits::ends::Channels;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use iotrail_model::{CaseId, EventBatch, FileId, Nanos, Nullable, PathId, Tid, Timestamp};
use iotrail_query::{Asks, Pass, ProcessId, ProcessTable, Rows};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::num::NonZeroUsize;

/// All records, and what could not become one.
#[derive(Clone, Debug, Default)]
pub struct Records {
    pub(super) records: Vec<Record>,
    /// Reads of channels of which the end is not known yet.
    open: Vec<OpenRead>,
    /// By [`PathId`]: whether somebody changed what is there.
    pub(super) changed: Vec<bool>,
    /// By [`PathId`]: whether somebody executed it or mapped its instructions.
    pub(super) programs: Vec<bool>,
    pub(super) tally: Tally,
}

/// Events without a place in the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Transfers of which the file is unknown.
    pub(super) no_path: Transfer,
    /// Transfers of which the process is unknown.
    pub(super) no_process: Transfer,
    /// Events of other layers than the lowest.
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

const COLUMNS: [Columns; 17] = [
    Columns::CASE,
    Columns::PID,
    Columns::TID,
    Columns::SEQ,
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
    Columns::FILE,
    Columns::FILE2,
];

/// The pass that gathers records.
#[derive(Debug)]
pub struct Gathering<'a> {
    processes: &'a ProcessTable,
    survey: &'a Survey,
}

impl<'a> Gathering<'a> {
    /// Of processes `processes`, in a log of which `survey` knows what must be known before.
    #[must_use]
    pub fn new(processes: &'a ProcessTable, survey: &'a Survey) -> Self {
        Self { processes, survey }
    }
}

impl<'a> Pass for Gathering<'a> {
    type Sums = Worker<'a>;
    type Boundary = RowGroupRecords;
    type Closed = Records;
    type Output = Records;

    fn columns(&self) -> Columns {
        Columns::of(COLUMNS)
    }

    fn asks(&self) -> Asks {
        Asks { selection: true, ..Asks::default() }
    }

    fn sums(&self) -> Worker<'a> {
        Worker::new(self.processes, self.survey)
    }

    fn closed(&self) -> Records {
        let paths = self.survey.vocabulary.paths();
        Records { changed: vec![false; paths], programs: vec![false; paths], ..Records::default() }
    }

    fn add(&self, worker: &mut Worker<'a>, rows: &Rows<'_>) -> RowGroupRecords {
        worker.rows(rows)
    }

    fn merge(&self, _: &mut Worker<'a>, _: Worker<'a>) {}

    fn close(&self, gathered: &mut Records, part: RowGroupRecords) {
        gathered.add(part);
    }

    fn finish(&self, _: Worker<'a>, gathered: Records) -> Records {
        gathered
    }
}

impl Records {
    fn add(&mut self, RowGroupRecords { records, open, tally }: RowGroupRecords) {
        self.open.extend(open);
        for record in records.iter().filter(|record| record.op.changes()) {
            self.changed[record.path.index()] = true;
            if record.path2.index() < self.changed.len() {
                self.changed[record.path2.index()] = true;
            }
        }
        for record in records.iter().filter(|record| record.op == Op::Map) {
            self.programs[record.path.index()] = true;
        }
        self.records.extend(records);
        self.tally.add(&tally);
    }

    /// All records in order, with those of reads of which no row of their row group told the end.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn complete(
        &mut self,
        log: &EventLog,
        processes: &ProcessTable,
        threads: NonZeroUsize,
    ) -> Result<(), TrailError> {
        let end = self.tally.span.map(|(_, end)| end);
        let open = std::mem::take(&mut self.open);
        self.records.extend(open_reads::close(log, processes, open, end, threads)?);
        self.records.sort_by_key(Record::order);
        Ok(())
    }
}

/// What a row group tells.
#[derive(Debug)]
pub struct RowGroupRecords {
    records: Vec<Record>,
    /// Reads whose end it does not tell.
    open: Vec<OpenRead>,
    tally: Tally,
}

/// One thread of the scan.
#[derive(Debug)]
pub struct Worker<'a> {
    processes: &'a ProcessTable,
    vocabulary: &'a Vocabulary,
    channels: &'a Channels,
    known: &'a Known,
    singles: Vec<Record>,
    /// By thread, its read of a channel of which the end is not known, as a place in `singles`, and the row.
    open: HashMap<(CaseId, Tid), (usize, u64), RandomState>,
    joined: Joined,
    seen: HashMap<PathId, bool, RandomState>,
    tally: Tally,
}

/// Where the records are that a later one may join.
#[derive(Debug, Default)]
struct Joined {
    of_process: HashMap<(ProcessId, PathId, FileId, Op), u32, RandomState>,
    took_in: HashMap<ProcessId, u32, RandomState>,
    /// By the number of a file, see [`Known::file`].
    changed: HashMap<u32, u32, RandomState>,
}

impl<'a> Worker<'a> {
    fn new(processes: &'a ProcessTable, Survey { vocabulary, known, waits }: &'a Survey) -> Self {
        Self {
            processes,
            vocabulary,
            channels: waits.channels(),
            known,
            singles: Vec::new(),
            open: HashMap::default(),
            joined: Joined::default(),
            seen: HashMap::default(),
            tally: Tally::default(),
        }
    }

    fn rows(&mut self, Rows { batch, selected, .. }: &Rows<'_>) -> RowGroupRecords {
        self.tally = Tally::default();
        self.seen.clear();
        for (row, selected) in selected.iter().enumerate() {
            self.close(batch, row);
            if *selected {
                self.row(batch, row);
            }
        }
        let open = self.take_open();
        self.singles.sort_by_key(Record::order);
        let end = batch.start.last().copied().unwrap_or_default();
        RowGroupRecords { records: self.join(end), open, tally: self.tally }
    }

    /// A thread that makes a call has come back from the one before.
    fn close(&mut self, batch: &EventBatch, row: usize) {
        if self.open.is_empty() {
            return;
        }
        if let Some((index, _)) = self.open.remove(&(batch.case[row], batch.tid[row]))
            && let Some(record) = self.singles.get_mut(index)
        {
            record.at = batch.start[row];
        }
    }

    /// The reads of which no row after them in the batch tells the end.
    fn take_open(&mut self) -> Vec<OpenRead> {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_unstable_by_key(|(_, (index, _))| std::cmp::Reverse(*index));
        let take = |((case, tid), (index, seq))| {
            let record = self.singles.swap_remove(index);
            OpenRead { case, tid, seq, record }
        };
        open.into_iter().map(take).collect()
    }

    fn row(&mut self, batch: &EventBatch, row: usize) {
        let (start, dur) = (batch.start[row], batch.dur[row].get().map(|dur| Nanos(dur.0.max(0))));
        let end = start + dur.unwrap_or_default();
        let span = self.tally.span.get_or_insert((start, end));
        *span = (span.0.min(start), span.1.max(end));
        if batch.layer[row] != self.vocabulary.layer {
            self.tally.other_layers += 1;
            return;
        }
        let action = self.vocabulary.action(batch.call[row]);
        if action == Action::None {
            return;
        }
        let call = Call { batch, row, start, end, dur, action };
        if batch.errno[row].is_null() { self.success(&call) } else { self.failure(&call) }
    }

    /// A failed call moves nothing, but may tell that nothing is at its path.
    fn failure(&mut self, call: &Call<'_>) {
        let Call { batch, row, action, .. } = *call;
        if matches!(action, Action::Open | Action::Creat | Action::Look)
            && self.vocabulary.is_missing(batch.call[row], batch.flags[row], batch.errno[row])
        {
            self.look(call, false);
        }
    }

    fn success(&mut self, call: &Call<'_>) {
        let Call { batch, row, action, dur, .. } = *call;
        let size = batch.size[row].get();
        match action {
            Action::Read => self.transfer(call, Op::Read, call.first(), batch.offset[row].get(), size),
            Action::Write => self.transfer(call, Op::Write, call.first(), batch.offset[row].get(), size),
            Action::Copy => {
                self.transfer(call, Op::Read, call.first(), None, size);
                self.write_copy(call, size);
            }
            // Whether a call whose return was not seen did anything is unknown.
            _ if batch.ret[row].is_null() && dur.is_none() => {}
            Action::Open => {
                self.follow(call);
                self.open(call, self.vocabulary.flags(batch.flags[row]));
            }
            Action::Creat => self.push(call, Op::MakeOrEmpty),
            Action::Truncate if batch.offset[row].get() == Some(0) => self.push(call, Op::Empty),
            Action::Truncate | Action::Allocate => self.push(call, Op::Write),
            Action::Rename if self.vocabulary.flags(batch.flags[row]).exchange => {
                self.push(call, Op::Exchange)
            }
            Action::Rename => self.push(call, Op::Rename),
            Action::Link => self.push(call, Op::Link),
            Action::Unlink => self.push(call, Op::Unlink),
            Action::MakeNode if self.vocabulary.flags(batch.flags[row]).device => {}
            Action::MakeNode => self.push(call, Op::Make),
            Action::Symlink => self.push(call, Op::MakeLink),
            Action::Channel => self.make_channel(call),
            Action::Map => self.map(call),
            Action::Exec => self.push(call, Op::Map),
            Action::Look => self.look(call, true),
            Action::None => {}
        }
    }

    /// Who opens a file through a symbolic link depends on the link, too.
    fn follow(&mut self, call: &Call<'_>) {
        if let Some(link) = call.batch.path2[call.row].get() {
            let file = call.batch.file2[call.row];
            self.record(call, Op::Read, (link, file), Transfer::default());
        }
    }

    /// A pipe, or both directions between two sockets.
    fn make_channel(&mut self, call: &Call<'_>) {
        let ends = [call.first(), (call.batch.path2[call.row], call.batch.file2[call.row])];
        for (path, file) in ends {
            let Some(path) = path.get() else { continue };
            let way = self.channels.sends(path);
            let file = if way == path { file } else { self.known.of_path(way) };
            self.record(call, Op::Channel, (way, file), Transfer::default());
        }
    }

    fn open(&mut self, call: &Call<'_>, flags: super::vocabulary::Flags) {
        match flags {
            flags if flags.no_access => {}
            flags if flags.nameless => self.push(call, Op::MakeNameless),
            flags if flags.create && flags.exclusive => self.push(call, Op::Make),
            flags if flags.create && flags.truncate => self.push(call, Op::MakeOrEmpty),
            flags
                if flags.create
                    && !flags.truncate
                    && self.vocabulary.is_older(call.batch.file[call.row], call.start) =>
            {
                self.look(call, true);
            }
            flags if flags.create => self.push(call, Op::MakeOrOpen),
            flags if flags.truncate => self.push(call, Op::Empty),
            _ => self.look(call, true),
        }
    }

    fn map(&mut self, call: &Call<'_>) {
        if self.vocabulary.flags(call.batch.flags[call.row]).shared_writable
            && self.file_path(call.first()).is_some()
        {
            self.tally.shared_mappings += 1;
            self.push(call, Op::Write);
        }
        let executable = self.vocabulary.flags(call.batch.flags[call.row]).executable;
        self.push(call, if executable { Op::Map } else { Op::View });
    }

    /// Tells the sequential pass only what changes what it knows.
    fn look(&mut self, call: &Call<'_>, exists: bool) {
        let Some(path) = self.file_path(call.first()) else { return };
        match self.seen.entry(path) {
            // What is missing again may have been there in between: only a repeated sight of a file tells nothing new.
            Entry::Occupied(known) if exists && *known.get() => {}
            entry => {
                entry.insert(exists);
                self.push(call, if exists { Op::Exists } else { Op::Missing });
            }
        }
    }

    /// The path, if a file of the workflow can be there.
    fn file_path(&self, (path, file): Named) -> Option<PathId> {
        let is_file = |path: &PathId| {
            matches!(self.vocabulary.place_of(*path, file), PathKind::File | PathKind::Channel)
        };
        path.get().filter(is_file)
    }

    fn transfer(
        &mut self,
        call: &Call<'_>,
        op: Op,
        (path, file): Named,
        offset: Option<i64>,
        size: Option<i64>,
    ) {
        let Some(size) = size else { return };
        // The end of a pipe is no data: who sees only that took nothing from anybody.
        let is_channel = |path: PathId| self.vocabulary.place_of(path, file) == PathKind::Channel;
        if op == Op::Read && size == 0 && path.get().is_some_and(is_channel) {
            return;
        }
        let moved = one_call(size, call.dur);
        let Some(path) = path.get() else { return self.tally.no_path.add(&moved) };
        // What is read from a socket was written to the other end.
        let channels = self.channels;
        let way = if op == Op::Read { channels.receives(path) } else { channels.sends(path) };
        let (path, file) = if way == path { (path, file) } else { (way, self.known.of_path(way)) };
        let index = self.singles.len();
        self.record(call, op, (path, file), moved);
        let Some(record) = self.singles.get_mut(index) else { return };
        record.reach = Extent::of_transfer(offset, size);
        if op == Op::Read && call.dur.is_none() && is_channel(path) {
            let thread = (call.batch.case[call.row], call.batch.tid[call.row]);
            self.open.insert(thread, (index, call.batch.seq[call.row]));
        }
    }

    /// What a call writes that it has read itself.
    fn write_copy(&mut self, call: &Call<'_>, size: Option<i64>) {
        let known = self.singles.len();
        self.transfer(call, Op::Write, (call.batch.path2[call.row], call.batch.file2[call.row]), None, size);
        if let Some(record) = self.singles.get_mut(known) {
            (record.at, record.copied) = (call.end, true);
        }
    }

    fn push(&mut self, call: &Call<'_>, op: Op) {
        let Some(path) = call.batch.path[call.row].get() else { return };
        if op.changes() {
            self.seen.remove(&path);
            self.seen.remove(&call.batch.path2[call.row].raw());
        }
        self.record(call, op, (path, call.batch.file[call.row]), Transfer::default());
    }

    fn record(&mut self, call: &Call<'_>, op: Op, (path, file): (PathId, Nullable<FileId>), moved: Transfer) {
        let place = self.vocabulary.place_of(path, file);
        let transfers = matches!(op, Op::Read | Op::Write);
        let matters = match place {
            PathKind::File | PathKind::Channel => true,
            PathKind::Directory => transfers || matches!(op, Op::Rename | Op::Exchange),
            PathKind::System(System::Installed) => !matches!(op, Op::Exists | Op::Missing),
            PathKind::System(System::Pseudo) => transfers || matches!(op, Op::Map | Op::View),
        };
        if !matters {
            return;
        }
        let process = (call.batch.case[call.row], call.batch.pid[call.row]);
        let Some(process) = self.processes.find(process.0, process.1, call.start) else {
            self.tally.no_process.add(&moved);
            return;
        };
        let (path2, file2) = match op {
            Op::Rename | Op::Exchange | Op::Link | Op::MakeLink => {
                (call.batch.path2[call.row].raw(), call.batch.file2[call.row].raw())
            }
            _ => (Nullable::<PathId>::NULL.raw(), Nullable::<FileId>::NULL.raw()),
        };
        let at = if op.takes_in() { call.end } else { call.start };
        let reach = Extent::default();
        self.singles.push(Record {
            at,
            copied: false,
            first: call.start,
            last: call.end,
            moved,
            reach,
            process,
            path,
            path2,
            file: file.raw(),
            file2,
            op,
        });
    }

    /// The records of the batch; `end` is its last start.
    fn join(&mut self, end: Timestamp) -> Vec<Record> {
        let Joined { of_process, took_in, changed } = &mut self.joined;
        of_process.clear();
        took_in.clear();
        changed.clear();
        let mut records: Vec<Record> = Vec::with_capacity(self.singles.len() / 4);
        for single in self.singles.drain(..) {
            let Record { process, path, file, op, .. } = single;
            let index = records.len() as u32;
            let joinable = single.at <= end && !self.known.is_shared(file);
            let earlier = of_process.get(&(process, path, file, op)).copied().filter(|_| joinable);
            let since_change = changed.get(&self.known.file(file)).copied();
            let joins = earlier.filter(|earlier| match op {
                Op::Read | Op::Map | Op::View => since_change.is_none_or(|changed| changed < *earlier),
                Op::Write => {
                    since_change == Some(*earlier)
                        && took_in.get(&process).is_none_or(|took_in| took_in < earlier)
                }
                _ => false,
            });
            if let Some(record) = joins.and_then(|earlier| records.get_mut(earlier as usize)) {
                record.join(&single);
                continue;
            }
            if op.takes_in() {
                took_in.insert(process, index);
            }
            if op.changes() {
                changed.insert(self.known.file(file), index);
            }
            of_process.insert((process, path, file, op), index);
            records.push(single);
        }
        records.shrink_to_fit();
        records
    }
}

/// A path and the file that it denoted.
type Named = (Nullable<PathId>, Nullable<FileId>);

impl Call<'_> {
    /// What the first path denoted.
    fn first(&self) -> Named {
        (self.batch.path[self.row], self.batch.file[self.row])
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
