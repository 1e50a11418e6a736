//! What pairs of ranks have in common: the same difference, the same partner.
//!
//! Each pair is told once, by the rule that tells most of the pairs that are left.

use super::{PairRow, Traffic};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use serde::Serialize;

/// The most rules that are looked for; what they leave is told in one row.
const MOST: usize = 32;

/// Pairs with something in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PatternRow {
    /// Who sends to whom, such as `rank + 1`; `others` of what no rule tells.
    pub to: String,
    /// Ranks that send so.
    pub ranks: u64,
    /// Pairs of ranks.
    pub pairs: u64,
    /// What they sent.
    #[serde(flatten)]
    pub traffic: Traffic,
}

/// A rule by which a receiver follows from the sender, the one that is preferred first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Rule {
    /// Receiver minus sender, by the shorter way around.
    Difference(i64),
    /// The receiver is always this one.
    To(u32),
    /// The sender is always this one.
    From(u32),
    /// The bits in which they differ.
    Bits(u32),
}

impl Rule {
    fn all(pair: &PairRow, ranks: u32) -> [Self; 4] {
        let (from, to) = (pair.from, pair.to);
        [Self::Difference(wrapped(from, to, ranks)), Self::To(to), Self::From(from), Self::Bits(from ^ to)]
    }

    fn text(self) -> String {
        match self {
            Self::Difference(0) => "itself".to_owned(),
            Self::Difference(by @ 1..) => format!("rank + {by}"),
            Self::Difference(by) => format!("rank - {}", by.unsigned_abs()),
            Self::To(rank) => format!("all to {rank}"),
            Self::From(rank) => format!("{rank} to all"),
            Self::Bits(bits) => format!("rank xor {bits}"),
        }
    }
}

/// Receiver minus sender in (-n/2, n/2].
fn wrapped(from: u32, to: u32, ranks: u32) -> i64 {
    let (ranks, by) = (i64::from(ranks.max(1)), i64::from(to) - i64::from(from));
    let by = by.rem_euclid(ranks);
    if by > ranks / 2 { by - ranks } else { by }
}

/// The rules of these pairs of so many ranks, most pairs first.
#[must_use]
pub fn patterns(pairs: &[PairRow], ranks: u32) -> Vec<PatternRow> {
    let mut left: Vec<&PairRow> = pairs.iter().collect();
    let mut rows = Vec::new();
    while rows.len() < MOST {
        let Some(rule) = most_frequent(&left, ranks) else { break };
        let (told, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|pair| Rule::all(pair, ranks).contains(&rule));
        rows.push(row(rule.text(), &told));
        left = others;
    }
    if !left.is_empty() {
        rows.push(row("others".to_owned(), &left));
    }
    rows
}

/// The rule that tells most pairs, at least two.
fn most_frequent(pairs: &[&PairRow], ranks: u32) -> Option<Rule> {
    let mut counts: HashMap<Rule, u64, RandomState> = HashMap::default();
    for rule in pairs.iter().flat_map(|pair| Rule::all(pair, ranks)) {
        *counts.entry(rule).or_default() += 1;
    }
    let best = counts.iter().map(|(rule, count)| (*rule, *count));
    let best = best.max_by_key(|&(rule, count)| (count, std::cmp::Reverse(rule)));
    let (rule, count) = best.filter(|(_, count)| *count > 1)?;
    Some(if matches!(rule, Rule::Bits(_)) { neighbours(&counts, count).unwrap_or(rule) } else { rule })
}

/// A difference that, together with its opposite, tells more pairs than that: neighbours exchange in both directions.
fn neighbours(counts: &HashMap<Rule, u64, RandomState>, most: u64) -> Option<Rule> {
    let both = |(rule, count): (&Rule, &u64)| {
        let Rule::Difference(by @ 1..) = *rule else { return None };
        let back = counts.get(&Rule::Difference(-by))?;
        let rule = if back > count { Rule::Difference(-by) } else { *rule };
        Some((count + back, std::cmp::Reverse(rule)))
    };
    let (told, rule) = counts.iter().filter_map(both).max()?;
    (told > most).then_some(rule.0)
}

fn row(to: String, pairs: &[&PairRow]) -> PatternRow {
    let mut senders: Vec<u32> = pairs.iter().map(|pair| pair.from).collect();
    senders.sort_unstable();
    senders.dedup();
    let mut traffic = Traffic::default();
    pairs.iter().for_each(|pair| traffic.add(pair.traffic));
    PatternRow { to, ranks: senders.len() as u64, pairs: pairs.len() as u64, traffic }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_few_ranks_are_no_butterfly() {
        let chain = (0..3).flat_map(|rank| [(rank, rank + 1), (rank + 1, rank)]);
        let told = |of: Vec<PatternRow>| of.into_iter().map(|row| (row.to, row.pairs)).collect::<Vec<_>>();
        let both = [("rank + 1".to_owned(), 3), ("rank - 1".to_owned(), 3)];
        assert_eq!(told(patterns(&pairs(chain), 4)), both);
        let butterfly = (0..4).flat_map(|rank| [(rank, rank ^ 1), (rank, rank ^ 2)]);
        assert!(told(patterns(&pairs(butterfly), 4)).contains(&("rank xor 1".to_owned(), 4)));
    }

    fn pairs(of: impl IntoIterator<Item = (u32, u32)>) -> Vec<PairRow> {
        let traffic = Traffic { messages: 1, bytes: 10 };
        of.into_iter().map(|(from, to)| PairRow { from, to, traffic }).collect()
    }

    fn found(of: impl IntoIterator<Item = (u32, u32)>, ranks: u32) -> Vec<(String, u64, u64)> {
        patterns(&pairs(of), ranks).into_iter().map(|row| (row.to, row.ranks, row.pairs)).collect()
    }

    fn told(rows: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
        rows.iter().map(|&(to, ranks, pairs)| (to.to_owned(), ranks, pairs)).collect()
    }

    #[test]
    fn a_ring_and_a_gather_are_two_rules() {
        let ring = (0..8).map(|rank| (rank, (rank + 1) % 8));
        let to_root = (2..7).map(|rank| (rank, 0));
        let expected = told(&[("rank + 1", 8, 8), ("all to 0", 5, 5)]);
        assert_eq!(found(ring.chain(to_root), 8), expected);
    }

    #[test]
    fn a_butterfly_is_told_by_bits_and_a_master_by_its_rank() {
        let stage = (0..8).map(|rank| (rank, rank ^ 2));
        assert_eq!(found(stage, 8), told(&[("rank xor 2", 8, 8)]));
        assert_eq!(found((1..6).map(|rank| (0, rank)), 6), told(&[("0 to all", 1, 5)]));
        assert_eq!(found([(3, 3), (1, 4)], 6), told(&[("others", 2, 2)]));
    }

    #[test]
    fn differences_go_the_shorter_way_around() {
        assert_eq!([(0, 5), (5, 0), (0, 3), (3, 0), (2, 2)].map(|(a, b)| wrapped(a, b, 6)), [-1, 1, 3, 3, 0]);
    }

    #[test]
    fn every_pair_is_told_once_however_many_there_are() {
        let all = (0..40_u32).flat_map(|from| (0..40).map(move |to| (from, to)));
        let rows = patterns(&pairs(all), 40);
        assert_eq!(rows.iter().map(|row| row.pairs).sum::<u64>(), 1600);
        assert_eq!(rows.iter().map(|row| row.traffic.bytes).sum::<u64>(), 16_000);
        assert_eq!((rows.len(), rows[MOST].to.as_str()), (MOST + 1, "others"));
    }
}
