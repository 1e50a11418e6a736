//! Time before the first request of a rank and after its last one: programs start, compute and end.
//!
//! Source: `spec/workload.md`, section 2, has slack between requests alone; without these pauses clones of short programs are done too early.

use crate::program::{Program, Target, ranges};
use iotrail_workload::{Group, Model, ProgramStep};
use std::collections::BTreeSet;

/// Of a rank, without waits for others, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pauses {
    /// From its begin to its first request.
    pub(crate) before: u64,
    /// From its last request to its end.
    pub(crate) after: u64,
}

impl Pauses {
    /// Of a rank that lasts from `span.0` to `span.1`, whose first request begins, and whose last one ends, at the times of `requests`, with what it
    /// waited before and after; unknown times are 0.
    pub(crate) fn of(
        span: (Option<i64>, Option<i64>),
        requests: Option<(i64, i64)>,
        waited: (i64, i64),
    ) -> Self {
        let Some((first, last)) = requests else { return Self::default() };
        let between = |from: Option<i64>, to: Option<i64>, waited: i64| {
            let time = to.zip(from).map_or(0, |(to, from)| to.saturating_sub(from).saturating_sub(waited));
            u64::try_from(time).unwrap_or(0)
        };
        Self { before: between(span.0, Some(first), waited.0), after: between(Some(last), span.1, waited.1) }
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
}

/// The pauses of groups; the first requests of their ranks are those of `targets`, whose slack comes before them, too.
pub(crate) fn of_groups(
    groups: &[Group],
    (of_ranks, targets): (&[Pauses], &[Vec<Target>]),
    (program, slack): (&mut Program, impl Fn(Target) -> u64),
) -> Vec<GroupPauses> {
    let mut found = Vec::new();
    for group in groups {
        let members: BTreeSet<u32> = group.members.iter().map(|rank| *rank as u32).collect();
        for range in ranges(&members) {
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
            if before == 0 && after == 0 {
                continue;
            }
            let ranks = if range.len() == of_ranks.len() { None } else { program.group(&range) };
            if ranks.is_some() || range.len() == of_ranks.len() {
                found.push(GroupPauses { ranks, rank: first, before, after });
            }
        }
    }
    found
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
            steps.insert(first, pause(group.before));
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
        let span = (Some(100), Some(1000));
        assert_eq!(Pauses::of(span, Some((300, 700)), (50, 100)), Pauses { before: 150, after: 200 });
        assert_eq!(Pauses::of(span, Some((300, 700)), (500, 0)), Pauses { before: 0, after: 300 });
        assert_eq!(Pauses::of((None, None), Some((300, 700)), (0, 0)), Pauses::default());
        assert_eq!(Pauses::of(span, None, (0, 0)), Pauses::default());
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
        let pauses = |group, rank, before, after| GroupPauses { ranks: Some(group), rank, before, after };
        let all = [pauses(0, 0, 7, 0), pauses(1, 1, 5, 9)];
        let steps = with_pauses(model.steps.clone(), &all, &model);
        let [write, wait, others] = &model.steps[..] else { panic!("{:?}", model.steps) };
        let expected = [pause(7, 0), write.clone(), wait.clone(), pause(5, 1), others.clone(), pause(9, 1)];
        assert_eq!(steps, expected);
    }
}
