//! What each rank does, in order: requests, and the synchronisation between them.

use crate::clocks::{Disagreement, Meetings, disagreement};
use crate::cost::TracerCost;
use crate::ends::{Cursors, Ends};
use crate::gather::{Gathered, Half, LeftOut, OfMpi, RequestRow, Row, What};
use crate::kin::{joins, orders, piped};
use crate::knowledge::Extent;
use crate::messages::Messages;
use crate::mpi_io::{Modes, OfRank, of_all};
use crate::pauses::{Pauses, Span};
use crate::result::RankedBy;
use crate::told::{Listener, Rank, Told, Use, texts};
use iotrail_model::calls::{Call as Named, CallKind, LockRequest, mpi};
use iotrail_model::{CallId, Case, FileId, FileKind, Names, PathId, Tid, Timestamp};
use iotrail_query::{ProcessId, ProcessTable, Query};
use iotrail_trail::EventLog;
use iotrail_workload::{Call, CallForm, FileIndex, Request, RequestKind, SessionLayer, requests};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What all ranks do, by their numbers.
#[derive(Debug)]
pub(crate) struct Streams {
    /// Of each rank its requests, in order.
    pub(crate) requests: Vec<Vec<Request>>,
    pub(crate) frame: Frame,
}

/// What is known of ranks and files beside the requests.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Of each rank the indices of the requests before which all ranks wait for each other, ascending.
    pub(crate) barriers: Vec<Vec<usize>>,
    /// Ranks several threads of which made requests.
    pub(crate) threaded: u64,
    pub(crate) by: RankedBy,
    /// The files of the requests, by [`FileIndex`].
    pub(crate) files: Vec<StreamFile>,
    /// Of each of them the end of the furthest transfer, in bytes.
    pub(crate) ends: Vec<u64>,
    /// Of each rank the requests that give a file the name of another one, and which.
    pub(crate) renames: Vec<BTreeMap<usize, FileIndex>>,
    pub(crate) left_out: LeftOut,
    /// Of each rank its time before and after all requests.
    pub(crate) pauses: Vec<Pauses>,
    pub(crate) has_mpi: bool,
    /// Collective calls of communicators other than that of all ranks.
    pub(crate) other_collectives: u64,
    /// Barriers that nobody recorded and that the times of the ranks show.
    pub(crate) inferred: u64,
    pub(crate) messages: Messages,
    /// Ranks whose clocks contradict barriers.
    pub(crate) clocks: Option<Disagreement>,
}

impl Frame {
    /// Number of ranks.
    pub(crate) fn ranks(&self) -> usize {
        self.barriers.len()
    }
}

/// A file of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamFile {
    /// NULL for what is not there.
    pub(crate) file: Option<FileId>,
    /// Its name, where others have the same number, or it has several one after the other.
    pub(crate) path: Option<PathId>,
    /// The first one of those that hold the same bytes, by other names.
    pub(crate) same: FileIndex,
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

/// What the ranks of a log are.
pub(crate) fn ranked_by(log: &EventLog, query: &Query, ranking: Ranking) -> RankedBy {
    if ranking == Ranking::Threads {
        return RankedBy::Thread;
    }
    let cases: Vec<_> = log.cases().iter().filter(|case| query.may_select_case(case.id)).collect();
    let numbers: Option<BTreeSet<u32>> =
        cases.iter().map(|case| case.name.rid.as_deref()?.parse().ok()).collect();
    match numbers {
        Some(numbers) if numbers.len() > 1 && numbers.len() == cases.len() => RankedBy::Case,
        _ => RankedBy::Process,
    }
}

