//! The accesses to one file, each with what became of it: the run that it is in, its pair, and what keeps it apart from the next one.

use crate::access::{Access, DescriptionId, Edge, Kind};
use crate::file::Looking;
use crate::pairs::{Pair, Reason};
use crate::result::{Pairs, Shape};
use crate::runs::{Gap, Run, Runs, Stop};
use crate::sample::sample;
use iotrail_model::calls::PerCall;
use iotrail_model::{CaseId, Names};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The accesses to one file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedFile {
    /// Path of the file.
    pub file: String,
    /// How many accesses there are.
    pub accesses_in_all: u64,
    /// How many advised runs there are.
    pub runs_in_all: u64,
    /// Pairs of all accesses by the article's categories.
    pub pairs: Pairs,
    /// What keeps accesses that follow each other apart, and how often.
    pub stops: BTreeMap<&'static str, u64>,
    /// Runs of which `accesses` holds members.
    pub runs: Vec<JudgedRun>,
    /// Accesses in the order of time: all of them, or those of the runs that save most and what is around these.
    pub accesses: Vec<JudgedAccess>,
}

/// A run that is advised.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedRun {
    /// Its number in the file, from 1 on in the order of time.
    pub number: u64,
    /// How its ranges lie.
    pub shape: Shape,
    /// How many accesses it has.
    pub calls: u64,
    /// Bytes that it moves.
    pub bytes: u64,
    /// Estimated time that merging it saves; NULL if a duration is not known.
    pub saved_ns: Option<u64>,
    /// The part of that which explains the elapsed time.
    pub at_stake_ns: Option<u64>,
}

/// An access.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedAccess {
    /// Who accessed when and where.
    #[serde(flatten)]
    pub call: AccessCall,
    /// What it does to the file: `read`, `write`, `seek`, or `may-read` and `may-write` of any byte.
    pub kind: &'static str,
    /// The byte behind its last one, of a seek the new position; NULL if it is not known or reaches to the end of the file.
    pub offset_after: Option<u64>,
    /// Number of the open file description, from 1 on in the order of first use in the file; NULL if there is none.
    pub open: Option<u64>,
    /// Number of its run.
    pub run: Option<u64>,
    /// Which one of the run it is, from 1 on.
    pub member: Option<u64>,
    /// What became of the pair that it makes with the access before it.
    pub pair: Option<JudgedPair>,
    /// What keeps it apart from the next access through its description.
    pub stop: Option<JudgedStop>,
}

/// Who accessed when and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessCall {
    /// Name of the case.
    pub case: Arc<str>,
    /// Process id as the trail has it.
    pub pid: u32,
    /// Thread; NULL of what a process as a whole did.
    pub tid: Option<u32>,
    /// Place of the call in its case; NULL if only its time is known.
    pub seq: Option<u64>,
    /// Name of the call.
    pub call: Arc<str>,
    /// When it began.
    pub start_ns: i64,
    /// How long it took; NULL if that is not known, or it goes on.
    pub dur_ns: Option<u64>,
    /// Its first byte; NULL if it is not known.
    pub offset: Option<u64>,
    /// Its bytes; NULL if it is not known how many.
    pub size: Option<u64>,
}

/// What became of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct JudgedPair {
    /// The article's category.
    pub category: u8,
    /// Why it is of that.
    pub reason: Reason,
}

/// Why a run ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgedStop {
    /// In a word, as in the `stops` of a finding.
    pub reason: &'static str,
    /// The call that is in the way.
    pub by: AccessCall,
    /// Its place in the list of accesses, from 0 on; NULL if it is no access that the list has.
    pub access: Option<u64>,
}

/// A run with what merging it saves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advised<'a> {
    pub(crate) run: &'a Run,
    /// How many calls would be left of it.
    pub(crate) left: u64,
    pub(crate) saved: Option<u64>,
    pub(crate) at_stake: Option<u64>,
}

/// Judges accesses of a file.
pub(crate) struct Judging<'a> {
    pub(crate) looking: &'a Looking<'a>,
    pub(crate) pairs: &'a [Pair],
    pub(crate) found: &'a Runs,
    /// The advised runs, in the order of time.
    pub(crate) advised: &'a [Advised<'a>],
    pub(crate) names: &'a Names,
    /// Whether a call moves a position only.
    pub(crate) seeks: &'a PerCall<bool>,
    /// Names of cases.
    pub(crate) case_name: &'a dyn Fn(CaseId) -> String,
}

