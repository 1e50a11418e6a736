//! What a synthesis keeps: which recorded cases take part, in which group, and how much is remembered of each.

use iotrail_model::CaseId;
use iotrail_query::GroupId;

const LEFT_OUT: u32 = u32::MAX;

/// What is accumulated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// By recorded case: 0 without a group, else one more than the group's number, or [`LEFT_OUT`].
    slots: Vec<u32>,
    /// By recorded case, whether its time stamps only count events.
    timeless: Vec<bool>,
    /// By recorded case, whether its time stamps tell nothing of single calls.
    coarse: Vec<bool>,
    groups: usize,
    per_case: bool,
}

impl Plan {
    /// All cases, without groups.
    #[must_use]
    pub fn ungrouped(cases: usize) -> Self {
        Self { slots: vec![0; cases], ..Self::default() }
    }

    /// All cases, divided into `groups` groups; a case may be in none.
    #[must_use]
    pub fn grouped(cases: usize, groups: usize, group: impl Fn(CaseId) -> Option<GroupId>) -> Self {
        let slot = |case: usize| group(CaseId::from_index(case)).map_or(0, |group| group.0 + 1);
        Self { slots: (0..cases).map(slot).collect(), groups, ..Self::default() }
    }

    /// The two groups of a comparison, in this order; all other cases are left out. Sums are kept for each case.
    #[must_use]
    pub fn comparing(cases: usize, groups: [GroupId; 2], group: impl Fn(CaseId) -> Option<GroupId>) -> Self {
        let slot = |case: usize| {
            let group = group(CaseId::from_index(case))?;
            groups.iter().position(|chosen| *chosen == group)
        };
        let slots = (0..cases).map(|case| slot(case).map_or(LEFT_OUT, |index| index as u32 + 1)).collect();
        Self { slots, groups: 2, per_case: true, ..Self::default() }
    }

    /// Times mean nothing in the cases of these numbers: such cases have no gaps, no span and no concurrency.
    #[must_use]
    pub fn without_times(mut self, timeless: impl Fn(usize) -> bool) -> Self {
        self.timeless = (0..self.slots.len()).map(timeless).collect();
        self
    }

    /// Times mean nothing for single calls in the cases of these numbers: such cases have no gaps and no concurrency.
    #[must_use]
    pub fn with_coarse_times(mut self, coarse: impl Fn(usize) -> bool) -> Self {
        self.coarse = (0..self.slots.len()).map(coarse).collect();
        self
    }

    /// Whether times tell of single calls how far apart they are and which overlap.
    pub(crate) fn times_calls(&self, case: CaseId) -> bool {
        self.has_times(case) && !self.coarse.get(case.index()).is_some_and(|coarse| *coarse)
    }

    pub(crate) fn has_times(&self, case: CaseId) -> bool {
        !self.timeless.get(case.index()).is_some_and(|timeless| *timeless)
    }

    /// Number of slots: one for each group, and one for cases without a group.
    pub(crate) fn slots(&self) -> usize {
        self.groups + 1
    }

    /// The slot of a case, NULL if it is left out.
    pub(crate) fn slot(&self, case: CaseId) -> Option<usize> {
        match self.slots.get(case.index()) {
            Some(&LEFT_OUT) => None,
            Some(&slot) => Some((slot as usize).min(self.groups)),
            None => Some(0),
        }
    }

    pub(crate) fn per_case(&self) -> bool {
        self.per_case
    }
}
