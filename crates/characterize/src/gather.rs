//! Phase A: the pass that takes requests and synchronisation out of a log.

use crate::result::RankedBy;
use crate::told::{Told, Use};
use iotrail_model::calls::flags::has_word;
use iotrail_model::calls::{CallKind, PerCall, mpi};
use iotrail_model::places::{is_pseudo, mpi_directory};
use iotrail_model::{
    CallId, CaseId, ErrnoId, EventBatch, FileId, FileKind, FlagsId, Layer, Nullable, OpenId, PathId, Tid,
};
use iotrail_query::{Asks, Pass, ProcessId, ProcessTable, Rows};
use iotrail_trail::{Columns, DistinctFile, EventLog};
use serde::Serialize;
use std::collections::HashSet;

/// Calls that are no requests of the program, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// On files of the system, of the program's libraries, or of MPI.
    pub on_system_files: u64,
    /// On what is no file: sockets, pipes, terminals, directories, memory.
    pub on_no_file: u64,
    /// On files whose names are not known: cut by the tracer, or of descriptors that nobody saw being opened.
    pub on_unnamed_files: u64,
    /// Files that were mapped to memory: accesses through memory are in no trail.
    pub mapped: u64,
    /// Before `MPI_Init` ended or after `MPI_Finalize` began.
    pub outside_mpi: u64,
    /// Made by MPI-IO for calls of the program: these are the requests.
    pub under_mpi_io: u64,
    /// Requests whose end was not seen.
    pub unfinished: u64,
}

impl LeftOut {
    fn add(&mut self, other: Self) {
        self.on_system_files += other.on_system_files;
        self.on_no_file += other.on_no_file;
        self.on_unnamed_files += other.on_unnamed_files;
        self.mapped += other.mapped;
        self.outside_mpi += other.outside_mpi;
        self.under_mpi_io += other.under_mpi_io;
        self.unfinished += other.unfinished;
    }
}

/// A row of interest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) case: CaseId,
    pub(crate) tid: Tid,
    pub(crate) start: i64,
    pub(crate) end: Nullable<i64>,
    pub(crate) call: CallId,
    pub(crate) what: What,
}

/// What a row is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Request(RequestRow),
    /// A collective call on a communicator.
    Collective {
        comm: Nullable<i32>,
    },
    /// A call of MPI-IO that is no request of a model, and whether all ranks wait for each other in it that opened the file.
    OfMpiIo {
        open: Nullable<OpenId>,
        synchronises: bool,
    },
    /// MPI began or ended.
    MpiBegins,
    MpiEnds,
    /// The thread waited for another one.
    Waits,
    /// It tells of the order of ranks.
    Tells(Told),
}

impl What {
    const fn is_of_mpi(&self) -> bool {
        match self {
            Self::Collective { .. }
            | Self::OfMpiIo { .. }
            | Self::MpiBegins
            | Self::MpiEnds
            | Self::Tells(Told::Mpi { .. }) => true,
            Self::Request(_) | Self::Waits | Self::Tells(Told::Pipe { .. } | Told::Child(_)) => false,
        }
    }
}

/// A call about a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestRow {
    /// NULL for what is not there.
    pub(crate) file: Nullable<FileId>,
    pub(crate) path: Nullable<PathId>,
    /// The name that it gives the file.
    pub(crate) to: Nullable<PathId>,
    pub(crate) is_directory: bool,
    /// Whether it failed, though the file is there.
    pub(crate) failed: bool,
    pub(crate) of_mpi: OfMpi,
    pub(crate) open: Nullable<OpenId>,
    pub(crate) offset: Nullable<i64>,
    /// Bytes that were asked for.
    pub(crate) size: Nullable<i64>,
    pub(crate) flags: Nullable<FlagsId>,
    /// The byte behind the last one that it moved.
    pub(crate) end: Nullable<i64>,
    /// Which half of a copy from one file to another it is.
    pub(crate) half: Option<Half>,
}

/// A copy (`copy_file_range`, `sendfile`, `splice`) is a read of one file and a write to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Half {
    From,
    Into,
}

/// What a request is to MPI-IO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OfMpi {
    /// A system call.
    #[default]
    No,
    /// A call of a rank alone.
    Alone,
    /// A call that the ranks make together that opened the file.
    Together,
    /// The ranks of the communicator of that number open the file.
    Opened(i32),
}

