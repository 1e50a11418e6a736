//! The result of a comparison of two groups: what changed, ordered by time at stake.

use crate::result::Dfg;
use serde::{Deserialize, Serialize};

/// The name of the format of a [`Comparison`] as JSON.
pub const COMPARISON_FORMAT: &str = "iotrail-compare/1";

/// Share of the time of all events from which on a change is worth a reader's time.
const NOTABLE_SHARE: f64 = 0.001;
/// Ratio from which on it is, in whichever direction.
const NOTABLE_RATIO: f64 = 1.1;

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
    /// Number of relabellings of the cases behind the p-values (all of them, if they are at most 10,000); 0 if the groups are too small for a test.
    pub permutations: u64,
    /// The changes, largest time at stake first.
    pub changes: Vec<Change>,
    /// The combined graph, both groups in it.
    pub dfg: Dfg,
}

impl Comparison {
    /// The changes worth showing: what only one group has, what differs by a tenth or more, and what is worth at least a
    /// thousandth of the time of all events; largest time at stake first.
    pub fn notable(&self) -> impl Iterator<Item = &Change> {
        let enough = self.dfg.duration_ns as f64 * NOTABLE_SHARE;
        self.changes.iter().filter(move |change| change.is_notable(enough))
    }
}

impl Change {
    fn is_notable(&self, enough_ns: f64) -> bool {
        let exclusive = matches!(self.kind, ChangeKind::New | ChangeKind::Gone);
        let apart = self.ratio.is_none_or(|ratio| !(1.0 / NOTABLE_RATIO..NOTABLE_RATIO).contains(&ratio));
        exclusive || apart || self.time_at_stake_ns.abs() >= enough_ns
    }
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
    /// Share of the relabellings of the cases that differ at least as much; NULL without a test.
    pub p_value: Option<f64>,
    /// Whether noise explains the difference: true if `p_value` is above 0.05, false if it is not even after correction
    /// for the number of tests; NULL in between, without a test, and when the groups are so small that no difference
    /// could ever pass.
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
