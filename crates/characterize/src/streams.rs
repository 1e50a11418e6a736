//! What each rank does, in order: requests, and the synchronisation between them.

use crate::gather::{Gathered, LeftOut, RequestRow, Row, What};
use crate::result::RankedBy;
use iotrail_model::calls::{Call as Named, CallKind};
use iotrail_model::{Case, FileId, Names, PathId, Tid, Timestamp};
use iotrail_query::{ProcessId, ProcessTable, Query};
use iotrail_trail::EventLog;
use iotrail_workload::{Call, FileIndex, Request, requests};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
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
    pub(crate) files: Vec<StreamFile>,
    /// Of each of them the end of the furthest transfer, in bytes.
    pub(crate) ends: Vec<u64>,
    pub(crate) left_out: LeftOut,
    pub(crate) has_mpi: bool,
    /// Collective calls of communicators other than that of all ranks.
    pub(crate) other_collectives: u64,
    /// Barriers that nobody recorded and that the times of the ranks show.
    pub(crate) inferred: u64,
}

/// A file of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamFile {
    /// NULL for what is not there.
    pub(crate) file: Option<FileId>,
    /// Its name, where others have the same number.
    pub(crate) path: Option<PathId>,
    pub(crate) is_directory: bool,
}

/// What is a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranking {
    /// A recorded case whose name has its number, else a process.
    #[default]
    Auto,
    /// A thread that a process started: so does the engine of `generate`.
    Threads,
}

/// What makes a rank: a recorded case, or a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RankKey {
    /// By the number that its name has, and the case's.
    Case(u32, u32),
    /// By what was started first.
    Process(Option<Timestamp>, ProcessId),
    /// By the numbers of case, process and thread, which are given in turn.
    Thread(u32, u32, u32),
}

pub(crate) fn streams(
    log: &EventLog,
    query: &Query,
    gathered: Gathered,
    (ranking, processes): (Ranking, &ProcessTable),
) -> Streams {
    let Gathered { mut rows, mut left_out, has_mpi } = gathered;
    let by = match ranking {
        Ranking::Auto => ranked_by(log, query),
        Ranking::Threads => RankedBy::Thread,
    };
    let number = |case: &Case| case.name.rid.as_deref()?.parse().ok();
    let numbered: Vec<u32> = log.cases().iter().map(|case| number(case).unwrap_or(u32::MAX)).collect();
    let key = |row: &Row| match by {
        RankedBy::Thread => RankKey::Thread(row.case.0, row.pid.0, row.tid.0),
        RankedBy::Case => RankKey::Case(numbered[row.case.index()], row.case.0),
        // Processes are sorted by case and start: who was made first, whoever is first to make a request.
        RankedBy::Process => RankKey::Process(processes.get(row.process).start, row.process),
    };
    for of_case in &mut rows {
        // The first thread of a process prepares what the others do.
        of_case.retain(|row| by != RankedBy::Thread || row.pid.0 != row.tid.0);
        if !of_case.is_sorted_by_key(key) {
            of_case.sort_by_cached_key(key);
        }
    }
    let places = places(&rows, key);
    let of_ranks = || places.iter().map(|(key, (case, range))| (*key, &rows[*case][range.clone()]));
    let mut numbers = Numbers { reused: reused(of_ranks()), ..Numbers::default() };
    let mut other_collectives = 0;
    let mut left: Vec<usize> = vec![0; rows.len()];
    places.values().for_each(|(case, _)| left[*case] += 1);
    let mut ranks: Vec<RankStream> = Vec::with_capacity(places.len());
    for (case, range) in places.into_values() {
        let of_rank = &rows[case][range];
        ranks.push(rank_stream(of_rank, log.names(), &mut numbers, &mut left_out, &mut other_collectives));
        left[case] -= 1;
        if left[case] == 0 {
            rows[case] = Vec::new();
        }
    }
    let inferred = if has_mpi { 0 } else { infer(&mut ranks) };
    Streams {
        ranks,
        by,
        files: numbers.files,
        ends: numbers.ends,
        left_out,
        has_mpi,
        other_collectives,
        inferred,
    }
}

