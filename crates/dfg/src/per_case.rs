//! Sums of each case, which only a comparison needs: its test relabels whole cases.

use crate::vertex::Relation;
use hashbrown::HashMap;
use iotrail_query::CaseKey;

/// A finished case and its sums.
#[derive(Clone, Debug)]
pub(crate) struct SummedCase {
    pub(crate) key: CaseKey,
    pub(crate) slot: usize,
    pub(crate) sums: CaseSums,
}

/// The activities and relations of one case.
#[derive(Clone, Debug, Default)]
pub(crate) struct CaseSums {
    pub(crate) nodes: HashMap<u32, NodeSum, foldhash::fast::RandomState>,
    pub(crate) edges: HashMap<Relation, EdgeSum, foldhash::fast::RandomState>,
}

/// An activity within one case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeSum {
    pub(crate) count: u64,
    /// Events that have a duration, and the sum of their durations.
    pub(crate) timed: u64,
    pub(crate) duration: u64,
    /// The part of it that is I/O time.
    pub(crate) io: u64,
    /// Events that have a size, and the sum of their sizes.
    pub(crate) sized: u64,
    pub(crate) bytes: u64,
}

/// A relation within one case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EdgeSum {
    pub(crate) count: u64,
    /// Occurrences that have a gap, and the sum of their gaps.
    pub(crate) gaps: u64,
    pub(crate) gap_sum: i128,
}

impl NodeSum {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.timed += other.timed;
        self.duration = self.duration.saturating_add(other.duration);
        self.io = self.io.saturating_add(other.io);
        self.sized += other.sized;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl EdgeSum {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.gaps += other.gaps;
        self.gap_sum += other.gap_sum;
    }
}

impl CaseSums {
    pub(crate) fn event(&mut self, activity: u32, duration: Option<u64>, is_io: bool, size: Option<u64>) {
        let event = NodeSum {
            count: 1,
            timed: u64::from(duration.is_some()),
            duration: duration.unwrap_or(0),
            io: duration.filter(|_| is_io).unwrap_or(0),
            sized: u64::from(size.is_some()),
            bytes: size.unwrap_or(0),
        };
        self.nodes.entry(activity).or_default().merge(&event);
    }

    pub(crate) fn follow(&mut self, relation: Relation, gap: Option<i64>) {
        let one = EdgeSum { count: 1, gaps: u64::from(gap.is_some()), gap_sum: gap.unwrap_or(0).into() };
        self.edges.entry(relation).or_default().merge(&one);
    }

    /// Adds what follows in the same case.
    pub(crate) fn merge(&mut self, next: &Self) {
        next.nodes.iter().for_each(|(&activity, sum)| self.nodes.entry(activity).or_default().merge(sum));
        next.edges.iter().for_each(|(&relation, sum)| self.edges.entry(relation).or_default().merge(sum));
    }

    /// Adds ● and ■.
    pub(crate) fn close(&mut self, first: u32, last: u32) {
        self.follow(Relation::first(first), None);
        self.follow(Relation::last(last), None);
    }
}
