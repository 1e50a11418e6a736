//! Time before the first request of a rank and after its last one: programs start, compute and end.
//!
//! Source: `spec/workload.md`, section 2, has slack between requests alone; without these pauses clones of short programs are done too early.

use crate::cost::TracerCost;
use crate::program::{Program, Target, ranges};
use iotrail_model::{CaseId, Tid};
use iotrail_query::ProcessEntry;
use iotrail_workload::{Group, Model, ProgramStep};
use std::collections::BTreeSet;

/// Of a rank, without waits for others and what a tracer takes, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pauses {
    /// From its begin to its first request.
    pub(crate) before: u64,
    /// From its last request to its end.
    pub(crate) after: u64,
    /// When it begins.
    pub(crate) begin: Option<i64>,
}

/// When a rank begins and ends, in ns, as far as that is known.
#[derive(Clone, Copy, Default)]
pub(crate) struct Span<'a> {
    begin: Option<i64>,
    end: Option<i64>,
    /// What a tracer takes in its first thread.
    tracer: Option<(&'a TracerCost, (CaseId, Tid))>,
}

impl<'a> Span<'a> {
    /// Of a rank that is a process, or the processes of a case.
    pub(crate) fn of<'b>(processes: impl Iterator<Item = &'b ProcessEntry>, cost: &'a TracerCost) -> Self {
        let mut all = Self::default();
        for process in processes {
            let (begin, end) = (process.start.map(|at| at.0), process.end.map(|at| at.0));
            if all.tracer.is_none() || begin < all.begin {
                let thread = (process.case, Tid(process.pid.0));
                (all.begin, all.tracer) = (begin, Some((cost, thread)));
            }
            all.end = all.end.max(end);
        }
        all
    }

    /// From the begin to the end of MPI, where these are known.
    pub(crate) fn with_mpi(self, begin: Option<i64>, end: Option<i64>) -> Self {
        Self { begin: begin.or(self.begin), end: end.or(self.end), ..self }
    }

    /// The pauses of a rank whose first request begins, and whose last one ends, at the times of `requests`, with what it waited before and after;
    /// unknown ones are 0.
    pub(crate) fn pauses(self, requests: (i64, i64), waited: (i64, i64)) -> Pauses {
        let between = |from: Option<i64>, to: Option<i64>, waited: i64| {
            let (Some(from), Some(to)) = (from, to) else { return 0 };
            let traced = self.tracer.map_or(0, |(cost, thread)| cost.within(thread, (from, to)));
            u64::try_from(to.saturating_sub(from).saturating_sub(waited).saturating_sub(traced)).unwrap_or(0)
        };
        let (first, last) = requests;
        Pauses {
            before: between(self.begin, Some(first), waited.0),
            after: between(Some(last), self.end, waited.1),
            begin: self.begin,
        }
    }
}

/// Shorter ones, in ns, are none: nobody sleeps as long exactly.
const LEAST: u64 = 50_000;

/// The mean pauses of some ranks.
pub(crate) struct GroupPauses {
    /// Index of their group in the model; NULL for all ranks.
    ranks: Option<usize>,
    /// One of them.
    rank: u32,
    before: u64,
    after: u64,
    /// Whether the ranks began long before others did what they wait for, so that both times are one.
    is_early: bool,
}

/// The pauses of groups; the first requests of their ranks are those of `targets`, whose slack comes before them, too.
pub(crate) fn of_groups(
    groups: &[Group],
    (of_ranks, targets): (&[Pauses], &[Vec<Target>]),
    (program, slack): (&mut Program, impl Fn(Target) -> u64),
) -> Vec<GroupPauses> {
    let mut found = Vec::new();
    let first_begin = of_ranks.iter().filter_map(|pauses| pauses.begin).min();
    for group in groups {
        let members: BTreeSet<u32> = group.members.iter().map(|rank| *rank as u32).collect();
        for range in ranges(&members).into_iter().flat_map(|range| alike(range, of_ranks)) {
            let Some(first) = range.first().copied() else { continue };
            let before = |rank: usize| {
                let own = targets[rank].first().map_or(0, |target| slack(*target));
                of_ranks[rank].before.saturating_sub(own)
            };
            let mean = |of: &dyn Fn(usize) -> u64| {
                let sum: u128 = range.iter().map(|rank| u128::from(of(*rank as usize))).sum();
                Some((sum / range.len() as u128) as u64).filter(|mean| *mean >= LEAST).unwrap_or(0)
            };
            let (before, after) = (mean(&before), mean(&|rank| of_ranks[rank].after));
            let late = mean(&|rank| {
                of_ranks[rank].begin.zip(first_begin).map_or(0, |(own, first)| own.abs_diff(first))
            });
            if before == 0 && after == 0 {
                continue;
            }
            let ranks = if range.len() == of_ranks.len() { None } else { program.group(&range) };
            if ranks.is_some() || range.len() == of_ranks.len() {
                found.push(GroupPauses { ranks, rank: first, before, after, is_early: late < before });
            }
        }
    }
    found
}

