//! Runs: which recorded cases are one execution of a command, and the two sides of a comparison.

use crate::group::Groups;
use crate::query::Query;
use crate::{GroupId, case_names};
use iotrail_model::{Case, CaseId};
use iotrail_trail::{EventLog, Trail};
use std::collections::BTreeMap;

/// By recorded case, the lowest case of its run. Where trails are compared, a trail is a run; else the cases of one command in
/// one trail and group are.
#[must_use]
pub fn runs_of_cases(log: &EventLog, query: &Query) -> Vec<u32> {
    let by_trail = query.groups_trails();
    let key = |case: &Case| {
        (log.trail_number(case.id), query.group(case.id), case.name.cid.clone().filter(|_| !by_trail))
    };
    let mut first = BTreeMap::new();
    log.cases().iter().map(|case| *first.entry(key(case)).or_insert(case.id.0)).collect()
}

impl Groups {
    /// The first trails of a log against the others.
    #[must_use]
    pub fn sides(log: &EventLog, first: usize) -> Self {
        let names = case_names::unique_texts(log.trails().iter().map(Trail::name).collect());
        let (a, b) = names.split_at(first.min(names.len()));
        let side = |case: &Case| GroupId(u32::from(log.trail_number(case.id) >= first));
        let of_case: Vec<GroupId> = log.cases().iter().map(side).collect();
        let label = |side: u32| {
            let mut cases = log.cases().iter().filter(|case| of_case[case.id.index()] == GroupId(side));
            let label = cases.next()?.label.clone()?;
            cases.all(|case| case.label.as_ref() == Some(&label)).then_some(label)
        };
        let name = |side: u32, names: &[String]| label(side).unwrap_or_else(|| side_name(names));
        let mut names = vec![name(0, a), name(1, b)];
        if names[0] == names[1] {
            names = ["A", "B"].map(str::to_owned).to_vec();
        }
        Self { names, of_case: of_case.into_iter().map(Some).collect() }
    }

    /// The group of a case.
    #[must_use]
    pub fn of(&self, case: CaseId) -> Option<GroupId> {
        self.of_case.get(case.index()).copied().flatten()
    }
}

/// What trails are called together: what their names begin with, without a number.
fn side_name(names: &[String]) -> String {
    let Some((first, others)) = names.split_first() else { return "nothing".to_owned() };
    if others.is_empty() {
        return first.clone();
    }
    let shared = |length: &usize| others.iter().all(|name| name.get(..*length) == first.get(..*length));
    let length = (0..=first.len()).rev().filter(|at| first.is_char_boundary(*at)).find(shared).unwrap_or(0);
    let common = first[..length].trim_end_matches(|last: char| !last.is_alphabetic());
    if common.is_empty() { format!("{first} and {} more", others.len()) } else { common.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trails_are_called_by_what_their_names_share() {
        let name =
            |names: &[&str]| side_name(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(name(&["before-1.trail", "before-2.trail"]), "before");
        assert_eq!(name(&["run.trail"]), "run.trail");
        assert_eq!(name(&["x1", "y1", "z1"]), "x1 and 2 more");
        assert_eq!(name(&["naïf1", "naïve2"]), "naï");
        assert_eq!(name(&["ä1", "à1"]), "ä1 and 1 more");
    }
}
