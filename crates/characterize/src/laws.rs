//! Where transfers of a session begin, as a law of the rank, the transfer and the execution.

use crate::places::{difference, drawn, part_of_rank};
use crate::runs::in_runs;
use crate::sessions::Transfer;
use iotrail_workload::{OffsetLaw, PlaceRun, RequestKind, Stride};
use std::collections::{BTreeMap, BTreeSet};

/// An execution of a session: rank, number of the execution in the rank, transfers.
pub(crate) type Place<'a> = (u32, u64, &'a [Transfer]);

/// Where the transfers of all executions of a session begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Laws {
    pub(crate) offset: OffsetLaw,
    /// Of writes, where these follow a law of their own.
    pub(crate) write_offset: Option<OffsetLaw>,
    /// Millionths of the transfers that are not where the law has them, but where it has others.
    pub(crate) random: u64,
    pub(crate) kept: Kept,
}

/// What of the places is in a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// All of them.
    Exactly,
    /// All, but not their order.
    Shuffled,
    /// Their distribution, or nothing if they are not known.
    Drawn,
}

impl Laws {
    fn exactly(offset: OffsetLaw, write_offset: Option<OffsetLaw>) -> Self {
        Self { offset, write_offset, random: 0, kept: Kept::Exactly }
    }

    /// Where runs of transfers begin.
    fn begins(&self) -> Vec<PlaceRun> {
        let begins = |law: &OffsetLaw| match law {
            &OffsetLaw::Affine { start, rank, again, shift: 0, .. } => {
                vec![PlaceRun { rank, again, ..PlaceRun::fixed(start, 1) }]
            }
            OffsetLaw::Runs(runs) => runs.clone(),
            OffsetLaw::Affine { .. } | OffsetLaw::Sequential | OffsetLaw::Drawn { .. } => Vec::new(),
        };
        std::iter::once(&self.offset).chain(&self.write_offset).flat_map(begins).collect()
    }

    /// What one rank does where others would do it follows their law, also at other numbers of ranks.
    fn follow(&mut self, of_others: &[PlaceRun], rank: (u32, u32)) {
        let law_of = |own: PlaceRun| {
            let moves = own.again.bytes != 0;
            let far = |other: &&PlaceRun| {
                let same = other.again.at(rank.1) == own.again.at(rank.1);
                let grows = other.again.by_ranks && moves || other.behind > 0;
                same && grows && other.first(rank, 0) == own.first(rank, 0)
            };
            let as_far = |other: &&PlaceRun| {
                moves && other.again.by_ranks && other.again.at(rank.1) == own.again.at(rank.1)
            };
            // An index behind the parts of all ranks.
            let behind = |other: &&PlaceRun| {
                let parts = i128::from(other.rank) * i128::from(rank.1);
                other.rank > 0 && !moves && other.first((0, rank.1), 0) + parts == own.first(rank, 0)
            };
            if let Some(other) = of_others.iter().find(far) {
                PlaceRun { count: own.count, step: own.step, ..*other }
            } else if let Some(other) = of_others.iter().find(as_far) {
                PlaceRun { again: other.again, ..own }
            } else if let Some(other) = of_others.iter().find(behind) {
                PlaceRun { start: other.start, behind: other.behind + other.rank, rank: 0, ..own }
            } else {
                own
            }
        };
        for law in std::iter::once(&mut self.offset).chain(&mut self.write_offset) {
            match law {
                OffsetLaw::Affine { start, again, .. } => {
                    *again = law_of(PlaceRun { again: *again, ..PlaceRun::fixed(*start, 1) }).again;
                }
                OffsetLaw::Runs(runs) => runs.iter_mut().for_each(|run| *run = law_of(*run)),
                OffsetLaw::Sequential | OffsetLaw::Drawn { .. } => {}
            }
        }
    }

