//! A program that moves many files piece by piece: one larger buffer would join the calls of all of them, whereas each file alone is
//! too little to be worth a change.

use crate::advise::{Group, Use};
use crate::result::{Habit, Shape, severity};
use crate::rules::with_most_calls;
use crate::stake::Stake;
use iotrail_model::places::common_directory;
use iotrail_workflow::why::PathTimes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Name of the rule.
pub(crate) const RULE: &str = "small-buffers";
/// Fewer names are advised on one by one.
const MANY: usize = 16;
/// What less of the elapsed time is at stake for is not worth a change of a program.
const LEAST_SHARE: f64 = 0.01;

const FIX: &str = "let the program move files in larger pieces: its block size (tar -b, dd bs=), setvbuf, open(..., buffering=...); \
     at least as large as a usual file, up to 1 MiB";
const ASSUMES: &str = "the data of a file may be read ahead, and be written when the buffer is full";

/// The programs with runs of adjacent accesses in many files, of which none has most of what would be saved.
pub(crate) fn small_buffers(groups: &BTreeMap<(Use, &'static str), Group>, times: &PathTimes) -> Vec<Habit> {
    let mut programs: BTreeMap<&Arc<str>, Vec<(&Arc<str>, &Group)>> = BTreeMap::new();
    for (((path, program, _), shape), group) in groups {
        if *shape == Shape::Adjacent.name() {
            programs.entry(program).or_default().push((path, group));
        }
    }
    programs.into_iter().filter_map(|(program, members)| habit(program, &members, times)).collect()
}

fn habit(program: &str, members: &[(&Arc<str>, &Group)], times: &PathTimes) -> Option<Habit> {
    let mut files: BTreeMap<&str, u64> = BTreeMap::new();
    let mut stake = Stake::default();
    for (path, group) in members {
        *files.entry(path).or_default() += group.calls();
        stake.join(&group.stake);
    }
    let saved = |group: &Group| group.saved.unwrap_or_default();
    let saved_ns = members.iter().map(|(_, group)| saved(group)).fold(0, u64::saturating_add);
    let most = members.iter().map(|(_, group)| saved(group)).max()?;
    let (at_stake_ns, share) = stake.most(times);
    if files.len() < MANY || share.is_none_or(|share| share < LEAST_SHARE) || most > saved_ns / 2 {
        return None;
    }
    let processes: BTreeSet<_> = members.iter().flat_map(|(_, group)| &group.processes).collect();
    let calls = files.values().sum();
    let directory = common_directory(files.keys().copied());
    let example =
        members.iter().filter_map(|(_, group)| group.example.as_ref()).max_by_key(|example| example.calls)?;
    Some(Habit {
        rule: RULE,
        severity: severity(share),
        file: if directory.is_empty() { "/" } else { directory }.to_owned(),
        program: program.to_owned(),
        processes: processes.len() as u64,
        calls,
        saved_calls: members.iter().map(|(_, group)| group.saved_calls()).sum(),
        saved_ns: Some(saved_ns),
        at_stake_ns,
        share,
        amount: files.len() as u64,
        places: with_most_calls(files),
        fix: FIX,
        assumes: ASSUMES,
        example: example.clone(),
    })
}
