//! From a log to findings.

use crate::access::{Access, Description, DescriptionId, Kind};
use crate::file::{FileAccesses, Looking, ProcessEdges};
use crate::gather::{Accesses, Gathered, Gathering};
use crate::in_flight::InFlight;
use crate::judged::{Advised, JudgedFile, Judging};
use crate::kept::{Keep, Kept, Worth};
use crate::pairs::{Rules, pairs};
use crate::result::{
    ADVICE_FORMAT, Advice, CallPlace, Confidence, Example, Finding, Item, Pairs, Shape, severity,
};
use crate::rules::habit::{ProcessHabit, part_of};
use crate::rules::join;
use crate::rules::small_buffers::small_buffers;
use crate::rules::watch::Watching;
use crate::runs::{Run, runs};
use crate::saving::{Rates, time};
use crate::stake::Stake;
use hashbrown::HashMap;
use iotrail_kernel::heap;
use iotrail_model::calls::{CallKind, CallSpec, PerCall};
use iotrail_model::{Case, CaseId, Clock, FileId, Pid, Timestamp};
use iotrail_query::process_group::program_at;
use iotrail_query::{ProcessTable, Query, scan};
use iotrail_trail::{EventLog, Trail, TrailError};
use iotrail_workflow::why::result::Why;
use iotrail_workflow::why::{Explaining, PathTimes, path_times, waits};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// By how much the clocks of two hosts may differ unless somebody knows better, in ns.
const CLOCK_SKEW: i64 = 1_000_000_000;

/// How advice is made.
#[derive(Clone, Copy, Debug)]
pub struct AdviseOptions {
    /// Whose table decides about pairs.
    pub rules: Rules,
    /// Whether syncs, closes, locks, changes of names, messages and new processes keep writes in their order.
    pub ordered: bool,
    /// By how much the clocks of two hosts may differ, in ns.
    pub skew: i64,
    /// Whether findings hold the calls of their runs: 16 bytes for each.
    pub keep_calls: bool,
    /// Which accesses are kept to be looked at.
    pub keep: Keep,
    /// Worker threads.
    pub threads: NonZeroUsize,
}

/// What could be done with fewer calls in `log`. The accesses that `query` selects are advised on; all others count as foreign.
/// Reads the log three times. Takes O(n log n) for n transfers; memory is about 20 bytes for each, and 100 for each of the file with most.
///
/// # Errors
/// If the log cannot be read.
pub fn advise(log: &EventLog, query: &Query, options: &AdviseOptions) -> Result<Advice, TrailError> {
    let process_table = ProcessTable::of_log(log)?;
    let times = path_times(log, &process_table, options.threads)?;
    Analysis::new(log, query, &process_table, &times, *options).advise()
}

/// The elapsed time of `log` explained, and what could be done about it. Reads the log four times.
///
/// # Errors
/// If the log cannot be read.
pub fn explain_and_advise(
    log: &EventLog,
    query: &Query,
    options: &AdviseOptions,
) -> Result<(Why, Advice), TrailError> {
    let process_table = ProcessTable::of_log(log)?;
    let waits = waits(log, &process_table, options.threads)?;
    let explaining = Explaining::of_waits(log, &process_table, &waits, options.threads)?;
    let times = explaining.times();
    let why = explaining.explain(options.threads)?;
    drop(waits);
    let advice = Analysis::new(log, query, &process_table, &times, *options).advise()?;
    Ok((why, advice))
}

/// Advice on a log of which it is known what explains its elapsed time.
#[derive(Clone, Copy, Debug)]
pub struct Analysis<'a> {
    log: &'a EventLog,
    query: &'a Query,
    process_table: &'a ProcessTable,
    times: &'a PathTimes,
    options: AdviseOptions,
}

impl AdviseOptions {
    /// What can be advised without a question.
    #[must_use]
    pub const fn new(threads: NonZeroUsize) -> Self {
        Self {
            rules: Rules::Corrected,
            ordered: true,
            skew: CLOCK_SKEW,
            keep_calls: false,
            keep: Keep::Nothing,
            threads,
        }
    }
}

impl<'a> Analysis<'a> {
    /// Advice on what `query` selects.
    #[must_use]
    pub const fn new(
        log: &'a EventLog,
        query: &'a Query,
        process_table: &'a ProcessTable,
        times: &'a PathTimes,
        options: AdviseOptions,
    ) -> Self {
        Self { log, query, process_table, times, options }
    }

