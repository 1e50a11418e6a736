//! Where transfers of a session begin: by a law, as listed, or drawn.
//!
//! Source: `spec/workload.md`, sections 2 (OFF, SEQ) and 4; without a law places are drawn, as in algorithm 1 of PIONEER.

use super::drawn::WHOLE;
use super::place_run::PlaceRun;
use super::synthesis::systematic;
use crate::random::Random;
use std::collections::BTreeMap;

/// Where transfers of a session begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OffsetLaw {
    /// Where the one before ended; the first at 0.
    Sequential,
    /// At `start + rank · r + step · (i mod every) + jump · ⌊i / every⌋ + again · k` for transfer i of execution k, both from 0, of rank r,
    /// in bytes.
    Affine {
        /// Of the first transfer of rank 0.
        start: u64,
        /// From rank to rank.
        rank: u64,
        /// From transfer to transfer.
        step: Stride,
        /// From execution to execution of the session.
        again: Stride,
        /// After so many transfers the next ones begin elsewhere; 0 for never.
        every: u64,
        /// From the first transfer of so many to the first of the next ones.
        jump: Stride,
        /// r is the rank that comes so much later, counted round.
        shift: i32,
    },
    /// In these runs of transfers, one after the other; behind the last one it begins again with the first. There is one at least.
    Runs(Vec<PlaceRun>),
    /// At random places.
    Drawn {
        /// Which ones.
        places: DrawnPlaces,
        /// Millionths of the transfers that begin where the one before ended.
        sequential: u64,
        /// None reaches beyond this, in bytes: who would begins earlier, or at the first place; 0 if there is no such end.
        end: u64,
        /// From rank to rank, in bytes: places and end are those of rank 0.
        rank: u64,
        /// Whether each lies within what the session has written before it: so reads find bytes.
        written: bool,
    },
}

/// Places in a file that are drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrawnPlaces {
    /// These, with weights.
    Of(BTreeMap<u64, u64>),
    /// As many between any two neighbours of these bounds, which ascend, at multiples of `align` from the first one on.
    Between {
        /// Two at least, in bytes.
        bounds: Vec<u64>,
        /// In bytes; 0 is 1.
        align: u64,
    },
}

impl DrawnPlaces {
    fn first(&self) -> u64 {
        match self {
            Self::Of(weights) => weights.keys().next().copied().unwrap_or_default(),
            Self::Between { bounds, .. } => bounds.first().copied().unwrap_or_default(),
        }
    }

    /// A place, or the last one before it from which so many bytes end before `end`, if there is an end.
    fn before(&self, end: u64, place: u64, size: u64) -> u64 {
        let Some(last) = end.checked_sub(size).filter(|last| *last < place) else { return place };
        let first = self.first();
        match self {
            Self::Of(weights) => weights.range(..=last).next_back().map_or(first, |(place, _)| *place),
            Self::Between { align, .. } => {
                let last = last.max(first);
                last - (last - first).checked_rem(*align).unwrap_or(0)
            }
        }
    }
}

impl OffsetLaw {
    /// Whether ranks take turns: places of one rank are further apart the more ranks there are.
    #[must_use]
    pub const fn is_interleaved(&self) -> bool {
        matches!(self, Self::Affine { step: Stride { by_ranks: true, .. }, every: 0, .. })
    }

    /// Whether more ranks are at more places.
    #[must_use]
    pub fn grows(&self) -> bool {
        match self {
            Self::Affine { rank, step, again, jump, .. } => {
                *rank > 0 || [step, again, jump].into_iter().any(|stride| stride.by_ranks && stride.bytes > 0)
            }
            Self::Runs(runs) => {
                let by_ranks = |stride: &Stride| stride.by_ranks && stride.bytes > 0;
                runs.iter().any(|run| {
                    run.rank > 0
                        || run.behind > 0
                        || std::iter::once(&run.again).chain(&run.step).any(by_ranks)
                })
            }
            Self::Drawn { rank, .. } => *rank > 0,
            Self::Sequential => false,
        }
    }

