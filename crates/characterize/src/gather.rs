//! Phase A: the pass that takes requests and synchronisation out of a log.

use iotrail_model::calls::{CallKind, PerCall, mpi};
use iotrail_model::{CallId, CaseId, EventBatch, FileId, FlagsId, Layer, Nullable, OpenId, Tid};
use iotrail_query::{Asks, Pass, ProcessId, ProcessTable, Rows};
use iotrail_trail::{Columns, EventLog};
use serde::Serialize;
use std::collections::HashSet;

/// Calls that are no requests of the program, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// On files of the system, of the program's libraries, or of MPI.
    pub on_system_files: u64,
    /// On what is no file: sockets, pipes, terminals, directories, memory.
    pub on_no_file: u64,
    /// Files that were mapped to memory: accesses through memory are in no trail.
    pub mapped: u64,
    /// Before `MPI_Init` ended or after `MPI_Finalize` began.
    pub outside_mpi: u64,
    /// Requests whose end was not seen.
    pub unfinished: u64,
}

impl LeftOut {
    fn add(&mut self, other: Self) {
        self.on_system_files += other.on_system_files;
        self.on_no_file += other.on_no_file;
        self.mapped += other.mapped;
        self.outside_mpi += other.outside_mpi;
        self.unfinished += other.unfinished;
    }
}

/// A row of interest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) case: CaseId,
    pub(crate) process: ProcessId,
    pub(crate) tid: Tid,
    pub(crate) start: i64,
    pub(crate) end: Option<i64>,
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
    /// MPI began or ended.
    MpiBegins,
    MpiEnds,
}

/// A call about a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestRow {
    pub(crate) file: FileId,
    pub(crate) open: Nullable<OpenId>,
    pub(crate) offset: Nullable<i64>,
    /// Bytes that were asked for.
    pub(crate) size: Nullable<i64>,
    pub(crate) flags: Nullable<FlagsId>,
    /// The byte behind the last one that it moved.
    pub(crate) end: Option<i64>,
}

/// All rows of interest, in the order of the log.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) rows: Vec<Row>,
    pub(crate) left_out: LeftOut,
    pub(crate) has_mpi: bool,
}

/// Takes the rows of interest out of a log.
pub(crate) struct Gathering<'a> {
    processes: &'a ProcessTable,
    kinds: PerCall<CallKind>,
    mpi: PerCall<mpi::Role>,
    own: Vec<Owner>,
}

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Program,
    System,
    /// It is no file that holds bytes.
    Nobody,
}

impl<'a> Gathering<'a> {
    pub(crate) fn new(log: &EventLog, processes: &'a ProcessTable) -> Self {
        let names = log.names();
        let holds_bytes = log.holds_bytes();
        let ids = (0..processes.all().len() as u32).map(ProcessId);
        let programs: HashSet<&str> =
            ids.flat_map(|id| processes.images(id)).filter_map(|image| image.exe.as_deref()).collect();
        let owner = |(file, holds): (&iotrail_trail::DistinctFile, &bool)| match holds {
            false => Owner::Nobody,
            true if is_of_system(&names.paths[file.path.index()]) => Owner::System,
            true if programs.contains(&*names.paths[file.path.index()]) => Owner::System,
            true => Owner::Program,
        };
        Self {
            processes,
            kinds: PerCall::new(&names.calls, |call| call.kind()),
            mpi: PerCall::new(&names.calls, |call| mpi::role(call.name)),
            own: log.distinct_files().iter().zip(&holds_bytes).map(owner).collect(),
        }
    }