    /// The advice. Reads the log twice, so that what the rules remember and all accesses need not be in memory together.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn advise(&self) -> Result<Advice, TrailError> {
        let Self { log, query, process_table, times, options } = *self;
        let found =
            scan(log, Some(query), options.threads, &Watching::new(log, query, process_table, times))?;
        heap::give_back();
        let gathered =
            scan(log, Some(query), options.threads, &Gathering::new(log, query, cost_inside(log)))?;
        self.finish(gathered, found)
    }

    fn finish(&self, mut gathered: Accesses, found: Vec<ProcessHabit>) -> Result<Advice, TrailError> {
        let Self { log, query, process_table, times, .. } = *self;
        let tracing = cost_inside(log);
        let mut files: Vec<(FileId, Gathered)> = gathered.files.drain().collect();
        files.retain(|(_, file)| file.mergeable);
        files.sort_unstable_by_key(|(file, _)| *file);
        gathered.looked.files = files.len() as u64;
        let habits = join(
            found,
            times,
            tracing,
            |call| query.rank_name(call.case),
            |call| program(process_table, call.case, call.pid, call.start),
        );
        let several = gathered.of_several_cases();
        let mut advising = Advising {
            log,
            query,
            process_table,
            times,
            options: &self.options,
            descriptions: &gathered.descriptions,
            processes: &gathered.processes,
            tracing,
            all_rates: gathered.speeds.rates(),
            pairs: Pairs::default(),
            groups: BTreeMap::new(),
            uses: BTreeMap::new(),
            kept: Kept::new(self.options.keep, &habits),
            seeks: PerCall::new(&log.names().calls, |call| {
                call.spec.is_some_and(|spec| spec.kind == CallKind::Seek)
            }),
            requests: PerCall::new(&log.names().calls, |call| call.spec.is_some_and(CallSpec::is_request)),
        };
        for (id, file) in files {
            let mut file = file.unpack(&several);
            gathered.looked.several_clocks += u64::from(advising.set_clock(&mut file));
            advising.file(id, &file);
        }
        let mut habits = habits;
        habits.extend(small_buffers(&advising.groups, times));
        let (pairs, (mut findings, accesses)) = (advising.pairs, advising.findings());
        findings.sort_by(|a, b| Item::Finding(a).order(Item::Finding(b)));
        habits.sort_by(|a, b| Item::Habit(a).order(Item::Habit(b)));
        Ok(Advice {
            format: ADVICE_FORMAT,
            sources: log.trails().iter().map(Trail::name).collect(),
            selection: query.selection(),
            limitations: log.missing_events(),
            looked: gathered.looked,
            elapsed_ns: elapsed(log)?,
            tracing_ns: tracing,
            pairs,
            accepted: 0,
            verified: Vec::new(),
            accesses,
            findings,
            habits,
        })
    }
}

/// What recording added to the duration of each call, in ns, as far as it was measured.
fn cost_inside(log: &EventLog) -> u64 {
    let cost = log.coverage().recording.as_ref().map(|recording| recording.cost);
    cost.filter(|cost| cost.calibrated_calls > 0)
        .map_or(0, |cost| u64::try_from(cost.inside.0).unwrap_or_default() / cost.calibrated_calls)
}

/// From the first begin to the last end of a process, where cases tell time.
fn elapsed(log: &EventLog) -> Result<Option<u64>, TrailError> {
    let processes = log.processes()?;
    let timed =
        processes.iter().filter(|process| log.cases().get(process.case.index()).is_some_and(Case::has_times));
    let (mut first, mut last): (Option<Timestamp>, Option<Timestamp>) = (None, None);
    for process in timed {
        first = first.into_iter().chain(process.start).min();
        last = last.into_iter().chain(process.start).chain(process.end).max();
    }
    Ok(first.zip(last).and_then(|(first, last)| u64::try_from(last.0.saturating_sub(first.0)).ok()))
}

/// Base name of what a process executed at that time.
#[must_use]
pub fn program(process_table: &ProcessTable, case: CaseId, pid: Pid, at: i64) -> Arc<str> {
    program_at(process_table, case, pid, Timestamp(at)).unwrap_or("?").into()
}

struct Advising<'a> {
    log: &'a EventLog,
    query: &'a Query,
    process_table: &'a ProcessTable,
    times: &'a PathTimes,
    options: &'a AdviseOptions,
    descriptions: &'a [Description],
    processes: &'a ProcessEdges,
    tracing: u64,
    all_rates: Rates,
    pairs: Pairs,
    groups: BTreeMap<(Use, &'static str), Group>,
    uses: BTreeMap<Use, Uses>,
    kept: Kept,
    /// Whether a call moves a position only.
    seeks: PerCall<bool>,
    /// Whether a call is a request that the kernel serves beside its thread.
    requests: PerCall<bool>,
}

