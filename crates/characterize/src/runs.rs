//! Runs of transfers that follow each other, or are a step apart, and begin where rank and execution have them: a header of each rank and its records
//! behind the headers of all.
//!
//! Source: `spec/workload.md`, section 4, for each run of a session.

use crate::laws::{MIN_RANKS, MIN_TOWARDS_BEGIN, Place, offset, per, shifts, stride, turned};
use iotrail_workload::{OffsetLaw, PlaceRun, Stride};
use std::collections::BTreeSet;

/// Fewer transfers that are as far apart are no run of them.
const MIN_STEPS: usize = 3;

/// The places of all executions as at most so many runs; NULL if these begin elsewhere in some, or it takes more of them.
pub(crate) fn in_runs(places: &[Place<'_>], ranks: u32, most: usize) -> Option<OffsetLaw> {
    let cuts = cut(places, most)?;
    let fit =
        |cut: &Cut| shifts(ranks).find_map(|shift| Fitted::of(&turned(places, ranks, shift), cut, shift));
    let mut fitted: Vec<Fitted> = cuts.iter().map(fit).collect::<Option<_>>()?;
    if !are_told(&fitted, places) {
        return None;
    }
    put_behind(&mut fitted, ranks);
    let mut runs: Vec<PlaceRun> = fitted.iter().map(|run| run.at_ranks(ranks)).collect::<Option<_>>()?;
    // What lies behind the parts of all ranks of one run moves with their number as that does.
    let of_all: Vec<Stride> = runs.iter().map(|run| run.again).filter(|again| again.by_ranks).collect();
    for run in runs.iter_mut().filter(|run| !run.again.by_ranks) {
        run.again = of_all.iter().copied().find(|of| of.at(ranks) == run.again.bytes).unwrap_or(run.again);
    }
    Some(OffsetLaw::Runs(runs))
}

/// The transfers of a run, in all executions.
struct Cut {
    first: usize,
    count: usize,
    /// From transfer to transfer; NULL where they follow each other.
    step: Option<i64>,
}

/// What is between a transfer and the one before, in all executions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    Follows,
    Step(i64),
    Differs,
}

