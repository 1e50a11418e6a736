//! The parallel scan: events to records.
//!
//! Records of one process and one path become one where the graph cannot tell them apart: reads while nobody changed the
//! file, writes while nobody else changed the file and the writer took nothing in. The graph is the same as without, and a
//! program that copies a gigabyte in small pieces costs no more than two records for every row group.
//!
//! Who read from a pipe may have waited, so that what was read may have been written after the read began. A read takes effect
//! when it ends. Where that is not known (`strace` without `-T`) it is taken to last until the next call of its thread: nothing
//! that the thread did depends on when within that time the data came.

use super::meaning::{Action, Meanings, Place};
use super::open_reads::{self, OpenRead};
use super::record::{Extent, Op, Record, one_call};
use crate::graph::Transfer;
use crate::system::System;
use foldhash::fast::RandomState;
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use iotrail_model::{CallId, CaseId, EventBatch, FileId, Layer, Nanos, Nullable, PathId, Tid, Timestamp};
use iotrail_query::{ActivityId, Classified, Classifier, LifeId, Lives, Query};
use iotrail_trail::{Columns, EventLog, TrailError};
use std::num::NonZeroUsize;

/// All records in the order in which they take effect, and what could not become one.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) records: Vec<Record>,
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

/// Reads the log.
pub(super) fn gather(
    log: &EventLog,
    lives: &Lives,
    meanings: &Meanings<'_>,
    query: Option<&Query>,
    threads: NonZeroUsize,
) -> Result<Gathered, TrailError> {
    let columns = COLUMNS.into_iter().fold(query.map_or(Columns::NONE, Query::columns), Columns::union);
    let known = Known::new(log, meanings, threads)?;
    let state = || Worker::new(lives, meanings, &known, query);
    let wanted = |group: &_| query.is_none_or(|query| query.may_match_group(group));
    let parts = log.scan_only(wanted, columns, threads, state, |worker, _, batch| worker.batch(batch))?;
    let mut gathered = Gathered {
        changed: vec![false; meanings.paths()],
        programs: vec![false; meanings.paths()],
        ..Gathered::default()
    };
    gathered.records.reserve_exact(parts.iter().map(|part| part.records.len()).sum());
    let mut open = Vec::new();
    for Part { records, open: of_part, tally } in parts {
        open.extend(of_part);
        for record in records.iter().filter(|record| record.op.changes()) {
            gathered.changed[record.path.index()] = true;
            if record.path2.index() < gathered.changed.len() {
                gathered.changed[record.path2.index()] = true;
            }
        }
        for record in records.iter().filter(|record| record.op == Op::Map) {
            gathered.programs[record.path.index()] = true;
        }
        gathered.records.extend(records);
        gathered.tally.add(&tally);
    }
    let end = gathered.tally.span.map(|(_, end)| end);
    gathered.records.extend(open_reads::close(log, lives, open, end, threads)?);
    gathered.records.sort_by_key(Record::order);
    Ok(gathered)
}

/// What a row group tells.
struct Part {
    records: Vec<Record>,
    /// Reads whose end it does not tell.
    open: Vec<OpenRead>,
    tally: Tally,
}

/// What must be known of files before records may be joined.
#[derive(Debug, Default)]
struct Known {
    /// Files that events of several cases name, whose rows may lie in different row groups. Empty for a single case.
    shared: Vec<bool>,
    /// In logs that tell files by their names alone, all names of one file have the same number. Empty if no file has two.
    file_of: Vec<u32>,
    /// By path the file of that name.
    of_paths: Vec<FileId>,
}

