//! Where the elapsed time of a run went: pieces that add up to it, and who waited for whom.
//!
//! Elapsed is the time from the first call or process start to the last end. The walk goes back from the last end; at each
//! instant one thread is on the path, and its last call begun before decides. A wait that a call of another thread ended is left
//! to that thread, at the start of that call; from there to the end of the wait is *hand-over*. Where a thread begins the walk goes
//! on in its maker; without one at the last end of another thread before, and what lies between, or is left, is *start*. Everything else is the thread's own: its calls by class, and *computing*
//! between them, as far as the kernel's counters of CPU time allow, the rest is *off CPU*.
//! What the recorder added to each call on the path is *tracing*: its inside part is taken from the duration of the call, the
//! rest from what follows it, never more than is there.
//!
//! The pieces add up to the elapsed time exactly, whatever the log says.
//!
//! The log is read twice: for the waits of all threads ([`crate::waits`]), then for the calls on the path. Memory is bounded by the
//! number of waits and of calls that may end one (some 50 bytes each), by the hand-overs on the path, and by the distinct
//! (thread, call, file) on it, never by all events.

mod account;
mod amounts;
pub(crate) mod fold;
mod limitations;
mod path;
pub(crate) mod pieces;
pub mod result;
mod spending;
#[cfg(test)]
mod tests;
mod times;
mod unreturned;
mod who;

use self::account::{Amount, Cost, Images, Kind, Threads};
use self::path::{Leg, Path, walk};
use self::pieces::Naming;
use self::result::{ClassRow, Run, Why};
use self::spending::InAll;
pub use self::spending::{Spending, Spent};
pub use self::times::PathTimes;
use self::unreturned::{Unreturned, never_returned};
use crate::build::Survey;
use crate::waits::Waits;
use crate::waits::gather::Waiting;
use iotrail_model::calls::EventClasses;
use iotrail_model::{Case, CaseId, Layer, Nullable, PathId};
use iotrail_query::{ProcessId, ProcessTable, event_classes, scan};
use iotrail_trail::{EventLog, TrailError};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// Explains the elapsed time of a log. It has no runs if nothing in it has a time.
///
/// # Errors
/// If the log cannot be read.
pub fn why(log: &EventLog, threads: NonZeroUsize) -> Result<Why, TrailError> {
    explain(log, threads, &|elapsed| elapsed / pieces::LEAST_SHARE)
}

/// The same with a piece for each file, however small.
pub(crate) fn why_file_by_file(log: &EventLog, threads: NonZeroUsize) -> Result<Why, TrailError> {
    explain(log, threads, &|_| 0)
}

/// When each thread of a log was on the path, without what it did there. Reads the log once.
///
/// # Errors
/// If the log cannot be read.
pub fn path_times(
    log: &EventLog,
    processes: &ProcessTable,
    threads: NonZeroUsize,
) -> Result<PathTimes, TrailError> {
    let waits = waits(log, processes, threads)?;
    let (units, paths) = paths(log, processes, &waits);
    Ok(PathTimes::new(&waits, &units, &paths))
}

/// The waits of all threads of a log, in the calls that [`why`] explains. Reads the log once.
///
/// # Errors
/// If the log cannot be read.
pub fn waits(log: &EventLog, processes: &ProcessTable, threads: NonZeroUsize) -> Result<Waits, TrailError> {
    scan(log, None, threads, &Waiting::of_layer(log, processes, layer(log)))
}

/// By case the run that it belongs to, and the path of each run that tells time.
fn paths(log: &EventLog, processes: &ProcessTable, waits: &Waits) -> (Vec<u32>, Vec<(u32, Path)>) {
    let units = units(processes, log.cases(), waits);
    let unit = |process: ProcessId| units[processes.get(process).case.index()];
    let mut roots: Vec<u32> = units.clone();
    roots.sort_unstable();
    roots.dedup();
    let has_times = |root: &u32| log.cases().get(*root as usize).is_none_or(Case::has_times);
    let walked = roots
        .into_iter()
        .filter(has_times)
        .filter_map(|root| Some((root, walk(waits, processes, &|process| unit(process) == root)?)));
    let paths = walked.collect();
    (units, paths)
}

