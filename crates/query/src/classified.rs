//! What a query makes of a batch of events: an activity and a case for each row.

use iotrail_model::EventBatch;
use std::fmt;

/// An activity of one query: an index into its table of activity names, or one of two reasons why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ActivityId(pub u32);

impl ActivityId {
    /// The event was selected, and no rule of the mapping matches it.
    pub const UNMAPPED: Self = Self(u32::MAX - 1);
    /// The event was not selected.
    pub const UNSELECTED: Self = Self(u32::MAX);

    /// The index into the table of names, if the event has an activity.
    #[inline]
    #[must_use]
    pub const fn index(self) -> Option<usize> {
        if self.0 < Self::UNMAPPED.0 { Some(self.0 as usize) } else { None }
    }
}

/// A case as the query defines it: the recorded case, and the process, thread or executable image within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct CaseKey(pub u64);

impl CaseKey {
    /// `part` (0, a pid, a tid, the number of an executable image) of the recorded case `case`.
    #[inline]
    #[must_use]
    pub const fn new(case: iotrail_model::CaseId, part: u32) -> Self {
        Self((case.0 as u64) << 32 | part as u64)
    }

    /// The recorded case.
    #[inline]
    #[must_use]
    pub const fn case(self) -> iotrail_model::CaseId {
        iotrail_model::CaseId((self.0 >> 32) as u32)
    }

    /// The part of it.
    #[inline]
    #[must_use]
    pub const fn part(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Display for CaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.case(), self.part())
    }
}

/// A group of recorded cases: an index into the query's table of group names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct GroupId(pub u32);

/// For each row of a batch, its activity and its case. Both columns are as long as the batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classified {
    /// The activity of each row.
    pub activity: Vec<ActivityId>,
    /// The case of each row.
    pub key: Vec<CaseKey>,
}

impl Classified {
    /// Empties both columns, keeping their memory, and reserves room for `batch`.
    pub fn reset(&mut self, batch: &EventBatch) {
        self.activity.clear();
        self.key.clear();
        self.activity.reserve(batch.len);
        self.key.reserve(batch.len);
    }
}