impl Known {
    fn new(log: &EventLog, meanings: &Meanings<'_>, threads: NonZeroUsize) -> Result<Self, TrailError> {
        let of_paths = (0..meanings.paths()).map(|path| log.file_of(PathId::from_index(path))).collect();
        let mut known = Self { of_paths, ..Self::default() };
        if log.cases().len() > 1 {
            known.shared = shared_files(log, threads)?;
            // Who reads at one end of a connection does not name the other one, which its data are called by.
            for path in (0..meanings.paths()).map(PathId::from_index) {
                let [one, other] = [meanings.channels().sends(path), meanings.channels().receives(path)];
                if one != other {
                    [one, other].into_iter().for_each(|way| known.share(way));
                }
            }
        }
        let files = log.distinct_files();
        let calls = 0..log.names().calls.len();
        if files.iter().any(|file| !file.numbered)
            && calls.into_iter().any(|call| meanings.gives_names(CallId::from_index(call)))
        {
            known.file_of = aliases(log, meanings, threads)?;
        }
        Ok(known)
    }

    fn share(&mut self, path: PathId) {
        let file = self.of_paths.get(path.index()).and_then(|file| self.shared.get_mut(file.index()));
        file.into_iter().for_each(|shared| *shared = true);
    }

    /// The file of a name.
    fn of_path(&self, path: PathId) -> Nullable<FileId> {
        self.of_paths.get(path.index()).copied().into()
    }

    fn is_shared(&self, file: FileId) -> bool {
        self.shared.get(file.index()).copied().unwrap_or(false)
    }

    fn file(&self, file: FileId) -> u32 {
        self.file_of.get(file.index()).copied().unwrap_or(file.0)
    }
}

fn shared_files(log: &EventLog, threads: NonZeroUsize) -> Result<Vec<bool>, TrailError> {
    let columns = Columns::CASE | Columns::FILE | Columns::FILE2;
    let pairs = log.scan(
        columns,
        threads,
        || (),
        |(), _, batch: &EventBatch| {
            let mut pairs: HashSet<(FileId, CaseId), RandomState> = HashSet::default();
            for (case, (file, file2)) in batch.case.iter().zip(batch.file.iter().zip(&batch.file2)) {
                pairs.extend([file.get(), file2.get()].into_iter().flatten().map(|file| (file, *case)));
            }
            pairs
        },
    )?;
    let mut owner: Vec<Option<CaseId>> = vec![None; log.distinct_files().len()];
    let mut shared = vec![false; owner.len()];
    for (file, case) in pairs.iter().flatten() {
        match owner.get_mut(file.index()) {
            Some(Some(known)) if known != case => shared[file.index()] = true,
            Some(owner) => *owner = Some(*case),
            None => {}
        }
    }
    Ok(shared)
}

/// For each file a number that all names of one file share, by renames and links, whether they succeeded or not.
fn aliases(log: &EventLog, meanings: &Meanings<'_>, threads: NonZeroUsize) -> Result<Vec<u32>, TrailError> {
    fn find(file_of: &mut [u32], mut file: u32) -> u32 {
        while file_of[file as usize] != file {
            file_of[file as usize] = file_of[file_of[file as usize] as usize];
            file = file_of[file as usize];
        }
        file
    }
    let columns = Columns::CALL | Columns::FILE | Columns::FILE2;
    let pairs = log.scan(
        columns,
        threads,
        || (),
        |(), _, batch: &EventBatch| {
            let rows = (0..batch.len).filter(|row| meanings.gives_names(batch.call[*row]));
            rows.filter_map(|row| batch.file[row].get().zip(batch.file2[row].get())).collect::<Vec<_>>()
        },
    )?;
    let mut file_of: Vec<u32> = (0..log.distinct_files().len() as u32).collect();
    for (one, other) in pairs.into_iter().flatten() {
        let (one, other) = (find(&mut file_of, one.0), find(&mut file_of, other.0));
        file_of[one.max(other) as usize] = one.min(other);
    }
    for file in 0..file_of.len() as u32 {
        file_of[file as usize] = find(&mut file_of, file);
    }
    Ok(file_of)
}

