//! The result of a comparison of two groups: what changed, ordered by time at stake.

use crate::result::Dfg;
use serde::{Deserialize, Serialize};

/// Two groups of cases side by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// `iotrail-compare/1`.
    pub format: String,
    /// Name of the first group, the baseline.
    pub a: String,
    /// Name of the second group.
    pub b: String,
    /// Whether values are per case, because the groups differ in their number of cases.
    pub per_case: bool,
    /// Number of permutations behind the p-values; 0 if the groups are too small for a test.
    pub permutations: u64,
    /// The changes, largest time at stake first.
    pub changes: Vec<Change>,
    /// The combined graph, both groups in it.
    pub dfg: Dfg,
}

/// One thing that differs between the groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What differs about it.
    pub kind: ChangeKind,
    /// The activity, or the activity before.
    pub activity: String,
    /// The activity after, for a transition.
    pub to: Option<String>,
    /// The measured quantity: `duration_ns`, `bytes`, `count`, `gap_ns`.
    pub measure: String,
    /// Its value in the first group.
    pub value_a: f64,
    /// Its value in the second group.
    pub value_b: f64,
    /// Second minus first.
    pub difference: f64,
    /// Second over first; NULL if the first is 0.
    pub ratio: Option<f64>,
    /// Difference of the time spent in it, nanoseconds, signed: positive if the second group spends more.
    pub time_at_stake_ns: f64,
    /// Share of random relabellings of the cases that differ at least as much; NULL without a test.
    pub p_value: Option<f64>,
    /// Whether noise explains the difference: `p_value` above 0.05 after correction for the number of tests.
    pub noise: Option<bool>,
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Only the second group has it.
    New,
    /// Only the first group has it.
    Gone,
    /// It takes more time for each event.
    Slower,
    /// It takes less time for each event.
    Faster,
    /// It moves more bytes for each event.
    Larger,
    /// It moves fewer bytes for each event.
    Smaller,
    /// It happens more often.
    More,
    /// It happens less often.
    Fewer,
}