/// The streams of what was gathered for such ranks, in which a tracer took `cost`.
pub(crate) fn streams(
    log: &EventLog,
    gathered: Gathered,
    (by, processes): (RankedBy, &ProcessTable),
    cost: &TracerCost,
) -> Streams {
    let Gathered { rows, mut left_out, has_mpi } = gathered;
    let (joins, piped) = match by {
        RankedBy::Process => (joins(&rows, processes), piped(&rows)),
        RankedBy::Case | RankedBy::Thread => (Vec::new(), Vec::new()),
    };
    let mut rows = by_rank(log, rows, (by, processes));
    tell_directories(log, &mut rows, &mut left_out);
    let of_ranks = || rows.iter().map(|(key, rows)| (*key, &rows[..]));
    let of_all = of_all(rows.values());
    let modes = Modes::of(rows.values(), &of_all, log.names());
    let mut numbers =
        Numbers { reused: reused(of_ranks()), renamed: renamed(rows.values()), modes, ..Numbers::default() };
    let (texts, uses) = (texts(log.names()), Use::of_calls(log.names()));
    let (mut other_collectives, mut threaded) = (0, 0);
    let mut of_cases: HashMap<u32, Vec<ProcessId>> = HashMap::new();
    for (id, process) in (0..).map(ProcessId).zip(processes.all()) {
        of_cases.entry(process.case.0).or_default().push(id);
    }
    let (mut requests, mut barriers) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    let (mut told, mut met) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    let (mut renames, mut pauses) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    let (mut of_mpi, mut of_processes) = (HashMap::new(), HashMap::new());
    while let Some((key, rows)) = rows.pop_first() {
        let rank = requests.len() as u32;
        match key {
            RankKey::Case(number, _) => of_mpi.insert(number, rank),
            RankKey::Process(_, process) => of_processes.insert(process, rank),
            RankKey::Thread(..) => None,
        };
        let listener = Listener::new(&texts, &uses);
        let of_rank = rank_stream(
            (&rows, by, cost.between, span(key, &of_cases, (processes, cost))),
            (log.names(), listener, &of_all),
            &mut numbers,
            &mut left_out,
            &mut other_collectives,
        );
        told.push((of_rank.told, of_rank.places));
        requests.push(of_rank.requests);
        barriers.push(of_rank.barriers);
        renames.push(of_rank.renames);
        pauses.push(of_rank.pauses);
        met.push(of_rank.met);
        threaded += u64::from(of_rank.threaded);
    }
    let of_mpi = |rank: u32| of_mpi.get(&rank).copied();
    let told: Vec<Rank> =
        told.into_iter().map(|(told, places)| told.mapped(|calls| places.of(calls), of_mpi)).collect();
    let orders = match by {
        RankedBy::Process => orders(processes, (&joins, &piped), &of_processes, &requests),
        RankedBy::Case | RankedBy::Thread => Vec::new(),
    };
    let inferred = if has_mpi { 0 } else { infer(&mut requests, &mut barriers) };
    let extents = requests.iter().zip(&barriers);
    let extents: Vec<Extent> = extents
        .map(|(requests, barriers)| Extent {
            requests: requests.len(),
            barriers: barriers.clone(),
            inferred: inferred > 0,
        })
        .collect();
    let messages = Messages::of(&told, orders, &extents);
    let frame = Frame {
        barriers,
        threaded,
        by,
        files: numbers.files,
        ends: numbers.ends,
        renames,
        pauses,
        left_out,
        has_mpi,
        other_collectives,
        inferred,
        messages,
        clocks: disagreement(&met),
    };
    Streams { requests, frame }
}

/// The rows of each rank that made a request, from the lists of cases or processes.
fn by_rank(
    log: &EventLog,
    lists: Vec<Vec<Row>>,
    (by, processes): (RankedBy, &ProcessTable),
) -> BTreeMap<RankKey, Vec<Row>> {
    let number = |case: &Case| case.name.rid.as_deref()?.parse().ok();
    let numbered: Vec<u32> = log.cases().iter().map(|case| number(case).unwrap_or(u32::MAX)).collect();
    let mut ranks: BTreeMap<RankKey, Vec<Row>> = BTreeMap::new();
    for (list, rows) in (0_u32..).zip(lists) {
        match by {
            RankedBy::Case => {
                ranks.insert(RankKey::Case(numbered[list as usize], list), rows);
            }
            // Processes are sorted by case and start: who was made first, whoever is first to make a request.
            RankedBy::Process => {
                let process = ProcessId(list);
                ranks.insert(RankKey::Process(processes.get(process).start, process), rows);
            }
            RankedBy::Thread => {
                let process = processes.get(ProcessId(list));
                // The first thread of a process prepares what the others do.
                for row in rows.into_iter().filter(|row| row.tid.0 != process.pid.0) {
                    let key = RankKey::Thread(row.case.0, process.pid.0, row.tid.0);
                    ranks.entry(key).or_default().push(row);
                }
            }
        }
    }
    // A rank that makes no request may pass messages on, and others are counted with it.
    let is_rank = |key: &RankKey, rows: &[Row]| match key {
        RankKey::Case(..) => !rows.is_empty(),
        RankKey::Process(..) | RankKey::Thread(..) => {
            rows.iter().any(|row| matches!(row.what, What::Request(_)))
        }
    };
    ranks.retain(|key, rows| is_rank(key, rows));
    ranks
}

