//! Where pieces of a log meet: the cases that may go on in the rows before or after.
//!
//! Rows are sorted by recorded case, so only the first and the last recorded case of a piece can go on elsewhere; all
//! others are closed at once and live on only in sums. What remains is the first and last activity of each open case
//! (they close the boundary), its trace so far and the set of its relations.

use crate::per_case::CaseSums;
use crate::plan::Plan;
use crate::relation_set::RelationSet;
use crate::totals::Totals;
use crate::variant::Trace;
use crate::vertex::Relation;
use hashbrown::HashMap;
use iotrail_model::CaseId;
use iotrail_query::CaseKey;

/// A case of which more may come.
#[derive(Clone, Debug)]
pub(crate) struct OpenCase {
    pub(crate) key: CaseKey,
    /// Its group's slot in the plan.
    pub(crate) slot: usize,
    /// Whether its time stamps mean anything.
    pub(crate) timed: bool,
    /// Whether they tell how far apart calls are and which overlap.
    pub(crate) times_calls: bool,
    /// NULL while no event was mapped.
    pub(crate) ends: Option<BoundaryEvents>,
    pub(crate) trace: Trace,
    /// The relations within the piece.
    pub(crate) relations: RelationSet,
    pub(crate) sums: Option<Box<CaseSums>>,
}

/// The first and the last mapped event of a piece of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundaryEvents {
    pub(crate) first: u32,
    pub(crate) first_start: i64,
    pub(crate) last: u32,
    /// NULL if the end was never seen, or if time stamps do not tell it.
    pub(crate) last_end: Option<i64>,
}

impl BoundaryEvents {
    /// Time from the end of the last event to `start`.
    #[inline]
    pub(crate) fn gap_to(&self, start: i64) -> Option<i64> {
        self.last_end.map(|end| start.saturating_sub(end))
    }
}

/// The open cases of consecutive rows.
#[derive(Clone, Debug, Default)]
pub struct OpenCases {
    /// The first and the last recorded case; NULL without rows.
    recorded: Option<(CaseId, CaseId)>,
    open: Vec<OpenCase>,
}

impl OpenCases {
    /// Keeps those of the cases (in the order of their first rows) that may go on beyond the piece, closes all others.
    pub(crate) fn new(cases: Vec<OpenCase>, totals: &mut Totals) -> Self {
        let recorded =
            cases.first().zip(cases.last()).map(|(first, last)| (first.key.case(), last.key.case()));
        let mut open_cases = Self { recorded, open: cases };
        open_cases.close_inner(totals);
        open_cases
    }

    /// Joins the boundaries of the rows that follow.
    pub(crate) fn join(&mut self, next: Self, totals: &mut Totals) {
        let Some((next_first, next_last)) = next.recorded else { return };
        let first = self.recorded.map_or(next_first, |(first, _)| first);
        self.recorded = Some((first, next_last));
        let places: HashMap<CaseKey, usize, foldhash::fast::RandomState> =
            self.open.iter().enumerate().map(|(index, case)| (case.key, index)).collect();
        for case in next.open {
            match places.get(&case.key) {
                Some(&index) => self.open[index].join(case, totals),
                None => self.open.push(case),
            }
        }
        self.close_inner(totals);
    }

    fn close_inner(&mut self, totals: &mut Totals) {
        let Some((first, last)) = self.recorded else { return };
        let inner = |case: &OpenCase| case.key.case() != first && case.key.case() != last;
        self.open.extract_if(.., |case| inner(case)).for_each(|case| totals.close(case));
    }

    /// Closes everything: there are no more rows on either side.
    pub(crate) fn close(self, totals: &mut Totals) {
        self.open.into_iter().for_each(|case| totals.close(case));
    }
}

/// The boundaries of consecutive pieces, joined, and the sums of the cases that they closed.
#[derive(Clone, Debug)]
pub struct ClosedCases {
    joined: OpenCases,
    totals: Totals,
}

impl ClosedCases {
    pub(crate) fn new(slots: usize) -> Self {
        Self { joined: OpenCases::default(), totals: Totals::new(slots) }
    }

    /// Adds the boundaries of the piece that follows.
    pub(crate) fn push(&mut self, open_cases: OpenCases) {
        self.joined.join(open_cases, &mut self.totals);
    }

    /// What the boundaries and the cases that crossed them add to the totals.
    pub(crate) fn close(mut self) -> Totals {
        self.joined.close(&mut self.totals);
        self.totals
    }
}

impl OpenCase {
    pub(crate) fn new(key: CaseKey, slot: usize, plan: &Plan) -> Self {
        Self {
            key,
            slot,
            timed: plan.has_times(key.case()),
            times_calls: plan.times_calls(key.case()),
            ends: None,
            trace: Trace::default(),
            relations: RelationSet::default(),
            sums: plan.per_case().then(Box::default),
        }
    }

    /// Appends the piece that follows.
    fn join(&mut self, next: Self, totals: &mut Totals) {
        if let (Some(mine), Some(theirs)) = (self.ends, next.ends) {
            let relation = Relation::between(mine.last, theirs.first);
            let gap = mine.gap_to(theirs.first_start);
            totals.follow(relation, self.slot, gap);
            self.relations.insert(relation);
            if let Some(sums) = &mut self.sums {
                sums.follow(relation, gap);
            }
        }
        self.ends = match (self.ends, next.ends) {
            (Some(mine), Some(theirs)) => {
                Some(BoundaryEvents { first: mine.first, first_start: mine.first_start, ..theirs })
            }
            (mine, theirs) => mine.or(theirs),
        };
        self.trace.extend(next.trace);
        self.relations.merge(next.relations);
        if let (Some(mine), Some(theirs)) = (&mut self.sums, &next.sums) {
            mine.merge(theirs);
        }
    }
}