/// Where the rows of each rank are, which made a request: in which list, and there where. Rows of one rank stand together.
fn places(rows: &[Vec<Row>], key: impl Fn(&Row) -> RankKey) -> BTreeMap<RankKey, (usize, Range<usize>)> {
    let mut places = BTreeMap::new();
    for (list, rows) in rows.iter().enumerate() {
        let mut begin = 0;
        for of_rank in rows.chunk_by(|one, other| key(one) == key(other)) {
            let range = begin..begin + of_rank.len();
            begin = range.end;
            if of_rank.iter().any(|row| matches!(row.what, What::Request(_))) {
                places.insert(key(&of_rank[0]), (list, range));
            }
        }
    }
    places
}

/// Files and open file descriptions as a workload numbers them.
#[derive(Default)]
struct Numbers {
    of_file: HashMap<(Option<FileId>, Option<PathId>), FileIndex>,
    reused: HashSet<FileId>,
    files: Vec<StreamFile>,
    ends: Vec<u64>,
}

impl Numbers {
    fn file(&mut self, request: RequestRow) -> FileIndex {
        let path = request.path.filter(|_| request.file.is_some_and(|file| self.reused.contains(&file)));
        let index = *self.of_file.entry((request.file, path)).or_insert_with(|| {
            self.files.push(StreamFile { file: request.file, path, is_directory: request.is_directory });
            self.ends.push(0);
            FileIndex(self.files.len() as u32 - 1)
        });
        self.files[index.0 as usize].is_directory |= request.is_directory;
        let end = &mut self.ends[index.0 as usize];
        *end = (*end).max(request.end.and_then(|end| u64::try_from(end).ok()).unwrap_or_default());
        index
    }
}

/// Files that several ranks use, each by a name of its own: what one rank removed gave its number to what another one made.
fn reused<'a>(ranks: impl Iterator<Item = (RankKey, &'a [Row])>) -> HashSet<FileId> {
    let mut users: HashMap<FileId, BTreeMap<PathId, BTreeSet<RankKey>>> = HashMap::new();
    for (rank, rows) in ranks {
        let mut last = None;
        for row in rows {
            if let What::Request(RequestRow { file: Some(file), path: Some(path), .. }) = row.what
                && last.replace((file, path)) != Some((file, path))
            {
                users.entry(file).or_default().entry(path).or_default().insert(rank);
            }
        }
    }
    let is_reused = |paths: &BTreeMap<PathId, BTreeSet<RankKey>>| {
        let all: BTreeSet<&RankKey> = paths.values().flatten().collect();
        all.len() > 1 && paths.values().all(|ranks| ranks.len() == 1)
    };
    users.into_iter().filter(|(_, paths)| is_reused(paths)).map(|(file, _)| file).collect()
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
    // What each thread waited for another since its last request.
    let mut alone: HashMap<Tid, i64> = HashMap::new();
    for row in rows {
        let outside = begin.is_some_and(|begin| row.start < begin) || end.is_some_and(|end| row.start > end);
        match row.what {
            What::Request(_) if outside => left_out.outside_mpi += 1,
            What::Request(request) => {
                threads.insert(row.tid);
                let waited = std::mem::take(&mut waited) + alone.remove(&row.tid).unwrap_or_default();
                calls.push(call(*row, request, names, numbers, waited));
            }
            What::Waits => {
                *alone.entry(row.tid).or_default() += row.end.map_or(0, |end| end - row.start);
            }
            What::Collective { comm } if comm.get().is_none_or(|comm| comm == 0) => {
                barriers.push(calls.len());
                waited += row.end.map_or(0, |end| end - row.start);
            }
            What::Collective { .. } => *other_collectives += 1,
            What::MpiBegins | What::MpiEnds => {}
        }
    }
    let mut requests = requests(&calls, 0);
    keep_last_closes(&mut requests);
    let barriers = barriers.into_iter().map(|calls| folded(&requests, calls)).collect();
    RankStream { requests, barriers, threaded: threads.len() > 1 }
}

