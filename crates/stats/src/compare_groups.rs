//! From one log with groups of cases (runs, hosts, ranks) to comparisons of their profiles.

use crate::compare::{PhaseComparison, compare};
use crate::error::StatsError;
use crate::options::ProfileOptions;
use crate::profile::profile;
use crate::result::Profile;
use iotrail_query::{GroupId, ProcessGroups, ProcessTable, Query};
use iotrail_trail::EventLog;
use std::collections::BTreeMap;

/// The profiles of two groups of the query's cases side by side, for each of `pairs` (the baseline first), by name.
///
/// # Errors
/// If the log cannot be read, or a group is none of the query's.
pub fn compare_groups(
    log: &EventLog,
    query: &Query,
    processes: &ProcessTable,
    groups: &ProcessGroups,
    pairs: &[(String, String)],
    options: &ProfileOptions,
) -> Result<Vec<PhaseComparison>, StatsError> {
    let mut profiles: BTreeMap<&str, Profile> = BTreeMap::new();
    for name in pairs.iter().flat_map(|(a, b)| [a, b]) {
        if profiles.contains_key(&**name) {
            continue;
        }
        let group = query.groups().iter().position(|known| known == name);
        let only = group.ok_or_else(|| StatsError::NoSuchGroup(name.clone()))?;
        let options = ProfileOptions { only: Some(GroupId(only as u32)), ..options.clone() };
        profiles.insert(name, profile(log, query, processes, groups, &options)?);
    }
    Ok(pairs.iter().map(|(a, b)| compare(&profiles[&**a], &profiles[&**b], (a, b))).collect())
}