    /// The same with all bytes changed.
    pub(super) fn with_bytes<E>(&self, mut change: impl FnMut(u64) -> Result<u64, E>) -> Result<Self, E> {
        let mut law = self.clone();
        let change_stride = |stride: &mut Stride, change: &mut dyn FnMut(u64) -> Result<u64, E>| {
            let bytes = i64::try_from(change(stride.bytes.unsigned_abs())?).unwrap_or(i64::MAX);
            stride.bytes = if stride.bytes < 0 { -bytes } else { bytes };
            Ok(())
        };
        match &mut law {
            Self::Sequential => {}
            Self::Affine { start, rank, step, again, jump, .. } => {
                for part in [start, rank] {
                    *part = change(*part)?;
                }
                for stride in [step, again, jump] {
                    change_stride(stride, &mut change)?;
                }
            }
            Self::Runs(runs) => {
                for run in runs {
                    for part in [&mut run.start, &mut run.behind, &mut run.rank] {
                        *part = change(*part)?;
                    }
                    for stride in std::iter::once(&mut run.again).chain(&mut run.step) {
                        change_stride(stride, &mut change)?;
                    }
                }
            }
            Self::Drawn { places: DrawnPlaces::Of(weights), end, rank, .. } => {
                let mut changed = BTreeMap::new();
                for (place, weight) in &*weights {
                    *changed.entry(change(*place)?).or_default() += weight;
                }
                (*weights, *end, *rank) = (changed, change(*end)?, change(*rank)?);
            }
            Self::Drawn { places: DrawnPlaces::Between { bounds, align }, end, rank, .. } => {
                for bytes in bounds.iter_mut().chain([align, end, rank]) {
                    *bytes = change(*bytes)?;
                }
            }
        }
        Ok(law)
    }
}

/// A distance between places in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stride {
    /// In bytes, below 0 towards the begin of the file; of each rank if `by_ranks`.
    pub bytes: i64,
    /// Whether it is that of all ranks together: interleaved places are further apart the more ranks there are.
    pub by_ranks: bool,
}

impl Stride {
    /// So many bytes, at any number of ranks.
    #[must_use]
    pub const fn fixed(bytes: i64) -> Self {
        Self { bytes, by_ranks: false }
    }

    /// Bytes at so many ranks.
    #[must_use]
    pub const fn at(self, ranks: u32) -> i64 {
        if self.by_ranks { self.bytes.saturating_mul(ranks as i64) } else { self.bytes }
    }

    /// So many of them at so many ranks.
    pub(super) fn times(self, ranks: u32, count: u64) -> i128 {
        i128::from(self.at(ranks)).saturating_mul(i128::from(count))
    }
}

/// The rank that comes `shift` later among so many, counted round.
pub(crate) fn shifted(rank: u32, shift: i32, ranks: u32) -> u32 {
    (i64::from(rank) + i64::from(shift)).rem_euclid(i64::from(ranks.max(1))) as u32
}

/// Places the transfers of an execution of a session, one after the other.
pub(super) struct Placer<'a> {
    law: &'a OffsetLaw,
    rank: u32,
    ranks: u32,
    execution: u64,
    /// Where the last one ended, and how many there were.
    end: u64,
    number: u64,
    /// The run that the next one is in, and how many of it there were.
    run: (usize, u64),
    /// Places that are drawn; NULL is where the one before ended.
    drawn: std::vec::IntoIter<Option<u64>>,
    /// The same where they wait until bytes are written there.
    waiting: Option<Waiting>,
}

/// Places that are drawn and taken when bytes are written there.
struct Waiting {
    /// Behind what is written, descending, and before its end.
    behind: Vec<u64>,
    ready: Vec<u64>,
    random: Random,
}

impl Waiting {
    fn of(drawn: &[Option<u64>], random: Random) -> Self {
        let mut behind: Vec<u64> = drawn.iter().copied().flatten().collect();
        behind.sort_unstable_by(|one, other| other.cmp(one));
        Self { behind, ready: Vec::new(), random }
    }

    /// One of those before `end`; NULL if there is none.
    fn next(&mut self, end: u64) -> Option<u64> {
        while let Some(place) = self.behind.pop_if(|place| *place < end) {
            self.ready.push(place);
        }
        let chosen = self.random.below(self.ready.len().max(1));
        (chosen < self.ready.len()).then(|| self.ready.swap_remove(chosen))
    }
}