/// Who does what to files of a name: the name, the program, whether it writes.
pub(crate) type Use = (Arc<str>, Arc<str>, bool);

/// All accesses of a use, in runs or not.
#[derive(Default)]
struct Uses {
    calls: u64,
    pairs: Pairs,
    stops: BTreeMap<&'static str, u64>,
}

/// The runs of a finding.
#[derive(Default)]
pub(crate) struct Group {
    files: BTreeSet<FileId>,
    pub(crate) processes: BTreeSet<(CaseId, Pid)>,
    /// Bytes of each call in a run, and of each run.
    call_bytes: Vec<u64>,
    run_bytes: Vec<u64>,
    /// Calls that would be left of them.
    left: u64,
    /// NULL if a duration is not known.
    time: Option<u64>,
    pub(crate) saved: Option<u64>,
    pub(crate) stake: Stake,
    threads: bool,
    foreign: bool,
    pub(crate) example: Option<Example>,
    /// The calls of each run, if they are kept.
    kept: Vec<Vec<CallPlace>>,
}

impl Advising<'_> {
    /// States how far the clocks of those who access the file may differ. True if they are several.
    fn set_clock(&self, file: &mut FileAccesses) -> bool {
        let cases: BTreeSet<CaseId> = file
            .accesses
            .iter()
            .filter_map(|access| Some(self.descriptions.get(access.description.0 as usize)?.case))
            .collect();
        let cases: Vec<_> = cases.iter().filter_map(|case| self.log.cases().get(case.index())).collect();
        let [first, rest @ ..] = cases.as_slice() else { return false };
        if rest.is_empty() {
            return false;
        }
        let resolution = cases.iter().map(|case| case.resolution.0.0).max().unwrap_or_default();
        let own_clocks = matches!(first.clock, Clock::Relative | Clock::Order);
        if own_clocks || rest.iter().any(|case| case.clock != first.clock) {
            // Nothing is known of what was before what.
            file.skew = i64::MAX / 4;
            return true;
        }
        let hosts = rest.iter().any(|case| case.name.host != first.name.host);
        file.skew = if hosts { self.options.skew.max(resolution) } else { resolution };
        hosts
    }

    fn file(&mut self, id: FileId, file: &FileAccesses) {
        let mut looking = Looking::new(file, self.descriptions);
        let pairs = pairs(&looking, self.options.rules);
        let found = runs(&mut looking, self.processes, self.options.ordered);
        let path_id = self.log.distinct_files()[id.index()].path;
        let path = &self.log.names().paths[path_id.index()];
        let mut programs = HashMap::new();
        let mut whose = |advising: &Self, access: &Access| -> Use {
            let case = advising.case(access);
            let program = programs
                .entry((case, access.pid))
                .or_insert_with(|| program(advising.process_table, case, access.pid, access.start))
                .clone();
            (Arc::clone(path), program, access.kind == Kind::Write)
        };
        let mut of_file = BTreeMap::<Use, Uses>::new();
        for access in file.accesses.iter().filter(|access| access.mergeable) {
            of_file.entry(whose(self, access)).or_default().calls += 1;
        }
        for pair in &pairs {
            self.pairs.count(pair.category);
            of_file.entry(whose(self, looking.access(pair.second))).or_default().pairs.count(pair.category);
        }
        let stops = found.stops();
        for (name, of_use) in of_file {
            let all = self.uses.entry(name).or_default();
            all.calls += of_use.calls;
            all.pairs.add(of_use.pairs);
            stops.iter().for_each(|(word, number)| *all.stops.entry(word).or_default() += number);
        }
        let rates = Rates::of(file.accesses.iter(), self.tracing).or(self.all_rates);
        let users: BTreeSet<_> = file.accesses.iter().map(|access| access.description).collect();
        let foreign = users.iter().filter(|user| **user != DescriptionId::NONE).count() > 1;
        let shared = shared(file);
        let mut advised = Vec::new();
        let mut in_flight = InFlight::default();
        for run in found.runs.iter().filter(|run| is_worth(&looking, run)) {
            let members: Vec<&Access> = run.members.iter().map(|at| looking.access(*at)).collect();
            let key = (whose(self, members[0]), run.shape.name());
            let example = self.example(&members);
            let (case, tracing) = (self.case(members[0]), self.tracing);
            let spent = self.spent(&members, &mut in_flight);
            let left = calls_left(&members, run.shape);
            let saved = rates.saving(spent.iter(), tracing).map(|saved| of_calls(saved, left, members.len()));
            let at_stake = saved.map(|saved| self.on_path(saved, &spent));
            advised.push(Advised { run, left, saved, at_stake });
            let recording = self.times.run(case);
            let group = self.groups.entry(key).or_insert_with(|| Group {
                time: Some(0),
                saved: Some(0),
                ..Group::default()
            });
            group.files.insert(id);
            group.left += left;
            group.foreign |= foreign;
            group.threads |= shared.contains(&members[0].description);
            group.saved = group.saved.zip(saved).map(|(all, saved)| all + saved);
            group.stake.add(recording, at_stake);
            if self.options.keep_calls {
                group.kept.push(members.iter().map(|access| (case, access.seq)).collect());
            }
            group.add(&spent, case, tracing, example);
        }
        let own = Worth {
            at_stake: advised.iter().filter_map(|run| run.at_stake).fold(0, u64::saturating_add),
            saved_calls: advised.iter().map(|run| run.run.members.len() as u64 - run.left).sum(),
            accesses: file.accesses.len() as u64,
        };
        let judging = Judging {
            looking: &looking,
            pairs: &pairs,
            found: &found,
            advised: &advised,
            names: self.log.names(),
            seeks: &self.seeks,
            case_name: &|case| self.query.rank_name(case),
        };
        self.kept.file(path_id, path, own, |most| judging.judge(path, most));
    }

    fn case(&self, access: &Access) -> CaseId {
        self.descriptions.get(access.description.0 as usize).map(|open| open.case).unwrap_or_default()
    }

    /// The accesses as their thread spends time on them: of requests in flight at the same time each moment counts once.
    fn spent(&self, members: &[&Access], in_flight: &mut InFlight) -> Vec<Access> {
        let spent = members.iter().map(|access| {
            if !self.requests.of(access.call) {
                return **access;
            }
            let thread = (self.case(access), access.tid);
            let (start, end) = in_flight.own(thread, (access.start, access.end));
            Access { start, end, ..**access }
        });
        spent.collect()
    }

    /// Of the time that merging saves, the part that explains the elapsed time.
    fn on_path(&self, saved: u64, members: &[Access]) -> u64 {
        let (mut on_path, mut all) = (0_u64, 0_u64);
        for access in members {
            let process = self.process_table.find(self.case(access), access.pid, Timestamp(access.start));
            let span = (access.start, access.end);
            let of_thread = process.map_or(0, |process| self.times.of_thread(process, access.tid, span));
            on_path = on_path.saturating_add(of_thread);
            all = all
                .saturating_add(u64::try_from(access.end.saturating_sub(access.start)).unwrap_or_default());
        }
        part_of(saved, on_path, all)
    }

    fn example(&self, members: &[&Access]) -> Example {
        let (first, last) = (members[0], members[members.len() - 1]);
        Example {
            case: self.query.rank_name(self.case(first)),
            pid: first.pid.0,
            tid: first.tid.0,
            first: first.seq,
            last: last.seq,
            start_ns: first.start,
            calls: members.len() as u64,
            offset: members.iter().map(|access| access.low).min().unwrap_or_default(),
            bytes: members.iter().map(|access| access.bytes()).fold(0, u64::saturating_add),
        }
    }

    fn findings(self) -> (Vec<Finding>, Vec<JudgedFile>) {
        let nothing = Uses::default();
        let finding = |((name, shape), group): ((Use, &'static str), Group)| {
            let uses = self.uses.get(&name).unwrap_or(&nothing);
            group.finding(name, shape, uses, self.times)
        };
        (self.groups.into_iter().filter_map(finding).collect(), self.kept.into_files())
    }
}

