//! Everything that is summed over events and whole cases, in any order.

use crate::data_rate::RateSum;
use crate::edges::Edges;
use crate::file_set::FileSet;
use crate::intervals::Intervals;
use crate::once::Once;
use crate::open_cases::OpenCase;
use crate::per_case::{CaseSums, SummedCase};
use crate::quantile::Quantiles;
use crate::result::EventCounts;
use crate::variant::Variants;
use crate::vertex::Relation;

/// The order-free part of a partial result.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    pub(crate) events: EventCounts,
    /// First start and last end, if there is a mapped event.
    pub(crate) span: Option<(i64, i64)>,
    /// By activity.
    pub(crate) nodes: Vec<NodeTotals>,
    /// By activity and slot of the plan, as many for each activity as there are slots.
    node_sums: Vec<NodeSums>,
    pub(crate) edges: Edges,
    /// Traces by slot of the plan.
    pub(crate) cases: Vec<u64>,
    pub(crate) cases_without_trace: u64,
    pub(crate) variants: Variants,
    /// What a case that is being closed had already.
    relations_of_case: Once,
    activities_of_case: Once,
    /// Sums of each case, if the plan asks for them.
    pub(crate) summed_cases: Vec<SummedCase>,
}

/// An activity, summed over all groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeTotals {
    pub(crate) durations: Quantiles,
    pub(crate) longest: Option<i64>,
    pub(crate) sizes: Quantiles,
    pub(crate) largest: Option<i64>,
    pub(crate) intervals: Intervals,
    pub(crate) files: FileSet,
}

/// What is summed for each group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeSums {
    pub(crate) count: u64,
    pub(crate) cases: u64,
    pub(crate) failures: u64,
    /// Events that have a duration, and the sum of their durations.
    pub(crate) timed: u64,
    pub(crate) duration: u64,
    /// The part of it that is waiting.
    pub(crate) waiting: u64,
    /// The part of it that requests were in flight.
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) rate: RateSum,
}

impl NodeSums {
    /// Sums of unsigned numbers saturate, which does not depend on their order.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.cases += other.cases;
        self.failures += other.failures;
        self.timed += other.timed;
        self.duration = self.duration.saturating_add(other.duration);
        self.waiting = self.waiting.saturating_add(other.waiting);
        self.requests = self.requests.saturating_add(other.requests);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.rate.merge(other.rate);
    }

    /// The time of the events, if anything is known of it.
    pub(crate) fn known_duration(&self) -> Option<u64> {
        (self.timed > 0 || self.count == 0).then_some(self.duration)
    }
}

impl NodeTotals {
    fn merge(&mut self, other: Self) {
        self.durations.merge(other.durations);
        self.longest = self.longest.max(other.longest);
        self.sizes.merge(other.sizes);
        self.largest = self.largest.max(other.largest);
        self.intervals.merge(other.intervals);
        self.files.merge(other.files);
    }
}

impl Totals {
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            events: EventCounts::default(),
            span: None,
            nodes: Vec::new(),
            node_sums: Vec::new(),
            edges: Edges::new(slots),
            cases: vec![0; slots],
            cases_without_trace: 0,
            variants: Variants::default(),
            relations_of_case: Once::default(),
            activities_of_case: Once::default(),
            summed_cases: Vec::new(),
        }
    }

    fn slots(&self) -> usize {
        self.cases.len()
    }

    /// The activity of that number and its sums within one group.
    #[inline]
    pub(crate) fn node(&mut self, activity: usize, slot: usize) -> (&mut NodeTotals, &mut NodeSums) {
        if activity >= self.nodes.len() {
            self.reach(activity);
        }
        let slots = self.slots();
        (&mut self.nodes[activity], &mut self.node_sums[activity * slots + slot])
    }

    /// The sums of an activity by slot of the plan.
    pub(crate) fn node_sums(&self, activity: usize) -> &[NodeSums] {
        &self.node_sums[activity * self.slots()..][..self.slots()]
    }

    #[cold]
    fn reach(&mut self, activity: usize) {
        self.nodes.resize_with(activity + 1, NodeTotals::default);
        self.node_sums.resize((activity + 1) * self.slots(), NodeSums::default());
    }

    /// Counts one occurrence of a relation and returns its number.
    #[inline(always)]
    pub(crate) fn follow(&mut self, relation: Relation, slot: usize, gap: Option<i64>) -> usize {
        let number = self.edges.number(relation);
        let (edge, sums) = self.edges.get_mut(number, slot);
        sums.count += 1;
        if let Some(gap) = gap {
            sums.gaps += 1;
            sums.gap_sum += i128::from(gap);
            edge.gaps.push(gap);
        }
        number
    }

    /// Adds a case of which nothing more will come.
    pub(crate) fn close(&mut self, mut case: OpenCase) {
        let Some(ends) = case.ends else {
            self.cases_without_trace += 1;
            return;
        };
        let slot = case.slot;
        self.cases[slot] += 1;
        for relation in [Relation::first(ends.first), Relation::last(ends.last)] {
            self.follow(relation, slot, None);
            case.relations.insert(relation);
        }
        self.relations_of_case.begin();
        self.activities_of_case.begin();
        for relation in case.relations.into_list() {
            let number = self.edges.number(relation);
            self.edges.get_mut(number, slot).1.cases += u64::from(self.relations_of_case.is_first(number));
            let activity = relation.to.index().filter(|activity| self.activities_of_case.is_first(*activity));
            if let Some(activity) = activity {
                self.node(activity, slot).1.cases += 1;
            }
        }
        if let Some(mut sums) = case.sums {
            sums.close(ends.first, ends.last);
            self.keep_sums(&case.key, slot, *sums);
        }
        self.variants.add(case.key, case.trace);
    }

    fn keep_sums(&mut self, key: &iotrail_query::CaseKey, slot: usize, sums: CaseSums) {
        self.summed_cases.push(SummedCase { key: *key, slot, sums });
    }

    /// Whether nothing was added yet.
    fn is_empty(&self) -> bool {
        self.events.total == 0
            && self.cases_without_trace == 0
            && self.edges.list.is_empty()
            && self.summed_cases.is_empty()
    }

    pub(crate) fn merge(&mut self, mut other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.events.total += other.events.total;
        self.events.mapped += other.events.mapped;
        self.events.unmapped += other.events.unmapped;
        self.events.add_unmapped(other.events.unmapped_ns);
        self.span = match (self.span, other.span) {
            (Some(mine), Some(theirs)) => Some((mine.0.min(theirs.0), mine.1.max(theirs.1))),
            (mine, theirs) => mine.or(theirs),
        };
        if other.nodes.len() > self.nodes.len() {
            self.reach(other.nodes.len() - 1);
        }
        self.node_sums.iter_mut().zip(&other.node_sums).for_each(|(mine, theirs)| mine.merge(theirs));
        self.nodes.iter_mut().zip(other.nodes).for_each(|(mine, theirs)| mine.merge(theirs));
        self.edges.merge(other.edges);
        self.cases.iter_mut().zip(&other.cases).for_each(|(mine, theirs)| *mine += theirs);
        self.cases_without_trace += other.cases_without_trace;
        self.variants.merge(other.variants);
        self.summed_cases.append(&mut other.summed_cases);
    }
}