impl<'a> Placer<'a> {
    /// For so many transfers of a rank of so many, in an execution of the session. `key` is that of the draws.
    pub(super) fn new(
        law: &'a OffsetLaw,
        transfers: u64,
        (rank, ranks): (u32, u32),
        execution: u64,
        key: &[u64],
    ) -> Self {
        let mut random = Random::of(key);
        let drawn = match law {
            OffsetLaw::Drawn { places, sequential, .. } => {
                drawn(places, *sequential, transfers as usize, &mut random)
            }
            _ => Vec::new(),
        };
        let waits = matches!(law, OffsetLaw::Drawn { written: true, .. });
        let waiting = waits.then(|| Waiting::of(&drawn, random));
        let drawn = drawn.into_iter();
        Self { law, rank, ranks, execution, end: 0, number: 0, run: (0, 0), drawn, waiting }
    }

    /// Where the next one begins, which has so many bytes, if what the session has written ends there; the largest number if no file has such a
    /// place.
    pub(super) fn place(&mut self, size: u64, written: u64) -> u64 {
        let offset = match self.law {
            OffsetLaw::Sequential => self.end,
            &OffsetLaw::Affine { start, rank: by, step, again, every, jump, shift } => {
                let turned = u64::from(shifted(self.rank, shift, self.ranks));
                let block = self.number.checked_div(every).unwrap_or(0);
                let strides = [(step, inner(self.number, every)), (jump, block), (again, self.execution)];
                let first = i128::from(start).saturating_add(i128::from(by.saturating_mul(turned)));
                let place = strides.into_iter().fold(first, |place, (stride, count)| {
                    place.saturating_add(stride.times(self.ranks, count))
                });
                u64::try_from(place).unwrap_or(u64::MAX)
            }
            OffsetLaw::Runs(runs) => self.in_run(runs),
            OffsetLaw::Drawn { places, end, rank, .. } => {
                let own = rank.saturating_mul(u64::from(self.rank));
                own.saturating_add(self.next_drawn(places, *end, size, (own, written)))
            }
        };
        self.end = offset.saturating_add(size);
        self.number += 1;
        offset
    }

    /// The next place in the part of the rank that begins at `own`.
    fn next_drawn(&mut self, places: &DrawnPlaces, end: u64, size: u64, (own, written): (u64, u64)) -> u64 {
        let drawn = self.drawn.next().flatten();
        let (drawn, end) = match &mut self.waiting {
            None => (drawn, end),
            Some(waiting) => {
                let written = written.saturating_sub(own);
                let mut ready = || waiting.next(written).unwrap_or_else(|| places.first());
                (drawn.map(|_| ready()), written.max(1))
            }
        };
        let before = self.end.saturating_sub(own);
        match drawn {
            Some(place) => places.before(end, place, size),
            None if end > 0 && before.saturating_add(size) > end => places.first(),
            None => before,
        }
    }

    fn in_run(&mut self, runs: &[PlaceRun]) -> u64 {
        let (at, before) = self.run;
        let Some(run) = runs.get(at) else { return self.end };
        self.run = if before + 1 < run.count { (at, before + 1) } else { ((at + 1) % runs.len(), 0) };
        if before > 0 && run.step.is_none() {
            return self.end;
        }
        let stepped = run.step.unwrap_or_default().times(self.ranks, before);
        let place = run.first((self.rank, self.ranks), self.execution).saturating_add(stepped);
        u64::try_from(place).unwrap_or(u64::MAX)
    }
}

/// Number of a transfer since the last jump.
fn inner(transfer: u64, every: u64) -> u64 {
    transfer.checked_rem(every).unwrap_or(transfer)
}

/// Places of so many transfers; NULL is where the one before ended. As many as the share says are so, never the first one.
fn drawn(places: &DrawnPlaces, sequential: u64, transfers: usize, random: &mut Random) -> Vec<Option<u64>> {
    let Some(others) = transfers.checked_sub(1) else { return Vec::new() };
    let follow = (others as u128 * u128::from(sequential) + u128::from(WHOLE / 2)) / u128::from(WHOLE);
    let follow = (follow as usize).min(others);
    let mut follows: Vec<bool> = (0..others).map(|at| at < follow).collect();
    random.shuffle(&mut follows);
    let mut jumps = match places {
        DrawnPlaces::Of(weights) => systematic(weights, transfers - follow, random),
        DrawnPlaces::Between { bounds, align } => between(bounds, *align, transfers - follow, random),
    }
    .into_iter();
    let follows = std::iter::once(false).chain(follows);
    follows.map(|follows| if follows { None } else { jumps.next() }).collect()
}