impl Group {
    /// Calls in its runs.
    pub(crate) fn calls(&self) -> u64 {
        self.call_bytes.len() as u64
    }

    /// Calls that would not be left of them.
    pub(crate) fn saved_calls(&self) -> u64 {
        self.calls() - self.left
    }

    fn add(&mut self, members: &[Access], case: CaseId, tracing: u64, example: Example) {
        let accesses = || members.iter();
        self.processes.insert((case, members[0].pid));
        self.call_bytes.extend(accesses().map(Access::bytes));
        self.run_bytes.push(example.bytes);
        let timed = accesses().all(|access| access.timed);
        let all = timed.then(|| accesses().map(|access| time(access, tracing)).fold(0, u64::saturating_add));
        self.time = self.time.zip(all).map(|(time, more)| time.saturating_add(more));
        if self.example.as_ref().is_none_or(|known| known.calls < example.calls) {
            self.example = Some(example);
        }
    }

    fn finding(
        self,
        (file, program, writes): Use,
        shape: &'static str,
        uses: &Uses,
        times: &PathTimes,
    ) -> Option<Finding> {
        let (at_stake_ns, share) = self.stake.most(times);
        let (runs, saved_calls) = (self.run_bytes.len() as u64, self.saved_calls());
        let bytes = self.run_bytes.iter().copied().fold(0, u64::saturating_add);
        let run_bytes = median(self.run_bytes);
        let confidence = match (self.threads, self.foreign) {
            (true, _) => Confidence::Low,
            (false, true) => Confidence::Medium,
            (false, false) => Confidence::High,
        };
        Some(Finding {
            rule: if writes { "merge-writes" } else { "merge-reads" },
            file: file.to_string(),
            files: self.files.len() as u64,
            program: program.to_string(),
            processes: self.processes.len() as u64,
            shape,
            calls: uses.calls,
            calls_after: uses.calls.saturating_sub(saved_calls),
            runs,
            saved_calls,
            bytes,
            call_bytes: median(self.call_bytes),
            run_bytes,
            time_ns: self.time,
            saved_ns: self.saved,
            at_stake_ns,
            share,
            severity: severity(share),
            confidence,
            pairs: uses.pairs,
            stops: uses.stops.clone(),
            fix: fix(writes, shape, run_bytes),
            example: self.example?,
            kept: self.kept,
        })
    }
}