    /// Whether what is drawn is in parts of ranks that are so many bytes apart.
    fn stays_in(&self, part: u64) -> bool {
        let all = std::iter::once(&self.offset).chain(&self.write_offset);
        all.filter_map(|law| if let OffsetLaw::Drawn { rank, .. } = law { Some(*rank) } else { None })
            .all(|rank| rank == part)
    }
}

/// A longer list than this is one only where nothing else keeps all places.
const SHORT_LIST: usize = 16;
/// Of more runs places are drawn.
const LONG_LIST: usize = 64;

/// What is known of a session besides places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// How many bytes the parts of the file are apart in which ranks stay, if that is known of all its sessions together.
    pub(crate) part: Option<u64>,
    /// Writes go to the end of the file.
    pub(crate) append: bool,
    /// Which transfer has which size; else their sizes are drawn, and a list of places would have others at each.
    pub(crate) sizes: bool,
    /// How many ranks there are.
    pub(crate) ranks: u32,
}

/// The laws of the sessions of a file. One of a single rank shows nothing of the places of other ranks: sessions of ranks that differ in numbers or
/// sizes follow the law of all of them, if there is one, and are drawn in the parts in which ranks stay in all that are drawn.
pub(crate) fn of_file(sessions: &[(Vec<Place<'_>>, Known)]) -> Vec<Laws> {
    let mut found: Vec<Laws> = sessions.iter().map(|(places, known)| laws(places, *known)).collect();
    let mut alike: BTreeMap<([bool; 2], bool), Vec<usize>> = BTreeMap::new();
    for (at, (places, known)) in sessions.iter().enumerate() {
        alike.entry((kinds(places), known.append)).or_default().push(at);
    }
    let together = |all: &[usize]| -> Vec<Place<'_>> {
        all.iter().flat_map(|at| sessions[*at].0.iter().copied()).collect()
    };
    for all in alike.values().filter(|all| all.len() > 1) {
        let (places, known) = (together(all), sessions[all[0]].1);
        let is_of_one = |at: &usize| ranks_of(&sessions[*at].0) == 1;
        if !all.iter().any(is_of_one) {
            continue;
        }
        if let Some(law) = of_all_ranks(&places, known) {
            all.iter().for_each(|at| found[*at] = Laws::exactly(law.clone(), None));
        }
    }
    let of_several = found.iter().zip(sessions).filter(|(_, (places, _))| ranks_of(places) > 1);
    let begins: Vec<PlaceRun> = of_several.flat_map(|(laws_of, _)| laws_of.begins()).collect();
    for (laws_of, (places, known)) in found.iter_mut().zip(sessions) {
        if let (1, Some((rank, ..))) = (ranks_of(places), places.first()) {
            laws_of.follow(&begins, (*rank, known.ranks));
        }
    }
    let drawn: Vec<usize> = (0..found.len()).filter(|at| found[*at].kept == Kept::Drawn).collect();
    if drawn.len() > 1
        && let Some(part) = part_of_rank(&together(&drawn))
    {
        for (laws_of, (places, known)) in found.iter_mut().zip(sessions) {
            if laws_of.kept == Kept::Drawn && !laws_of.stays_in(part) {
                *laws_of = laws(places, Known { part: Some(part), ..*known });
            }
        }
    }
    found
}

/// A law of the rank that sessions of different numbers or sizes of transfers follow.
fn of_all_ranks(places: &[Place<'_>], known: Known) -> Option<OffsetLaw> {
    match law(places, known.append, known.ranks) {
        (law @ OffsetLaw::Affine { .. }, true) => Some(law),
        (_, true) => None,
        (_, false) => in_runs(places, known.ranks, 1),
    }
}

/// Whether there are reads, and writes.
fn kinds(places: &[Place<'_>]) -> [bool; 2] {
    let transfers = || places.iter().flat_map(|(.., all)| all.iter());
    [RequestKind::Read, RequestKind::Write].map(|kind| transfers().any(|transfer| transfer.kind == kind))
}

fn ranks_of(places: &[Place<'_>]) -> usize {
    places.iter().map(|(rank, ..)| rank).collect::<BTreeSet<_>>().len()
}

/// The law that all executions follow, or laws of reads and of writes, a list of places, a law in another order, or a distribution.
fn laws(places: &[Place<'_>], known: Known) -> Laws {
    let Known { append, sizes, ranks, part } = known;
    let in_runs = |most| in_runs(places, ranks, most).filter(|_| sizes);
    // Only writes go to the end of the file.
    let all_append = append && !kinds(places)[0];
    let (offset, holds) = law(places, all_append, ranks);
    if holds {
        return Laws::exactly(offset, None);
    }
    let apart = Apart::of(places, known);
    let written = reads_what_it_wrote(places);
    if let Some((reads, writes)) = apart.as_ref().and_then(Apart::exactly) {
        return Laws::exactly(reads, Some(writes));
    }
    if let Some(runs) = in_runs(SHORT_LIST) {
        return Laws::exactly(runs, None);
    }
    if !written && let Some(shuffled) = shuffled(places, ranks) {
        return shuffled;
    }
    if let Some(runs) = in_runs(LONG_LIST) {
        return Laws::exactly(runs, None);
    }
    let (offset, write_offset) = match apart.and_then(|apart| apart.drawn(written, part)) {
        Some((reads, writes)) => (reads, Some(writes)),
        None => (drawn(places, part).unwrap_or(offset), None),
    };
    Laws { kept: Kept::Drawn, ..Laws::exactly(offset, write_offset) }
}

/// Whether reads between writes lie within what the session has written before each of them.
fn reads_what_it_wrote(places: &[Place<'_>]) -> bool {
    let mut between = false;
    let within = |transfers: &[Transfer]| {
        let (mut written, mut was_read) = (0, false);
        transfers.iter().all(|transfer| {
            let end = transfer.offset.get().and_then(|offset| offset.checked_add(transfer.size));
            let Some(end) = end else { return false };
            if transfer.kind != RequestKind::Write {
                was_read = true;
                return end <= written;
            }
            between |= was_read;
            written = written.max(end);
            true
        })
    };
    let mut all = places.iter().map(|(.., transfers)| *transfers);
    all.all(within) && between
}

/// Places of reads and writes are the same if their cumulated shares differ by no more.
const SAME: f64 = 0.25;

/// Reads and writes of the executions of a session that does both, with the law of each and whether it holds.
struct Apart {
    of_kinds: [Vec<(u32, u64, Vec<Transfer>)>; 2],
    laws: [(OffsetLaw, bool); 2],
}

impl Apart {
    fn of(places: &[Place<'_>], known: Known) -> Option<Self> {
        let Known { append, sizes, ranks, .. } = known;
        let of_kinds = [RequestKind::Read, RequestKind::Write].map(|kind| {
            let own = |all: &[Transfer]| -> Vec<Transfer> {
                all.iter().filter(|transfer| transfer.kind == kind).copied().collect()
            };
            places.iter().map(|(rank, again, all)| (*rank, *again, own(all))).collect::<Vec<_>>()
        });
        if of_kinds.iter().any(|all| all.iter().all(|(.., transfers)| transfers.is_empty())) {
            return None;
        }
        let [reads, writes] = of_kinds.each_ref().map(|all| borrowed(all));
        let own = |places: &[Place<'_>], append| match law(places, append, ranks) {
            (_, false) if sizes => match in_runs(places, ranks, SHORT_LIST) {
                Some(runs) => (runs, true),
                None => (OffsetLaw::Sequential, false),
            },
            found => found,
        };
        let laws = [own(&reads, false), own(&writes, append)];
        Some(Self { of_kinds, laws })
    }

    /// A law that reads follow and one that writes follow.
    fn exactly(&self) -> Option<(OffsetLaw, OffsetLaw)> {
        let [(reads, read), (writes, written)] = &self.laws;
        (*read && *written).then(|| (reads.clone(), writes.clone()))
    }

    /// Where reads begin and where writes do, each by a law or drawn, if they are not at the same places. Reads may lie within what the session
    /// has written before.
    fn drawn(self, what_is_written: bool, part: Option<u64>) -> Option<(OffsetLaw, OffsetLaw)> {
        let [reads, writes] = self.of_kinds.each_ref().map(|all| borrowed(all));
        let has_law = self.laws.iter().any(|(_, holds)| *holds);
        if !has_law && !what_is_written && difference(&reads, &writes) <= SAME {
            return None;
        }
        let [read, write] = self.laws;
        let own = |(law, holds), places: &[Place<'_>]| if holds { Some(law) } else { drawn(places, part) };
        let mut reads = own(read, &reads)?;
        if let OffsetLaw::Drawn { written, .. } = &mut reads {
            *written = what_is_written;
        }
        Some((reads, own(write, &writes)?))
    }
}

fn borrowed(all: &[(u32, u64, Vec<Transfer>)]) -> Vec<Place<'_>> {
    all.iter().map(|(rank, again, all)| (*rank, *again, &all[..])).collect()
}

/// A law of the places in ascending order, of reads and of writes, if transfers of each kind have one size.
fn shuffled(places: &[Place<'_>], ranks: u32) -> Option<Laws> {
    let transfers = || places.iter().flat_map(|(.., all)| all.iter());
    let of_one_size = |kind| {
        let mut sizes = transfers().filter(|transfer| transfer.kind == kind).map(|transfer| transfer.size);
        sizes.next().is_none_or(|first| sizes.all(|size| size == first))
    };
    let kinds = [RequestKind::Read, RequestKind::Write];
    if !kinds.into_iter().all(of_one_size) || transfers().any(|transfer| transfer.offset.is_null()) {
        return None;
    }
    let sorted = |all: &[Transfer]| {
        let mut sorted = all.to_vec();
        for kind in kinds {
            let of_kind = |transfer: &&Transfer| transfer.kind == kind;
            let mut offsets: Vec<_> = all.iter().filter(of_kind).map(|transfer| transfer.offset).collect();
            offsets.sort_unstable_by_key(|offset| offset.get());
            let own = sorted.iter_mut().filter(|transfer| transfer.kind == kind);
            own.zip(offsets).for_each(|(transfer, offset)| transfer.offset = offset);
        }
        sorted
    };
    let all: Vec<(u32, u64, Vec<Transfer>)> =
        places.iter().map(|(rank, again, all)| (*rank, *again, sorted(all))).collect();
    let in_order = borrowed(&all);
    let (offset, write_offset) = match law(&in_order, false, ranks) {
        (law, true) => (law, None),
        (_, false) => {
            // In ascending order sizes have other places.
            let known = Known { append: false, sizes: false, ranks, part: None };
            let (reads, writes) = Apart::of(&in_order, known)?.exactly()?;
            (reads, Some(writes))
        }
    };
    let moved =
        transfers().zip(all.iter().flat_map(|(.., all)| all)).filter(|(one, other)| one != other).count();
    let random = moved as u128 * 1_000_000 / transfers().count().max(1) as u128;
    Some(Laws { offset, write_offset, random: random as u64, kept: Kept::Shuffled })
}

/// A law that all executions follow, and whether they do: where none is found, transfers follow each other.
pub(crate) fn law(places: &[Place<'_>], append: bool, ranks: u32) -> (OffsetLaw, bool) {
    if append || places.iter().all(|(_, _, transfers)| is_sequential(transfers)) {
        return (OffsetLaw::Sequential, true);
    }
    match shifts(ranks).find_map(|shift| affine(&turned(places, ranks, shift), ranks, shift)) {
        Some(law) => (law, true),
        None => (OffsetLaw::Sequential, false),
    }
}

/// Shifts among so many ranks, the nearest first: at other numbers of ranks it is the distance that stays.
pub(crate) fn shifts(ranks: u32) -> impl Iterator<Item = i32> {
    let half = (ranks / 2) as i32;
    let all = std::iter::once(0).chain((1..=half).flat_map(|shift| [shift, -shift]));
    all.filter(move |shift| *shift == 0 || ranks >= MIN_RANKS)
}

/// The places of the ranks that come `shift` later.
pub(crate) fn turned<'a>(places: &[Place<'a>], ranks: u32, shift: i32) -> Vec<Place<'a>> {
    let turned = |rank: u32| (i64::from(rank) + i64::from(shift)).rem_euclid(i64::from(ranks.max(1))) as u32;
    places.iter().map(|(rank, again, all)| (turned(*rank), *again, *all)).collect()
}

/// Fewer steps towards the begin of a file are a list.
pub(crate) const MIN_TOWARDS_BEGIN: usize = 3;

/// Among fewer ranks every exchange of places is a shift.
pub(crate) const MIN_RANKS: u32 = 3;

fn is_sequential(transfers: &[Transfer]) -> bool {
    let mut end = 0;
    transfers.iter().all(|transfer| {
        let begins = transfer.offset.get() == Some(end);
        end = end.saturating_add(transfer.size);
        begins
    })
}

/// `start + rank · r + step · (i mod every) + jump · ⌊i / every⌋ + again · k`, exactly, where r is the rank of the place: that which comes `shift` later.
fn affine(places: &[Place<'_>], ranks: u32, shift: i32) -> Option<OffsetLaw> {
    let long = places.iter().find(|(_, _, transfers)| transfers.len() > 1);
    let step = match long {
        Some(place) => offset(place, 1)?.checked_sub(offset(place, 0)?)?,
        None => 0,
    };
    let longest = places.iter().map(|(.., transfers)| transfers.len()).max()?;
    if step < 0 && longest < MIN_TOWARDS_BEGIN {
        return None;
    }
    let breaks = |place: &Place<'_>| {
        (2..place.2.len()).find(|at| {
            offset(place, *at)
                .zip(offset(place, at - 1))
                .is_some_and(|(here, before)| before.checked_add(step) != Some(here))
        })
    };
    let every = long.and_then(|place| Some((place, breaks(place)?)));
    // A law of which only a part was seen twice is none.
    let every = every.filter(|(place, every)| place.2.len() >= 2 * every);
    let (every, jump) = match every {
        Some((place, every)) => (every as u64, offset(place, every)?.checked_sub(offset(place, 0)?)?),
        None => (0, 0),
    };
    let again = places.iter().find_map(|one| {
        let other = places.iter().find(|other| other.0 == one.0 && other.1 > one.1)?;
        per(offset(one, 0)?, offset(other, 0)?, i64::try_from(other.1 - one.1).ok()?)
    });
    let again = again.unwrap_or(0);
    let executions = places.iter().map(|(_, again, _)| *again as usize + 1).max()?;
    let blocks = (longest as u64).checked_div(every).unwrap_or(0) as usize;
    if again < 0 && executions < MIN_TOWARDS_BEGIN || jump < 0 && blocks < MIN_TOWARDS_BEGIN {
        return None;
    }
    let times = |stride: i64, count: u64| stride.checked_mul(i64::try_from(count).ok()?);
    let without = |place: &Place<'_>| offset(place, 0)?.checked_sub(times(again, place.1)?);
    let first = places.first()?;
    let other = places.iter().find(|place| place.0 != first.0);
    let rank = match other {
        Some(other) => {
            let (low, high) = if first.0 < other.0 { (first, other) } else { (other, first) };
            per(without(low)?, without(high)?, i64::from(high.0 - low.0))?
        }
        None => 0,
    };
    let start = without(first)?.checked_sub(times(rank, u64::from(first.0))?)?;
    let predicted = |place: &Place<'_>, at: usize| {
        start
            .checked_add(times(rank, u64::from(place.0))?)?
            .checked_add(times(step, (at as u64).checked_rem(every).unwrap_or(at as u64))?)?
            .checked_add(times(jump, (at as u64).checked_div(every).unwrap_or(0))?)?
            .checked_add(times(again, place.1)?)
    };
    let (start, rank) = (u64::try_from(start).ok()?, u64::try_from(rank).ok()?);
    let holds = places.iter().all(|place| {
        (0..place.2.len())
            .all(|at| predicted(place, at).is_some_and(|place_of| offset(place, at) == Some(place_of)))
    });
    if !holds {
        return None;
    }
    let stride = |bytes| stride(bytes, rank, ranks);
    Some(OffsetLaw::Affine {
        start,
        rank,
        step: stride(step)?,
        again: stride(again)?,
        every,
        jump: stride(jump)?,
        shift,
    })
}

/// Where a transfer of an execution begins; NULL if that is not known, or it makes fewer.
pub(crate) fn offset((.., transfers): &Place<'_>, at: usize) -> Option<i64> {
    transfers.get(at)?.offset.get().and_then(|offset| i64::try_from(offset).ok())
}

pub(crate) fn per(from: i64, to: i64, times: i64) -> Option<i64> {
    let difference = to.checked_sub(from)?;
    (difference % times == 0).then(|| difference / times)
}

/// A level whose stride is a multiple of what all ranks together take is interleaved: it grows with their number. Towards the begin of the file it is
/// none: the first place would grow, too.
pub(crate) fn stride(bytes: i64, rank: u64, ranks: u32) -> Option<Stride> {
    let all = i64::try_from(rank.saturating_mul(u64::from(ranks))).unwrap_or(i64::MAX);
    let is_interleaved = ranks > 1 && all > 0 && bytes != 0 && bytes % all == 0;
    match is_interleaved {
        true if bytes < 0 => None,
        true => Some(Stride { bytes: bytes / i64::from(ranks), by_ranks: true }),
        false => Some(Stride::fixed(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Nullable;

    fn transfers(offsets: &[u64], size: u64) -> Vec<Transfer> {
        offsets
            .iter()
            .map(|offset| Transfer { kind: RequestKind::Write, offset: Nullable::some(*offset), size })
            .collect()
    }

    /// IOR with transfers of 64 KiB, blocks of 256 KiB and two segments on four ranks (definitions, section 4).
    #[test]
    fn the_layout_of_ior_is_a_law_whose_segments_grow_with_the_ranks() {
        const KIB: u64 = 1 << 10;
        let offsets = |rank: u64, segment: u64| -> Vec<u64> {
            (0..4).map(|transfer| (segment * 1024 + rank * 256 + transfer * 64) * KIB).collect()
        };
        let all: Vec<(u32, u64, Vec<Transfer>)> = (0..4)
            .flat_map(|rank| (0..2).map(move |segment| (rank, segment)))
            .map(|(rank, segment)| (rank as u32, segment, transfers(&offsets(rank, segment), 64 * KIB)))
            .collect();
        let places: Vec<Place<'_>> = all.iter().map(|(rank, again, all)| (*rank, *again, &all[..])).collect();
        let expected = OffsetLaw::Affine {
            start: 0,
            rank: 256 * KIB,
            step: Stride::fixed(64 * KIB as i64),
            again: Stride { bytes: 256 * KIB as i64, by_ranks: true },
            every: 0,
            jump: Stride::default(),
            shift: 0,
        };
        assert_eq!(law(&places, false, 4), (expected, true));
        let whole: Vec<(u32, Vec<Transfer>)> = (0..4)
            .map(|rank| (rank as u32, transfers(&[offsets(rank, 0), offsets(rank, 1)].concat(), 64 * KIB)))
            .collect();
        let places: Vec<Place<'_>> = whole.iter().map(|(rank, all)| (*rank, 0, &all[..])).collect();
        let expected = OffsetLaw::Affine {
            start: 0,
            rank: 256 * KIB,
            step: Stride::fixed(64 * KIB as i64),
            again: Stride::default(),
            every: 4,
            jump: Stride { bytes: 256 * KIB as i64, by_ranks: true },
            shift: 0,
        };
        assert_eq!(law(&places, false, 4), (expected, true), "both segments in one session");
    }

    #[test]
    fn the_place_of_a_neighbour_is_a_law_with_a_shift() {
        for (shift, ranks) in [(1, 4), (-1, 4), (2, 5), (1, 3)] {
            let offset = |rank: i32| [((rank + shift).rem_euclid(ranks) * 1000) as u64];
            let all: Vec<_> = (0..ranks).map(|rank| (rank as u32, transfers(&offset(rank), 1000))).collect();
            let places: Vec<Place<'_>> = all.iter().map(|(rank, all)| (*rank, 0, &all[..])).collect();
            let (law, holds) = law(&places, false, ranks as u32);
            assert!(
                holds && matches!(law, OffsetLaw::Affine { rank: 1000, shift: found, .. } if found == shift),
                "{law:?}"
            );
        }
        let (one, two) = (transfers(&[1000], 10), transfers(&[0], 10));
        assert!(!law(&[(0, 0, &one), (1, 0, &two)], false, 2).1, "of two ranks it is none");
    }

    #[test]
    fn places_in_another_order_are_a_law_and_a_share() {
        let offsets: Vec<u64> = (0..100).map(|at| 4096 * (at * 37 % 100)).collect();
        let own = transfers(&offsets, 4096);
        let known = |ranks| Known { append: false, sizes: true, ranks, part: None };
        let found = laws(&[(0, 0, &own)], known(1));
        assert_eq!((found.offset, found.kept), (OffsetLaw::Sequential, Kept::Shuffled));
        // 37 i = i modulo 100 for i in 0, 25, 50 and 75.
        assert_eq!(found.random, 960_000);
        let other: Vec<u64> = offsets.iter().map(|offset| offset + 409_600).collect();
        let other = transfers(&other, 4096);
        let third: Vec<u64> = offsets.iter().rev().map(|offset| offset + 819_200).collect();
        let third = transfers(&third, 4096);
        let found = laws(&[(0, 0, &own), (1, 0, &other), (2, 0, &third)], known(3));
        assert!(
            matches!(found.offset, OffsetLaw::Affine { rank: 409_600, .. }) && found.kept == Kept::Shuffled,
            "{found:?}"
        );
        let squares: Vec<u64> = offsets.iter().map(|offset| offset * offset).collect();
        assert_eq!(laws(&[(0, 0, &transfers(&squares, 512))], known(1)).kept, Kept::Drawn);
    }

    #[test]
    fn of_random_reads_and_writes_that_follow_a_law_the_law_stays() {
        let read = |at: u64| (RequestKind::Read, 4096 * (at * at % 97));
        let written = |place: u64| (RequestKind::Write, place);
        let known = Known { append: false, sizes: true, ranks: 1, part: None };
        let laws_of = |writes: &dyn Fn(u64) -> u64| {
            let all = (0..90).flat_map(|at| [read(at), written(writes(at))]);
            let transfer = |(kind, offset)| Transfer { kind, offset: Nullable::some(offset), size: 4096 };
            let all: Vec<Transfer> = all.map(transfer).collect();
            laws(&[(0, 0, &all)], known)
        };
        let found = laws_of(&|at| 4096 * at);
        assert!(matches!(found.offset, OffsetLaw::Drawn { .. }), "{found:?}");
        assert_eq!((found.write_offset, found.kept), (Some(OffsetLaw::Sequential), Kept::Drawn));
        let elsewhere = laws_of(&|at| (1 << 30) + 4096 * (at * at * at % 89));
        assert!(matches!(elsewhere.write_offset, Some(OffsetLaw::Drawn { .. })), "{elsewhere:?}");
        let same = laws_of(&|at| 4096 * (at * at * 3 % 97));
        assert_eq!(same.write_offset, None, "one distribution of both");
    }

    #[test]
    fn sessions_of_single_ranks_follow_the_law_of_all_ranks() {
        let known = Known { append: false, sizes: true, ranks: 3, part: None };
        let own = |rank: u64| -> Vec<u64> { (0..8 - rank).map(|at| rank * 4096 + at * 100).collect() };
        let all: Vec<Vec<Transfer>> = (0..3).map(|rank| transfers(&own(rank), 100)).collect();
        let sessions: Vec<(Vec<Place<'_>>, Known)> =
            (0..).zip(&all).map(|(rank, all)| (vec![(rank, 0, &all[..])], known)).collect();
        for found in of_file(&sessions) {
            assert!(matches!(found.offset, OffsetLaw::Affine { rank: 4096, .. }), "{found:?}");
        }
        let draws = |rank: u64| -> Vec<u64> {
            (0..80 + rank).map(|at| (rank << 20) + 4096 * ((at * at * 89 + rank) % 256)).collect()
        };
        let all: Vec<Vec<Transfer>> = (0..3).map(|rank| transfers(&draws(rank), 512)).collect();
        let sessions: Vec<(Vec<Place<'_>>, Known)> =
            (0..).zip(&all).map(|(rank, all)| (vec![(rank, 0, &all[..])], known)).collect();
        for found in of_file(&sessions) {
            let OffsetLaw::Drawn { rank, end, .. } = found.offset else { panic!("{found:?}") };
            assert!(rank == 1 << 20 && end <= 1 << 20, "{rank} {end}");
        }
    }

    /// The first rank writes a header with each of its records; records of all ranks take turns.
    #[test]
    fn the_rank_that_does_more_moves_with_the_others() {
        let known = Known { append: false, sizes: true, ranks: 3, part: None };
        let record = |rank: u64, again: u64| 512 + again * 300 + rank * 100;
        let own = |rank: u64, again: u64| {
            let header = (rank == 0).then_some(0);
            transfers(&header.into_iter().chain([record(rank, again)]).collect::<Vec<_>>(), 100)
        };
        let of = |rank: u64| -> Vec<(u32, u64, Vec<Transfer>)> {
            (0..3).map(|again| (rank as u32, again, own(rank, again))).collect()
        };
        let (root, others) = (of(0), [of(1), of(2)].concat());
        let sessions = [(borrowed(&root), known), (borrowed(&others), known)];
        let OffsetLaw::Runs(runs) = &of_file(&sessions)[0].offset else { panic!() };
        assert_eq!(runs.last().map(|run| run.again), Some(Stride { bytes: 100, by_ranks: true }));
    }

    /// The first rank writes a header, its part as the others do, and an index behind all parts.
    #[test]
    fn an_index_of_one_rank_is_behind_all_parts_at_any_number_of_ranks() {
        let known = Known { append: false, sizes: true, ranks: 3, part: None };
        let root = [(0, 0, transfers(&[0, 64, 12_064], 10))];
        let others: Vec<(u32, u64, Vec<Transfer>)> =
            (1..3).map(|rank| (rank, 0, transfers(&[64 + 4000 * u64::from(rank)], 10))).collect();
        let sessions = [(borrowed(&root), known), (borrowed(&others), known)];
        let OffsetLaw::Runs(runs) = &of_file(&sessions)[0].offset else { panic!() };
        assert_eq!(runs.last(), Some(&PlaceRun { behind: 4000, ..PlaceRun::fixed(64, 1) }));
    }

    #[test]
    fn what_follows_no_law_is_said_to() {
        let (one, two) = (transfers(&[0, 10, 30], 10), transfers(&[5, 0], 5));
        assert_eq!(law(&[(0, 0, &one)], false, 1), (OffsetLaw::Sequential, false));
        assert_eq!(law(&[(0, 0, &two)], false, 1), (OffsetLaw::Sequential, false));
        assert_eq!(
            law(&[(0, 0, &two)], true, 1),
            (OffsetLaw::Sequential, true),
            "the end of the file is the place"
        );
        assert_eq!(law(&[(0, 0, &transfers(&[0, 10, 20], 10))], false, 1), (OffsetLaw::Sequential, true));
        let unknown = [Transfer { kind: RequestKind::Read, offset: Nullable::NULL, size: 1 }];
        assert!(!law(&[(0, 0, &unknown)], false, 1).1);
    }
}
