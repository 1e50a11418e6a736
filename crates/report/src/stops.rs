//! The graph as the page stores it: what each stop of the sliders shows, and where.

use crate::data::NameId;
use crate::name_table::NameTable;
use crate::options::Limits;
use crate::positions::{HEIGHT, MARK, Placed, PlacedLine, Positions};
use iotrail_dfg::Dfg;
use iotrail_draw::{Level, Picture, Vertex};
use serde::Serialize;

/// The hidden activities of a way that are named.
const NAMED: usize = 3;

/// Positions of the graph at each stop of its two sliders. Numbers of activities and transitions are those of the page's lists, lengths are
/// points.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageStops {
    /// Activities, the most important first.
    pub order: Vec<usize>,
    /// Width and height of ● and ■.
    pub mark: i32,
    /// Height of the box of an activity.
    pub height: i32,
    /// Few activities first.
    pub list: Vec<PageStop>,
}

/// A stop of the slider of activities.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageStop {
    /// How many of [`PageStops::order`] are shown.
    pub n: usize,
    /// Stops of the slider of transitions, few transitions first.
    pub levels: Vec<PageLevel>,
}

/// What is shown at a stop of both sliders.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageLevel {
    /// Left and top of ●, ■ and each activity in turn.
    pub at: Vec<i32>,
    /// Number of a transition, its line.
    pub edges: Vec<(usize, PageLine)>,
    /// A way through hidden activities: from and to (-1 for ●, -2 for ■), how often it was taken at most, how many activities are hidden, names
    /// of the first, its line.
    pub ways: Vec<(i32, i32, u64, usize, Vec<NameId>, PageLine)>,
}

/// Bézier control points and, at last, the middle of the label: x and y in turn, each after the first as difference to the one before.
pub type PageLine = Vec<i32>;

/// The stops within the limits; of more, some are left out evenly, and the last one stays.
pub(crate) fn page_stops(
    dfg: &Dfg,
    shown: &Picture,
    positions: &Positions,
    limits: &Limits,
    names: &mut NameTable,
) -> PageStops {
    let number = |node: &usize| shown.nodes.binary_search(node).ok();
    let vertex = |vertex: Vertex| match vertex {
        Vertex::Start => Some(-1),
        Vertex::End => Some(-2),
        Vertex::Activity(node) => i32::try_from(number(&node)?).ok(),
    };
    let mut page_level = |level: &Level, placed: &Placed| {
        let (edges, ways) = placed.lines.split_at(level.edges.len());
        let edges = level.edges.iter().zip(edges);
        let ways = level.ways.iter().zip(ways);
        PageLevel {
            at: placed.boxes.iter().flatten().copied().collect(),
            edges: edges
                .filter_map(|(edge, line)| Some((shown.edges.binary_search(edge).ok()?, page_line(line))))
                .collect(),
            ways: ways
                .filter_map(|(way, line)| {
                    let hidden =
                        way.hidden.iter().take(NAMED).map(|node| names.id(&dfg.nodes[*node].activity));
                    Some((
                        vertex(way.from)?,
                        vertex(way.to)?,
                        way.count,
                        way.hidden.len(),
                        hidden.collect(),
                        page_line(line),
                    ))
                })
                .collect(),
        }
    };
    let stops = positions.stops.list.iter().zip(&positions.placed).collect();
    let list = thinned(stops, limits.stops).into_iter().map(|(stop, placed)| PageStop {
        n: stop.activities,
        levels: thinned(stop.levels.iter().zip(placed).collect(), limits.levels)
            .into_iter()
            .map(|(level, placed)| page_level(level, placed))
            .collect(),
    });
    PageStops {
        list: list.collect(),
        order: positions.stops.order.iter().filter_map(number).collect(),
        mark: MARK,
        height: HEIGHT,
    }
}

fn page_line(line: &PlacedLine) -> PageLine {
    let all: Vec<i32> = line.route.iter().chain(&line.label).copied().collect();
    let steps = all.iter().zip(all.iter().skip(2)).map(|(before, after)| after - before);
    all.iter().take(2).copied().chain(steps).collect()
}

/// At most `most` of `list`, at even distances, the first and the last among them if there is room for two.
fn thinned<T>(list: Vec<T>, most: usize) -> Vec<T> {
    let (count, most) = (list.len(), most.max(1));
    if count <= most {
        return list;
    }
    let kept: Vec<usize> = (1..=most)
        .map(|step| if most == 1 { count - 1 } else { (step - 1) * (count - 1) / (most - 1) })
        .collect();
    list.into_iter().enumerate().filter(|(index, _)| kept.contains(index)).map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_the_first_the_last_and_some_between_stay() {
        let all: Vec<usize> = (0..12).collect();
        assert_eq!(thinned(all.clone(), 12), all);
        assert_eq!(thinned(all.clone(), 4), [0, 3, 7, 11]);
        assert_eq!(thinned(all, 1), [11]);
    }

    #[test]
    fn a_line_is_stored_as_steps() {
        let line = PlacedLine { route: vec![10, 20, 11, 18, 13, 30], label: [12, 25] };
        assert_eq!(page_line(&line), [10, 20, 1, -2, 2, 12, -1, -5]);
    }
}