fn explain(log: &EventLog, threads: NonZeroUsize, least: &dyn Fn(i64) -> i64) -> Result<Why, TrailError> {
    let processes = ProcessTable::of_log(log)?;
    let waits = waits(log, &processes, threads)?;
    let explaining = Explaining::of_waits(log, &processes, &waits, threads)?;
    explaining.pieces(threads, least)
}

/// The layer whose calls are explained: system calls, if there are any.
fn layer(log: &EventLog) -> Layer {
    let layers = log.layers();
    match layers.contains(&Layer::Syscall) {
        true => Layer::Syscall,
        false => layers.first().copied().unwrap_or_default(),
    }
}

/// What explains the elapsed time of a log whose waits are known: the paths of its runs, and the pass over the calls on them.
pub struct Explaining<'a> {
    log: &'a EventLog,
    processes: &'a ProcessTable,
    waits: &'a Waits,
    layer: Layer,
    classes: EventClasses,
    images: Images<'a>,
    cost: Cost,
    /// By case, the run that it belongs to.
    units: Vec<u32>,
    paths: Vec<(u32, Path)>,
    legs: Vec<Leg>,
}

impl<'a> Explaining<'a> {
    /// With what a survey has found out; NULL if the log holds no system calls, which is all that a survey looks at.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn new(
        log: &'a EventLog,
        processes: &'a ProcessTable,
        survey: &'a Survey,
        threads: NonZeroUsize,
    ) -> Result<Option<Self>, TrailError> {
        match layer(log) {
            Layer::Syscall => Self::of_waits(log, processes, survey.waits(), threads).map(Some),
            _ => Ok(None),
        }
    }

    /// With all [`waits`] of the log.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn of_waits(
        log: &'a EventLog,
        processes: &'a ProcessTable,
        waits: &'a Waits,
        threads: NonZeroUsize,
    ) -> Result<Self, TrailError> {
        let classes = event_classes(log, threads)?;
        let (units, paths) = paths(log, processes, waits);
        let legs = paths.iter().flat_map(|(_, path)| path.legs.iter().copied()).collect();
        let (images, cost) = (Images::new(processes), cost(log));
        Ok(Self { log, processes, waits, layer: layer(log), classes, images, cost, units, paths, legs })
    }

    /// When each thread was on the paths.
    #[must_use]
    pub fn times(&self) -> PathTimes {
        PathTimes::new(self.waits, &self.units, &self.paths)
    }

    /// The explanation. Reads the log once.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn explain(self, threads: NonZeroUsize) -> Result<Why, TrailError> {
        self.pieces(threads, &|elapsed| elapsed / pieces::LEAST_SHARE)
    }

    fn pieces(self, threads: NonZeroUsize, least: &dyn Fn(i64) -> i64) -> Result<Why, TrailError> {
        let threads_on_path = Threads { waits: self.waits, images: &self.images, runs: &self.units };
        let cost = (self.layer, self.cost);
        let pass = Spending::new(self.processes, &self.classes, threads_on_path, &self.legs, cost);
        let passes = (pass, Unreturned::new(self.processes, &self.classes, self.log.names()));
        let (spent, last) = scan(self.log, None, threads, &passes)?;
        drop(passes);
        Ok(self.pieces_of(spent, &last.unwrap_or_default(), least))
    }

    /// The explanation with what the pass has found; files of which each takes less than `least` of the elapsed time are joined.
    fn pieces_of(self, spent: Spent, threads: &unreturned::Threads, least: &dyn Fn(i64) -> i64) -> Why {
        let Self { log, processes, waits, classes, images, cost, units, paths, .. } = self;
        let Spent { amounts, all } = spent;
        let unit = |process: ProcessId| units[processes.get(process).case.index()];
        let mut of_runs = amounts.into_runs();
        let naming =
            Naming { waits, images: &images, names: log.names(), cases: log.cases(), files: log.files() };
        let kind = |path: PathId| classes.kind(Nullable::some(path));
        let mut limitations = limitations::Limitations::new(log, waits, &all);
        let ends: BTreeMap<u32, i64> = paths.iter().map(|(root, path)| (*root, path.span.1)).collect();
        let end = |process: ProcessId| ends.get(&unit(process)).copied();
        let never_returned = match waits.is_untimed() {
            true => Vec::new(),
            false => never_returned(threads, processes, &naming, &end),
        };
        let run = |(root, path): (u32, Path)| {
            let amounts = of_runs.remove(&root).unwrap_or_default();
            limitations.add(&amounts, &images);
            let mut who = who::Who::new(&naming, &kind);
            who.on_path(&path.awaited);
            who.without_cause(&amounts);
            let lines = || waits.lines().filter(|line| unit(waits.process(*line)) == root);
            lines().for_each(|line| who.in_all(line, cost));
            let (start_ns, end) = path.span;
            Run {
                name: name(log.cases(), &units, root),
                case: CaseId(root),
                start_ns,
                elapsed_ns: end - start_ns,
                processes: pieces::processes(lines().map(|line| waits.process(line))),
                pieces: pieces::pieces(&amounts, least(end - start_ns), &naming),
                waits: who.rows(),
            }
        };
        let directory = processes.first_directory().map(str::to_owned);
        let mut runs: Vec<Run> = paths.into_iter().map(run).collect();
        runs.sort_by(|one, other| (other.elapsed_ns, &one.name).cmp(&(one.elapsed_ns, &other.name)));
        Why { runs, never_returned, classes: class_rows(&all), limitations: limitations.rows(), directory }
    }
}