/// A close that others follow on the same description closes a copy of its descriptor: the session goes on.
fn keep_last_closes(requests: &mut [Request]) {
    let mut last: HashMap<u64, usize> = HashMap::new();
    for (at, request) in requests.iter().enumerate() {
        last.extend(request.open.map(|open| (open, at)));
    }
    for (at, request) in requests.iter_mut().enumerate() {
        let goes_on = request.open.is_some_and(|open| last.get(&open) != Some(&at));
        if request.kind == CallKind::Close && goes_on {
            request.kind = CallKind::Other;
        }
    }
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

/// A call that names a file and failed did nothing that a model has a word for.
fn failed(kind: CallKind) -> CallKind {
    match kind {
        CallKind::Open
        | CallKind::Create
        | CallKind::Unlink
        | CallKind::Rename
        | CallKind::MakeDirectory
        | CallKind::RemoveDirectory => CallKind::Other,
        kind => kind,
    }
}

/// Between this many requests and as many others of the same kinds ranks must have waited to infer a barrier.
const INSTANCES: usize = 3;
/// Fewer ranks show nothing.
const MIN_RANKS: usize = 3;
/// Ends must differ by this much to show anything, in ns: twenty steps of a clock of microseconds.
const MIN_SPREAD: f64 = 20_000.0;
/// Starts differ by so much of that at most.
const MAX_SHARE: f64 = 0.1;

/// Barriers where all ranks, whose requests ended at times far apart, begin the next one at about the same time, and do so between requests
/// of the same kinds again and again. Answers how many each rank has; time that ranks waited there is no slack.
fn infer(ranks: &mut [RankStream]) -> u64 {
    let len = ranks.first().map_or(0, |rank| rank.requests.len());
    if ranks.len() < MIN_RANKS || ranks.iter().any(|rank| rank.requests.len() != len) {
        return 0;
    }
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for at in 1..len {
        let ends: Option<Vec<i64>> = ranks.iter().map(|rank| rank.requests[at - 1].end).collect();
        let starts: Vec<i64> = ranks.iter().map(|rank| rank.requests[at].start).collect();
        let Some(ends) = ends else { continue };
        let (before, behind) = (deviation(&ends), deviation(&starts));
        if before >= MIN_SPREAD && behind <= MAX_SHARE * before {
            let requests = &ranks[0].requests;
            let kinds = (requests[at - 1].variant.clone(), requests[at].variant.clone());
            alike.entry(kinds).or_default().push(at);
        }
    }
    let mut found: Vec<usize> =
        alike.into_values().filter(|places| places.len() >= INSTANCES).flatten().collect();
    found.sort_unstable();
    for at in &found {
        let slack = ranks.iter().filter_map(|rank| rank.requests[*at].slack).map(|slack| slack.ns).min();
        for rank in ranks.iter_mut() {
            if let (Some(own), Some(least)) = (&mut rank.requests[*at].slack, slack) {
                own.ns = least;
            }
        }
    }
    ranks.iter_mut().for_each(|rank| rank.barriers.clone_from(&found));
    found.len() as u64
}

/// Standard deviation.
fn deviation(values: &[i64]) -> f64 {
    let first = values.first().copied().unwrap_or_default();
    let count = values.len().max(1) as f64;
    let values = || values.iter().map(|value| (value - first) as f64);
    let mean = values().sum::<f64>() / count;
    (values().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

fn call(row: Row, request: RequestRow, names: &Names, numbers: &mut Numbers, waited: i64) -> Call {
    let name = &names.calls[row.call.index()];
    let kind = Named::named(name).kind();
    Call {
        name: Arc::clone(name),
        kind: if request.failed && request.file.is_some() { failed(kind) } else { kind },
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