/// One thread of the scan.
struct Worker<'a> {
    lives: &'a Lives,
    meanings: &'a Meanings<'a>,
    known: &'a Known,
    classifier: Option<Classifier>,
    classified: Classified,
    singles: Vec<Record>,
    /// By thread, its read of a channel of which the end is not known, as a place in `singles`, and the row.
    open: HashMap<(CaseId, Tid), (usize, u64), RandomState>,
    joined: Joined,
    seen: HashMap<PathId, bool, RandomState>,
    tally: Tally,
}

/// Where the records are that a later one may join.
#[derive(Default)]
struct Joined {
    of_process: HashMap<(LifeId, PathId, FileId, Op), u32, RandomState>,
    took_in: HashMap<LifeId, u32, RandomState>,
    /// By the number of a file, see [`Known::file`].
    changed: HashMap<u32, u32, RandomState>,
}

impl<'a> Worker<'a> {
    fn new(lives: &'a Lives, meanings: &'a Meanings<'a>, known: &'a Known, query: Option<&Query>) -> Self {
        Self {
            lives,
            meanings,
            known,
            classifier: query.map(Query::worker),
            classified: Classified::default(),
            singles: Vec::new(),
            open: HashMap::default(),
            joined: Joined::default(),
            seen: HashMap::default(),
            tally: Tally::default(),
        }
    }

    fn batch(&mut self, batch: &EventBatch) -> Part {
        self.tally = Tally::default();
        self.seen.clear();
        if let Some(classifier) = &mut self.classifier {
            classifier.classify(batch, &mut self.classified);
        }
        for row in 0..batch.len {
            self.close(batch, row);
            if self.classified.activity.get(row) != Some(&ActivityId::UNSELECTED) {
                self.row(batch, row);
            }
        }
        let open = self.take_open();
        self.singles.sort_by_key(Record::order);
        let end = batch.start.last().copied().unwrap_or_default();
        Part { records: self.join(end), open, tally: self.tally }
    }

    /// A thread that makes a call has come back from the one before.
    fn close(&mut self, batch: &EventBatch, row: usize) {
        if self.open.is_empty() {
            return;
        }
        if let Some((place, _)) = self.open.remove(&(batch.case[row], batch.tid[row]))
            && let Some(record) = self.singles.get_mut(place)
        {
            record.at = batch.start[row];
        }
    }