/// What recording added to a call, as far as the recorders measured it.
fn cost(log: &EventLog) -> Cost {
    let cost = log.coverage().recording.map(|recording| recording.cost).unwrap_or_default();
    let inside = cost.inside_per_call().map_or(0, |inside| inside.0.max(0));
    // Without calls nothing was added, whatever a call would have cost.
    let call = cost.per_call().filter(|_| cost.calibrated_calls > 0).map_or(0, |call| call.0.max(0));
    Cost { call: call.max(inside), inside }
}

/// By case, the first one of those whose processes are related to its own, or are ranks of the same program.
fn units(processes: &ProcessTable, cases: &[Case], waits: &Waits) -> Vec<u32> {
    let mut units: Vec<u32> = (0..cases.len() as u32).collect();
    fn root(units: &mut [u32], mut case: u32) -> u32 {
        while units[case as usize] != case {
            units[case as usize] = units[units[case as usize] as usize];
            case = units[case as usize];
        }
        case
    }
    let children = processes.all().iter().filter_map(|process| Some((process.case, process.parent?)));
    let ranks = waits.ranks_that_met().map(|(waiter, other)| (processes.get(waiter).case, other));
    for (case, other) in children.chain(ranks) {
        let pair = [case, processes.get(other).case].map(|CaseId(case)| root(&mut units, case));
        units[pair[0].max(pair[1]) as usize] = pair[0].min(pair[1]);
    }
    (0..cases.len() as u32).map(|case| root(&mut units, case)).collect()
}

/// What a run is called: its only case, or the first and how many more.
fn name(cases: &[Case], units: &[u32], root: u32) -> String {
    let number = units.iter().filter(|unit| **unit == root).count();
    let first = cases.get(root as usize).map(|case| case.name.to_string()).unwrap_or_default();
    match number {
        0 | 1 => first,
        _ => format!("{first} and {} more", number - 1),
    }
}

fn class_rows(all: &InAll) -> Vec<ClassRow> {
    let mut rows: BTreeMap<&str, Amount> = BTreeMap::new();
    for (kind, amount) in &all.classes {
        let row = rows.entry(class_name(*kind)).or_default();
        row.time = row.time.saturating_add(amount.time);
        row.calls += amount.calls;
    }
    let row = |(class, amount): (&str, Amount)| ClassRow {
        class: class.to_owned(),
        calls: amount.calls,
        time_ns: amount.time,
    };
    let mut rows: Vec<ClassRow> = rows.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.time_ns));
    rows
}

const fn class_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Data => "data",
        Kind::Sync => "sync",
        Kind::Metadata => "metadata",
        Kind::Memory => "memory",
        Kind::Process => "process",
        Kind::Sleep => "sleep",
        Kind::Transfer => "transfer",
        Kind::Waiting => "wait",
        Kind::Mpi => "mpi",
        Kind::Other => "none",
    }
}