/// All rows of interest, in the order of their begins: of each case if cases are ranks, else of each process.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) rows: Vec<Vec<Row>>,
    pub(crate) left_out: LeftOut,
    pub(crate) has_mpi: bool,
}

/// Takes the rows of interest out of a log.
pub(crate) struct Gathering<'a> {
    processes: &'a ProcessTable,
    by: RankedBy,
    kinds: PerCall<CallKind>,
    of_mpi_io: PerCall<CallKind>,
    of_all: PerCall<bool>,
    mpi: PerCall<mpi::Role>,
    uses: PerCall<Use>,
    own: Vec<Owner>,
    /// Whether each file is a pipe.
    pipes: Vec<bool>,
    /// The error of names that are not there.
    absent: Option<ErrnoId>,
    /// Paths of the system.
    of_system: Vec<bool>,
    /// Whether these flags let two files change their names with each other.
    exchange: Vec<bool>,
}

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Program,
    /// A directory, and whether that is sure.
    Directory(bool),
    System,
    /// It is no file that holds bytes.
    Nobody,
}

impl<'a> Gathering<'a> {
    pub(crate) fn new(log: &EventLog, processes: &'a ProcessTable, by: RankedBy) -> Self {
        let names = log.names();
        let holds_bytes = log.holds_bytes();
        let ids = (0..processes.all().len() as u32).map(ProcessId);
        let programs: HashSet<&str> =
            ids.flat_map(|id| processes.images(id)).filter_map(|image| image.exe.as_deref()).collect();
        let directory = |file: &DistinctFile| {
            let path = &*names.paths[file.path.index()];
            let kind = file.kind.as_deref();
            let may_be = path.starts_with('/') && !is_of_system(path);
            match kind {
                _ if !may_be => Owner::Nobody,
                None => Owner::Directory(false),
                Some(kind) if kind == FileKind::Directory.name() => Owner::Directory(true),
                Some(_) => Owner::Nobody,
            }
        };
        let owner = |(file, holds): (&DistinctFile, &bool)| match holds {
            false => directory(file),
            true if is_of_system(&names.paths[file.path.index()]) => Owner::System,
            true if programs.contains(&*names.paths[file.path.index()]) => Owner::System,
            true => Owner::Program,
        };
        Self {
            processes,
            by,
            kinds: PerCall::new(&names.calls, |call| call.kind()),
            of_mpi_io: PerCall::new(&names.calls, |call| mpi::file_call(call.name)),
            of_all: PerCall::new(&names.calls, |call| mpi::is_of_all(call.name)),
            mpi: PerCall::new(&names.calls, |call| mpi::role(call.name)),
            uses: Use::of_calls(names),
            pipes: log.distinct_files().iter().map(is_pipe).collect(),
            own: log.distinct_files().iter().zip(&holds_bytes).map(owner).collect(),
            absent: names.errnos.iter().position(|name| &**name == "ENOENT").map(|at| ErrnoId(at as u32)),
            of_system: names.paths.iter().map(|path| !path.starts_with('/') || is_of_system(path)).collect(),
            exchange: names.flags.iter().map(|flags| has_word(flags.as_bytes(), "RENAME_EXCHANGE")).collect(),
        }
    }

    /// A row of interest, and the list that it belongs to. What orders ranks is of interest whatever is selected.
    fn row(
        &self,
        batch: &EventBatch,
        at: usize,
        selected: bool,
        left_out: &mut LeftOut,
    ) -> Option<(usize, Row)> {
        let what = match batch.layer[at] {
            Layer::Mpiio if selected => match self.mpi_io(batch, at, left_out) {
                Some(request) => What::Request(request),
                None => What::OfMpiIo {
                    open: batch.open[at],
                    synchronises: self.mpi.of(batch.call[at]) == mpi::Role::Synchronises,
                },
            },
            Layer::Mpi | Layer::Mpiio => match self.mpi.of(batch.call[at]) {
                mpi::Role::Begins => What::MpiBegins,
                mpi::Role::Ends => What::MpiEnds,
                mpi::Role::Synchronises => What::Collective { comm: batch.comm[at] },
                mpi::Role::FromRoot | mpi::Role::ToRoot | mpi::Role::Other => {
                    What::Tells(self.told(batch, at)?)
                }
            },
            Layer::Syscall if !selected => What::Tells(self.told(batch, at)?),
            Layer::Syscall if self.kinds.of(batch.call[at]) == CallKind::Futex => What::Waits,
            Layer::Syscall => match self.request((batch, at), self.kinds.of(batch.call[at]), left_out) {
                Some(request) => What::Request(request),
                None => What::Tells(self.told(batch, at)?),
            },
            Layer::Posix | Layer::Libc => return None,
        };
        if !matches!(what, What::Waits | What::Tells(_)) && batch.dur[at].is_null() {
            left_out.unfinished += 1;
        }
        self.placed(batch, at, what)
    }