/// The largest buffer that is advised.
const LARGEST: u64 = 1 << 20;

/// Whether a run is long enough, and its calls are smaller than what is advised: fewer would be left.
fn is_worth(looking: &Looking<'_>, run: &Run) -> bool {
    let members: Vec<&Access> = run.members.iter().map(|at| looking.access(*at)).collect();
    let calls = members.len() as u64;
    let is_long = members.len() >= run.shape.fewest();
    is_long && calls_left(&members, run.shape) < calls && bytes_of(&members) / calls < LARGEST
}

fn bytes_of(members: &[&Access]) -> u64 {
    members.iter().map(|access| access.bytes()).fold(0, u64::saturating_add)
}

/// How many calls would be left of a run: of adjacent accesses one for each of the largest buffers, else one.
fn calls_left(members: &[&Access], shape: Shape) -> u64 {
    match shape {
        Shape::Adjacent => bytes_of(members).div_ceil(LARGEST).max(1),
        _ => 1,
    }
}

/// The part of what all calls but one would save that is saved if so many are left.
fn of_calls(saved: u64, left: u64, calls: usize) -> u64 {
    let calls = calls as u64;
    part_of(saved, calls - left, calls - 1)
}

/// The descriptions that several threads or processes use.
fn shared(file: &FileAccesses) -> BTreeSet<DescriptionId> {
    let mut users = HashMap::new();
    // Who opens a file for another program, and empties it, does not use it.
    let empties = |access: &Access| access.kind == Kind::Write && access.high == u64::MAX;
    let transfers = file.accesses.iter().filter(|access| access.is_transfer() && !empties(access));
    transfers
        .filter(|access| *users.entry(access.description).or_insert(access.tid) != access.tid)
        .map(|access| access.description)
        .collect()
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// What to change. The buffer holds a usual run, at most 1 MiB.
fn fix(writes: bool, shape: &str, run_bytes: u64) -> String {
    let buffer = format!("{} KiB", (run_bytes.clamp(4096, LARGEST) >> 10).next_power_of_two());
    match (shape, writes) {
        ("adjacent", false) => format!(
            "read {buffer} at a time and take pieces from memory (C: setvbuf or one read; Python: open(..., buffering=...); Fortran: stream access of larger blocks)"
        ),
        ("adjacent", true) => format!(
            "collect {buffer} in memory and write them at once (C: setvbuf, or writev for data in several places; Python: open(..., buffering=...); MPI: one MPI_File_write of the whole block)"
        ),
        ("strided", false) => {
            "describe the pieces by one MPI datatype (MPI_Type_vector) and read them by one collective call; without MPI read the whole range once".to_owned()
        }
        ("strided", true) => {
            "describe the pieces by one MPI datatype (MPI_Type_vector) and write them by one collective call; without MPI change the layout so that a process writes one block".to_owned()
        }
        (_, false) => "sort the requests by offset and read what lies close together at once, or submit them together (io_uring)".to_owned(),
        _ => "sort the writes by offset and join what lies close together, or submit them together (io_uring)".to_owned(),
    }
}