    fn row(&self, batch: &EventBatch, at: usize, left_out: &mut LeftOut) -> Option<Row> {
        let what = match batch.layer[at] {
            Layer::Mpi | Layer::Mpiio => match self.mpi.of(batch.call[at]) {
                mpi::Role::Begins => What::MpiBegins,
                mpi::Role::Ends => What::MpiEnds,
                mpi::Role::Synchronises => What::Collective { comm: batch.comm[at] },
                mpi::Role::FromRoot | mpi::Role::ToRoot | mpi::Role::Other => return None,
            },
            Layer::Syscall => What::Request(self.request(batch, at, left_out)?),
            Layer::Posix | Layer::Libc => return None,
        };
        let start = batch.start[at];
        let end = batch.dur[at].get().map(|dur| start.0.saturating_add(dur.0.max(0)));
        if end.is_none() {
            left_out.unfinished += 1;
        }
        Some(Row {
            case: batch.case[at],
            process: self.processes.find(batch.case[at], batch.pid[at], start)?,
            tid: batch.tid[at],
            start: start.0,
            end,
            call: batch.call[at],
            what,
        })
    }

    fn request(&self, batch: &EventBatch, at: usize, left_out: &mut LeftOut) -> Option<RequestRow> {
        let file = batch.file[at].get()?;
        let kind = self.kinds.of(batch.call[at]);
        match self.own.get(file.index()) {
            _ if kind == CallKind::Exec => return None,
            Some(Owner::Program) if kind == CallKind::Map => left_out.mapped += 1,
            Some(Owner::Program) => {
                let transfers = matches!(kind, CallKind::Read | CallKind::Write);
                let asked = || batch.requested[at].get().or(batch.size[at].get());
                return Some(RequestRow {
                    file,
                    open: batch.open[at],
                    offset: batch.offset[at],
                    size: if transfers { asked().into() } else { Nullable::NULL },
                    flags: batch.flags[at],
                    end: batch.offset[at]
                        .get()
                        .zip(batch.size[at].get())
                        .and_then(|(offset, size)| offset.checked_add(size)),
                });
            }
            Some(Owner::System) => left_out.on_system_files += 1,
            _ => left_out.on_no_file += 1,
        }
        None
    }
}

/// Files of the system, and those that MPI makes for itself.
fn is_of_system(path: &str) -> bool {
    const SYSTEM: [&str; 13] = [
        "/usr/",
        "/lib",
        "/etc/",
        "/opt/",
        "/bin/",
        "/sbin/",
        "/proc/",
        "/sys/",
        "/dev/",
        "/run/",
        "/var/run/",
        "/var/lib/",
        "/var/cache/",
    ];
    const OF_MPI: [&str; 6] = ["ompi.", "openmpi", "pmix", "prte", ".openmpi", "mpich"];
    let of_mpi = |part: &str| OF_MPI.iter().any(|name| part.starts_with(name));
    SYSTEM.iter().any(|root| path.starts_with(root)) || path.split('/').rev().skip(1).any(of_mpi)
}

impl Pass for Gathering<'_> {
    type Sums = ();
    type Boundary = (Vec<Row>, LeftOut);
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
            | Columns::OPEN
            | Columns::COMM
    }

    fn asks(&self) -> Asks {
        Asks { activities: false, selection: true, whole_log: true }
    }

    fn sums(&self) {}

    fn closed(&self) -> Gathered {
        Gathered::default()
    }

    fn add(&self, (): &mut (), rows: &Rows<'_>) -> (Vec<Row>, LeftOut) {
        let mut left_out = LeftOut::default();
        let of_library = |at: usize| matches!(rows.batch.layer[at], Layer::Mpi | Layer::Mpiio);
        let selected = |at: &usize| of_library(*at) || rows.selected.get(*at).copied().unwrap_or_default();
        let taken = (0..rows.batch.len).filter(selected);
        let taken = taken.filter_map(|at| self.row(rows.batch, at, &mut left_out)).collect();
        (taken, left_out)
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, gathered: &mut Gathered, (rows, left_out): (Vec<Row>, LeftOut)) {
        gathered.rows.extend(rows);
        gathered.left_out.add(left_out);
    }

    fn finish(&self, (): (), mut gathered: Gathered) -> Gathered {
        gathered.rows.sort_by_key(|row| (row.case, row.start));
        gathered.has_mpi = gathered.rows.iter().any(|row| !matches!(row.what, What::Request(_)));
        gathered
    }
}