    /// The row of an event, and the list that it belongs to.
    fn placed(&self, batch: &EventBatch, at: usize, what: What) -> Option<(usize, Row)> {
        let start = batch.start[at];
        let end = batch.dur[at].get().map(|dur| start.0.saturating_add(dur.0.max(0)));
        let process = self.processes.find(batch.case[at], batch.pid[at], start);
        let list = match self.by {
            RankedBy::Case => process.map(|_| batch.case[at].index())?,
            RankedBy::Process | RankedBy::Thread => process?.index(),
        };
        let row = Row {
            case: batch.case[at],
            tid: batch.tid[at],
            start: start.0,
            end: end.into(),
            call: batch.call[at],
            what,
        };
        Some((list, row))
    }

    fn told(&self, batch: &EventBatch, at: usize) -> Option<Told> {
        let is_pipe = |file: FileId| self.pipes.get(file.index()).copied().unwrap_or_default();
        Told::of_row(batch, at, (&self.uses, &self.kinds), is_pipe)
    }

    /// A call of MPI-IO about a file of the program; NULL for one that failed.
    fn mpi_io(&self, batch: &EventBatch, at: usize, left_out: &mut LeftOut) -> Option<RequestRow> {
        let call = batch.call[at];
        let kind = self.of_mpi_io.of(call);
        if kind == CallKind::Other || batch.ret[at].get() != Some(0) {
            return None;
        }
        let of_mpi = match (kind, self.of_all.of(call)) {
            (CallKind::Open, _) => OfMpi::Opened(batch.comm[at].get().unwrap_or(-1)),
            (_, true) => OfMpi::Together,
            (_, false) => OfMpi::Alone,
        };
        Some(RequestRow { of_mpi, ..self.request((batch, at), kind, left_out)? })
    }

    fn request(
        &self,
        (batch, at): (&EventBatch, usize),
        kind: CallKind,
        left_out: &mut LeftOut,
    ) -> Option<RequestRow> {
        let absent = batch.errno[at].get().is_some() && batch.errno[at].get() == self.absent;
        let Some(file) = batch.file[at].get().filter(|_| !absent) else {
            let path = batch.path[at].get();
            left_out.on_unnamed_files += u64::from(path.is_none() && !absent && uses_file(kind));
            let path = path.filter(|path| !self.of_system[path.index()]);
            return path.filter(|_| absent && names_file(kind)).map(|_| RequestRow::of_nothing());
        };
        // Of two files that change their names with each other both have one before and after.
        let exchanges = kind == CallKind::Rename
            && batch.flags[at].get().is_some_and(|flags| self.exchange.get(flags.index()) == Some(&true));
        let failed = batch.errno[at].get().is_some() || exchanges;
        let renames = kind == CallKind::Rename && !failed;
        let is_directory = match self.own.get(file.index()) {
            _ if kind == CallKind::Exec => return None,
            Some(Owner::Program) if kind == CallKind::Map => {
                left_out.mapped += 1;
                return None;
            }
            Some(Owner::Program) => on_directories(kind),
            // What is opened and closed for its entries is a part of reading them.
            Some(Owner::Directory(true)) if matches!(kind, CallKind::Open | CallKind::Close) => return None,
            // Whether it is one, other calls say (`streams::tell_directories`).
            Some(Owner::Directory(_)) if on_directories(kind) || renames => true,
            Some(Owner::Directory(true)) if kind == CallKind::Stat => true,
            Some(Owner::System) => {
                left_out.on_system_files += 1;
                return None;
            }
            _ => {
                left_out.on_no_file += 1;
                return None;
            }
        };
        let transfers = matches!(kind, CallKind::Read | CallKind::Write);
        let names = renames || kind == CallKind::Link && !failed;
        let to = batch.path2[at].get().filter(|path| names && !self.of_system[path.index()]);
        let asked = || batch.requested[at].get().or(batch.size[at].get());
        Some(RequestRow {
            file: Nullable::some(file),
            path: batch.path[at],
            to: to.into(),
            is_directory,
            failed,
            of_mpi: OfMpi::No,
            open: batch.open[at],
            offset: batch.offset[at],
            size: if transfers { asked().into() } else { Nullable::NULL },
            flags: batch.flags[at],
            end: batch.offset[at]
                .get()
                .zip(batch.size[at].get().filter(|size| *size > 0))
                .and_then(|(offset, size)| offset.checked_add(size))
                .into(),
            half: None,
        })
    }