/// A call by its name, its flags, whether it named a file in vain, and its layer.
type FormKey = (CallId, Option<Arc<str>>, bool, SessionLayer, Option<Half>);

/// Files and open file descriptions as a workload numbers them.
#[derive(Default)]
struct Numbers {
    of_file: HashMap<(Option<FileId>, Option<PathId>), FileIndex>,
    forms: HashMap<FormKey, Arc<CallForm>>,
    modes: Modes,
    reused: HashSet<FileId>,
    /// Files that have several names, one after the other.
    renamed: HashSet<FileId>,
    first: HashMap<FileId, FileIndex>,
    files: Vec<StreamFile>,
    ends: Vec<u64>,
}

impl Numbers {
    fn file(&mut self, request: RequestRow) -> FileIndex {
        let file = request.file.get();
        let is_named = |file: FileId| self.reused.contains(&file) || self.renamed.contains(&file);
        let (is_named, last) = (file.is_some_and(is_named), request.path.get());
        let path = last.filter(|_| is_named);
        let index = *self.of_file.entry((file, path)).or_insert_with(|| {
            let index = FileIndex(self.files.len() as u32);
            let first = file.filter(|file| self.renamed.contains(file) && !self.reused.contains(file));
            let same = first.map_or(index, |file| *self.first.entry(file).or_insert(index));
            self.files.push(StreamFile { file, path, same, is_directory: request.is_directory });
            self.ends.push(0);
            index
        });
        let of_all = &mut self.files[index.0 as usize];
        of_all.is_directory |= request.is_directory;
        // What gets another name with its directory is called by the last one.
        of_all.path = last.filter(|_| !is_named && file.is_some()).or(of_all.path);
        let end = &mut self.ends[index.0 as usize];
        *end = (*end).max(request.end.get().and_then(|end| u64::try_from(end).ok()).unwrap_or_default());
        index
    }

    /// What the calls of that name and these flags have in common; `failed` is whether the call named a file in vain.
    fn form(
        &mut self,
        names: &Names,
        call: CallId,
        flags: Option<Arc<str>>,
        (failed, layer, half): (bool, SessionLayer, Option<Half>),
    ) -> Arc<CallForm> {
        let form = self.forms.entry((call, flags.clone(), failed, layer, half)).or_insert_with(|| {
            let call = || Arc::clone(&names.calls[call.index()]);
            // Halves are what a clone makes of them.
            let (name, kind) = match (half, layer) {
                (Some(Half::From), _) => (RequestKind::Read.word().into(), CallKind::Read),
                (Some(Half::Into), _) => (RequestKind::Write.word().into(), CallKind::Write),
                (None, SessionLayer::System) => (call(), Named::named(&call()).kind()),
                (None, SessionLayer::MpiIo | SessionLayer::Collective) => (call(), mpi::file_call(&call())),
            };
            Arc::new(CallForm {
                name,
                kind: if failed { self::failed(kind) } else { kind },
                mode: flags.filter(|flags| kind.opens_file() || LockRequest::is_in(flags)),
                layer,
            })
        });
        Arc::clone(form)
    }
}