/// Neighbours are together if their pauses differ by no more than this, in ns, or a quarter, and all of a range are if that makes more parts than these.
const ALIKE: u64 = 200_000;
const MOST_PARTS: usize = 4;

fn alike(range: BTreeSet<u32>, of_ranks: &[Pauses]) -> Vec<BTreeSet<u32>> {
    let near = |one: u64, other: u64| one.abs_diff(other) <= ALIKE.max(one.max(other) / 4);
    let are_near = |one: &u32, other: &u32| {
        let [one, other] = [one, other].map(|rank| of_ranks[*rank as usize]);
        near(one.before, other.before) && near(one.after, other.after)
    };
    let ranks: Vec<u32> = range.iter().copied().collect();
    let parts: Vec<BTreeSet<u32>> =
        ranks.chunk_by(are_near).map(|part| part.iter().copied().collect()).collect();
    if parts.len() <= MOST_PARTS { parts } else { vec![range] }
}

/// The steps of a program with pauses before the first one of each group, and after all.
pub(crate) fn with_pauses(
    mut steps: Vec<ProgramStep>,
    pauses: &[GroupPauses],
    model: &Model,
) -> Vec<ProgramStep> {
    for group in pauses {
        let pause = |ns| ProgramStep::Pause { ns, ranks: group.ranks };
        let first = steps.iter().position(|step| model.uses_files(group.rank, step));
        if let Some(first) = first.filter(|_| group.before > 0) {
            let waits = steps[..first].iter().rev();
            let waits =
                waits.take_while(|step| matches!(step, ProgramStep::After { .. }) && group.is_early).count();
            steps.insert(first - waits, pause(group.before));
        }
        if group.after > 0 {
            steps.push(pause(group.after));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_what_waits_leave() {
        let span = Span { begin: Some(100), end: Some(1000), tracer: None };
        assert_eq!(span.pauses((300, 700), (50, 100)), Pauses { before: 150, after: 200, begin: Some(100) });
        assert_eq!(span.pauses((300, 700), (500, 0)), Pauses { before: 0, after: 300, begin: Some(100) });
        assert_eq!(Span::default().pauses((300, 700), (0, 0)), Pauses::default());
        let of_mpi = span.with_mpi(Some(250), None);
        assert_eq!(of_mpi.pauses((300, 700), (0, 0)), Pauses { before: 50, after: 300, begin: Some(250) });
    }

    #[test]
    fn ranks_whose_pauses_differ_are_apart() {
        let pauses = |all: &[u64]| -> Vec<Pauses> {
            all.iter().map(|ms| Pauses { before: ms * 1_000_000, ..Pauses::default() }).collect()
        };
        let parts = |all: &[u64]| -> Vec<usize> {
            let range = (0..all.len() as u32).collect();
            alike(range, &pauses(all)).iter().map(BTreeSet::len).collect()
        };
        assert_eq!(parts(&[120, 50, 51, 52]), [1, 3]);
        assert_eq!(parts(&[50, 51, 53]), [3]);
        assert_eq!(parts(&[1, 2, 4, 8, 16, 32]), [6], "of many the mean");
    }

    #[test]
    fn ranks_pause_before_their_first_step_and_after_all() {
        let text = r#"
iotrail_workload = 1
[[group]]
name = "root"
ranks = "0"
[[group]]
name = "others"
ranks = "1.."
[[file]]
name = "f"
class = "root"
  [[file.session]]
  name = "s"
  mode = "wo create"
  requests = { write = 1 }
  size = "1 B"
[[file]]
name = "g"
class = "shared"
  [[file.session]]
  name = "s"
  mode = "wo create"
  requests = { write = 1 }
  size = "1 B"
[program]
steps = [{ session = "f/s" }, { after = "f/s", of = "root", ranks = "others" }, { session = "g/s", ranks = "others" }]
"#;
        let model = Model::parse(text).unwrap();
        let pause = |ns, group| ProgramStep::Pause { ns, ranks: Some(group) };
        let pauses = |group, rank, before, after, is_early| GroupPauses {
            ranks: Some(group),
            rank,
            before,
            after,
            is_early,
        };
        let all = [pauses(0, 0, 7, 0, true), pauses(1, 1, 5, 9, false)];
        let steps = with_pauses(model.steps.clone(), &all, &model);
        let [write, wait, others] = &model.steps[..] else { panic!("{:?}", model.steps) };
        let expected = [pause(7, 0), write.clone(), wait.clone(), pause(5, 1), others.clone(), pause(9, 1)];
        assert_eq!(steps, expected);
        let early = with_pauses(model.steps.clone(), &[pauses(1, 1, 5, 0, true)], &model);
        assert_eq!(early, [write.clone(), pause(5, 1), wait.clone(), others.clone()]);
    }
}
