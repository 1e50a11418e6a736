//! What a graph shows at each stop of two sliders: the most important activities, and more or less of what joins them.
//!
//! What is hidden is projected: where a shown activity leads through hidden ones to the next shown one, that way is a line of its own,
//! so that every activity of every stop keeps a way from ● and to ■.

use crate::links::{Links, Vertex};
use crate::picture::{Picture, by_importance};
use crate::ways::{Line, widest};
use iotrail_dfg::Dfg;
use std::collections::BTreeSet;

/// How many stops there are at most, and what one shows at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopLimits {
    /// Stops of the slider of activities.
    pub activities: usize,
    /// Stops of the slider of transitions.
    pub transitions: usize,
    /// Lines at a stop, if not more are needed to keep it together.
    pub lines: usize,
}

/// The stops of both sliders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stops {
    /// Activities by index into [`Dfg::nodes`], the most important first.
    pub order: Vec<usize>,
    /// Few activities first.
    pub list: Vec<Stop>,
}

/// A stop of the slider of activities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// How many of [`Stops::order`] are shown.
    pub activities: usize,
    /// Stops of the slider of transitions, few transitions first; no two show the same.
    pub levels: Vec<Level>,
}

/// What joins the activities of a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Transitions by index into [`Dfg::edges`], ascending.
    pub edges: Vec<usize>,
    /// Ways through hidden activities.
    pub ways: Vec<Way>,
}

/// A way between shown vertices through hidden activities only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Where it begins.
    pub from: Vertex,
    /// Where it ends.
    pub to: Vertex,
    /// How often the weakest transition on it was taken: the whole was taken at most that often.
    pub count: u64,
    /// The hidden activities in order, by index into [`Dfg::nodes`].
    pub hidden: Vec<usize>,
}

impl Stops {
    /// The stops for the activities and transitions of `picture`, which is of `dfg`.
    #[must_use]
    pub fn of(dfg: &Dfg, picture: &Picture, limits: StopLimits) -> Self {
        let mut order = by_importance(dfg);
        order.retain(|node| picture.nodes.binary_search(node).is_ok());
        let projection = Projection::new(dfg, picture);
        let sizes = spread(order.len().min(1), order.len(), limits.activities);
        let stop = |activities| Stop { activities, levels: projection.levels(&order[..activities], limits) };
        let list = sizes.into_iter().map(stop).collect();
        Self { order, list }
    }
}

/// The graph of a picture: its transitions, and ways through what the picture leaves out.
struct Projection {
    count: usize,
    lines: Vec<Line>,
    /// Of the first of `lines`, the index into [`Dfg::edges`].
    edges: Vec<usize>,
}

impl Projection {
    fn new(dfg: &Dfg, picture: &Picture) -> Self {
        let count = dfg.nodes.len();
        let links = Links::of(dfg, &(0..count).collect());
        let all: Vec<(usize, Line)> = (links.iter())
            .map(|(edge, (from, to))| {
                let (from, to) = (from.index(count), to.index(count));
                (edge, Line { from, to, count: dfg.edges[edge].count, through: Vec::new() })
            })
            .collect();
        let (edges, mut lines): (Vec<usize>, Vec<Line>) =
            all.iter().filter(|(edge, _)| picture.edges.binary_search(edge).is_ok()).cloned().unzip();
        let all: Vec<Line> = all.into_iter().map(|(_, line)| line).collect();
        lines.extend(widest(&all, &shown(count, &picture.nodes)));
        Self { count, lines, edges }
    }

    fn levels(&self, nodes: &[usize], limits: StopLimits) -> Vec<Level> {
        let shown = shown(self.count, nodes);
        let direct = |edge: &usize| shown[self.lines[*edge].from] && shown[self.lines[*edge].to];
        let edges: Vec<usize> = (0..self.edges.len()).filter(direct).collect();
        let joined: BTreeSet<(usize, usize)> =
            edges.iter().map(|edge| (self.lines[*edge].from, self.lines[*edge].to)).collect();
        let mut ways = widest(&self.lines, &shown);
        ways.retain(|way| !joined.contains(&(way.from, way.to)));
        let link = |number: usize, line: &Line| {
            let ends = [line.from, line.to].map(|end| Vertex::at(end, self.count));
            (number, line.count, ends.into())
        };
        let own: Vec<_> = edges.iter().map(|edge| link(*edge, &self.lines[*edge])).collect();
        let through = ways.iter().enumerate().map(|(index, way)| link(self.edges.len() + index, way));
        let backbone = Links::new(own.iter().copied().chain(through).collect()).backbone();
        let own = Links::new(own);
        let mut all = backbone.clone();
        own.fill(&mut all, usize::MAX);
        let most = all.len().min(limits.lines.max(backbone.len()));
        let level = |lines: usize| {
            let mut kept = backbone.clone();
            own.fill(&mut kept, lines);
            self.level(&kept, &ways)
        };
        spread(backbone.len(), most, limits.transitions).into_iter().map(level).collect()
    }

    fn level(&self, kept: &BTreeSet<usize>, ways: &[Line]) -> Level {
        let (edges, through): (Vec<usize>, Vec<usize>) =
            kept.iter().partition(|number| **number < self.edges.len());
        let mut edges: Vec<usize> = edges.into_iter().map(|number| self.edges[number]).collect();
        edges.sort_unstable();
        let ways = through.into_iter().map(|number| {
            let way = &ways[number - self.edges.len()];
            let [from, to] = [way.from, way.to].map(|end| Vertex::at(end, self.count));
            Way { from, to, count: way.count, hidden: way.through.clone() }
        });
        Level { edges, ways: ways.collect() }
    }
}

/// Of each vertex by its index, whether it is shown.
fn shown(count: usize, nodes: &[usize]) -> Vec<bool> {
    let mut shown = vec![false; count + 2];
    for vertex in nodes.iter().copied().chain([Vertex::Start.index(count), Vertex::End.index(count)]) {
        shown[vertex] = true;
    }
    shown
}

/// At most `most` numbers from `first` to `last`: all if they are few enough, else each a like factor above the one before.
fn spread(first: usize, last: usize, most: usize) -> Vec<usize> {
    if last - first < most {
        return (first..=last).collect();
    }
    let steps = most.max(2) - 1;
    let factor = last as f64 / first.max(1) as f64;
    let mut numbers: Vec<usize> = (0..=steps)
        .map(|step| (first.max(1) as f64 * factor.powf(step as f64 / steps as f64)).round() as usize)
        .collect();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_by_factors_unless_all_of_them_fit() {
        assert_eq!(spread(0, 0, 12), [0]);
        assert_eq!(spread(1, 7, 12), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(spread(1, 60, 12), [1, 2, 3, 4, 6, 9, 14, 20, 29, 41, 60]);
        assert_eq!(spread(20, 220, 4), [20, 44, 99, 220]);
    }
}