impl Judging<'_> {
    /// At most `most` accesses, judged.
    pub(crate) fn judge(&self, file: &str, most: usize) -> JudgedFile {
        let chosen = sample(self.looking.file.accesses.len(), self.advised, self.found, most);
        let mut members = HashMap::new();
        for (number, advised) in (1..).zip(self.advised) {
            let own = (1..).zip(&advised.run.members).filter(|(_, at)| chosen.binary_search(at).is_ok());
            members.extend(own.map(|(member, at)| (*at, (number, member))));
        }
        let mut writing = Writing { judging: self, chosen: &chosen, cases: HashMap::new() };
        let opens = self.opens();
        let accesses = chosen.iter().map(|at| {
            let (run, member) = members.get(at).copied().unzip();
            let open = opens.get(&self.looking.access(*at).description).copied();
            writing.access(*at, open, run, member)
        });
        let accesses: Vec<JudgedAccess> = accesses.collect();
        let mut pairs = Pairs::default();
        self.pairs.iter().for_each(|pair| pairs.count(pair.category));
        let runs = (1..)
            .zip(self.advised)
            .filter(|(_, advised)| advised.run.members.iter().any(|at| chosen.binary_search(at).is_ok()));
        JudgedFile {
            file: file.to_owned(),
            accesses_in_all: self.looking.file.accesses.len() as u64,
            runs_in_all: self.advised.len() as u64,
            pairs,
            stops: self.found.stops(),
            runs: runs.map(|(number, advised)| self.run(number, advised)).collect(),
            accesses,
        }
    }

    /// Numbers of the descriptions in the order of first use.
    fn opens(&self) -> HashMap<DescriptionId, u64> {
        let mut numbers = HashMap::new();
        for access in &self.looking.file.accesses {
            if access.description != DescriptionId::NONE {
                let next = numbers.len() as u64 + 1;
                numbers.entry(access.description).or_insert(next);
            }
        }
        numbers
    }

    fn run(&self, number: u64, advised: &Advised<'_>) -> JudgedRun {
        let members = &advised.run.members;
        JudgedRun {
            number,
            shape: advised.run.shape,
            calls: members.len() as u64,
            bytes: members.iter().map(|at| self.looking.access(*at).bytes()).fold(0, u64::saturating_add),
            saved_ns: advised.saved,
            at_stake_ns: advised.at_stake,
        }
    }
}

/// Names what was found.
struct Writing<'a> {
    judging: &'a Judging<'a>,
    /// The accesses that are in the list, in order.
    chosen: &'a [u32],
    cases: HashMap<CaseId, Arc<str>>,
}

impl Writing<'_> {
    fn access(&mut self, at: u32, open: Option<u64>, run: Option<u64>, member: Option<u64>) -> JudgedAccess {
        let Judging { looking, pairs, found, .. } = self.judging;
        let access = looking.access(at);
        let pair = pairs.binary_search_by_key(&at, |pair| pair.second).ok().map(|index| pairs[index]);
        JudgedAccess {
            call: self.call(access),
            kind: match access.kind {
                Kind::Read => "read",
                Kind::Write => "write",
                Kind::Seek => "seek",
                Kind::UnknownRead => "may-read",
                Kind::UnknownWrite => "may-write",
            },
            offset_after: self.offset_after(access),
            open,
            run,
            member,
            pair: pair.map(|pair| JudgedPair { category: pair.category as u8, reason: pair.reason }),
            stop: found.gap_behind(at).and_then(|gap| self.stop(gap)),
        }
    }

    fn stop(&mut self, gap: Gap) -> Option<JudgedStop> {
        let reason = gap.stop.name()?;
        if let Stop::Edge(edge) = gap.stop {
            let case = self.case_of(self.judging.looking.access(gap.last));
            return Some(JudgedStop { reason, by: self.edge(case, edge), access: None });
        }
        let by = gap.in_the_way()?;
        let access = self.chosen.binary_search(&by).ok().map(|index| index as u64);
        Some(JudgedStop { reason, by: self.call(self.judging.looking.access(by)), access })
    }

    fn case_of(&mut self, access: &Access) -> Arc<str> {
        let descriptions = self.judging.looking.descriptions;
        let description = descriptions.get(access.description.0 as usize);
        let case = description.map(|open| open.case).unwrap_or_default();
        let name = || (self.judging.case_name)(case).into();
        self.cases.entry(case).or_insert_with(name).clone()
    }

    fn edge(&self, case: Arc<str>, edge: Edge) -> AccessCall {
        AccessCall {
            case,
            pid: edge.pid.0,
            tid: None,
            seq: None,
            call: self.judging.names.calls[edge.call.index()].clone(),
            start_ns: edge.start,
            dur_ns: None,
            offset: None,
            size: None,
        }
    }

    fn call(&mut self, access: &Access) -> AccessCall {
        // Who asks for the end of a file reads no bytes, wherever that is.
        let seeks = self.judging.seeks.of(access.call);
        let is_transfer = matches!(access.kind, Kind::Read | Kind::Write) && !seeks;
        let ends = access.end < i64::MAX && access.timed;
        AccessCall {
            case: self.case_of(access),
            pid: access.pid.0,
            tid: Some(access.tid.0),
            seq: Some(access.seq),
            call: self.judging.names.calls[access.call.index()].clone(),
            start_ns: access.start,
            dur_ns: ends.then(|| access.end.abs_diff(access.start)),
            offset: is_transfer.then_some(access.low),
            size: (is_transfer && access.high < u64::MAX).then(|| access.bytes()),
        }
    }

    fn offset_after(&self, access: &Access) -> Option<u64> {
        match access.kind {
            Kind::Seek => Some(access.low),
            Kind::Read | Kind::Write if access.high < u64::MAX => Some(access.high),
            // Looks at the last byte before the end, of which there is one.
            Kind::Read if access.low > 0 => Some(access.low + 1),
            _ => None,
        }
    }
}

