//! Rows become lanes: one each while they can be read, else one for all siblings that are alike.

use super::{Gantt, GanttRow};
use iotrail_model::units;
use std::collections::HashMap;

/// More lanes than that are not read.
pub(super) const MOST_LANES: usize = 60;

/// What is drawn in one line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lane {
    /// Indices of its rows, in their order.
    pub(super) rows: Vec<usize>,
    /// The lane of the parents of its rows, which comes before it.
    pub(super) parent: Option<usize>,
    /// Number of its ancestors.
    pub(super) depth: usize,
}

/// All lanes, and what was done to have so few.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lanes {
    pub(super) lanes: Vec<Lane>,
    pub(super) notes: Vec<String>,
}

/// The lanes of `gantt`.
pub(super) fn of(gantt: &Gantt) -> Lanes {
    let each = join(gantt, |index, _| (index, None::<usize>, ""));
    if each.len() <= MOST_LANES {
        return Lanes { lanes: each, notes: Vec::new() };
    }
    let alike = join(gantt, |_, row| (0, row.group, row.label.as_str()));
    if alike.len() <= MOST_LANES {
        let notes = vec![joined(gantt, &alike, "siblings with the same command and group")];
        return Lanes { lanes: alike, notes };
    }
    let groups = join(gantt, |_, row| (0, row.group, ""));
    let mut notes = vec![joined(gantt, &groups, "siblings of the same group")];
    let lanes = shallow(gantt, &groups, &mut notes);
    Lanes { lanes, notes }
}

fn joined(gantt: &Gantt, lanes: &[Lane], what: &str) -> String {
    format!(
        "{} drawn in {}: {what} share one.",
        units::counted(processes(gantt, 0..gantt.rows.len()), "process is", "processes are"),
        units::counted(lanes.len() as u64, "lane", "lanes")
    )
}

fn processes(gantt: &Gantt, rows: impl Iterator<Item = usize>) -> u64 {
    rows.map(|index| gantt.rows[index].count.max(1)).sum()
}

/// Rows with the same key share a lane if their parents do; every lane comes before those of its children.
fn join<'a, Key: std::hash::Hash + Eq>(
    gantt: &'a Gantt,
    key: impl Fn(usize, &'a GanttRow) -> Key,
) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    let mut children: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<(Option<usize>, Key), usize> = HashMap::new();
    let mut of_row: Vec<usize> = Vec::with_capacity(gantt.rows.len());
    let mut roots = Vec::new();
    for (index, row) in gantt.rows.iter().enumerate() {
        // A parent that does not come before its child is none: rows are input.
        let parent = row.parent.filter(|parent| *parent < index).map(|parent| of_row[parent]);
        let lane = *known.entry((parent, key(index, row))).or_insert_with(|| {
            let depth = parent.map_or(0, |parent| lanes[parent].depth + 1);
            lanes.push(Lane { rows: Vec::new(), parent, depth });
            children.push(Vec::new());
            parent.map_or(&mut roots, |parent| &mut children[parent]).push(lanes.len() - 1);
            lanes.len() - 1
        });
        lanes[lane].rows.push(index);
        of_row.push(lane);
    }
    in_order(lanes, &children, roots)
}

/// Lanes with each before its children, without recursion: a tree may be deep.
fn in_order(mut lanes: Vec<Lane>, children: &[Vec<usize>], roots: Vec<usize>) -> Vec<Lane> {
    let mut ordered = Vec::with_capacity(lanes.len());
    let mut stack: Vec<(usize, Option<usize>)> = roots.into_iter().rev().map(|root| (root, None)).collect();
    while let Some((index, parent)) = stack.pop() {
        let place = ordered.len();
        ordered.push(Lane { parent, ..std::mem::take(&mut lanes[index]) });
        stack.extend(children[index].iter().rev().map(|child| (*child, Some(place))));
    }
    ordered
}