/// Runs as long as they can be, at most so many. Executions may end early.
fn cut(places: &[Place<'_>], most: usize) -> Option<Vec<Cut>> {
    let longest = places.iter().map(|(.., transfers)| transfers.len()).max()?;
    let mut cuts: Vec<Cut> = Vec::new();
    let mut joints = Vec::new();
    let mut at = 0;
    while at < longest {
        if cuts.len() == most {
            return None;
        }
        let mut joint = |at: usize| {
            while joints.len() <= at {
                joints.push(joint(places, joints.len()));
            }
            joints[at]
        };
        let alike = |joint: &mut dyn FnMut(usize) -> Joint, wanted| {
            (at + 1..longest).take_while(|next| joint(*next) == wanted).count() + 1
        };
        let next = if at + 1 < longest { joint(at + 1) } else { Joint::Differs };
        let (count, step) = match next {
            Joint::Follows => (alike(&mut joint, next), None),
            Joint::Step(step) => (alike(&mut joint, next), Some(step)),
            Joint::Differs => (1, None),
        };
        let is_run = step.is_none() || count >= MIN_STEPS;
        let (count, step) = if is_run { (count, step) } else { (1, None) };
        cuts.push(Cut { first: at, count, step });
        at += count;
    }
    Some(cuts).filter(|cuts| !cuts.is_empty())
}

fn joint(places: &[Place<'_>], at: usize) -> Joint {
    let both = |place: &Place<'_>| {
        let before = at.checked_sub(1)?;
        let (from, to) = (offset(place, before)?, offset(place, at)?);
        Some((to.checked_sub(from)?, place.2[before].size))
    };
    let mut all = places.iter().filter(|(.., transfers)| transfers.len() > at).map(both);
    let Some(Some((distance, size))) = all.next() else { return Joint::Differs };
    let touches = |distance, size| i64::try_from(size) == Ok(distance);
    let (mut follows, mut steps) = (touches(distance, size), true);
    for one in all {
        let Some((other, size)) = one else { return Joint::Differs };
        follows &= touches(other, size);
        steps &= other == distance;
    }
    match (follows, steps) {
        (true, _) => Joint::Follows,
        (false, true) => Joint::Step(distance),
        (false, false) => Joint::Differs,
    }
}

/// A run with where it begins in rank 0 and execution 0, and how far from there in others, in bytes.
struct Fitted {
    start: i64,
    rank: i64,
    again: i64,
    step: Option<i64>,
    count: u64,
    /// What an execution moves in it, from the first byte to the last.
    bytes: i64,
    /// How many bytes of each rank it lies behind.
    behind: i64,
    shift: i32,
}

impl Fitted {
    /// Of ranks that come `shift` later, counted round.
    fn of(places: &[Place<'_>], cut: &Cut, shift: i32) -> Option<Self> {
        let has: Vec<(&Place<'_>, i64)> = places
            .iter()
            .filter(|(.., transfers)| transfers.len() > cut.first)
            .map(|place| Some((place, offset(place, cut.first)?)))
            .collect::<Option<_>>()?;
        let again = has.iter().find_map(|(one, from)| {
            let (other, to) = has.iter().find(|(other, _)| other.0 == one.0 && other.1 > one.1)?;
            Some(per(*from, *to, i64::try_from(other.1 - one.1).ok()?))
        });
        let again = again.unwrap_or(Some(0))?;
        let moved = |place: &Place<'_>| again.checked_mul(i64::try_from(place.1).ok()?);
        let of_rank = |(place, at): &(&Place<'_>, i64)| at.checked_sub(moved(place)?);
        let first = has.first()?;
        let rank = match has.iter().find(|(place, _)| place.0 != first.0.0) {
            Some(other) => {
                let (low, high) = if first.0.0 < other.0.0 { (first, other) } else { (other, first) };
                per(of_rank(low)?, of_rank(high)?, i64::from(high.0.0 - low.0.0))?
            }
            None => 0,
        };
        let start = of_rank(first)?.checked_sub(rank.checked_mul(i64::from(first.0.0))?)?;
        let is_there = |one: &(&Place<'_>, i64)| {
            let own = rank.checked_mul(i64::from(one.0.0)).and_then(|own| start.checked_add(own));
            own.is_some() && own == of_rank(one)
        };
        let longest = has.iter().max_by_key(|(place, _)| place.2.len())?.0;
        let last = cut.first + cut.count - 1;
        let bytes = offset(longest, last)?
            .checked_add(i64::try_from(longest.2[last].size).ok()?)?
            .checked_sub(offset(longest, cut.first)?)?;
        (start >= 0 && rank >= 0 && has.iter().all(is_there)).then_some(Self {
            start,
            rank,
            again,
            step: cut.step,
            count: cut.count as u64,
            bytes,
            behind: 0,
            shift,
        })
    }

    /// Bytes of each rank in it: of all its transfers, where ranks take turns.
    fn area(&self, ranks: u32) -> i64 {
        let turns = self.step.is_some() && self.step == self.rank.checked_mul(i64::from(ranks));
        if turns { self.rank.saturating_mul(self.count as i64) } else { self.rank }
    }

    fn at_ranks(&self, ranks: u32) -> Option<PlaceRun> {
        let own = self.start.checked_sub(self.behind.checked_mul(i64::from(ranks))?)?;
        let rank = u64::try_from(self.rank).ok()?;
        let step = match self.step {
            Some(step) => Some(stride(step, rank, ranks)?),
            None => None,
        };
        Some(PlaceRun {
            start: u64::try_from(own).ok()?,
            behind: u64::try_from(self.behind).ok()?,
            rank,
            again: stride(self.again, rank, ranks)?,
            step,
            shift: self.shift,
            count: self.count,
        })
    }
}

/// Whether what is between ranks, and between executions, follows from what was seen. Two places always fit a distance: of two ranks, or executions, all
/// runs are as far apart, or each as far as it is long.
fn are_told(runs: &[Fitted], places: &[Place<'_>]) -> bool {
    let number = |of: fn(&Place<'_>) -> u64| places.iter().map(of).collect::<BTreeSet<_>>().len();
    let tell = |seen: usize, wanted: usize, distance: fn(&Fitted) -> i64| {
        let are_alike = runs.iter().all(|run| distance(run) == distance(&runs[0]));
        let touch = |run: &Fitted| distance(run) == 0 || distance(run) == run.bytes;
        seen >= wanted || are_alike || runs.iter().all(touch)
    };
    let executions = number(|place| place.1);
    let goes_back = runs.iter().any(|run| run.again < 0);
    tell(number(|place| u64::from(place.0)), MIN_RANKS as usize, |run| run.rank)
        && tell(executions, MIN_TOWARDS_BEGIN, |run| run.again)
        && !(goes_back && executions < MIN_TOWARDS_BEGIN)
}

/// A run that begins where the parts of all ranks in another one end is behind them at any number of ranks.
fn put_behind(runs: &mut [Fitted], ranks: u32) {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|at| runs[*at].start);
    for (place, at) in order.iter().enumerate() {
        let ends = |before: &&usize| {
            let run = &runs[**before];
            let end =
                run.area(ranks).checked_mul(i64::from(ranks)).and_then(|all| run.start.checked_add(all));
            ranks > 1 && run.rank > 0 && end == Some(runs[*at].start)
        };
        if let Some(before) = order[..place].iter().find(ends) {
            runs[*at].behind = runs[*before].behind + runs[*before].area(ranks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::Transfer;
    use iotrail_model::Nullable;
    use iotrail_workload::RequestKind;

    type Own = (u32, u64, Vec<Transfer>);

    /// An execution that makes transfers at these places, of these sizes.
    fn own(rank: u32, again: u64, all: &[(u64, u64)]) -> Own {
        let transfer = |&(offset, size): &(u64, u64)| Transfer {
            kind: RequestKind::Write,
            offset: Nullable::some(offset),
            size,
        };
        (rank, again, all.iter().map(transfer).collect())
    }

    fn found(all: &[Own], ranks: u32) -> Option<Vec<PlaceRun>> {
        let places: Vec<Place<'_>> = all.iter().map(|(rank, again, all)| (*rank, *again, &all[..])).collect();
        match in_runs(&places, ranks, 16)? {
            OffsetLaw::Runs(runs) => Some(runs),
            law => panic!("{law:?}"),
        }
    }

    #[test]
    fn places_that_are_the_same_in_all_executions_are_a_list() {
        let all = [(64, 10), (74, 20), (94, 10), (0, 64)];
        let expected = vec![PlaceRun::fixed(64, 3), PlaceRun::fixed(0, 1)];
        assert_eq!(found(&[own(0, 0, &all), own(1, 0, &all), own(0, 1, &all[..2])], 2), Some(expected));
    }

    /// A header of 100 bytes and records of 3000 in the part of each rank.
    #[test]
    fn a_header_and_its_records_are_one_run_in_the_part_of_a_rank() {
        let of = |rank: u64| {
            let records = (0..6).map(|at| (rank * 18_100 + 100 + at * 3000, 3000));
            let all: Vec<(u64, u64)> = std::iter::once((rank * 18_100, 100)).chain(records).collect();
            own(rank as u32, 0, &all)
        };
        let expected = PlaceRun { rank: 18_100, ..PlaceRun::fixed(0, 7) };
        assert_eq!(found(&[of(0), of(1)], 2), Some(vec![expected]));
    }

    #[test]
    fn arrays_of_all_ranks_lie_behind_each_other_at_any_number_of_ranks() {
        let of = |rank: u64| own(rank as u32, 0, &[(rank * 4000, 4000), (12_000 + rank * 8000, 8000)]);
        let first = PlaceRun { rank: 4000, ..PlaceRun::fixed(0, 1) };
        let second = PlaceRun { behind: 4000, rank: 8000, ..PlaceRun::fixed(0, 1) };
        assert_eq!(found(&[of(0), of(1), of(2)], 3), Some(vec![first, second]));
        // A table of fixed size.
        let of = |rank: u64| own(rank as u32, 0, &[(rank * 16, 16), (4096 + rank * 8000, 8000)]);
        let first = PlaceRun { rank: 16, ..PlaceRun::fixed(0, 1) };
        let second = PlaceRun { rank: 8000, ..PlaceRun::fixed(4096, 1) };
        assert_eq!(found(&[of(0), of(1), of(2)], 3), Some(vec![first, second]));
    }

    /// Blocks of which ranks take turns, then an array of all ranks; and two arrays in each step.
    #[test]
    fn what_lies_behind_all_ranks_moves_with_their_number() {
        let of = |rank: u64| {
            let blocks = (0..4).map(|at| ((at * 3 + rank) * 1000, 1000));
            own(rank as u32, 0, &blocks.chain([(12_000 + rank * 3000, 3000)]).collect::<Vec<_>>())
        };
        let all = found(&[of(0), of(1), of(2)], 3).unwrap();
        assert_eq!(all[1], PlaceRun { behind: 4000, rank: 3000, ..PlaceRun::fixed(0, 1) });
        let of = |rank: u64, step: u64| {
            let first = step * 15_000;
            own(rank as u32, step, &[(first + rank * 4000, 4000), (first + 12_000 + rank * 1000, 1000)])
        };
        let all: Vec<Own> = (0..3).flat_map(|rank| (0..3).map(move |step| of(rank, step))).collect();
        let moves: Vec<Stride> = found(&all, 3).unwrap().iter().map(|run| run.again).collect();
        assert_eq!(moves, [Stride { bytes: 5000, by_ranks: true }; 2]);
    }

    /// A header that each execution writes anew, after records that lie behind those of the one before, with gaps.
    #[test]
    fn runs_of_executions_move_each_by_its_own_distance() {
        let of = |again: u64| {
            let record = |at: u64| (64 + again * 5000 + at * 1000, 900);
            own(0, again, &[record(0), record(1), record(2), record(3), (0, 64)])
        };
        let step = Some(Stride::fixed(1000));
        let records = PlaceRun { again: Stride::fixed(5000), step, ..PlaceRun::fixed(64, 4) };
        assert_eq!(found(&[of(0), of(1), of(2)], 1), Some(vec![records, PlaceRun::fixed(0, 1)]));
        assert_eq!(found(&[of(0), of(1)], 1), None, "two executions fit any distance");
    }

    /// Its own blocks, and the first one of the next rank.
    #[test]
    fn the_block_of_a_neighbour_is_a_run_of_another_rank() {
        let of = |rank: u64| {
            let blocks = (0..4).map(|at| (rank * 400 + at * 100, 100));
            own(rank as u32, 0, &blocks.chain([((rank + 1) % 4 * 400, 100)]).collect::<Vec<_>>())
        };
        let first = PlaceRun { rank: 400, ..PlaceRun::fixed(0, 4) };
        let second = PlaceRun { rank: 400, shift: 1, ..PlaceRun::fixed(0, 1) };
        assert_eq!(found(&[of(0), of(1), of(2), of(3)], 4), Some(vec![first, second]));
    }

    #[test]
    fn what_moves_otherwise_is_no_law() {
        let of = |rank: u32, second: u64| own(rank, 0, &[(0, 10), (second, 10)]);
        assert_eq!(found(&[of(0, 100), of(1, 200), of(2, 350)], 3), None);
        assert_eq!(found(&[of(0, 300), of(1, 200), of(2, 100)], 3), None, "towards the begin of the file");
        assert_eq!(found(&[own(0, 0, &[])], 1), None);
    }
}
