//! Which rank of an MPI program the others waited for in collective calls.
//!
//! On `MPI_COMM_WORLD` the n-th collective call of each rank is the same one (MPI 4.1, section 6.12). Where all ranks give and get,
//! they wait for the last one to call; where a root gives, all wait for it; where it gets, it waits for the last of the others. What the
//! clocks of two ranks contradict (somebody returned before another one called) is left out. Collective calls on a file that all
//! ranks opened together are the same ones in the same way.

use super::{Cause, Ended, LineId};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use iotrail_model::calls::mpi::Role;
use iotrail_model::{CallId, Case, CaseId, Clock, PathId, Tid};
use iotrail_query::ProcessId;
use std::collections::{BTreeMap, BTreeSet};

/// A collective call of a rank on all ranks of its program, or one that begins or ends MPI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankCall {
    pub(crate) case: CaseId,
    pub(crate) process: ProcessId,
    pub(crate) tid: Tid,
    pub(crate) start: i64,
    /// None if it was not seen.
    pub(crate) end: Option<i64>,
    pub(crate) call: CallId,
    pub(crate) role: Role,
    /// The rank of the root, if it has one.
    pub(crate) root: Option<i32>,
    /// Whether it moves data once all have called: that is no longer waiting.
    pub(crate) moves_data: bool,
    /// The file whose ranks all take part.
    pub(crate) file: Option<PathId>,
    /// Whether it opens that file for some ranks only, so that nothing is known of who takes part.
    pub(crate) of_some: bool,
}

/// A call of MPI whose work is the library's own: what lies in it says nothing of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LibraryCall {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) call: CallId,
}

/// A wait that several calls make together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NamedWait {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) cause: Cause,
    /// The file that was waited for.
    pub(crate) path: Option<PathId>,
}

impl NamedWait {
    /// Whether what happens from `start` to `end` is part of this wait.
    pub(crate) fn covers(&self, start: i64, end: i64) -> bool {
        self.start <= start && end <= self.end
    }
}

/// The ranks of MPI programs by case: the program, and the rank in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranks(Vec<Option<(u32, i32)>>);

impl Ranks {
    /// Cases of one command whose names have different ranks, and whose times can be compared, are the ranks of one program.
    pub(crate) fn of(cases: &[Case]) -> Self {
        let mut programs: BTreeMap<_, Vec<(CaseId, i32)>> = BTreeMap::new();
        for case in cases {
            let rank = case.name.rid.as_deref().and_then(|rank| rank.parse().ok());
            let comparable = !matches!(case.clock, Clock::Relative | Clock::Order);
            if let Some(rank) = rank.filter(|_| comparable) {
                let key = (&case.name.cid, &case.label, case.clock as u32);
                programs.entry(key).or_default().push((case.id, rank));
            }
        }
        let mut ranks = vec![None; cases.len()];
        for (program, members) in (0..).zip(programs.into_values()) {
            let distinct: BTreeSet<i32> = members.iter().map(|(_, rank)| *rank).collect();
            if distinct.len() == members.len() && members.len() > 1 {
                members.iter().for_each(|(case, rank)| ranks[case.index()] = Some((program, *rank)));
            }
        }
        Self(ranks)
    }

    /// How many ranks a program has.
    fn number(&self, program: u32) -> usize {
        self.0.iter().flatten().filter(|(of, _)| *of == program).count()
    }

    /// The program and the rank of a case.
    pub(crate) fn of_case(&self, case: CaseId) -> Option<(u32, i32)> {
        self.0.get(case.index()).copied().flatten()
    }
}

/// The waits that collective calls were, by thread, in the order of time.
pub(crate) fn rank_waits(
    calls: Vec<RankCall>,
    ranks: &Ranks,
    line: impl Fn(ProcessId, Tid) -> Option<LineId>,
) -> HashMap<LineId, Vec<NamedWait>, RandomState> {
    let mut groups: BTreeMap<(u32, Option<PathId>), BTreeMap<i32, Vec<RankCall>>> = BTreeMap::new();
    let mut of_some = BTreeSet::new();
    for call in calls {
        if let Some((program, rank)) = ranks.of_case(call.case) {
            let group = (program, call.file);
            match call.of_some {
                true => drop(of_some.insert(group)),
                false => groups.entry(group).or_default().entry(rank).or_default().push(call),
            }
        }
    }
    groups.retain(|group, members| !of_some.contains(group) && members.len() == ranks.number(group.0));
    let mut waits: HashMap<LineId, Vec<NamedWait>, RandomState> = HashMap::default();
    for mut members in groups.into_values() {
        members.values_mut().for_each(|calls| calls.sort_unstable_by_key(|call| call.start));
        let number = members.values().map(Vec::len).min().unwrap_or_default();
        for at in 0..number {
            let together: BTreeMap<i32, RankCall> =
                members.iter().map(|(rank, calls)| (*rank, calls[at])).collect();
            let mut names = together.values().map(|call| call.call);
            let first = names.next();
            if names.any(|name| Some(name) != first) {
                // Some call of this program was not seen: nobody knows which belong together from here on.
                break;
            }
            for (rank, call) in &together {
                let cause = awaited(&together, *rank, call);
                let known = cause.and_then(|cause| Some((cause, line(cause.process, cause.tid)?)));
                let own = line(call.process, call.tid);
                if let (Some((cause, by)), Some(own), Some(end)) = (known, own, call.end) {
                    let cause = Cause { line: by, at: cause.start, what: Ended::Called };
                    let end = if call.moves_data { cause.at } else { end };
                    waits.entry(own).or_default().push(NamedWait {
                        start: call.start,
                        end,
                        cause,
                        path: None,
                    });
                }
            }
        }
    }
    waits.values_mut().for_each(|waits| waits.sort_unstable_by_key(|wait| wait.start));
    waits
}

