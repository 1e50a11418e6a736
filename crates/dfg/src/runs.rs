//! Runs: what could be exchanged between two groups if they did not differ.
//!
//! A run is a recorded case (a command, or a rank of it). Recorded cases whose processes made one another, as the files of
//! `strace -ff` hold them, are one run together: processes of one tree are never exchangeable, so they are no sample.

use crate::comparison::Unit;
use crate::per_case::{CaseSums, SummedCase};
use iotrail_model::{CaseId, Pid};
use iotrail_trail::{EventLog, TrailError};
use std::collections::{BTreeMap, BTreeSet};

/// A run and its sums.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// The slot of the plan that it belongs to.
    pub(crate) slot: usize,
    pub(crate) sums: CaseSums,
}

/// By recorded case, the first case of its run.
pub(crate) fn runs_of_cases(log: &EventLog) -> Result<Vec<u32>, TrailError> {
    let processes = log.processes()?;
    let place = |case: CaseId| {
        let host = log.cases().get(case.index()).and_then(|case| case.name.host.as_deref());
        (std::ptr::from_ref(log.trail_of(case)), host)
    };
    let mut holders: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for process in &processes {
        holders.entry((place(process.case), process.pid)).or_default().push(process.case.0);
    }
    let made_in = |case: CaseId, parent: Pid| {
        let found = holders.get(&(place(case), parent)).map_or(&[][..], Vec::as_slice);
        if found.contains(&case.0) { &[][..] } else { found }
    };
    let mut first: Vec<u32> = (0..log.cases().len() as u32).collect();
    for process in &processes {
        let Some(parent) = process.ppid else { continue };
        for &other in made_in(process.case, parent) {
            join(&mut first, process.case.0, other);
        }
    }
    Ok((0..first.len() as u32).map(|case| root(&mut first, case)).collect())
}

/// What the runs of the cases that are compared are: ranks if each has one and some are of the same command in the same trail.
pub(crate) fn unit(log: &EventLog, run_of_case: &[u32], compared: impl Fn(CaseId) -> bool) -> Unit {
    let mut commands: BTreeMap<_, BTreeSet<(&str, u32)>> = BTreeMap::new();
    for case in log.cases().iter().filter(|case| compared(case.id)) {
        let Some(rank) = case.name.rid.as_deref() else { return Unit::Run };
        let command = (std::ptr::from_ref(log.trail_of(case.id)), case.name.cid.as_deref());
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

/// The runs of the groups, in the order of slots and cases.
pub(crate) fn runs(cases: Vec<SummedCase>, run_of_case: &[u32]) -> Vec<Run> {
    let mut runs: BTreeMap<(usize, u32), Run> = BTreeMap::new();
    for case in cases {
        let number = case.key.case().0;
        let run = run_of_case.get(number as usize).copied().unwrap_or(number);
        let run = runs.entry((case.slot, run)).or_insert_with(|| Run { slot: case.slot, ..Run::default() });
        run.sums.merge(&case.sums);
    }
    runs.into_values().collect()
}
