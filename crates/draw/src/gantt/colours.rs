//! Colours of groups of processes.

use super::Gantt;
use crate::palette;
use crate::scene::{Dash, Ink, Stroke};
use std::collections::HashMap;

/// Groups with a colour: those whose processes live the longest together.
pub(super) struct Colours {
    /// By group.
    pub(super) place: HashMap<usize, usize>,
    /// How many groups have none.
    pub(super) others: usize,
    /// Whether there are processes in no group.
    pub(super) ungrouped: bool,
}

const MOST: usize = 8;

impl Colours {
    pub(super) fn of(gantt: &Gantt) -> Self {
        let mut times: HashMap<usize, u64> = HashMap::new();
        for row in &gantt.rows {
            if let Some(group) = row.group {
                let time =
                    row.end.zip(row.start).map_or(0, |(end, start)| end.saturating_sub(start).max(0) as u64);
                let sum = times.entry(group).or_default();
                *sum = sum.saturating_add(time);
            }
        }
        let mut groups: Vec<usize> = times.keys().copied().collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(times[group]), *group));
        let others = groups.len().saturating_sub(MOST);
        groups.truncate(MOST);
        // Colours in the order of the groups, which is that of time.
        groups.sort_unstable();
        let place = groups.into_iter().enumerate().map(|(place, group)| (group, place)).collect();
        Self { place, others, ungrouped: gantt.rows.iter().any(|row| row.group.is_none()) }
    }

    fn ink(&self, group: Option<usize>) -> Ink {
        let place = group.and_then(|group| self.place.get(&group));
        place.map_or(palette::MUTED, |place| palette::group(*place))
    }

    pub(super) fn border(&self, group: Option<usize>) -> Stroke {
        Stroke { ink: self.ink(group), width: 0.8, dash: Dash::Solid }
    }

    pub(super) fn fill(&self, group: Option<usize>) -> Ink {
        palette::mix(palette::PLAIN, self.ink(group), 0.62)
    }
}
