//! Calls of MPI-IO: which system calls they make, how these open files, and which of them all ranks make together.

use crate::gather::{OfMpi, RequestRow, Row, What};
use iotrail_model::calls::OpenFlags;
use iotrail_model::{FileId, FlagsId, Names, OpenId, Tid};
use iotrail_workload::SessionLayer;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The numbers of `MPI_COMM_WORLD` and `MPI_COMM_SELF` in each process (docs/mpi.md).
const WORLD: i32 = 0;
const SELF: i32 = 1;

/// An open of a file by MPI-IO: which of those of a rank, from 0. Opens that all ranks make together have the same number.
type Opening = (FileId, u32);

/// What a rank has done with calls of MPI-IO so far.
pub(crate) struct OfRank<'a> {
    /// Communicators of all ranks.
    communicators: &'a BTreeSet<i32>,
    /// The last call of each thread: when it ends, and what it opens.
    within: HashMap<Tid, (i64, Option<Opening>)>,
    /// Descriptions that calls of MPI-IO use, whoever uses them besides: threads of libraries do it behind the program.
    used: HashSet<OpenId>,
    /// Of them those of files that all ranks have opened together.
    of_all: HashSet<OpenId>,
    opened: HashMap<FileId, u32>,
}

impl<'a> OfRank<'a> {
    pub(crate) fn new(communicators: &'a BTreeSet<i32>) -> Self {
        Self {
            communicators,
            within: HashMap::new(),
            used: HashSet::new(),
            of_all: HashSet::new(),
            opened: HashMap::new(),
        }
    }

    /// A call of MPI-IO that is no request.
    pub(crate) fn enter(&mut self, row: &Row) {
        self.within.insert(row.tid, (row.end.get().unwrap_or(i64::MAX), None));
    }

    /// Whether all ranks make calls together on a description; where it is not known, they are taken to do so.
    pub(crate) fn is_of_all(&self, open: Option<OpenId>) -> bool {
        open.is_none_or(|open| self.of_all.contains(&open))
    }

    /// The call of MPI-IO that makes this system call, as what it opens; NULL if none does.
    pub(crate) fn maker(&mut self, row: &Row, request: RequestRow) -> Option<Option<Opening>> {
        if request.of_mpi != OfMpi::No {
            return None;
        }
        let within = self.within.get(&row.tid).filter(|(end, _)| row.start < *end);
        match within {
            Some((_, opening)) => {
                self.used.extend(request.open.get());
                Some(*opening)
            }
            None => request.open.get().filter(|open| self.used.contains(open)).map(|_| None),
        }
    }

    /// The layer of a request that no call of MPI-IO makes, and what it opens. Calls of all ranks together are collective ones.
    pub(crate) fn add(&mut self, row: &Row, request: RequestRow) -> (SessionLayer, Option<Opening>) {
        let opening = match request.of_mpi {
            OfMpi::No => return (SessionLayer::System, None),
            OfMpi::Alone | OfMpi::Together => None,
            OfMpi::Opened(_) => request.file.get().map(|file| {
                let next = self.opened.entry(file).or_insert(0);
                *next += 1;
                (file, *next - 1)
            }),
        };
        self.within.insert(row.tid, (row.end.get().unwrap_or(i64::MAX), opening));
        let Some(open) = request.open.get() else { return (SessionLayer::MpiIo, opening) };
        self.used.insert(open);
        if let OfMpi::Opened(comm) = request.of_mpi {
            match self.communicators.contains(&comm) {
                true => self.of_all.insert(open),
                false => self.of_all.remove(&open),
            };
        }
        let together = request.of_mpi != OfMpi::Alone && self.of_all.contains(&open);
        (if together { SessionLayer::Collective } else { SessionLayer::MpiIo }, opening)
    }
}

/// The communicators of all ranks: that of the world, and those by which all ranks open the same files in the same order, as copies of it.
pub(crate) fn of_all<'a>(ranks: impl Iterator<Item = &'a Vec<Row>>) -> BTreeSet<i32> {
    let opened = |rows: &Vec<Row>| {
        let mut by: BTreeMap<i32, Vec<Option<FileId>>> = BTreeMap::new();
        for row in rows {
            if let What::Request(RequestRow { of_mpi: OfMpi::Opened(comm), file, .. }) = row.what
                && comm > SELF
            {
                by.entry(comm).or_default().push(file.get());
            }
        }
        by
    };
    let mut all = ranks.map(opened);
    let mut common = all.next().unwrap_or_default();
    for other in all {
        common.retain(|comm, files| other.get(comm) == Some(files));
    }
    common.into_keys().chain([WORLD]).collect()
}

/// How calls of MPI-IO open files: they do not say it, but the system calls do that they make, one rank for all others.
#[derive(Debug, Default)]
pub(crate) struct Modes(HashMap<Opening, Arc<str>>);

impl Modes {
    pub(crate) fn of<'a>(
        ranks: impl Iterator<Item = &'a Vec<Row>>,
        of_all: &BTreeSet<i32>,
        names: &Names,
    ) -> Self {
        let mut flags: HashMap<FlagsId, OpenFlags> = HashMap::new();
        let mut modes: HashMap<Opening, [bool; 3]> = HashMap::new();
        for rows in ranks {
            let mut of_rank = OfRank::new(of_all);
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
