//! From a log to findings.

use crate::access::{Access, Description, Kind};
use crate::file::{FileAccesses, Looking, ProcessEdges};
use crate::gather::Gathering;
use crate::pairs::{Pair, Rules, pairs};
use crate::result::{ADVICE_FORMAT, Advice, Confidence, Example, Finding, Pairs};
use crate::runs::{Run, Runs, runs};
use crate::saving::{Rates, time};
use iotrail_model::{CaseId, Clock, FileId, Pid, Timestamp};
use iotrail_query::process_group::executable;
use iotrail_query::{Lives, Query, scan};
use iotrail_trail::{EventLog, Trail, TrailError};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// How advice is made.
#[derive(Clone, Copy, Debug)]
pub struct AdviseOptions {
    /// Whose table decides about pairs.
    pub rules: Rules,
    /// Whether syncs, closes, locks, renames, messages and new processes keep writes in their order.
    pub ordered: bool,
    /// By how much the clocks of two hosts may differ, in ns.
    pub skew: i64,
    /// Worker threads.
    pub threads: NonZeroUsize,
}

/// What could be done with fewer calls in `log`. The accesses that `query` selects are advised on; all others count as foreign.
/// Takes O(n log n) for n transfers; memory is about 100 bytes for each.
///
/// # Errors
/// If the log cannot be read.
pub fn advise(log: &EventLog, query: &Query, options: &AdviseOptions) -> Result<Advice, TrailError> {
    let lives = Lives::of_log(log)?;
    let mut gathered = scan(log, Some(query), options.threads, &Gathering::new(log))?;
    let coverage = log.coverage();
    let cost = coverage.recording.as_ref().map(|recording| recording.cost);
    let tracing = cost
        .filter(|cost| cost.calibrated_calls > 0)
        .map_or(0, |cost| u64::try_from(cost.inside.0).unwrap_or_default() / cost.calibrated_calls);
    let mut files: Vec<(FileId, FileAccesses)> = gathered.files.drain().collect();
    files.retain(|(_, file)| file.accesses.iter().any(|access| access.mergeable));
    files.sort_unstable_by_key(|(file, _)| *file);
    let all_rates = Rates::of(files.iter().flat_map(|(_, file)| &file.accesses), tracing);
    gathered.looked.files = files.len() as u64;
    let mut advising = Advising {
        log,
        query,
        lives,
        options,
        descriptions: &gathered.descriptions,
        processes: &gathered.processes,
        tracing,
        all_rates,
        pairs: Pairs::default(),
        findings: Vec::new(),
    };
    for (id, file) in &mut files {
        gathered.looked.several_clocks += u64::from(advising.set_clock(file));
        advising.file(*id, file);
    }
    let Advising { pairs, mut findings, .. } = advising;
    findings.sort_by(|a, b| {
        let weight = |finding: &Finding| (finding.saved_ns.unwrap_or_default(), finding.saved_calls);
        weight(b)
            .cmp(&weight(a))
            .then_with(|| (&a.file, &a.program, a.rule, a.shape).cmp(&(&b.file, &b.program, b.rule, b.shape)))
    });
    let elapsed = elapsed(log)?;
    for finding in &mut findings {
        let share = finding.saved_ns.zip(elapsed).filter(|(_, elapsed)| *elapsed > 0);
        finding.share = share.map(|(saved, elapsed)| saved as f64 / elapsed as f64);
    }
    Ok(Advice {
        format: ADVICE_FORMAT,
        sources: log.trails().iter().map(Trail::name).collect(),
        selection: query.selection(),
        looked: gathered.looked,
        elapsed_ns: elapsed,
        tracing_ns: tracing,
        pairs,
        findings,
    })
}

/// From the first begin to the last end of a process, where cases tell time.
fn elapsed(log: &EventLog) -> Result<Option<u64>, TrailError> {
    let processes = log.processes()?;
    let timed = processes.iter().filter(|process| log.cases()[process.case.index()].tells_time());
    let (mut first, mut last): (Option<Timestamp>, Option<Timestamp>) = (None, None);
    for process in timed {
        first = first.into_iter().chain(process.start).min();
        last = last.into_iter().chain(process.start).chain(process.end).max();
    }
    Ok(first.zip(last).and_then(|(first, last)| u64::try_from(last.0.saturating_sub(first.0)).ok()))
}