/// Whether what gets another name is a directory, other calls say: they use it as one, or what is in it. Left out is what may be a file that nobody uses,
/// as nothing says what it is.
fn tell_directories(log: &EventLog, rows: &mut BTreeMap<RankKey, Vec<Row>>, left_out: &mut LeftOut) {
    let directory = |row: &Row| match row.what {
        What::Request(RequestRow { file, to, is_directory: true, .. }) if to.is_null() => file.get(),
        _ => None,
    };
    let known: HashSet<FileId> = rows.values().flatten().filter_map(directory).collect();
    let files = log.distinct_files();
    let renamed = |row: &Row| match row.what {
        What::Request(RequestRow { file, path, to, is_directory: true, .. }) if !to.is_null() => {
            Some([file.get().map(|file| files[file.index()].path), path.get(), to.get()])
        }
        _ => None,
    };
    let names: HashSet<PathId> = rows.values().flatten().filter_map(renamed).flatten().flatten().collect();
    let holders = holders(&log.names().paths, &names);
    let is_known = |file: FileId, to: Option<PathId>| {
        let of_file = &files[file.index()];
        known.contains(&file)
            || of_file.kind.as_deref() == Some(FileKind::Directory.name())
            || holders.contains(&of_file.path)
            || to.is_some_and(|to| holders.contains(&to))
    };
    for rows in rows.values_mut() {
        rows.retain_mut(|row| {
            let What::Request(request) = &mut row.what else { return true };
            let Some(file) = request.file.get().filter(|_| !request.to.is_null()) else { return true };
            let was_taken_for_one =
                std::mem::replace(&mut request.is_directory, is_known(file, request.to.get()));
            let stays = request.is_directory || !was_taken_for_one;
            left_out.on_no_file += u64::from(!stays);
            stays
        });
    }
}

/// Which of these names are those of directories in which there is something that has a name, too.
fn holders(paths: &[Arc<str>], names: &HashSet<PathId>) -> HashSet<PathId> {
    let of_texts: HashMap<&str, PathId> = names.iter().map(|name| (&*paths[name.index()], *name)).collect();
    if of_texts.is_empty() {
        return HashSet::new();
    }
    let ancestors = |path: &'_ Arc<str>| {
        let slashes = path.match_indices('/').map(|(at, _)| at);
        slashes.filter_map(|at| of_texts.get(&path[..at]).copied()).collect::<Vec<_>>()
    };
    paths.iter().flat_map(ancestors).collect()
}

/// Files that get other names.
fn renamed<'a>(ranks: impl Iterator<Item = &'a Vec<Row>>) -> HashSet<FileId> {
    let renamed = ranks.flatten().filter_map(|row| match row.what {
        What::Request(RequestRow { file, to, .. }) if !to.is_null() => file.get(),
        _ => None,
    });
    renamed.collect()
}

