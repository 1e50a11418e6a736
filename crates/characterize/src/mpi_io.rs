//! Calls of MPI-IO: which system calls they make, how these open files, and which of them all ranks make together.

use crate::gather::{OfMpi, RequestRow, Row, What};
use iotrail_model::calls::OpenFlags;
use iotrail_model::{FileId, FlagsId, Names, OpenId, Tid};
use iotrail_workload::SessionLayer;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// An open of a file by MPI-IO: which of those of a rank, from 0. Opens that all ranks make together have the same number.
type Opening = (FileId, u32);

/// What a rank has done with calls of MPI-IO so far.
#[derive(Default)]
pub(crate) struct OfRank {
    /// The last call of each thread: when it ends, and what it opens.
    within: HashMap<Tid, (i64, Option<Opening>)>,
    /// Descriptions of files that all ranks have opened together.
    of_all: HashSet<OpenId>,
    opened: HashMap<FileId, u32>,
}

impl OfRank {
    /// The call of MPI-IO that makes this system call, as what it opens; NULL if none does.
    pub(crate) fn maker(&self, row: &Row, request: RequestRow) -> Option<Option<Opening>> {
        let (end, opening) = self.within.get(&row.tid)?;
        (request.of_mpi == OfMpi::No && row.start < *end).then_some(*opening)
    }

    /// The layer of a request that no call of MPI-IO makes, and what it opens. Calls of all ranks together are collective ones.
    pub(crate) fn add(&mut self, row: &Row, request: RequestRow) -> (SessionLayer, Option<Opening>) {
        let opening = match request.of_mpi {
            OfMpi::No => return (SessionLayer::System, None),
            OfMpi::Alone | OfMpi::Together => None,
            OfMpi::Opened | OfMpi::OpenedByAll => request.file.get().map(|file| {
                let next = self.opened.entry(file).or_insert(0);
                *next += 1;
                (file, *next - 1)
            }),
        };
        self.within.insert(row.tid, (row.end.get().unwrap_or(i64::MAX), opening));
        let Some(open) = request.open.get() else { return (SessionLayer::MpiIo, opening) };
        if request.of_mpi == OfMpi::OpenedByAll {
            self.of_all.insert(open);
        }
        let is_shared = matches!(request.of_mpi, OfMpi::Together | OfMpi::OpenedByAll);
        let layer = match is_shared && self.of_all.contains(&open) {
            true => SessionLayer::Collective,
            false => SessionLayer::MpiIo,
        };
        (layer, opening)
    }
}

/// How calls of MPI-IO open files: they do not say it, but the system calls do that they make, one rank for all others.
#[derive(Debug, Default)]
pub(crate) struct Modes(HashMap<Opening, Arc<str>>);

impl Modes {
    pub(crate) fn of<'a>(ranks: impl Iterator<Item = &'a Vec<Row>>, names: &Names) -> Self {
        let mut flags: HashMap<FlagsId, OpenFlags> = HashMap::new();
        let mut modes: HashMap<Opening, [bool; 3]> = HashMap::new();
        for rows in ranks {
            let mut of_rank = OfRank::default();
            for row in rows {
                let What::Request(request) = row.what else { continue };
                let Some(opening) = of_rank.maker(row, request) else {
                    of_rank.add(row, request);
                    continue;
                };
                let (Some(opening), Some(id)) = (opening, request.flags.get()) else { continue };
                let parse = || OpenFlags::parse(names.flags[id.index()].as_bytes());
                let found = *flags.entry(id).or_insert_with(parse);
                let mode = modes.entry(opening).or_default();
                for (all, one) in mode.iter_mut().zip([found.reads(), found.writes(), found.creates()]) {
                    *all |= one && request.file.get() == Some(opening.0);
                }
            }
        }
        let text = |[reads, writes, creates]: [bool; 3]| {
            let access = match (reads, writes) {
                (true, true) => "O_RDWR",
                (false, true) => "O_WRONLY",
                (_, false) => "O_RDONLY",
            };
            Arc::from(if creates { format!("{access}|O_CREAT") } else { access.to_owned() })
        };
        let known = modes.into_iter().filter(|(_, mode)| *mode != [false; 3]);
        Self(known.map(|(opening, mode)| (opening, text(mode))).collect())
    }

    /// In the words of flags of a system call; NULL if no system call was seen.
    pub(crate) fn get(&self, opening: Option<Opening>) -> Option<&Arc<str>> {
        self.0.get(&opening?)
    }
}