    /// Rows of interest of an event: of a copy that moved bytes those of its halves, in pieces, of others one at most.
    fn rows(
        &self,
        batch: &EventBatch,
        at: usize,
        selected: bool,
        left_out: &mut LeftOut,
    ) -> impl Iterator<Item = (usize, Row)> + use<> {
        let is_copy = selected
            && batch.layer[at] == Layer::Syscall
            && self.kinds.of(batch.call[at]) == CallKind::Copy
            && [batch.file[at], batch.file2[at]].into_iter().any(|file| self.is_of_program(file));
        let moved = batch.size[at].get().filter(|size| is_copy && *size > 0);
        let copied = moved.map(|moved| self.copied(batch, at, moved, left_out)).unwrap_or_default();
        let whole = match copied.is_empty() {
            true => self.row(batch, at, selected, left_out),
            // What goes through a pipe orders ranks, too.
            false => self.told(batch, at).and_then(|told| self.placed(batch, at, What::Tells(told))),
        };
        whole.into_iter().chain(copied)
    }

    fn owner(&self, file: Nullable<FileId>) -> Option<Owner> {
        file.get().and_then(|file| self.own.get(file.index()).copied())
    }

    fn is_of_program(&self, file: Nullable<FileId>) -> bool {
        self.owner(file) == Some(Owner::Program)
    }

    /// The halves of a copy that moved so many bytes, piece by piece: each piece is read and written before the next one, in its share of the time.
    fn copied(&self, batch: &EventBatch, at: usize, moved: i64, left_out: &mut LeftOut) -> Vec<(usize, Row)> {
        let Some((list, row)) = self.placed(batch, at, What::Waits) else { return Vec::new() };
        let nothing = RequestRow { failed: false, ..RequestRow::of_nothing() };
        let from = RequestRow {
            file: batch.file[at],
            path: batch.path[at],
            open: batch.open[at],
            offset: batch.offset[at],
            half: Some(Half::From),
            ..nothing
        };
        let into = RequestRow {
            file: batch.file2[at],
            path: batch.path2[at],
            open: batch.open2[at],
            half: Some(Half::Into),
            ..nothing
        };
        let (halves, others): (Vec<RequestRow>, Vec<RequestRow>) =
            [from, into].into_iter().partition(|half| self.is_of_program(half.file));
        for other in others {
            let is_system = self.owner(other.file) == Some(Owner::System);
            left_out.on_system_files += u64::from(is_system);
            left_out.on_no_file += u64::from(!is_system);
        }
        let piece_size = PIECE.max(moved / MOST_PIECES + 1);
        let pieces = (moved - 1) / piece_size + 1;
        let parts = pieces.saturating_mul(halves.len() as i64).max(1);
        let took = row.end.get().map(|end| end - row.start);
        let moment = |part: i64| {
            took.map(|took| row.start + (i128::from(took) * i128::from(part) / i128::from(parts)) as i64)
        };
        let mut rows = Vec::new();
        for piece in 0..pieces {
            for (number, request) in (0..).zip(&halves) {
                let part = piece * halves.len() as i64 + number;
                let (before, size) = (piece * piece_size, piece_size.min(moved - piece * piece_size));
                let offset = request.offset.get().map(|offset| offset.saturating_add(before));
                let end = offset.map(|offset| offset.saturating_add(size)).into();
                let request =
                    RequestRow { offset: offset.into(), size: Nullable::some(size), end, ..*request };
                let start = moment(part).unwrap_or(row.start);
                let what = What::Request(request);
                rows.push((list, Row { start, end: moment(part + 1).into(), what, ..row }));
            }
        }
        rows
    }
}