impl Gap {
    /// The access that is in the way: somebody else's, or the next one.
    pub(crate) const fn in_the_way(self) -> Option<u32> {
        match self.stop {
            Stop::End | Stop::Edge(_) => None,
            Stop::Conflict(by) | Stop::Unknown(by) => Some(by),
            Stop::Mixed | Stop::Parallel | Stop::Overlap => Some(self.next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Description, EdgeKind};
    use crate::file::{FileAccesses, ProcessEdges};
    use crate::pairs::{Rules, pairs};
    use crate::runs::runs;
    use iotrail_model::{CallId, Pid, Tid};
    use proptest::prelude::*;

    /// An access of 100 ns through a description of a process with the same number: `(process, kind, start, low, high)`.
    fn access((process, kind, start, low, high): (u32, Kind, i64, u64, u64)) -> Access {
        Access {
            start,
            end: start + 100,
            low,
            high,
            seq: start as u64,
            description: DescriptionId(process),
            tid: Tid(process + 10),
            pid: Pid(process),
            call: CallId(if kind == Kind::Read { 0 } else { 1 }),
            kind,
            mergeable: high < u64::MAX,
            syncs: false,
            timed: true,
        }
    }

    fn judged(rows: &[(u32, Kind, i64, u64, u64)], edges: Vec<Edge>, most: usize) -> JudgedFile {
        let accesses = rows.iter().copied().map(access).collect();
        let file = FileAccesses { accesses, edges, ..FileAccesses::default() };
        let description =
            |process| Description { case: CaseId(process), pid: Pid(process), appends: false, syncs: false };
        let descriptions: Vec<Description> = (0..3).map(description).collect();
        let mut looking = Looking::new(&file, &descriptions);
        let pairs = pairs(&looking, Rules::Corrected);
        let found = runs(&mut looking, &ProcessEdges::default(), true);
        let advised: Vec<Advised<'_>> = found
            .runs
            .iter()
            .map(|run| Advised { run, left: 1, saved: Some(7), at_stake: Some(5) })
            .collect();
        let names =
            Names { calls: ["pread64", "write", "fsync"].map(Arc::from).to_vec(), ..Names::default() };
        let judging = Judging {
            looking: &looking,
            pairs: &pairs,
            found: &found,
            advised: &advised,
            names: &names,
            seeks: &PerCall::new(&names.calls, |_| false),
            case_name: &|case| format!("case {}", case.0),
        };
        judging.judge("/f", most)
    }

    /// Three writes, what another process reads of them, another write.
    const ROWS: [(u32, Kind, i64, u64, u64); 5] = [
        (1, Kind::Write, 0, 0, 10),
        (1, Kind::Write, 1_000, 10, 20),
        (1, Kind::Write, 2_000, 20, 30),
        (2, Kind::Read, 3_000, 5, 15),
        (1, Kind::Write, 4_000, 30, 40),
    ];

    #[test]
    fn the_call_in_the_way_of_a_run_is_named() {
        let file = judged(&ROWS, Vec::new(), 100);
        let run = JudgedRun {
            number: 1,
            shape: Shape::Adjacent,
            calls: 3,
            bytes: 30,
            saved_ns: Some(7),
            at_stake_ns: Some(5),
        };
        assert_eq!((&file.runs, file.runs_in_all, file.accesses_in_all), (&vec![run], 1, 5));
        let by = AccessCall {
            case: "case 2".into(),
            pid: 2,
            tid: Some(12),
            seq: Some(3_000),
            call: "pread64".into(),
            start_ns: 3_000,
            dur_ns: Some(100),
            offset: Some(5),
            size: Some(10),
        };
        let stop = JudgedStop { reason: "conflict", by: by.clone(), access: Some(3) };
        assert_eq!(file.accesses[2].stop, Some(stop));
        assert_eq!(file.accesses[3].call, by);
        let of = |at: usize| {
            let JudgedAccess { run, member, open, pair, offset_after, .. } = &file.accesses[at];
            (*run, *member, *open, pair.map(|pair| (pair.category, pair.reason)), *offset_after)
        };
        assert_eq!(of(0), (Some(1), Some(1), Some(1), None, Some(10)));
        assert_eq!(of(2), (Some(1), Some(3), Some(1), Some((1, Reason::NothingBetween)), Some(30)));
        assert_eq!(of(3), (None, None, Some(2), None, Some(15)));
        // A pair looks at its own bytes only, a run at those of all its members.
        assert_eq!(of(4), (None, None, Some(1), Some((2, Reason::NothingInTheWay)), Some(40)));
        assert_eq!(file.pairs, Pairs { easy: 2, possible: 1, ..Pairs::default() });
        assert_eq!(file.stops, BTreeMap::from([("conflict", 1)]));
    }

    #[test]
    fn what_orders_writes_is_named_with_its_time() {
        let rows = [ROWS[0], ROWS[1], ROWS[2]];
        let edge = Edge { start: 1_500, kind: EdgeKind::Sync, pid: Pid(9), call: CallId(2) };
        let file = judged(&rows, vec![edge], 100);
        let stop = file.accesses[1].stop.as_ref().expect("a stop");
        assert_eq!((stop.reason, &*stop.by.call, stop.by.pid), ("sync", "fsync", 9));
        assert_eq!((stop.by.start_ns, stop.by.seq, stop.by.offset, stop.access), (1_500, None, None, None));
    }

    #[test]
    fn of_many_accesses_some_are_judged_and_all_are_counted() {
        let rows: Vec<_> =
            (0..50).map(|at| (1, Kind::Write, at * 1_000, at as u64 * 10, at as u64 * 10 + 10)).collect();
        let file = judged(&rows, Vec::new(), 10);
        assert_eq!((file.accesses_in_all, file.accesses.len(), file.pairs.easy), (50, 10, 49));
        let members: Vec<_> = file.accesses.iter().filter_map(|access| access.member).collect();
        assert_eq!(members, [1, 2, 3, 4, 5, 46, 47, 48, 49, 50]);
        assert_eq!(file.runs[0].calls, 50);
    }

    #[test]
    fn what_reaches_to_the_end_of_the_file_has_no_size() {
        let file = judged(&[(1, Kind::Write, 0, 7, u64::MAX), (2, Kind::Seek, 500, 3, 4)], Vec::new(), 9);
        let cut = &file.accesses[0];
        assert_eq!((cut.call.offset, cut.call.size, cut.offset_after), (Some(7), None, None));
        let seek = &file.accesses[1];
        assert_eq!((seek.call.offset, seek.call.size, seek.offset_after), (None, None, Some(3)));
        assert_eq!((seek.kind, seek.pair, seek.stop.as_ref()), ("seek", None, None));
    }

    fn row() -> impl Strategy<Value = (u32, Kind, i64, u64, u64)> {
        let kind = prop::sample::select(vec![Kind::Read, Kind::Write, Kind::Write, Kind::Seek]);
        (0_u32..3, kind, 0_i64..20, 0_u64..6, 1_u64..3)
            .prop_map(|(process, kind, step, low, bytes)| (process, kind, step, low * 10, (low + bytes) * 10))
    }

    proptest! {
        /// What is said of an access is the same whatever else is in the list, and who is in the way is where it is said to be.
        #[test]
        fn a_sample_says_of_each_access_what_all_say(
            rows in prop::collection::vec(row(), 1..40),
            most in 1_usize..40,
        ) {
            let mut at = 0;
            let rows: Vec<_> = rows
                .into_iter()
                .map(|(process, kind, step, low, high)| {
                    at += step * 20 + 1;
                    (process, kind, at, low, high)
                })
                .collect();
            let (whole, some) = (judged(&rows, Vec::new(), rows.len()), judged(&rows, Vec::new(), most));
            prop_assert_eq!(some.accesses.len(), most.min(rows.len()));
            for access in &some.accesses {
                let known = whole.accesses.iter().find(|known| known.call == access.call).expect("it is there");
                let alone = |access: &JudgedAccess| {
                    let stop = access.stop.clone().map(|stop| JudgedStop { access: None, ..stop });
                    JudgedAccess { stop, ..access.clone() }
                };
                prop_assert_eq!(alone(known), alone(access));
                if let Some(JudgedStop { by, access: Some(place), .. }) = &access.stop {
                    prop_assert_eq!(by, &some.accesses[*place as usize].call);
                }
                prop_assert!(access.run.is_none_or(|run| some.runs.iter().any(|known| known.number == run)));
            }
            prop_assert!(whole.accesses.iter().filter_map(|access| access.stop.as_ref()).all(|stop| stop.access.is_some()));
        }
    }
}
