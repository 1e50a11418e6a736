//! Whether the clocks of ranks agree: of a barrier no rank is through before the last one has come.

use serde::Serialize;

/// Two ranks whose clocks contradict a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// By how much their clocks differ at least, in ns.
    pub ns: u64,
    /// The rank that was through by its clock.
    pub early: u32,
    /// The rank that had not come by then, by its own.
    pub late: u32,
    /// How many barriers are contradicted.
    pub barriers: u64,
}

/// When a rank came to each barrier of all ranks, and when it was through if that was seen, in ns.
pub(crate) type Meetings = Vec<(i64, Option<i64>)>;

/// The largest contradiction; NULL if there is none, or ranks have other numbers of barriers.
pub(crate) fn disagreement(ranks: &[Meetings]) -> Option<Disagreement> {
    let count = ranks.first()?.len();
    if ranks.iter().any(|meetings| meetings.len() != count) {
        return None;
    }
    let of_barrier = |at: usize| {
        let numbered = || ranks.iter().zip(0_u32..);
        let (came, late) = numbered().map(|(meetings, rank)| (meetings[at].0, rank)).max()?;
        let through = numbered().filter_map(|(meetings, rank)| Some((meetings[at].1?, rank)));
        let (through, early) = through.min()?;
        let ns = u64::try_from(came.saturating_sub(through)).ok().filter(|ns| *ns > 0)?;
        Some(Disagreement { ns, early, late, barriers: 1 })
    };
    let all: Vec<Disagreement> = (0..count).filter_map(of_barrier).collect();
    let worst = all.iter().copied().max_by_key(|found| found.ns)?;
    Some(Disagreement { barriers: all.len() as u64, ..worst })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_through_before_another_one_comes_has_another_clock() {
        let agree = [vec![(10, Some(30)), (50, Some(70))], vec![(25, Some(31)), (40, Some(69))]];
        assert_eq!(disagreement(&agree), None);
        let mut behind = agree;
        behind[1].iter_mut().for_each(|(came, through)| {
            *came += 1000;
            *through = through.map(|at| at + 1000);
        });
        // 25 + 1000 - 30, and 40 + 1000 - 70.
        let expected = Disagreement { ns: 995, early: 0, late: 1, barriers: 2 };
        assert_eq!(disagreement(&behind), Some(expected));
        behind[1].pop();
        assert_eq!(disagreement(&behind), None, "nobody knows which barriers are the same");
        assert_eq!(disagreement(&[]), None);
    }
}
