//! Places of transfers that follow no law, as a distribution.
//!
//! Source: `spec/workload.md`, section 2: OFF where no law fits, and SEQ.

use crate::laws::Place;
use crate::sessions::Transfer;
use iotrail_workload::{Distribution, DrawnPlaces, OffsetLaw, common_divisor};
use std::collections::BTreeMap;

/// So many different places are kept with their numbers; of more only how many there are between bounds.
const MOST_PLACES: usize = 64;
/// Between so many bounds and one more.
const MOST_SLICES: usize = 64;
/// A distribution is near enough if its cumulated shares are within this, or within what so few draws differ by chance.
const NEAR: f64 = 1.0 / 64.0;
/// So many places are multiples of their alignment.
const NEARLY: f64 = 0.95;
/// At 95 % (Kolmogorov).
const BY_CHANCE: f64 = 1.36;

/// The distribution of places to which transfers jump, and how many of the others follow each other; NULL if no place is known. Ranks stay in parts of
/// the file that are so many bytes apart, if that is known of more than these transfers.
pub(crate) fn drawn(places: &[Place<'_>], part: Option<u64>) -> Option<OffsetLaw> {
    let rank = part.or_else(|| part_of_rank(places)).unwrap_or(0);
    let Jumps { mut jumps, follow, all, end } = Jumps::of(places, rank);
    jumps.sort_unstable();
    let sequential = (u128::from(follow) * 1_000_000).checked_div(u128::from(all)).unwrap_or(0) as u64;
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    places
        .iter()
        .flat_map(|(.., all)| all.iter())
        .for_each(|transfer| *sizes.entry(transfer.size).or_default() += 1);
    let usual = sizes.into_iter().max_by_key(|(_, count)| *count).map_or(1, |(size, _)| size);
    let places = distribution(&jumps, usual)?;
    Some(OffsetLaw::Drawn { places, sequential, end, rank, written: false })
}

/// The largest difference between the cumulated shares of the places of two sets of transfers (Kolmogorov and Smirnov).
pub(crate) fn difference(one: &[Place<'_>], other: &[Place<'_>]) -> f64 {
    let of = |places: &[Place<'_>]| {
        let mut found = Distribution::default();
        let transfers = places.iter().flat_map(|(.., all)| all.iter());
        transfers
            .filter_map(|transfer| transfer.offset.get())
            .for_each(|offset| found.add(i64::try_from(offset).unwrap_or(i64::MAX)));
        found
    };
    of(one).kolmogorov_smirnov(&of(other)).unwrap_or_default()
}

/// Where transfers begin that do not follow the one before.
#[derive(Default)]
struct Jumps {
    jumps: Vec<u64>,
    /// How many others do, of how many that are not the first ones.
    follow: u64,
    all: u64,
    /// The end of the furthest.
    end: u64,
}

impl Jumps {
    /// Of ranks whose parts of the file begin so many bytes apart.
    fn of(places: &[Place<'_>], part: u64) -> Self {
        let mut found = Self::default();
        for (rank, _, transfers) in places {
            let own = |offset: u64| offset.saturating_sub(part.saturating_mul(u64::from(*rank)));
            found.jumps.extend(transfers.first().and_then(|first| first.offset.get()).map(own));
            found.end = transfers.iter().filter_map(end).map(own).fold(found.end, u64::max);
            for (before, transfer) in transfers.iter().zip(transfers.iter().skip(1)) {
                let Some(offset) = transfer.offset.get() else { continue };
                found.all += 1;
                match end(before) == Some(offset) {
                    true => found.follow += 1,
                    false => found.jumps.push(own(offset)),
                }
            }
        }
        found
    }
}

/// How many bytes the parts of a file are apart in which ranks stay, each in one of its own, in their order; NULL if they do not, or make too few
/// transfers to tell. Bounds of parts are not seen: of the distances that are possible it is the roundest, in powers of two or of ten.
pub(crate) fn part_of_rank(places: &[Place<'_>]) -> Option<u64> {
    let (mut parts, mut unit): (BTreeMap<u32, Part>, u64) = (BTreeMap::new(), 0);
    for (rank, _, transfers) in places {
        for transfer in *transfers {
            let begin = transfer.offset.get()?;
            parts.entry(*rank).or_default().add(begin, end(transfer)?);
            unit = common_divisor(unit, begin);
        }
    }
    if parts.len() < 2 || parts.values().any(|part| part.transfers < MIN_TRANSFERS) {
        return None;
    }
    let first = parts.values().map(|part| part.begin).min()?;
    [0, first].into_iter().find_map(|before| roundest(possible(&parts, before)?, unit.max(1)))
}

/// Within which bytes the distance of parts is, of which that of rank 0 begins `before` bytes from the begin of the file.
fn possible(parts: &BTreeMap<u32, Part>, before: u64) -> Option<(u64, u64)> {
    let (mut least, mut most) = (1, u64::MAX);
    for (rank, part) in parts {
        let rank = u64::from(*rank);
        least = least.max((part.end - before).div_ceil(rank + 1));
        most = most.min((part.begin - before).checked_div(rank).unwrap_or(u64::MAX));
    }
    (least <= most).then_some((least, most))
}

/// The roundest of these numbers that is a multiple of `unit`.
fn roundest((least, most): (u64, u64), unit: u64) -> Option<u64> {
    let powers = (0..60).map(|power| 1_u64 << power).chain((3..18).map(|power| 10_u64.pow(power)));
    let mut powers: Vec<u64> = powers.collect();
    powers.sort_unstable();
    let units =
        powers.into_iter().rev().filter_map(|power| (power / common_divisor(power, unit)).checked_mul(unit));
    units.filter_map(|unit| least.div_ceil(unit).checked_mul(unit)).find(|bytes| *bytes <= most)
}

/// Fewer transfers of a rank do not show in which part of a file they are.
const MIN_TRANSFERS: u64 = 8;

/// Where the transfers of a rank are.
#[derive(Default)]
struct Part {
    transfers: u64,
    begin: u64,
    end: u64,
}

impl Part {
    fn add(&mut self, begin: u64, end: u64) {
        self.begin = if self.transfers == 0 { begin } else { self.begin.min(begin) };
        self.end = self.end.max(end);
        self.transfers += 1;
    }
}

fn end(transfer: &Transfer) -> Option<u64> {
    Some(transfer.offset.get()?.saturating_add(transfer.size))
}

/// Of places in ascending order, of transfers that are usually so large.
fn distribution(places: &[u64], usual: u64) -> Option<DrawnPlaces> {
    let (first, last) = (*places.first()?, *places.last()?);
    let mut weights: BTreeMap<u64, u64> = BTreeMap::new();
    for place in places {
        *weights.entry(*place).or_default() += 1;
        if weights.len() > MOST_PLACES {
            break;
        }
    }
    if weights.len() <= MOST_PLACES {
        let unit = weights.values().copied().reduce(common_divisor).unwrap_or(1);
        weights.values_mut().for_each(|weight| *weight /= unit);
        return Some(DrawnPlaces::Of(weights));
    }
    let align = alignment(places, usual);
    let first = first - first % align;
    let near = NEAR.max(BY_CHANCE / (places.len() as f64).sqrt());
    let mut slices = 1;
    loop {
        let bound = |slice: usize| places[places.len() * slice / slices].max(first);
        let mut bounds: Vec<u64> = (0..slices).map(bound).collect();
        bounds[0] = first;
        bounds.push(last.saturating_add(align));
        if slices >= MOST_SLICES || distance(places, &bounds, align) <= near {
            return Some(DrawnPlaces::Between { bounds, align });
        }
        slices *= 2;
    }
}

/// What nearly all places are multiples of: the size of transfers, or a power of two, or what all of them have in common.
fn alignment(places: &[u64], usual: u64) -> u64 {
    let all = places.iter().copied().reduce(common_divisor).unwrap_or(1).max(1);
    let powers = (9..=20).map(|power| 1_u64 << power);
    let nearly = |align: &u64| {
        let aligned = places.iter().filter(|place| place.is_multiple_of(*align)).count();
        aligned as f64 >= NEARLY * places.len() as f64
    };
    powers.chain([usual.max(1)]).filter(nearly).fold(all, u64::max)
}

/// The largest difference between the cumulated shares of places and of what is drawn between bounds.
fn distance(places: &[u64], bounds: &[u64], align: u64) -> f64 {
    let slices = (bounds.len() - 1) as f64;
    let drawn = |below: u64| {
        let slice = bounds.partition_point(|bound| *bound < below).saturating_sub(1);
        let Some(high) = bounds.get(slice + 1) else { return 1.0 };
        let width = (high - bounds[slice]).max(1) as f64;
        (slice as f64 + below.saturating_sub(bounds[slice]) as f64 / width) / slices
    };
    let ends = (1..=places.len()).filter(|at| places.get(*at) != Some(&places[at - 1]));
    let differences =
        ends.map(|at| (at as f64 / places.len() as f64 - drawn(places[at - 1].saturating_add(align))).abs());
    differences.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotrail_model::Nullable;
    use iotrail_workload::RequestKind;

    fn transfers(places: &[(u64, u64)]) -> Vec<Transfer> {
        let transfer = |&(offset, size): &(u64, u64)| Transfer {
            kind: RequestKind::Write,
            offset: Nullable::some(offset),
            size,
        };
        places.iter().map(transfer).collect()
    }

    #[test]
    fn few_places_are_kept_with_their_numbers() {
        let own = transfers(&[(0, 10), (10, 10), (100, 10), (0, 10), (100, 10), (110, 10)]);
        let expected = OffsetLaw::Drawn {
            places: DrawnPlaces::Of(BTreeMap::from([(0, 1), (100, 1)])),
            sequential: 400_000,
            end: 120,
            rank: 0,
            written: false,
        };
        assert_eq!(drawn(&[(0, 0, &own)], None), Some(expected));
        let unknown = [Transfer { kind: RequestKind::Read, offset: Nullable::NULL, size: 1 }];
        assert_eq!(drawn(&[(0, 0, &unknown)], None), None);
    }

    #[test]
    fn ranks_that_stay_in_parts_of_their_own_draw_in_them() {
        for part in [1000 * 4096, 1_000_000] {
            let of_rank = |rank: u64| -> Vec<Transfer> {
                let page = |at: u64| rank * part + (at * 7919 + rank * 31) % (part / 4096) * 4096;
                transfers(&(0..200).map(|at| (page(at), 4096)).collect::<Vec<_>>())
            };
            let all: Vec<Vec<Transfer>> = (0..4).map(of_rank).collect();
            let places: Vec<Place<'_>> = (0..).zip(&all).map(|(rank, own)| (rank, 0, &own[..])).collect();
            let found = drawn(&places, None);
            let Some(OffsetLaw::Drawn { rank, end, .. }) = found else { panic!("{found:?}") };
            assert_eq!(rank, part);
            assert!(end <= part && end > part * 9 / 10, "{end}");
            let mixed: Vec<Place<'_>> =
                (0..).zip(&all).map(|(rank, own)| (rank / 2, u64::from(rank % 2), &own[..])).collect();
            assert_eq!(part_of_rank(&mixed), Some(2 * part), "two parts of each");
            let same: Vec<Place<'_>> = (0..3).map(|rank| (rank, 0, &all[0][..])).collect();
            assert_eq!(part_of_rank(&same), None);
        }
    }

    #[test]
    fn of_many_places_there_are_as_many_bounds_as_are_needed() {
        // Each second page, in an order in which none follows another.
        let even: Vec<(u64, u64)> = (0..1000).map(|at| (8192 * (at * 7 % 1000), 4096)).collect();
        let uniform = DrawnPlaces::Between { bounds: vec![0, 8_192_000], align: 8192 };
        assert_eq!(
            drawn(&[(0, 0, &transfers(&even))], None),
            Some(OffsetLaw::Drawn {
                places: uniform,
                sequential: 0,
                end: 8192 * 999 + 4096,
                rank: 0,
                written: false
            })
        );
        let hot: Vec<(u64, u64)> = (0..4000_u64)
            .map(|at| if at % 10 == 0 { (4096 * (at * 7919 % 100_000), 512) } else { (4096 * (at % 3), 512) })
            .collect();
        let Some(OffsetLaw::Drawn { places: DrawnPlaces::Between { bounds, align: 4096 }, .. }) =
            drawn(&[(0, 0, &transfers(&hot))], None)
        else {
            panic!("many places")
        };
        let mut sorted: Vec<u64> = hot.iter().map(|(place, _)| *place).collect();
        sorted.sort_unstable();
        assert!(bounds.len() > 2 && distance(&sorted, &bounds, 4096) < 0.05, "{bounds:?}");
    }
}