/// Bytes of a copy that a clone reads and writes at a time.
const PIECE: i64 = 1 << 20;
/// Pieces of larger copies are larger.
const MOST_PIECES: i64 = 64;

impl RequestRow {
    /// A call that names what is not there.
    pub(crate) const fn of_nothing() -> Self {
        Self {
            file: Nullable::NULL,
            path: Nullable::NULL,
            to: Nullable::NULL,
            is_directory: false,
            failed: true,
            of_mpi: OfMpi::No,
            open: Nullable::NULL,
            offset: Nullable::NULL,
            size: Nullable::NULL,
            flags: Nullable::NULL,
            end: Nullable::NULL,
            half: None,
        }
    }
}

fn is_pipe(file: &DistinctFile) -> bool {
    file.kind.as_deref() == Some(FileKind::Pipe.name())
}

/// Calls that open a file, or move its bytes.
fn uses_file(kind: CallKind) -> bool {
    matches!(kind, CallKind::Open | CallKind::Create | CallKind::Read | CallKind::Write | CallKind::Sync)
}

/// Calls that name a file, and may find that it is not there.
fn names_file(kind: CallKind) -> bool {
    matches!(
        kind,
        CallKind::Open
            | CallKind::Stat
            | CallKind::Access
            | CallKind::ReadLink
            | CallKind::Unlink
            | CallKind::Rename
            | CallKind::RemoveDirectory
    )
}

fn on_directories(kind: CallKind) -> bool {
    matches!(kind, CallKind::MakeDirectory | CallKind::RemoveDirectory | CallKind::List)
}

/// Files of the system, and those that MPI makes for itself.
fn is_of_system(path: &str) -> bool {
    const SYSTEM: [&str; 10] = [
        "/usr/",
        "/lib",
        "/etc/",
        "/opt/",
        "/bin/",
        "/sbin/",
        "/run/",
        "/var/run/",
        "/var/lib/",
        "/var/cache/",
    ];
    let of_mpi = |part: &str| mpi_directory(part).is_some();
    is_pseudo(path)
        || SYSTEM.iter().any(|root| path.starts_with(root))
        || path.split('/').rev().skip(1).any(of_mpi)
}

impl Pass for Gathering<'_> {
    type Sums = ();
    type Boundary = (Vec<(usize, Row)>, LeftOut);
    type Closed = Gathered;
    type Output = Gathered;

    fn columns(&self) -> Columns {
        Columns::CASE
            | Columns::PID
            | Columns::TID
            | Columns::LAYER
            | Columns::CALL
            | Columns::START
            | Columns::DUR
            | Columns::OFFSET
            | Columns::REQUESTED
            | Columns::SIZE
            | Columns::FLAGS
            | Columns::FILE
            | Columns::FILE2
            | Columns::OPEN
            | Columns::OPEN2
            | Columns::PATH
            | Columns::PATH2
            | Columns::ERRNO
            | Columns::COMM
            | Columns::PEER
            | Columns::TAG
            | Columns::ARGS
            | Columns::RET
    }

    fn asks(&self) -> Asks {
        Asks { activities: false, selection: true, whole_log: true }
    }

    fn sums(&self) {}

    fn closed(&self) -> Gathered {
        Gathered::default()
    }

    fn add(&self, (): &mut (), rows: &Rows<'_>) -> (Vec<(usize, Row)>, LeftOut) {
        let mut left_out = LeftOut::default();
        let selected = |at: usize| rows.selected.get(at).copied().unwrap_or_default();
        let row = |at: usize| self.rows(rows.batch, at, selected(at), &mut left_out);
        let taken = (0..rows.batch.len).flat_map(row).collect();
        (taken, left_out)
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, gathered: &mut Gathered, (rows, left_out): (Vec<(usize, Row)>, LeftOut)) {
        for (list, row) in rows {
            if gathered.rows.len() <= list {
                gathered.rows.resize_with(list + 1, Vec::new);
            }
            gathered.rows[list].push(row);
        }
        gathered.left_out.add(left_out);
    }

    fn finish(&self, (): (), mut gathered: Gathered) -> Gathered {
        let unsorted = gathered.rows.iter_mut().filter(|rows| !rows.is_sorted_by_key(|row| row.start));
        unsorted.for_each(|rows| rows.sort_by_key(|row| row.start));
        gathered.has_mpi = gathered.rows.iter().flatten().any(|row| row.what.is_of_mpi());
        gathered
    }
}
