//! The cases of a trace: the numbers of their calls, their events, and who ran in them.

use crate::CaseSummary;
use crate::turns::Turns;
use hashbrown::HashMap;
use iotrail_model::{CaseId, Pid};

/// All cases that had an item.
#[derive(Debug, Default)]
pub(crate) struct Cases {
    cases: Vec<Case>,
    by_id: HashMap<CaseId, usize, foldhash::fast::FixedState>,
    last: Option<(CaseId, usize)>,
}

#[derive(Debug, Default)]
struct Case {
    id: CaseId,
    /// Calls that began.
    begun: u64,
    /// Events handed out.
    events: u64,
    turns: Turns,
}

impl Cases {
    /// The number of a call that begins.
    #[inline]
    pub(crate) fn next_seq(&mut self, case: CaseId) -> u64 {
        let begun = &mut self.get(case).begun;
        *begun += 1;
        *begun - 1
    }

    /// An event is handed out.
    #[inline]
    pub(crate) fn count_event(&mut self, case: CaseId) {
        self.get(case).events += 1;
    }

    /// A process made a call.
    #[inline]
    pub(crate) fn runs(&mut self, case: CaseId, pid: Pid) {
        self.get(case).turns.runs(pid);
    }

    /// A process ended.
    pub(crate) fn ends(&mut self, case: CaseId, pid: Pid) {
        self.get(case).turns.ends(pid);
    }

    /// What can be said of each, in the order of their ids.
    pub(crate) fn summaries(&self) -> Vec<CaseSummary> {
        let mut summaries: Vec<CaseSummary> = self.cases.iter().map(Case::summary).collect();
        summaries.sort_by_key(|summary| summary.case);
        summaries
    }

    #[inline]
    fn get(&mut self, id: CaseId) -> &mut Case {
        let index = match self.last {
            Some((last, index)) if last == id => index,
            _ => self.find(id),
        };
        &mut self.cases[index]
    }

    fn find(&mut self, id: CaseId) -> usize {
        let cases = &mut self.cases;
        let index = *self.by_id.entry(id).or_insert_with(|| {
            cases.push(Case { id, ..Case::default() });
            cases.len() - 1
        });
        self.last = Some((id, index));
        index
    }
}

impl Case {
    fn summary(&self) -> CaseSummary {
        CaseSummary { case: self.id, events: self.events, interleaved: self.turns.interleaved() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_has_numbers_events_and_turns_of_its_own() {
        let mut cases = Cases::default();
        let (one, other) = (CaseId(7), CaseId(3));
        assert_eq!([one, one, other, one].map(|case| cases.next_seq(case)), [0, 1, 0, 2]);
        cases.count_event(other);
        [1, 2, 1, 2].into_iter().for_each(|pid| cases.runs(one, Pid(pid)));
        [1, 2, 1].into_iter().for_each(|pid| cases.runs(other, Pid(pid)));
        let said =
            cases.summaries().iter().map(|of| (of.case, of.events, of.interleaved)).collect::<Vec<_>>();
        assert_eq!(said, [(other, 1, false), (one, 0, true)]);
    }
}