/// The upper levels of the tree that are few enough; of too many roots those with the most processes' time.
fn shallow(gantt: &Gantt, lanes: &[Lane], notes: &mut Vec<String>) -> Vec<Lane> {
    let deepest = lanes.iter().map(|lane| lane.depth).max().unwrap_or(0);
    let held = |limit: usize| lanes.iter().filter(|lane| lane.depth <= limit).count();
    let limit = (0..=deepest).rev().find(|limit| held(*limit) <= MOST_LANES).unwrap_or(0);
    let mut wanted: Vec<usize> = (0..lanes.len()).filter(|index| lanes[*index].depth <= limit).collect();
    wanted.sort_by_key(|index| std::cmp::Reverse(time(gantt, &lanes[*index])));
    wanted.truncate(MOST_LANES);
    wanted.sort_unstable();
    let hidden = (0..lanes.len()).filter(|index| wanted.binary_search(index).is_err());
    let hidden = processes(gantt, hidden.flat_map(|index| lanes[index].rows.iter().copied()));
    if hidden > 0 {
        let hidden = units::counted(hidden, "process", "processes");
        notes.push(format!("Hidden: {hidden} deeper in the tree or with less time."));
    }
    let place: HashMap<usize, usize> =
        wanted.iter().enumerate().map(|(place, index)| (*index, place)).collect();
    let kept = wanted.iter().map(|index| {
        let lane = &lanes[*index];
        Lane { parent: lane.parent.and_then(|parent| place.get(&parent).copied()), ..lane.clone() }
    });
    kept.collect()
}

/// Sum of the known lifetimes of the rows of a lane.
pub(super) fn time(gantt: &Gantt, lane: &Lane) -> u64 {
    let spans = lane.rows.iter().map(|index| &gantt.rows[*index]);
    spans
        .filter_map(|row| Some(row.end?.saturating_sub(row.start?).max(0) as u64))
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(label: &str, parent: Option<usize>, start: i64) -> GanttRow {
        GanttRow {
            label: label.to_owned(),
            parent,
            start: Some(start),
            end: Some(start + 10),
            count: 1,
            ..GanttRow::default()
        }
    }

    fn shape(gantt: &Gantt) -> Vec<(usize, usize, Option<usize>)> {
        of(gantt).lanes.iter().map(|lane| (lane.rows.len(), lane.depth, lane.parent)).collect()
    }

    #[test]
    fn few_rows_have_a_lane_each() {
        let rows = vec![row("make", None, 0), row("cc", Some(0), 1), row("cc", Some(0), 2)];
        assert_eq!(
            shape(&Gantt { rows, ..Gantt::default() }),
            [(1, 0, None), (1, 1, Some(0)), (1, 1, Some(0))]
        );
    }

    #[test]
    fn siblings_that_are_alike_share_a_lane_and_so_do_their_children() {
        let mut rows = vec![row("make", None, 0)];
        for job in 0..30 {
            rows.push(row("mDiffFit", Some(0), job));
            let parent = rows.len() - 1;
            rows.extend([row("mDiff", Some(parent), job), row("mFitplane", Some(parent), job)]);
        }
        let gantt = Gantt { rows, ..Gantt::default() };
        assert_eq!(shape(&gantt), [(1, 0, None), (30, 1, Some(0)), (30, 2, Some(1)), (30, 2, Some(1))]);
        assert_eq!(
            of(&gantt).notes,
            ["91 processes are drawn in 4 lanes: siblings with the same command and group share one."]
        );
    }

    #[test]
    fn a_chain_of_a_thousand_is_drawn_as_far_as_it_can_be_read() {
        let rows: Vec<GanttRow> = (0..1000_usize).map(|index| row("sh", index.checked_sub(1), 0)).collect();
        let found = of(&Gantt { rows, ..Gantt::default() });
        assert_eq!(found.lanes.len(), MOST_LANES);
        assert_eq!(found.notes[1], "Hidden: 940 processes deeper in the tree or with less time.");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn every_row_is_in_one_lane_or_counted_as_hidden(parents in prop::collection::vec((0..200_usize, 0..4_usize), 1..150)) {
            let rows: Vec<GanttRow> = parents.iter().enumerate().map(|(index, (parent, group))| GanttRow {
                group: Some(*group),
                ..row(["a", "b", "c"][parent % 3], (*parent < 150).then_some(*parent), index as i64)
            }).collect();
            let count = rows.len();
            let found = of(&Gantt { rows, ..Gantt::default() });
            prop_assert!(found.lanes.len() <= MOST_LANES);
            let mut drawn: Vec<usize> = found.lanes.iter().flat_map(|lane| lane.rows.clone()).collect();
            drawn.sort_unstable();
            drawn.dedup();
            let hidden = found.notes.iter().find_map(|note| note.strip_prefix("Hidden: ")?.split(' ').next()?.parse().ok()).unwrap_or(0);
            prop_assert_eq!(drawn.len() + hidden, count);
            prop_assert!(found.lanes.iter().enumerate().all(|(place, lane)| lane.parent.is_none_or(|parent| parent < place)));
        }
    }
}