/// Files that several ranks use, each by a name of its own: what one rank removed gave its number to what another one made.
fn reused<'a>(ranks: impl Iterator<Item = (RankKey, &'a [Row])>) -> HashSet<FileId> {
    let mut users: HashMap<FileId, BTreeMap<PathId, BTreeSet<RankKey>>> = HashMap::new();
    for (rank, rows) in ranks {
        let mut last = None;
        for row in rows {
            if let What::Request(RequestRow { file, path, .. }) = row.what
                && let (Some(file), Some(path)) = (file.get(), path.get())
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

/// When a rank begins and ends; of a thread nothing tells that.
fn span<'a>(
    rank: RankKey,
    of_cases: &HashMap<u32, Vec<ProcessId>>,
    (processes, cost): (&ProcessTable, &'a TracerCost),
) -> Span<'a> {
    let all = match rank {
        RankKey::Case(_, case) => of_cases.get(&case).map_or(&[][..], Vec::as_slice),
        RankKey::Process(_, process) => &[process],
        RankKey::Thread(..) => &[],
    };
    Span::of(all.iter().map(|process| processes.get(*process)), cost)
}

/// What a rank does.
struct RankStream {
    pauses: Pauses,
    requests: Vec<Request>,
    barriers: Vec<usize>,
    /// When it came to the collective calls of all ranks, and when it was through.
    met: Meetings,
    threaded: bool,
    told: Rank,
    places: Places,
    renames: BTreeMap<usize, FileIndex>,
}

fn rank_stream(
    (rows, by, cost, span): (&[Row], RankedBy, i64, Span<'_>),
    (names, mut listener, of_all): (&Names, Listener<'_>, &BTreeSet<i32>),
    numbers: &mut Numbers,
    left_out: &mut LeftOut,
    other_collectives: &mut u64,
) -> RankStream {
    let begin = rows.iter().find(|row| matches!(row.what, What::MpiBegins)).and_then(|row| row.end.get());
    let end = rows.iter().rfind(|row| matches!(row.what, What::MpiEnds)).map(|row| row.start);
    let mut calls: Vec<Call> = Vec::new();
    let mut barriers: Vec<usize> = Vec::new();
    let mut met = Meetings::new();
    let mut threads: BTreeSet<Tid> = BTreeSet::new();
    let mut waited = 0;
    let mut renames: Vec<(usize, FileIndex)> = Vec::new();
    let mut of_mpi = OfRank::new(of_all);
    let (mut ends, mut cursors) = (Ends::default(), Cursors::default());
    // What each thread waited for another since its last request.
    let mut alone: HashMap<Tid, i64> = HashMap::new();
    // When the first request began, when the last one ended, and what was waited before.
    let mut made: Option<(i64, i64, i64)> = None;
    for row in rows {
        let outside = begin.is_some_and(|begin| row.start < begin) || end.is_some_and(|end| row.start > end);
        match row.what {
            What::Request(_) if outside => left_out.outside_mpi += 1,
            What::Request(request) if of_mpi.maker(row, request).is_some() => left_out.under_mpi_io += 1,
            What::Request(request) => {
                let (layer, opening) = of_mpi.add(row, request);
                let flags = match layer {
                    SessionLayer::System => request.flags.get().map(|flags| &names.flags[flags.index()]),
                    SessionLayer::MpiIo | SessionLayer::Collective => numbers.modes.get(opening),
                };
                let form =
                    numbers.form(names, row.call, flags.cloned(), (in_vain(request), layer, request.half));
                let request = cursors.place(form.kind, request);
                let request = RequestRow { offset: ends.place(form.kind, request), ..request };
                match layer {
                    SessionLayer::Collective => barriers.push(calls.len()),
                    _ => *other_collectives += u64::from(request.of_mpi == OfMpi::Together),
                }
                threads.insert(row.tid);
                if !request.to.is_null() {
                    let named = RequestRow { path: request.to, ..request };
                    renames.push((calls.len(), numbers.file(named)));
                }
                let waited = std::mem::take(&mut waited) + alone.remove(&row.tid).unwrap_or_default();
                let last = row.end.get().unwrap_or(row.start);
                made = Some(made.map_or((row.start, last, waited), |(first, before, waited)| {
                    (first, last.max(before), waited)
                }));
                calls.push(call(*row, request, (form, numbers), waited));
            }
            What::Waits => {
                *alone.entry(row.tid).or_default() += row.end.get().map_or(0, |end| end - row.start);
            }
            What::Collective { comm } if comm.get().is_none_or(|comm| of_all.contains(&comm)) => {
                barriers.push(calls.len());
                met.push((row.start, row.end.get()));
                waited += row.end.get().map_or(0, |end| end - row.start);
            }
            What::Collective { .. } => *other_collectives += 1,
            What::Tells(told) => {
                let before = (calls.len(), barriers.len());
                let waits = listener.tell(told, (row.tid, row.call), before, (row.start, row.end));
                // Within a rank that is a case others of its processes go on meanwhile.
                if waits && (by == RankedBy::Process || matches!(told, Told::Mpi { .. })) {
                    waited += row.end.get().map_or(0, |end| end - row.start);
                }
            }
            What::OfMpiIo { open, synchronises } => {
                of_mpi.enter(row);
                if synchronises && of_mpi.is_of_all(open.get()) {
                    barriers.push(calls.len());
                    waited += row.end.get().map_or(0, |end| end - row.start);
                } else {
                    *other_collectives += u64::from(synchronises);
                }
            }
            What::MpiBegins | What::MpiEnds => {}
        }
    }
    let behind = waited + alone.values().sum::<i64>();
    let pauses = made.map_or_else(Pauses::default, |(first, last, before)| {
        span.with_mpi(begin, end).pauses((first, last), (before, behind))
    });
    let mut requests = requests(&calls, cost);
    keep_last_closes(&mut requests);
    let places = Places::of_requests(&requests);
    let barriers = barriers.into_iter().map(|calls| places.of(calls)).collect();
    let renames = renames.into_iter().map(|(calls, file)| (places.of(calls), file)).collect();
    let threaded = threads.len() > 1;
    RankStream { pauses, requests, barriers, met, threaded, told: listener.into_rank(), places, renames }
}

/// A close that others follow on the same description closes a copy of its descriptor: the session goes on.
fn keep_last_closes(requests: &mut [Request]) {
    let mut last: HashMap<u64, usize> = HashMap::new();
    for (at, request) in requests.iter().enumerate() {
        last.extend(request.open.get().map(|open| (open, at)));
    }
    // Closes of copies as other calls, by the name.
    let mut of_copies: HashMap<Arc<str>, Arc<CallForm>> = HashMap::new();
    for (at, request) in requests.iter_mut().enumerate() {
        let goes_on = request.open.get().is_some_and(|open| last.get(&open) != Some(&at));
        if request.kind() == CallKind::Close && goes_on {
            let of_copy = of_copies.entry(Arc::clone(&request.form.name)).or_insert_with(|| {
                Arc::new(CallForm { kind: CallKind::Other, ..CallForm::clone(&request.form) })
            });
            request.form = Arc::clone(of_copy);
        }
    }
}

/// Where calls are among requests, some of which are two calls.
struct Places {
    /// How many calls there are up to the end of each request that is two, ascending.
    ends: Vec<usize>,
}

impl Places {
    fn of_requests(requests: &[Request]) -> Self {
        let folded = (0..requests.len()).filter(|at| requests[*at].seek);
        Self { ends: (2..).zip(folded).map(|(more, at)| at + more).collect() }
    }

    /// How many requests so many calls became.
    fn of(&self, calls: usize) -> usize {
        let folded = self.ends.partition_point(|end| *end <= calls);
        // The first one of two calls is no request yet.
        let is_half = self.ends.get(folded).is_some_and(|end| *end == calls + 1);
        calls - folded - usize::from(is_half)
    }
}

/// A call that names a file and failed did nothing that a model has a word for.
fn failed(kind: CallKind) -> CallKind {
    match kind {
        CallKind::Open
        | CallKind::Create
        | CallKind::Unlink
        | CallKind::Rename
        | CallKind::MakeDirectory
        | CallKind::Lock
        | CallKind::Control
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
fn infer(requests: &mut [Vec<Request>], barriers: &mut [Vec<usize>]) -> u64 {
    let len = requests.first().map_or(0, Vec::len);
    if requests.len() < MIN_RANKS || requests.iter().any(|of_rank| of_rank.len() != len) {
        return 0;
    }
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for at in 1..len {
        let ends: Option<Vec<i64>> = requests.iter().map(|of_rank| of_rank[at - 1].end.get()).collect();
        let starts: Vec<i64> = requests.iter().map(|of_rank| of_rank[at].start).collect();
        let Some(ends) = ends else { continue };
        let (before, behind) = (deviation(&ends), deviation(&starts));
        if before >= MIN_SPREAD && behind <= MAX_SHARE * before {
            let kinds = (requests[0][at - 1].variant(), requests[0][at].variant());
            alike.entry(kinds).or_default().push(at);
        }
    }
    let mut found: Vec<usize> =
        alike.into_values().filter(|places| places.len() >= INSTANCES).flatten().collect();
    found.sort_unstable();
    for at in &found {
        let least = requests.iter().filter_map(|of_rank| of_rank[*at].slack_ns.get()).min();
        for request in requests.iter_mut().map(|of_rank| &mut of_rank[*at]) {
            if !request.slack_ns.is_null() {
                request.slack_ns = least.into();
            }
        }
    }
    barriers.iter_mut().for_each(|barriers| barriers.clone_from(&found));
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

/// Whether a call failed on a file that is there.
fn in_vain(request: RequestRow) -> bool {
    request.failed && !request.file.is_null()
}

fn call(row: Row, request: RequestRow, (form, numbers): (Arc<CallForm>, &mut Numbers), waited: i64) -> Call {
    Call {
        form,
        file: numbers.file(request),
        // Numbers of descriptions are those of a case.
        open: request.open.get().map(|open| u64::from(row.case.0) << 32 | u64::from(open.0)).into(),
        offset: request.offset,
        size: request.size,
        start: row.start,
        end: row.end,
        waited,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_of_two_calls_is_no_request_yet() {
        // The requests 1 and 2 are two calls each.
        let places = Places { ends: vec![3, 5] };
        assert_eq!((0..8).map(|calls| places.of(calls)).collect::<Vec<_>>(), [0, 1, 1, 2, 2, 3, 4, 5]);
    }
}
