//! What a synthesis keeps: which recorded cases take part, in which group, and how much is remembered of each.

use iotrail_model::CaseId;
use iotrail_query::GroupId;

const LEFT_OUT: u32 = u32::MAX;

/// What is accumulated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// By recorded case: 0 without a group, else one more than the group's number, or [`LEFT_OUT`].
    slots: Vec<u32>,
    groups: usize,
    per_case: bool,
}

impl Plan {
    /// All cases, without groups.
    #[must_use]
    pub fn ungrouped(cases: usize) -> Self {
        Self { slots: vec![0; cases], groups: 0, per_case: false }
    }

    /// All cases, divided into `groups` groups; a case may be in none.
    #[must_use]
    pub fn grouped(cases: usize, groups: usize, group: impl Fn(CaseId) -> Option<GroupId>) -> Self {
        let slot = |case: usize| group(CaseId::from_index(case)).map_or(0, |group| group.0 + 1);
        Self { slots: (0..cases).map(slot).collect(), groups, per_case: false }
    }

    /// Leaves out all cases that are in none of the given groups, and keeps sums for each case, as a comparison needs.
    #[must_use]
    pub fn comparing(mut self, groups: [GroupId; 2]) -> Self {
        let chosen = groups.map(|group| group.0 + 1);
        self.slots.iter_mut().filter(|slot| !chosen.contains(slot)).for_each(|slot| *slot = LEFT_OUT);
        self.per_case = true;
        self
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
