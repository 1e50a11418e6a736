//! What each rank does, in order: requests, and the synchronisation between them.

use crate::gather::{Gathered, LeftOut, RequestRow, Row, What};
use crate::result::RankedBy;
use iotrail_model::calls::Call as Named;
use iotrail_model::{FileId, Names, Tid};
use iotrail_query::{ProcessId, Query};
use iotrail_trail::EventLog;
use iotrail_workload::{Call, FileIndex, Request, requests};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What a rank does.
#[derive(Debug, Default)]
pub(crate) struct RankStream {
    pub(crate) requests: Vec<Request>,
    /// Indices of the requests before which all ranks wait for each other, ascending.
    pub(crate) barriers: Vec<usize>,
    /// Whether several threads of it made requests.
    pub(crate) threaded: bool,
}

/// All ranks, by their numbers.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) ranks: Vec<RankStream>,
    pub(crate) by: RankedBy,
    /// The files of the requests, by [`FileIndex`].
    pub(crate) files: Vec<FileId>,
    /// Of each of them the end of the furthest transfer, in bytes.
    pub(crate) ends: Vec<u64>,
    pub(crate) left_out: LeftOut,
    pub(crate) has_mpi: bool,
    /// Collective calls of communicators other than that of all ranks.
    pub(crate) other_collectives: u64,
}

/// What makes a rank: a recorded case, or a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RankKey {
    /// By the number that its name has, and the case's.
    Case(u32, u32),
    /// By what began first.
    Process(i64, ProcessId),
}

pub(crate) fn streams(log: &EventLog, query: &Query, gathered: Gathered) -> Streams {
    let Gathered { rows, mut left_out, has_mpi } = gathered;
    let by = ranked_by(log, query);
    let mut ranks: BTreeMap<RankKey, Vec<Row>> = BTreeMap::new();
    let mut begins: HashMap<ProcessId, i64> = HashMap::new();
    for row in rows {
        let key = match by {
            RankedBy::Case => RankKey::Case(rank_number(log, row).unwrap_or(u32::MAX), row.case.0),
            RankedBy::Process => {
                RankKey::Process(*begins.entry(row.process).or_insert(row.start), row.process)
            }
        };
        ranks.entry(key).or_default().push(row);
    }
    ranks.retain(|_, rows| rows.iter().any(|row| matches!(row.what, What::Request(_))));
    let mut numbers = Numbers::default();
    let mut other_collectives = 0;
    let made = ranks
        .values()
        .map(|rows| rank_stream(rows, log.names(), &mut numbers, &mut left_out, &mut other_collectives));
    let ranks: Vec<RankStream> = made.collect();
    Streams { ranks, by, files: numbers.files, ends: numbers.ends, left_out, has_mpi, other_collectives }
}

/// Files and open file descriptions as a workload numbers them.
#[derive(Default)]
struct Numbers {
    of_file: HashMap<FileId, FileIndex>,
    files: Vec<FileId>,
    ends: Vec<u64>,
}

impl Numbers {
    fn file(&mut self, request: RequestRow) -> FileIndex {
        let index = *self.of_file.entry(request.file).or_insert_with(|| {
            self.files.push(request.file);
            self.ends.push(0);
            FileIndex(self.files.len() as u32 - 1)
        });
        let end = &mut self.ends[index.0 as usize];
        *end = (*end).max(request.end.and_then(|end| u64::try_from(end).ok()).unwrap_or_default());
        index
    }
}

/// Ranks are the selected cases if each of several names one.
fn ranked_by(log: &EventLog, query: &Query) -> RankedBy {
    let cases: Vec<_> = log.cases().iter().filter(|case| query.may_select_case(case.id)).collect();
    let numbers: Option<BTreeSet<u32>> =
        cases.iter().map(|case| case.name.rid.as_deref()?.parse().ok()).collect();
    match numbers {
        Some(numbers) if numbers.len() > 1 && numbers.len() == cases.len() => RankedBy::Case,
        _ => RankedBy::Process,
    }
}

fn rank_number(log: &EventLog, row: Row) -> Option<u32> {
    log.cases()[row.case.index()].name.rid.as_deref()?.parse().ok()
}

fn rank_stream(
    rows: &[Row],
    names: &Names,
    numbers: &mut Numbers,
    left_out: &mut LeftOut,
    other_collectives: &mut u64,
) -> RankStream {
    let begin = rows.iter().find(|row| matches!(row.what, What::MpiBegins)).and_then(|row| row.end);
    let end = rows.iter().rfind(|row| matches!(row.what, What::MpiEnds)).map(|row| row.start);
    let mut calls: Vec<Call> = Vec::new();
    let mut barriers: Vec<usize> = Vec::new();
    let mut threads: BTreeSet<Tid> = BTreeSet::new();
    let mut waited = 0;
    for row in rows {
        let outside = begin.is_some_and(|begin| row.start < begin) || end.is_some_and(|end| row.start > end);
        match row.what {
            What::Request(_) if outside => left_out.outside_mpi += 1,
            What::Request(request) => {
                threads.insert(row.tid);
                calls.push(call(*row, request, names, numbers, std::mem::take(&mut waited)));
            }
            What::Collective { comm } if comm.get().is_none_or(|comm| comm == 0) => {
                barriers.push(calls.len());
                waited += row.end.map_or(0, |end| end - row.start);
            }
            What::Collective { .. } => *other_collectives += 1,
            What::MpiBegins | What::MpiEnds => {}
        }
    }
    let requests = requests(&calls, 0);
    let barriers = barriers.into_iter().map(|calls| folded(&requests, calls)).collect();
    RankStream { requests, barriers, threaded: threads.len() > 1 }
}

/// How many requests so many calls became.
fn folded(requests: &[Request], calls: usize) -> usize {
    let mut before = 0;
    let is_before = |request: &&Request| {
        before += 1 + usize::from(request.variant.seek);
        before <= calls
    };
    requests.iter().take_while(is_before).count()
}

fn call(row: Row, request: RequestRow, names: &Names, numbers: &mut Numbers, waited: i64) -> Call {
    let name = &names.calls[row.call.index()];
    let kind = Named::named(name).kind();
    Call {
        name: Arc::clone(name),
        kind,
        file: numbers.file(request),
        // Numbers of descriptions are those of a case.
        open: request.open.get().map(|open| u64::from(row.case.0) << 32 | u64::from(open.0)),
        mode: request
            .flags
            .get()
            .filter(|_| kind.opens_file())
            .map(|flags| Arc::clone(&names.flags[flags.index()])),
        offset: request.offset.get(),
        size: request.size.get(),
        start: row.start,
        end: row.end,
        waited,
    }
}
