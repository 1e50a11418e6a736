//! A set of activities: those whose details are worth their memory.

use iotrail_query::ActivityId;
use std::sync::Arc;

/// A set of activities, cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivitySet {
    members: Arc<[bool]>,
}

impl ActivitySet {
    /// Exactly these activities.
    #[must_use]
    pub fn only(activities: impl IntoIterator<Item = ActivityId>) -> Self {
        let mut members = Vec::new();
        for index in activities.into_iter().filter_map(ActivityId::index) {
            if members.len() <= index {
                members.resize(index + 1, false);
            }
            members[index] = true;
        }
        Self { members: members.into() }
    }

    /// Whether the activity is in the set.
    #[inline]
    #[must_use]
    pub fn contains(&self, activity: ActivityId) -> bool {
        activity.index().and_then(|index| self.members.get(index)).copied().unwrap_or(false)
    }
}
