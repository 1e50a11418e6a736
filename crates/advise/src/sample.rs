//! Which accesses of a file are kept to be looked at: those of the runs that save most, with what is in their way.

use crate::judged::Advised;
use crate::runs::Runs;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// So many runs share the room; of longer ones the begin and the end are kept.
const SHARE: usize = 8;

/// At most `most` of the `count` accesses to a file, in order.
pub(crate) fn sample(count: usize, advised: &[Advised<'_>], found: &Runs, most: usize) -> Vec<u32> {
    let all = 0..count as u32;
    if count <= most {
        return all.collect();
    }
    let mut taken = Taken { chosen: BTreeSet::new(), most };
    let each = most / advised.len().clamp(1, SHARE);
    let mut by_worth: Vec<&Advised<'_>> = advised.iter().collect();
    by_worth.sort_by_key(|advised| Reverse((advised.at_stake, advised.saved, advised.run.members.len())));
    for Advised { run, .. } in by_worth {
        let behind = run.members.last().and_then(|last| found.gap_behind(*last));
        taken.take(behind.into_iter().flat_map(|gap| [Some(gap.next), gap.in_the_way()]).flatten());
        let (head, rest) = run.members.split_at(run.members.len().min(each / 2));
        let tail = &rest[rest.len().saturating_sub(each / 2)..];
        taken.take(head.iter().chain(tail).copied());
    }
    for at in all {
        taken.take(found.gap_behind(at).and_then(|gap| gap.in_the_way()).into_iter().chain([at]));
    }
    taken.chosen.into_iter().collect()
}

struct Taken {
    chosen: BTreeSet<u32>,
    most: usize,
}

impl Taken {
    fn take(&mut self, accesses: impl Iterator<Item = u32>) {
        for at in accesses {
            if self.chosen.len() < self.most {
                self.chosen.insert(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Shape;
    use crate::runs::{Gap, Run, Stop};

    fn run(first: u32, last: u32) -> Run {
        Run { members: (first..=last).collect(), shape: Shape::Adjacent, stop: Stop::End }
    }

    #[test]
    fn of_runs_those_that_save_most_are_kept_with_what_is_in_their_way() {
        let runs = [run(0, 99), run(200, 203)];
        let advised: Vec<Advised<'_>> = runs
            .iter()
            .zip([Some(5), Some(9)])
            .map(|(run, at_stake)| Advised { run, left: 1, saved: at_stake, at_stake })
            .collect();
        let gaps = vec![Gap { last: 203, next: 300, stop: Stop::Conflict(250) }];
        let found = Runs { runs: runs.to_vec(), gaps };
        let kept = |most| sample(400, &advised, &found, most);
        assert_eq!(kept(6), [0, 99, 200, 203, 250, 300], "each run has half of the room");
        assert_eq!(kept(10), [0, 1, 98, 99, 200, 201, 202, 203, 250, 300]);
        assert_eq!(kept(14), [0, 1, 2, 3, 4, 97, 98, 99, 200, 201, 202, 203, 250, 300]);
        assert_eq!(kept(400).len(), 400);
    }
}