/// The call that the call of a rank waited for.
fn awaited<'a>(together: &'a BTreeMap<i32, RankCall>, rank: i32, call: &RankCall) -> Option<&'a RankCall> {
    let others = || together.iter().filter(|(other, _)| **other != rank).map(|(_, call)| call);
    let last = || others().max_by_key(|other| other.start);
    let cause = match call.role {
        Role::Synchronises => last(),
        Role::FromRoot => call.root.filter(|root| *root != rank).and_then(|root| together.get(&root)),
        Role::ToRoot => last().filter(|_| call.root == Some(rank)),
        Role::Begins | Role::Ends | Role::Other => None,
    };
    cause.filter(|cause| call.start < cause.start && call.end.is_some_and(|end| cause.start <= end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::case::CaseName;

    fn cases(ranks: &[&str]) -> Vec<Case> {
        let case = |(id, rank): (u32, &&str)| Case {
            id: CaseId(id),
            name: CaseName { cid: Some("app".into()), host: None, rid: Some((*rank).into()) },
            ..Case::default()
        };
        (0..).zip(ranks).map(case).collect()
    }

    /// A call of a rank, which is a process and a line of its own.
    fn call(rank: u32, start: i64, end: i64, (name, role, root): (u32, Role, Option<i32>)) -> RankCall {
        RankCall {
            case: CaseId(rank),
            process: ProcessId(rank),
            tid: Tid(rank),
            start,
            end: Some(end),
            call: CallId(name),
            role,
            root,
            moves_data: false,
            file: None,
            of_some: false,
        }
    }

    const BARRIER: (u32, Role, Option<i32>) = (1, Role::Synchronises, None);
    const BCAST: (u32, Role, Option<i32>) = (2, Role::FromRoot, Some(1));
    const REDUCE: (u32, Role, Option<i32>) = (3, Role::ToRoot, Some(0));

    /// Rank, start and end of its wait, whom it waited for and when that one called.
    fn waits(cases: &[Case], calls: Vec<RankCall>) -> Vec<(u32, [i64; 2], u32, i64)> {
        let line = |process: ProcessId, _| Some(LineId(process.0));
        let found = rank_waits(calls, &Ranks::of(cases), line);
        let mut all: Vec<_> = found
            .into_iter()
            .flat_map(|(line, waits)| waits.into_iter().map(move |wait| (line, wait)))
            .map(|(line, wait)| (line.0, [wait.start, wait.end], wait.cause.line.0, wait.cause.at))
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn all_wait_for_the_last_rank() {
        let calls = vec![call(0, 10, 52, BARRIER), call(1, 50, 53, BARRIER), call(2, 30, 54, BARRIER)];
        assert_eq!(waits(&cases(&["0", "1", "2"]), calls), [(0, [10, 52], 1, 50), (2, [30, 54], 1, 50)]);
    }

    #[test]
    fn a_root_is_waited_for_or_waits() {
        let mut calls = vec![call(0, 10, 32, BCAST), call(1, 30, 31, BCAST), call(2, 40, 41, BCAST)];
        calls.extend([call(0, 50, 91, REDUCE), call(1, 60, 61, REDUCE), call(2, 90, 92, REDUCE)]);
        assert_eq!(waits(&cases(&["0", "1", "2"]), calls), [(0, [10, 32], 1, 30), (0, [50, 91], 2, 90)]);
    }

    #[test]
    fn all_wait_for_the_last_rank_on_a_file_that_all_have_opened() {
        let on = |file, call| RankCall { file: Some(PathId(file)), moves_data: true, ..call };
        let mut calls = vec![call(0, 10, 12, BARRIER), call(1, 11, 13, BARRIER)];
        for file in [7, 8] {
            calls.extend([on(file, call(0, 20, 52, BARRIER)), on(file, call(1, 50, 53, BARRIER))]);
        }
        calls.push(RankCall { of_some: true, ..on(8, call(0, 14, 15, BARRIER)) });
        calls.push(on(9, call(0, 60, 70, BARRIER)));
        assert_eq!(waits(&cases(&["0", "1"]), calls), [(0, [10, 12], 1, 11), (0, [20, 50], 1, 50)]);
    }

    #[test]
    fn what_does_not_belong_together_is_no_wait() {
        let barriers = || vec![call(0, 10, 52, BARRIER), call(1, 50, 53, BARRIER)];
        assert_eq!(waits(&cases(&["0", "0"]), barriers()), []);
        assert_eq!(waits(&cases(&["0", "x"]), barriers()), []);
        // The clocks disagree.
        assert_eq!(waits(&cases(&["0", "1"]), vec![call(0, 10, 20, BARRIER), call(1, 50, 53, BARRIER)]), []);
        // From the first difference on.
        let mut calls = vec![call(0, 1, 9, BCAST), call(1, 2, 9, BARRIER)];
        calls.extend(barriers());
        assert_eq!(waits(&cases(&["0", "1"]), calls), []);
    }
}