/// Of so many draws one is the last place that there is: files end there.
const REACHING: usize = 16;

/// So many places, as many in each slice, each anywhere in it, in random order.
fn between(bounds: &[u64], align: u64, draws: usize, random: &mut Random) -> Vec<u64> {
    let (Some(first), Some(slices)) =
        (bounds.first(), bounds.len().checked_sub(1).filter(|slices| *slices > 0))
    else {
        return vec![0; draws];
    };
    let begin = u128::from(random.next());
    let mut places: Vec<u64> = (0..draws as u128)
        .map(|draw| {
            // 64 bits behind the point.
            let share = (begin + (draw << 64)) / draws as u128;
            let slice = ((share * slices as u128) >> 64) as usize;
            let (low, high) = (bounds[slice], bounds[slice + 1]);
            let place = low + ((u128::from(high - low) * u128::from(random.next())) >> 64) as u64;
            place - (place - first).checked_rem(align).unwrap_or(0)
        })
        .collect();
    let end = bounds.last().copied().unwrap_or_default().saturating_sub(1).max(*first);
    if let Some(largest) = places.iter_mut().max().filter(|_| draws >= REACHING) {
        *largest = end - (end - first).checked_rem(align).unwrap_or(0);
    }
    random.shuffle(&mut places);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(law: &OffsetLaw, sizes: &[u64], seed: u64) -> Vec<u64> {
        let mut placer = Placer::new(law, sizes.len() as u64, (1, 4), 0, &[seed]);
        sizes.iter().map(|size| placer.place(*size, 0)).collect()
    }

    fn drawn_law(places: DrawnPlaces, sequential: u64) -> OffsetLaw {
        OffsetLaw::Drawn { places, sequential, end: 0, rank: 0, written: false }
    }

    #[test]
    fn runs_are_gone_through_again() {
        let law = OffsetLaw::Runs(vec![PlaceRun::fixed(100, 2), PlaceRun::fixed(0, 1)]);
        assert_eq!(places(&law, &[10, 20, 30, 40, 50], 0), [100, 110, 0, 100, 140]);
    }

    /// A header of each rank, and behind those of all ranks records 100 bytes apart, of which the next execution makes more.
    #[test]
    fn runs_begin_where_rank_and_execution_have_them() {
        let headers = PlaceRun { rank: 16, ..PlaceRun::fixed(0, 1) };
        let (again, step) = (Stride::fixed(200), Some(Stride::fixed(100)));
        let records = PlaceRun { behind: 16, rank: 1000, again, step, ..PlaceRun::fixed(8, 2) };
        let law = OffsetLaw::Runs(vec![headers, records]);
        let places = |rank, ranks, execution| -> Vec<u64> {
            let mut placer = Placer::new(&law, 3, (rank, ranks), execution, &[0]);
            [16, 10, 10].iter().map(|size| placer.place(*size, 0)).collect()
        };
        assert_eq!(places(1, 4, 0), [16, 1072, 1172]);
        assert_eq!(places(7, 8, 2), [112, 7536, 7636]);
    }

    #[test]
    fn places_are_drawn_by_weight_and_the_rest_follows() {
        let law = drawn_law(DrawnPlaces::Of(BTreeMap::from([(0, 1), (4096, 3)])), 0);
        let mut drawn = places(&law, &[512; 8], 7);
        drawn.sort_unstable();
        assert_eq!(drawn, [0, 0, 4096, 4096, 4096, 4096, 4096, 4096]);
        let law = drawn_law(DrawnPlaces::Of(BTreeMap::from([(1 << 20, 1)])), WHOLE / 2);
        let drawn = places(&law, &[512; 9], 7);
        let follow = drawn.windows(2).filter(|pair| pair[1] == pair[0] + 512).count();
        assert_eq!(follow, 4, "{drawn:?}");
    }

    #[test]
    fn places_between_bounds_are_spread_evenly_and_aligned() {
        let bounds = vec![4096, 4096 * 101, 4096 * 1001];
        let law = drawn_law(DrawnPlaces::Between { bounds, align: 4096 }, 0);
        let mut drawn = places(&law, &[4096; 200], 3);
        assert!(drawn.iter().all(|place| place % 4096 == 0 && (4096..4096 * 1001).contains(place)));
        assert_eq!(drawn.iter().filter(|place| **place < 4096 * 101).count(), 100);
        drawn.sort_unstable();
        drawn.dedup();
        assert!((130..195).contains(&drawn.len()), "some come again: {}", drawn.len());
        assert_ne!(places(&law, &[4096; 200], 3), places(&law, &[4096; 200], 4));
    }

    #[test]
    fn nothing_reaches_beyond_the_end() {
        let with_end = |places, sequential| OffsetLaw::Drawn {
            places,
            sequential,
            end: 10_000,
            rank: 0,
            written: false,
        };
        let even = DrawnPlaces::Between { bounds: vec![0, 10_000], align: 1000 };
        for (law, sizes) in [
            (with_end(even.clone(), WHOLE), [1000; 30]),
            (with_end(even, WHOLE / 2), [3000; 30]),
            (with_end(DrawnPlaces::Of(BTreeMap::from([(0, 1), (9000, 9)])), WHOLE / 2), [2000; 30]),
        ] {
            assert!(places(&law, &sizes, 5).iter().all(|place| place + sizes[0] <= 10_000), "{law:?}");
        }
    }

    #[test]
    fn ranks_draw_each_in_a_part_of_its_own() {
        let law = |rank| OffsetLaw::Drawn {
            places: DrawnPlaces::Between { bounds: vec![0, 1 << 20], align: 4096 },
            sequential: WHOLE / 4,
            end: 1 << 20,
            rank,
            written: false,
        };
        let (whole, part) = (places(&law(0), &[4096; 100], 3), places(&law(1 << 20), &[4096; 100], 3));
        let moved: Vec<u64> = whole.iter().map(|place| place + (1 << 20)).collect();
        assert_eq!(part, moved, "of the second rank");
    }

    #[test]
    fn what_is_read_is_written_before() {
        let law = OffsetLaw::Drawn {
            places: DrawnPlaces::Between { bounds: vec![0, 100 * 4096], align: 4096 },
            sequential: 0,
            end: 100 * 4096,
            rank: 0,
            written: true,
        };
        let mut placer = Placer::new(&law, 100, (1, 4), 0, &[9]);
        let mut drawn: Vec<u64> = Vec::new();
        for written in (1..=100).map(|pages| pages * 4096) {
            let place = placer.place(4096, written);
            assert!(place + 4096 <= written, "{place} of {written}");
            drawn.push(place);
        }
        assert_ne!(drawn, (0..100).map(|page| page * 4096).collect::<Vec<_>>());
        let late = drawn.iter().filter(|place| **place >= 50 * 4096).count();
        assert!((20..=50).contains(&late), "the distribution is nearly kept: {late}");
    }

    #[test]
    fn strides_may_lead_towards_the_begin() {
        let law = |step, start| OffsetLaw::Affine {
            start,
            rank: 100,
            step: Stride::fixed(step),
            again: Stride::default(),
            every: 0,
            jump: Stride::default(),
            shift: 0,
        };
        assert_eq!(places(&law(-10, 90), &[10; 3], 0), [190, 180, 170]);
        assert_eq!(
            places(&law(-10, 0), &[10; 12], 0)[9..],
            [10, 0, u64::MAX],
            "no file has a place before it"
        );
        let twice = law(-10, 90).with_bytes(|bytes| Ok::<_, ()>(2 * bytes)).unwrap();
        assert_eq!(places(&twice, &[20; 2], 0), [380, 360]);
    }

    #[test]
    fn all_bytes_of_a_law_change() {
        let twice = |law: &OffsetLaw| law.with_bytes(|bytes| Ok::<_, ()>(2 * bytes)).unwrap();
        let runs = |start, behind, rank, again| {
            let again = Stride::fixed(again);
            OffsetLaw::Runs(vec![PlaceRun {
                start,
                behind,
                rank,
                again,
                step: Some(again),
                shift: 1,
                count: 4,
            }])
        };
        assert_eq!(twice(&runs(3, 5, 7, -2)), runs(6, 10, 14, -4));
        let of = |place| drawn_law(DrawnPlaces::Of(BTreeMap::from([(place, 9)])), 5);
        assert_eq!(twice(&of(1)), of(2));
        let between = |by: u64| DrawnPlaces::Between { bounds: vec![0, 10 * by], align: 5 * by };
        assert_eq!(twice(&drawn_law(between(1), 5)), drawn_law(between(2), 5));
    }
}
