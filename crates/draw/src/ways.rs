//! What hidden activities join: ways from a shown vertex through hidden ones only to the next shown one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A line between two vertices, directly or through others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// How often the weakest transition on it was taken: the whole was taken at most that often.
    pub(crate) count: u64,
    /// What it leads through, in order.
    pub(crate) through: Vec<usize>,
}

/// From each shown vertex to each other one that hidden vertices lead to, the widest way (after Dijkstra): the one whose weakest
/// transition is strongest. `shown` tells it of every vertex; what a line itself leads through is hidden, too.
pub(crate) fn widest(lines: &[Line], shown: &[bool]) -> Vec<Line> {
    let mut out = vec![Vec::new(); shown.len()];
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.from != line.to) {
        out[line.from].push(index);
    }
    let search = Search { lines, shown, out };
    (0..shown.len()).filter(|vertex| shown[*vertex]).flat_map(|start| search.from(start)).collect()
}

struct Search<'a> {
    lines: &'a [Line],
    shown: &'a [bool],
    /// Indices into `lines`, by the vertex that they leave.
    out: Vec<Vec<usize>>,
}

/// Width and number of lines of a way, wide and short ones last, and the vertex or line where it ends.
type Reached = (u64, Reverse<usize>, Reverse<usize>);

impl Search<'_> {
    fn from(&self, start: usize) -> Vec<Line> {
        // With the last line of each way.
        let mut best: BTreeMap<usize, Reached> = BTreeMap::new();
        let mut open: BinaryHeap<Reached> = BinaryHeap::from([(u64::MAX, Reverse(0), Reverse(start))]);
        while let Some((width, Reverse(length), Reverse(here))) = open.pop() {
            let stale = best.get(&here).is_some_and(|known| (known.0, known.1) != (width, Reverse(length)));
            for index in self.out[here].iter().filter(|_| !stale) {
                let line = &self.lines[*index];
                let reached = (width.min(line.count), Reverse(length + 1), Reverse(*index));
                let hides = here != start || !line.through.is_empty() || !self.shown[line.to];
                if line.to == start || !hides || best.get(&line.to).is_some_and(|known| *known >= reached) {
                    continue;
                }
                best.insert(line.to, reached);
                if !self.shown[line.to] {
                    open.push((reached.0, reached.1, Reverse(line.to)));
                }
            }
        }
        let ends = best.iter().filter(|(end, _)| self.shown[**end]);
        ends.map(|(end, reached)| self.way(start, *end, reached.0, &best)).collect()
    }

    /// Back from `to`, line by line.
    fn way(&self, from: usize, to: usize, count: u64, best: &BTreeMap<usize, Reached>) -> Line {
        let mut through = Vec::new();
        let mut here = to;
        while let Some((_, _, Reverse(last))) = best.get(&here) {
            let line = &self.lines[*last];
            through.extend(line.through.iter().rev());
            here = line.from;
            if here == from {
                break;
            }
            through.push(here);
        }
        through.reverse();
        Line { from, to, count, through }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(list: &[(usize, usize, u64)]) -> Vec<Line> {
        list.iter()
            .map(|(from, to, count)| Line { from: *from, to: *to, count: *count, through: vec![] })
            .collect()
    }

    /// Vertices from 10 on are hidden.
    fn ways(list: &[(usize, usize, u64)]) -> Vec<(usize, usize, u64, Vec<usize>)> {
        let shown: Vec<bool> = (0..20).map(|vertex| vertex < 10).collect();
        widest(&lines(list), &shown)
            .into_iter()
            .map(|way| (way.from, way.to, way.count, way.through))
            .collect()
    }

    #[test]
    fn a_way_is_as_strong_as_its_weakest_transition_and_the_strongest_one_is_taken() {
        let edges = [(0, 10, 5), (10, 11, 4), (11, 1, 9), (0, 12, 2), (12, 1, 2), (0, 1, 1)];
        assert_eq!(ways(&edges), [(0, 1, 4, vec![10, 11])]);
    }

    #[test]
    fn of_equally_strong_ways_the_shorter_one_is_taken() {
        let edges = [(0, 10, 5), (10, 11, 5), (11, 1, 5), (0, 12, 5), (12, 1, 5)];
        assert_eq!(ways(&edges), [(0, 1, 5, vec![12])]);
    }

    #[test]
    fn each_shown_vertex_behind_hidden_ones_is_reached() {
        assert_eq!(
            ways(&[(0, 10, 3), (10, 1, 2), (10, 2, 1), (10, 10, 7)]),
            [(0, 1, 2, vec![10]), (0, 2, 1, vec![10])]
        );
    }

    #[test]
    fn circles_ways_back_and_shown_neighbours_make_no_way() {
        assert_eq!(ways(&[(0, 10, 3), (10, 11, 3), (11, 10, 3), (10, 0, 3), (0, 1, 2)]), []);
    }

    proptest! {
        /// Of a subset of the shown vertices it does not matter whether the others were hidden before or all at once.
        #[test]
        fn hiding_in_two_steps_is_hiding_at_once(
            edges in prop::collection::vec((0usize..12, 0usize..12, 1u64..6), 0..50), few in 1usize..6, more in 6usize..10,
        ) {
            let all = lines(&edges);
            let shown = |limit: usize| -> Vec<bool> { (0..12).map(|vertex| vertex < limit).collect() };
            let strengths = |list: Vec<Line>| -> Vec<(usize, usize, u64)> {
                list.into_iter().map(|way| (way.from, way.to, way.count)).collect()
            };
            let between = |line: &&Line| line.from < more && line.to < more;
            let first: Vec<Line> = all.iter().filter(between).cloned().chain(widest(&all, &shown(more))).collect();
            for way in widest(&first, &shown(few)) {
                prop_assert!(way.through.iter().all(|vertex| *vertex >= few));
                let mut ends = vec![way.from];
                ends.extend(&way.through);
                ends.push(way.to);
                let weakest = ends.windows(2).map(|pair| {
                    let same = all.iter().filter(|line| (line.from, line.to) == (pair[0], pair[1]));
                    same.map(|line| line.count).max().unwrap_or(0)
                });
                prop_assert_eq!(weakest.min(), Some(way.count));
            }
            prop_assert_eq!(strengths(widest(&first, &shown(few))), strengths(widest(&all, &shown(few))));
        }
    }
}
