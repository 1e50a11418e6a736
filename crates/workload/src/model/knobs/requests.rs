//! Sessions of more or fewer transfers: what lay behind one another in a file does so again.

use super::KnobError;
use crate::model::{ModelSession, OffsetLaw, PlaceRun, RequestKind, Stride};
use std::collections::BTreeMap;

/// A law has no more runs than these.
const MOST_RUNS: u64 = 64;

/// Numbers of requests.
type Counts = BTreeMap<RequestKind, u64>;

/// Lets the laws of a session that had so many requests before fit those that it has now.
pub(super) fn lengthen(session: &mut ModelSession, before: &Counts) -> Result<(), KnobError> {
    let count = |all: &Counts, kind| all.get(&kind).copied().unwrap_or_default();
    let of = |kind| [before, &session.requests].map(|all| count(all, kind));
    let (reads, writes) = (of(RequestKind::Read), of(RequestKind::Write));
    let one_law = session.write_offset.is_none();
    let first = if one_law { [reads[0] + writes[0], reads[1] + writes[1]] } else { reads };
    let laws = std::iter::once((&mut session.offset, first));
    for (law, [before, after]) in laws.chain(session.write_offset.iter_mut().map(|law| (law, writes))) {
        if before != after && before > 0 && after > 0 {
            *law = lengthened(law, before, after).ok_or(KnobError::TooLarge(after))?;
        }
    }
    Ok(())
}

/// Lets the order of a session that had so many requests before be as much longer or shorter, with the blocks of transfers that its runs are.
pub(super) fn shorten_order(session: &mut ModelSession, before: &Counts) {
    let order = shortened(&session.order, before, &session.requests);
    for law in std::iter::once(&mut session.offset).chain(&mut session.write_offset) {
        shorten_blocks(law, &session.order, &order);
    }
    session.order = order;
}

/// The law of an execution of `after` transfers in place of `before`. Parts of ranks, and executions, that lay behind one another are as much longer
/// or shorter, and what goes towards the begin of the file ends where it did. NULL where that is beyond the largest file.
fn lengthened(law: &OffsetLaw, before: u64, after: u64) -> Option<OffsetLaw> {
    let mut law = law.clone();
    let (start, rank, step, again, every, jump) = match &mut law {
        OffsetLaw::Affine { start, rank, step, again, every, jump, .. } => {
            (start, rank, step, again, every, jump)
        }
        OffsetLaw::Runs(runs) => {
            *runs = more_runs(runs, before, after)?;
            return Some(law);
        }
        OffsetLaw::Sequential | OffsetLaw::Drawn { .. } => return Some(law),
    };
    let (outer, blocks) = match *every {
        0 => (*step, [before, after]),
        every => (*jump, [before.div_ceil(every), after.div_ceil(every)]),
    };
    // Where ranks take turns, they go on doing so.
    if outer.by_ranks || outer.bytes == 0 {
        return Some(law);
    }
    let one = outer.bytes.unsigned_abs();
    let [old, new] = blocks.map(|blocks| one.checked_mul(blocks).filter(|bytes| *bytes > 0));
    let span = Span { one, old: old?, new: new? };
    let behind = if outer.bytes < 0 { span.old - one } else { 0 };
    // What begins nearer to the begin of the file does not go there.
    let Some(first) = start.checked_sub(behind) else { return Some(law) };
    let first = if first.is_multiple_of(span.old) { span.stretch(first)? } else { first };
    *start = if outer.bytes < 0 { first.checked_add(span.new)?.checked_sub(one)? } else { first };
    let part = *rank;
    *rank = span.stretch(part)?;
    *again = span.stretch_stride(*again, part, *rank)?;
    Some(law)
}

