//! Runs: what could be exchanged between two groups if they did not differ.
//!
//! A run is what [`iotrail_query::runs_of_cases`] says, or a rank of it. Recorded cases whose processes made one another, or that
//! hold threads of one process, as the files of `strace -ff` do, are one run together: they are never exchangeable, so they are no
//! sample.

use crate::comparison::Unit;
use crate::per_case::{CaseSums, SummedCase};
use iotrail_model::{CaseId, Pid, Process};
use iotrail_trail::{EventLog, TrailError};
use std::collections::{BTreeMap, BTreeSet};

/// A run and its sums.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// The slot of the plan that it belongs to.
    pub(crate) slot: usize,
    pub(crate) sums: CaseSums,
    /// From its first call to its last end, if somebody measured it.
    pub(crate) elapsed: Option<i64>,
}

/// What is known of recorded cases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CaseFacts<'a> {
    /// The lowest case of the unit that each belongs to.
    pub(crate) unit: &'a [u32],
    /// The elapsed time of the processes of which each is the first case.
    pub(crate) elapsed: &'a [Option<i64>],
}

/// Which processes the recorded cases of a log hold.
#[derive(Debug)]
pub(crate) struct Holders<'a> {
    log: &'a EventLog,
    processes: Vec<Process>,
    /// By place and number of a process the cases that hold it.
    holders: BTreeMap<(PidScope<'a>, Pid), Vec<u32>>,
}

/// Where numbers of processes mean something: a trail (its address) and a host.
type PidScope<'a> = (usize, Option<&'a str>);

/// A rank and its host, if there are ranks.
type Rank<'a> = Option<(Option<&'a str>, &'a str)>;

impl<'a> Holders<'a> {
    /// Of the processes of a log.
    ///
    /// # Errors
    /// If a table of processes cannot be read.
    pub(crate) fn new(log: &'a EventLog) -> Result<Self, TrailError> {
        let processes = log.processes()?;
        let mut found = Self { log, processes, holders: BTreeMap::new() };
        for process in &found.processes {
            let key = (place(log, process.case), process.pid);
            found.holders.entry(key).or_default().push(process.case.0);
        }
        Ok(found)
    }

    /// By case, whether no process is known of it: its events are those of threads of a process of another case.
    pub(crate) fn without_process(&self) -> Vec<bool> {
        let mut without = vec![true; self.log.cases().len()];
        self.processes.iter().for_each(|process| without[process.case.index()] = false);
        without
    }

    /// By recorded case, the first case of its unit: the rank, or the run if it has none. `threads` are cases without a process and the
    /// number of theirs; `whole` is the first case of the run of each case.
    pub(crate) fn units(&self, threads: &BTreeMap<CaseId, Pid>, whole: &[u32]) -> Vec<u32> {
        let held = |case: CaseId, pid: Pid| {
            let found = self.holders.get(&(place(self.log, case), pid)).map_or(&[][..], Vec::as_slice);
            if found.contains(&case.0) { &[][..] } else { found }
        };
        let mut first: Vec<u32> = (0..self.log.cases().len() as u32).collect();
        let parents = self.processes.iter().filter_map(|process| Some((process.case, process.ppid?)));
        for (case, pid) in parents.chain(threads.iter().map(|(case, pid)| (*case, *pid))) {
            for &other in held(case, pid) {
                join(&mut first, case.0, other);
            }
        }
        let mut ranks: BTreeMap<(u32, Rank<'_>), u32> = BTreeMap::new();
        for case in self.log.cases() {
            let rank = case.name.rid.as_deref().map(|rank| (case.name.host.as_deref(), rank));
            let Some(&run) = whole.get(case.id.index()) else { continue };
            let other = *ranks.entry((run, rank)).or_insert(case.id.0);
            join(&mut first, case.id.0, other);
        }
        (0..first.len() as u32).map(|case| root(&mut first, case)).collect()
    }
}

fn place(log: &EventLog, case: CaseId) -> PidScope<'_> {
    let host = log.cases().get(case.index()).and_then(|case| case.name.host.as_deref());
    (log.trail_number(case), host)
}

/// What the runs of the cases that are compared are: ranks if each has one and some are of the same command in the same trail.
pub(crate) fn unit(log: &EventLog, run_of_case: &[u32], compared: impl Fn(CaseId) -> bool) -> Unit {
    let mut commands: BTreeMap<_, BTreeSet<(&str, u32)>> = BTreeMap::new();
    for case in log.cases().iter().filter(|case| compared(case.id)) {
        let Some(rank) = case.name.rid.as_deref() else { return Unit::Run };
        let command = (log.trail_number(case.id), case.name.cid.as_deref());
        let run = run_of_case.get(case.id.index()).copied().unwrap_or(case.id.0);
        commands.entry(command).or_default().insert((rank, run));
    }
    let runs = |ranks: &BTreeSet<(&str, u32)>| ranks.iter().map(|(_, run)| *run).collect::<BTreeSet<u32>>();
    if commands.values().any(|ranks| runs(ranks).len() > 1) { Unit::Rank } else { Unit::Run }
}

fn root(first: &mut [u32], case: u32) -> u32 {
    let mut case = case as usize;
    while first[case] as usize != case {
        first[case] = first[first[case] as usize];
        case = first[case] as usize;
    }
    case as u32
}

fn join(first: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(first, a), root(first, b));
    first[a.max(b) as usize] = a.min(b);
}

/// The units of the groups, in the order of slots and cases; `members` are the cases that take part and their slots, of which
/// some may have no call.
pub(crate) fn runs(
    cases: Vec<SummedCase>,
    members: impl Iterator<Item = (CaseId, usize)>,
    facts: CaseFacts<'_>,
) -> Vec<Run> {
    let mut runs: BTreeMap<(usize, u32), Run> = BTreeMap::new();
    let unit = |case: u32| facts.unit.get(case as usize).copied().unwrap_or(case);
    for (case, slot) in members {
        let run = runs.entry((slot, unit(case.0))).or_insert_with(|| Run { slot, ..Run::default() });
        run.elapsed = run.elapsed.max(facts.elapsed.get(case.index()).copied().flatten());
    }
    for case in cases {
        let key = (case.slot, unit(case.key.case().0));
        let run = runs.entry(key).or_insert_with(|| Run { slot: case.slot, ..Run::default() });
        run.sums.merge(&case.sums);
    }
    runs.into_values().collect()
}
