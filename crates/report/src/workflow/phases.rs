//! Phases at a glance (Dun et al., Table 5): what each group of processes read and wrote.

use iotrail_stats::result::{PhaseRow, Profile};
use serde::Serialize;

/// The table, as the profile has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PagePhases {
    /// The groups, the first to start first; if there are too many, those with the most bytes.
    pub list: Vec<PhaseRow>,
    /// How many more groups there are.
    pub more: u64,
    /// All groups together.
    pub total: PhaseRow,
}

/// The table of a profile; nothing if no process is known.
pub(crate) fn phases(profile: &Profile, limit: usize) -> Option<PagePhases> {
    if profile.phases.is_empty() {
        return None;
    }
    let mut order: Vec<usize> = (0..profile.phases.len()).collect();
    let bytes = |row: &PhaseRow| row.bytes_read.saturating_add(row.bytes_written);
    order.sort_by_key(|at| std::cmp::Reverse(bytes(&profile.phases[*at])));
    order.truncate(limit);
    order.sort_unstable();
    let list: Vec<PhaseRow> = order.into_iter().map(|at| profile.phases[at].clone()).collect();
    let more = (profile.phases.len() - list.len()) as u64;
    Some(PagePhases { list, more, total: profile.total.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_with_the_most_bytes_stay_in_the_order_of_their_starts() {
        let row =
            |group: &str, bytes| PhaseRow { group: group.into(), bytes_read: bytes, ..PhaseRow::default() };
        let profile = Profile { phases: vec![row("a", 5), row("b", 1), row("c", 9)], ..Profile::default() };
        let page = phases(&profile, 2).unwrap();
        let names: Vec<&str> = page.list.iter().map(|row| row.group.as_str()).collect();
        assert_eq!((names, page.more), (vec!["a", "c"], 1));
        assert_eq!(phases(&Profile::default(), 2), None);
    }
}