/// Of runs as often again as is whole, each lies behind itself as one of another execution does, which begins as much later. A single run is longer.
fn more_runs(runs: &[PlaceRun], before: u64, after: u64) -> Option<Vec<PlaceRun>> {
    if let [run] = runs {
        let longer = |bytes: u64| stretched(bytes, before, after);
        let again = i64::try_from(longer(run.again.bytes.unsigned_abs())?).ok()? * run.again.bytes.signum();
        return Some(vec![PlaceRun {
            count: longer(run.count)?.max(1),
            rank: longer(run.rank)?,
            behind: longer(run.behind)?,
            again: Stride { bytes: again, ..run.again },
            ..*run
        }]);
    }
    let times = after / before;
    if !after.is_multiple_of(before) || times * runs.len() as u64 > MOST_RUNS {
        return Some(runs.to_vec());
    }
    let number = i64::try_from(times).ok()?;
    let later = |run: &PlaceRun, round: i64| {
        let again = Stride { bytes: run.again.bytes.checked_mul(number)?, ..run.again };
        // Where all ranks take turns, their number tells how far the next round is.
        let (start, behind) = match run.again {
            Stride { bytes, by_ranks: false } => {
                (run.start.checked_add_signed(bytes.checked_mul(round)?)?, run.behind)
            }
            Stride { bytes, by_ranks: true } => {
                (run.start, run.behind.checked_add_signed(bytes.checked_mul(round)?)?)
            }
        };
        Some(PlaceRun { start, behind, again, ..*run })
    };
    (0..number).flat_map(|round| runs.iter().map(move |run| later(run, round))).collect()
}

/// So many bytes for `after` transfers where there were `before`, at least.
fn stretched(bytes: u64, before: u64, after: u64) -> Option<u64> {
    u64::try_from((u128::from(bytes) * u128::from(after)).div_ceil(u128::from(before))).ok()
}

/// Runs of requests in their order for other numbers of them, each as many times longer or shorter; none if these are no whole numbers.
fn shortened(order: &[(RequestKind, u64)], before: &Counts, after: &Counts) -> Vec<(RequestKind, u64)> {
    let run = |(kind, count): &(RequestKind, u64)| {
        let product = count.checked_mul(*after.get(kind)?)?;
        let old = *before.get(kind)?;
        (product > 0 && product % old == 0).then(|| (*kind, product / old))
    };
    order.iter().map(run).collect::<Option<_>>().unwrap_or_default()
}

/// Lets blocks of transfers that are as long as the runs of an order be so again.
fn shorten_blocks(law: &mut OffsetLaw, before: &[(RequestKind, u64)], after: &[(RequestKind, u64)]) {
    let length = |order: &[(RequestKind, u64)]| {
        let (_, first) = *order.first()?;
        order.iter().all(|(_, count)| *count == first).then_some(first)
    };
    if let (OffsetLaw::Affine { every, .. }, Some(old), Some(new)) = (law, length(before), length(after))
        && *every == old
    {
        *every = new;
    }
}

/// How many bytes lie between the begins of two executions behind one another.
struct Span {
    /// Between two transfers, or blocks of them.
    one: u64,
    old: u64,
    new: u64,
}

impl Span {
    /// A distance in which there is room for so many executions, of which the last transfer may be a short one, and what is left of it.
    fn stretch(&self, bytes: u64) -> Option<u64> {
        let executions = bytes.checked_add(self.one - 1)? / self.old;
        let left = i128::from(bytes) - i128::from(executions) * i128::from(self.old);
        u64::try_from(i128::from(executions.checked_mul(self.new)?) + left).ok()
    }

