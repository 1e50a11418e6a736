//! The result of a comparison of two groups: what changed, ordered by time at stake.

use crate::activity_change::ActivityChange;
use crate::result::{Dfg, Node};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The name of the format of a [`Comparison`] as JSON.
pub const COMPARISON_FORMAT: &str = "iotrail-compare/2";

/// Share of the time of all events from which on a change is worth a reader's time.
const NOTABLE_SHARE: f64 = 0.001;
/// Ratio from which on it is, in whichever direction.
const NOTABLE_RATIO: f64 = 1.1;

/// What could be exchanged between two groups if they did not differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A run of a command.
    #[default]
    Run,
    /// A rank of a run that has several.
    Rank,
}

impl Unit {
    /// `run` or `rank`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Rank => "rank",
        }
    }

    /// `runs` or `ranks`.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Run => "runs",
            Self::Rank => "ranks",
        }
    }
}

/// What chance makes of a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chance {
    /// As of [`Change`].
    pub p_value: f64,
    /// As of [`Change`].
    pub q_value: f64,
    /// As of [`Change`].
    pub significant: bool,
}

/// Two groups of cases side by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// `iotrail-compare/2`.
    pub format: String,
    /// Name of the first group, the baseline.
    pub a: String,
    /// Name of the second group.
    pub b: String,
    /// What counts and times are of: the mean run, or the mean rank if the groups' runs have different numbers of ranks.
    pub per: Unit,
    /// What can be exchanged between the groups: `rank` if runs have several.
    #[serde(default)]
    pub unit: Unit,
    /// Units of the first group.
    pub runs_a: u64,
    /// Units of the second group.
    pub runs_b: u64,
    /// How many runs each group needs before a change of one activity can stand the test.
    pub runs_needed: u64,
    /// Number of divisions of the runs behind the smallest p-values (all of them, if they are at most 20,000); 0 if there are too few runs for a test.
    pub permutations: u64,
    /// Whether chance explains the difference of the elapsed time; NULL without a test.
    pub elapsed_chance: Option<Chance>,
    /// The activities that differ, one row for each: what stands the test first, then the largest difference of I/O time.
    pub activities: Vec<ActivityChange>,
    /// The changes: activities before transitions, what stands the test first, then the largest difference of I/O time; the
    /// changes of one activity by time at stake.
    pub changes: Vec<Change>,
    /// The combined graph, both groups in it.
    pub dfg: Dfg,
}

impl Comparison {
    /// The changes worth showing: what only one group has, what differs by a tenth or more, and what is worth at least a
    /// thousandth of the time of all events; largest time at stake first.
    pub fn notable(&self) -> impl Iterator<Item = &Change> {
        let enough = self.dfg.duration_ns.unwrap_or(0) as f64 * NOTABLE_SHARE;
        self.changes.iter().filter(move |change| change.is_notable(enough))
    }
}

/// A change and the other changes of the same activity or transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause<'a> {
    /// The change with the most time at stake.
    pub change: &'a Change,
    /// Further changes with the same cause, which are not listed on their own.
    pub also: Vec<&'a Change>,
}

impl Comparison {
    /// One for each activity and transition that differs, in the order of the changes.
    #[must_use]
    pub fn causes(&self) -> Vec<Cause<'_>> {
        let mut places: HashMap<(&str, Option<&str>), usize> = HashMap::new();
        let mut causes: Vec<Cause<'_>> = Vec::new();
        for change in &self.changes {
            match places.entry((&change.activity, change.to.as_deref())) {
                Entry::Occupied(place) => causes[*place.get()].also.push(change),
                Entry::Vacant(place) => {
                    place.insert(causes.len());
                    causes.push(Cause { change, also: Vec::new() });
                }
            }
        }
        causes
    }

    /// Whether most of what the groups do has a name that only one of them uses, so that there is little to compare.
    #[must_use]
    pub fn is_mostly_exclusive(&self) -> bool {
        let weight = |node: &Node| match self.dfg.duration_ns {
            Some(_) => node.duration_ns.unwrap_or(0) as f64,
            None => node.count as f64,
        };
        let of = |group: &str| {
            let own = self
                .dfg
                .nodes
                .iter()
                .filter(|node| node.groups.values().len() == 1 && node.groups.get(group).is_some());
            own.map(weight).sum::<f64>()
        };
        let (a, b) = (of(&self.a), of(&self.b));
        let all: f64 = self.dfg.nodes.iter().map(weight).sum();
        a > 0.0 && b > 0.0 && a + b > all / 2.0
    }
}

impl Change {
    fn is_notable(&self, enough_ns: f64) -> bool {
        let exclusive = matches!(self.kind, ChangeKind::New | ChangeKind::Gone);
        let apart = self.ratio.is_none_or(|ratio| !(1.0 / NOTABLE_RATIO..NOTABLE_RATIO).contains(&ratio));
        exclusive || apart || self.time_at_stake_ns.is_some_and(|stake| stake.abs() >= enough_ns)
    }
}

/// One thing that differs between the groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What differs about it.
    pub kind: ChangeKind,
    /// The activity, or the activity before.
    pub activity: Arc<str>,
    /// The activity after, for a transition.
    pub to: Option<Arc<str>>,
    /// The measured quantity: `duration_ns`, `bytes`, `count`, `gap_ns`.
    pub measure: Cow<'static, str>,
    /// Its value in the first group.
    pub value_a: f64,
    /// Its value in the second group.
    pub value_b: f64,
    /// Second minus first.
    pub difference: f64,
    /// Second over first; NULL if the first is 0.
    pub ratio: Option<f64>,
    /// Difference of the time spent in it, nanoseconds, signed: positive if the second group spends more; NULL if a group's
    /// durations are unknown.
    pub time_at_stake_ns: Option<f64>,
    /// Share of the divisions of the runs under which the activity (or transition) differs at least as much, in whichever of
    /// its figures; NULL without a test.
    pub p_value: Option<f64>,
    /// The same after correction for the number of tests (Benjamini and Hochberg).
    pub q_value: Option<f64>,
    /// Whether the difference stands: `q_value` is at most 0.05; NULL without a test.
    pub significant: Option<bool>,
}

impl ChangeKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Larger => "larger",
            Self::Smaller => "smaller",
            Self::More => "more",
            Self::Fewer => "fewer",
        }
    }
}

/// Which part of the graph differs.
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