    /// The reads of which no row after them in the batch tells the end.
    fn take_open(&mut self) -> Vec<OpenRead> {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_unstable_by_key(|(_, (place, _))| std::cmp::Reverse(*place));
        let take = |((case, tid), (place, seq))| {
            let record = self.singles.swap_remove(place);
            OpenRead { case, tid, seq, record }
        };
        open.into_iter().map(take).collect()
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
            Action::Read => self.transfer(call, Op::Read, call.first(), size),
            Action::Write => self.write(call, call.first(), batch.offset[row].get(), size),
            Action::Copy => {
                self.transfer(call, Op::Read, call.first(), size);
                self.write(call, (batch.path2[row], batch.file2[row]), None, size);
            }
            // Whether a call whose return was not seen did anything is unknown.
            _ if batch.ret[row].is_null() && dur.is_none() => {}
            Action::Open => {
                self.follow(call);
                self.open(call, self.meanings.flags(batch.flags[row]));
            }
            Action::Creat => self.push(call, Op::MakeOrEmpty),
            Action::Truncate if batch.offset[row].get() == Some(0) => self.push(call, Op::Empty),
            Action::Truncate | Action::Allocate => self.push(call, Op::Write),
            Action::Rename if self.meanings.flags(batch.flags[row]).exchange => self.push(call, Op::Exchange),
            Action::Rename => self.push(call, Op::Rename),
            Action::Link => self.push(call, Op::Link),
            Action::Unlink => self.push(call, Op::Unlink),
            Action::MakeNode if self.meanings.flags(batch.flags[row]).device => {}
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
            let way = self.meanings.channels().sends(path);
            let file = if way == path { file } else { self.known.of_path(way) };
            self.record(call, Op::Channel, (way, file), Transfer::default());
        }
    }

    fn open(&mut self, call: &Call<'_>, flags: super::meaning::Flags) {
        match flags {
            flags if flags.no_access => {}
            flags if flags.nameless => self.push(call, Op::MakeNameless),
            flags if flags.create && flags.exclusive => self.push(call, Op::Make),
            flags if flags.create && flags.truncate => self.push(call, Op::MakeOrEmpty),
            flags
                if flags.create
                    && !flags.truncate
                    && self.meanings.is_older(call.batch.file[call.row], call.start) =>
            {
                self.look(call, true);
            }
            flags if flags.create => self.push(call, Op::MakeOrOpen),
            flags if flags.truncate => self.push(call, Op::Empty),
            _ => self.look(call, true),
        }
    }

    fn map(&mut self, call: &Call<'_>) {
        if self.meanings.flags(call.batch.flags[call.row]).shared_writable
            && self.file_path(call.first()).is_some()
        {
            self.tally.shared_mappings += 1;
            self.push(call, Op::Write);
        }
        let executable = self.meanings.flags(call.batch.flags[call.row]).executable;
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
        let is_file =
            |path: &PathId| matches!(self.meanings.place_of(*path, file), Place::File | Place::Channel);
        path.get().filter(is_file)
    }

    fn transfer(&mut self, call: &Call<'_>, op: Op, (path, file): Named, size: Option<i64>) {
        let Some(size) = size else { return };
        // The end of a pipe is no data: who sees only that took nothing from anybody.
        let is_channel = |path: PathId| self.meanings.place_of(path, file) == Place::Channel;
        if op == Op::Read && size == 0 && path.get().is_some_and(is_channel) {
            return;
        }
        let moved = one_call(size, call.dur);
        let Some(path) = path.get() else { return self.tally.no_path.add(&moved) };
        // What is read from a socket was written to the other end.
        let channels = self.meanings.channels();
        let way = if op == Op::Read { channels.receives(path) } else { channels.sends(path) };
        let (path, file) = if way == path { (path, file) } else { (way, self.known.of_path(way)) };
        let place = self.singles.len();
        self.record(call, op, (path, file), moved);
        if op == Op::Read && call.dur.is_none() && is_channel(path) && self.singles.len() > place {
            let thread = (call.batch.case[call.row], call.batch.tid[call.row]);
            self.open.insert(thread, (place, call.batch.seq[call.row]));
        }
    }

    fn write(&mut self, call: &Call<'_>, named: Named, offset: Option<i64>, size: Option<i64>) {
        let known = self.singles.len();
        self.transfer(call, Op::Write, named, size);
        if let (Some(record), Some(size)) = (self.singles.get_mut(known), size) {
            record.written_to = Extent::of_write(offset, size);
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
        let place = self.meanings.place_of(path, file);
        let transfers = matches!(op, Op::Read | Op::Write);
        let matters = match place {
            Place::File | Place::Channel => true,
            Place::Directory => transfers || matches!(op, Op::Rename | Op::Exchange),
            Place::System(System::Installed) => !matches!(op, Op::Exists | Op::Missing),
            Place::System(System::Pseudo) => transfers || matches!(op, Op::Map | Op::View),
        };
        if !matters {
            return;
        }
        let process = (call.batch.case[call.row], call.batch.pid[call.row]);
        let Some(life) = self.lives.find(process.0, process.1, call.start) else {
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
        let written_to = Extent::default();
        self.singles.push(Record {
            at,
            first: call.start,
            last: call.end,
            moved,
            written_to,
            life,
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
            let Record { life, path, file, op, .. } = single;
            let place = records.len() as u32;
            let joinable = single.at <= end && !self.known.is_shared(file);
            let earlier = of_process.get(&(life, path, file, op)).copied().filter(|_| joinable);
            let since_change = changed.get(&self.known.file(file)).copied();
            let joins = earlier.filter(|earlier| match op {
                Op::Read | Op::Map | Op::View => since_change.is_none_or(|changed| changed < *earlier),
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
                changed.insert(self.known.file(file), place);
            }
            of_process.insert((life, path, file, op), place);
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