    /// The same; of one that is a multiple of the parts of all ranks, that of the new parts.
    fn stretch_stride(&self, stride: Stride, part: u64, new_part: u64) -> Option<Stride> {
        let bytes = stride.bytes.unsigned_abs();
        let stretched = match stride.by_ranks && part > 0 {
            true => (bytes / part).checked_mul(new_part)?.checked_add(bytes % part)?,
            false => self.stretch(bytes)?,
        };
        let stretched = i64::try_from(stretched).ok()?;
        Some(Stride { bytes: if stride.bytes < 0 { -stretched } else { stretched }, ..stride })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn affine(start: u64, rank: u64, step: i64, again: Stride) -> OffsetLaw {
        let (step, jump) = (Stride::fixed(step), Stride::default());
        OffsetLaw::Affine { start, rank, step, again, every: 0, jump, shift: 0 }
    }

    #[test]
    fn parts_of_ranks_lie_behind_one_another_again() {
        let of = |start, rank, step| affine(start, rank, step, Stride::default());
        // Ten blocks of 4 KiB a rank behind a header of 100 bytes; from the end; and two apart.
        assert_eq!(lengthened(&of(100, 40_960, 4096), 10, 20), Some(of(100, 81_920, 4096)));
        assert_eq!(lengthened(&of(36_864, 40_960, -4096), 10, 20), Some(of(77_824, 81_920, -4096)));
        assert_eq!(lengthened(&of(36_864, 40_960, -4096), 10, 5), Some(of(16_384, 20_480, -4096)));
        assert_eq!(lengthened(&of(40_960, 81_920, 4096), 10, 20), Some(of(81_920, 163_840, 4096)));
        // Six blocks of 3000 bytes and one of 200.
        assert_eq!(lengthened(&of(0, 18_200, 3000), 7, 14), Some(of(0, 39_200, 3000)));
        // Two places towards the begin: what begins at the first one goes nowhere.
        assert_eq!(lengthened(&of(0, 0, -4096), 2, 4), Some(of(0, 0, -4096)));
        let turns = OffsetLaw::Affine {
            start: 0,
            rank: 4096,
            step: Stride { bytes: 4096, by_ranks: true },
            again: Stride::default(),
            every: 0,
            jump: Stride::default(),
            shift: 0,
        };
        assert_eq!(lengthened(&turns, 10, 20), Some(turns));
    }

    #[test]
    fn an_order_is_shortened_where_that_is_whole() {
        use RequestKind::{Read, Write};
        let counts = |reads, writes| BTreeMap::from([(Read, reads), (Write, writes)]);
        let order = [(Write, 8), (Read, 8)];
        assert_eq!(shortened(&order, &counts(8, 8), &counts(4, 4)), [(Write, 4), (Read, 4)]);
        assert_eq!(shortened(&[(Write, 1), (Read, 2)], &counts(6, 3), &counts(3, 2)), []);
    }

    /// A header, and behind it records of executions.
    #[test]
    fn runs_of_more_transfers_go_on_where_the_next_execution_did() {
        let records = PlaceRun { again: Stride::fixed(5000), ..PlaceRun::fixed(64, 5) };
        let law = OffsetLaw::Runs(vec![PlaceRun::fixed(0, 1), records]);
        let again = Stride::fixed(10_000);
        let records = [PlaceRun { again, ..records }, PlaceRun { again, ..PlaceRun::fixed(5064, 5) }];
        let header = PlaceRun::fixed(0, 1);
        let expected = OffsetLaw::Runs(vec![header, records[0], header, records[1]]);
        assert_eq!(lengthened(&law, 6, 12), Some(expected));
        assert_eq!(lengthened(&law, 6, 9), Some(law));
        let part = |rank, count| OffsetLaw::Runs(vec![PlaceRun { rank, ..PlaceRun::fixed(8, count) }]);
        assert_eq!(lengthened(&part(18_100, 7), 7, 14), Some(part(36_200, 14)));
        assert_eq!(lengthened(&part(18_100, 7), 7, 3), Some(part(7758, 3)));
    }

    #[test]
    fn so_do_executions() {
        // IOR: segments of the blocks of all ranks; and executions of a rank in its part.
        let segments = |bytes| Stride { bytes, by_ranks: true };
        assert_eq!(
            lengthened(&affine(0, 262_144, 65_536, segments(262_144)), 4, 8),
            Some(affine(0, 524_288, 65_536, segments(524_288)))
        );
        assert_eq!(
            lengthened(&affine(0, 3000, 100, Stride::fixed(1000)), 10, 30),
            Some(affine(0, 9000, 100, Stride::fixed(3000)))
        );
        assert_eq!(lengthened(&affine(u64::MAX - 5, 1 << 62, 1 << 60, Stride::default()), 2, 64), None);
    }
}