struct Advising<'a> {
    log: &'a EventLog,
    query: &'a Query,
    lives: Lives,
    options: &'a AdviseOptions,
    descriptions: &'a [Description],
    processes: &'a ProcessEdges,
    tracing: u64,
    all_rates: Rates,
    pairs: Pairs,
    findings: Vec<Finding>,
}

/// Whose accesses a finding joins: program, whether they write, shape.
type Key = (Arc<str>, bool, &'static str);

/// What a finding is made of.
#[derive(Default)]
struct Group<'r> {
    runs: Vec<&'r Run>,
    processes: BTreeSet<(CaseId, Pid)>,
    threads: bool,
}

impl Advising<'_> {
    /// States how far the clocks of those who access the file may differ. True if they are several.
    fn set_clock(&self, file: &mut FileAccesses) -> bool {
        let cases: BTreeSet<CaseId> = file
            .accesses
            .iter()
            .filter_map(|access| Some(self.descriptions.get(access.description.0 as usize)?.case))
            .collect();
        let cases: Vec<_> = cases.iter().map(|case| &self.log.cases()[case.index()]).collect();
        let resolution = cases.iter().map(|case| case.resolution.0.0).max().unwrap_or_default();
        file.skew = if cases.len() > 1 { resolution } else { 0 };
        let [first, rest @ ..] = cases.as_slice() else { return false };
        if rest.iter().any(|case| case.clock != first.clock)
            || !rest.is_empty() && matches!(first.clock, Clock::Relative | Clock::Order)
        {
            // Nothing is known of what was before what.
            file.skew = i64::MAX / 4;
            return true;
        }
        let hosts = rest.iter().any(|case| case.name.host != first.name.host);
        if hosts {
            file.skew = self.options.skew.max(resolution);
        }
        hosts
    }

    fn file(&mut self, id: FileId, file: &FileAccesses) {
        let mut looking = Looking::new(file, self.descriptions);
        let pairs = pairs(&looking, self.options.rules);
        pairs.iter().for_each(|pair| self.pairs.count(pair.category));
        let Runs { runs, stops } = runs(&mut looking, self.processes, self.options.ordered);
        let mut groups: BTreeMap<Key, Group<'_>> = BTreeMap::new();
        for run in &runs {
            let access = looking.access(run.members[0]);
            let case = self.case(access);
            let group = groups.entry(self.key(case, access, run.shape.name())).or_default();
            group.processes.insert((case, access.pid));
            group.threads |= run.members.iter().any(|member| looking.access(*member).tid != access.tid);
            group.runs.push(run);
        }
        let (of_pairs, calls) = self.counts(&looking, &pairs);
        let rates = Rates::of(file.accesses.iter(), self.tracing).or(self.all_rates);
        let foreign = {
            let mut users: BTreeSet<_> = file.accesses.iter().map(|access| access.description).collect();
            users.remove(&crate::DescriptionId::NONE);
            users.len() > 1
        };
        for (key, group) in groups {
            let program = (Arc::clone(&key.0), key.1);
            let facts = Facts {
                looking: &looking,
                rates,
                pairs: of_pairs.get(&program).copied().unwrap_or_default(),
                calls: calls.get(&program).copied().unwrap_or_default(),
                foreign,
                stops: &stops,
            };
            let finding = self.finding(id, &key, &group, &facts);
            self.findings.push(finding);
        }
    }

    /// Pairs, and mergeable calls, of each program and direction.
    fn counts(
        &self,
        looking: &Looking<'_>,
        pairs: &[Pair],
    ) -> (BTreeMap<(Arc<str>, bool), Pairs>, BTreeMap<(Arc<str>, bool), u64>) {
        let (mut of_pairs, mut calls) = (BTreeMap::<_, Pairs>::new(), BTreeMap::new());
        let key = |access: &Access| {
            let (program, writes, _) = self.key(self.case(access), access, "");
            (program, writes)
        };
        for pair in pairs {
            of_pairs.entry(key(looking.access(pair.second))).or_default().count(pair.category);
        }
        for access in looking.file.accesses.iter().filter(|access| access.mergeable) {
            *calls.entry(key(access)).or_default() += 1;
        }
        (of_pairs, calls)
    }

    fn case(&self, access: &Access) -> CaseId {
        self.descriptions.get(access.description.0 as usize).map(|open| open.case).unwrap_or_default()
    }

    fn key(&self, case: CaseId, access: &Access, shape: &'static str) -> Key {
        let life = self.lives.find(case, access.pid, Timestamp(access.start));
        let program = life.and_then(|life| {
            let images = self.lives.images(life);
            let image =
                images.iter().rev().find(|image| image.start.is_none_or(|start| start.0 <= access.start));
            executable(image.or(images.first())?).map(Arc::from)
        });
        (program.unwrap_or_else(|| Arc::from("?")), access.kind == Kind::Write, shape)
    }

    fn finding(
        &self,
        id: FileId,
        (program, writes, shape): &Key,
        group: &Group<'_>,
        facts: &Facts<'_, '_>,
    ) -> Finding {
        let members = || group.runs.iter().flat_map(|run| &run.members).map(|at| facts.looking.access(*at));
        let of_run = |run: &Run| run.members.iter().map(|at| facts.looking.access(*at)).collect::<Vec<_>>();
        let in_runs = members().count() as u64;
        let runs = group.runs.len() as u64;
        let run_bytes = median(
            group.runs.iter().map(|run| of_run(run).iter().map(|access| access.bytes()).sum()).collect(),
        );
        let call_bytes = median(members().map(Access::bytes).collect());
        let timed = members().all(|access| access.timed);
        let confidence = match (group.threads, facts.foreign) {
            (true, _) => Confidence::Low,
            (false, true) => Confidence::Medium,
            (false, false) => Confidence::High,
        };
        Finding {
            rule: if *writes { "merge-writes" } else { "merge-reads" },
            file: self.log.names().paths[self.log.distinct_files()[id.index()].path.index()].to_string(),
            program: program.to_string(),
            processes: group.processes.len() as u64,
            shape,
            calls: facts.calls,
            calls_after: facts.calls.saturating_sub(in_runs - runs),
            runs,
            saved_calls: in_runs - runs,
            bytes: members().map(Access::bytes).sum(),
            call_bytes,
            run_bytes,
            time_ns: timed.then(|| members().map(|access| time(access, self.tracing)).sum()),
            saved_ns: group
                .runs
                .iter()
                .map(|run| facts.rates.saving(of_run(run).into_iter(), self.tracing))
                .sum(),
            share: None,
            confidence,
            pairs: facts.pairs,
            stops: facts.stops.clone(),
            fix: fix(*writes, shape, run_bytes),
            example: self.example(group, facts.looking),
        }
    }

    fn example(&self, group: &Group<'_>, looking: &Looking<'_>) -> Example {
        let longest =
            group.runs.iter().max_by_key(|run| (run.members.len(), std::cmp::Reverse(run.members[0])));
        let members = longest.map(|run| run.members.as_slice()).unwrap_or_default();
        let accesses: Vec<&Access> = members.iter().map(|at| looking.access(*at)).collect();
        let first = accesses.first();
        Example {
            case: first.map_or_else(String::new, |first| self.query.rank_name(self.case(first))),
            pid: first.map_or(0, |first| first.pid.0),
            tid: first.map_or(0, |first| first.tid.0),
            first: first.map_or(0, |first| first.seq),
            last: accesses.last().map_or(0, |last| last.seq),
            start_ns: first.map_or(0, |first| first.start),
            calls: accesses.len() as u64,
            offset: accesses.iter().map(|access| access.low).min().unwrap_or_default(),
            bytes: accesses.iter().map(|access| access.bytes()).sum(),
        }
    }
}

/// What the findings of a file have in common.
struct Facts<'l, 'f> {
    looking: &'l Looking<'f>,
    rates: Rates,
    pairs: Pairs,
    calls: u64,
    foreign: bool,
    stops: &'l BTreeMap<&'static str, u64>,
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// What to change. The buffer holds a usual run, at most 1 MiB.
fn fix(writes: bool, shape: &str, run_bytes: u64) -> String {
    let buffer = format!("{} KiB", (run_bytes.clamp(4096, 1 << 20) >> 10).next_power_of_two());
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
