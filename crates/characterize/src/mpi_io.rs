//! Calls of MPI-IO: which system calls they make, which files, and which of them all ranks make together.

use crate::gather::{OfMpi, RequestRow, Row, What};
use iotrail_model::calls::OpenFlags;
use iotrail_model::{FileId, FlagsId, Names, OpenId, Tid};
use iotrail_workload::SessionLayer;
use std::collections::{HashMap, HashSet};

/// The calls of a rank that its threads are in, and the files that all ranks have opened together.
#[derive(Default)]
pub(crate) struct Ranks {
    /// When the last call of each thread ends.
    within: HashMap<Tid, i64>,
    of_all: HashSet<OpenId>,
}

impl Ranks {
    /// Whether a request is a system call that a call of MPI-IO makes.
    pub(crate) fn is_within(&self, row: &Row, request: RequestRow) -> bool {
        request.of_mpi == OfMpi::No && self.within.get(&row.tid).is_some_and(|end| row.start < *end)
    }

    /// The layer of a request that is in no other; calls of all ranks together are collective ones.
    pub(crate) fn layer(&mut self, row: &Row, request: RequestRow) -> SessionLayer {
        if request.of_mpi == OfMpi::No {
            return SessionLayer::System;
        }
        self.within.insert(row.tid, row.end.get().unwrap_or(i64::MAX));
        let Some(open) = request.open.get() else { return SessionLayer::MpiIo };
        if request.of_mpi == OfMpi::OpenedByAll {
            self.of_all.insert(open);
        }
        let together = request.of_mpi != OfMpi::Alone && self.of_all.contains(&open);
        if together { SessionLayer::Collective } else { SessionLayer::MpiIo }
    }
}

/// Files that calls of MPI-IO make, which no call says but the system calls in them do.
pub(crate) fn made<'a>(ranks: impl Iterator<Item = &'a Vec<Row>>, names: &Names) -> HashSet<FileId> {
    let mut creates: HashMap<FlagsId, bool> = HashMap::new();
    let mut made = HashSet::new();
    for rows in ranks {
        let mut of_mpi = Ranks::default();
        for row in rows {
            let What::Request(request) = row.what else { continue };
            if !of_mpi.is_within(row, request) {
                of_mpi.layer(row, request);
                continue;
            }
            let flags = |flags: FlagsId| {
                *creates
                    .entry(flags)
                    .or_insert_with(|| OpenFlags::parse(names.flags[flags.index()].as_bytes()).creates())
            };
            if request.flags.get().is_some_and(flags) {
                made.extend(request.file.get());
            }
        }
    }
    made
}
