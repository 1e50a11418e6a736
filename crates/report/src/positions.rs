//! Positions in whole points at each stop of the sliders of the graph: each stop is laid out for itself.

use crate::options::ReportOptions;
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{END, START};
use iotrail_draw::layout::{Point, Rect, Route, terminals};
use iotrail_draw::{DrawError, Level, Picture, Stop, StopLimits, Stops, Vertex, View};
use iotrail_kernel::pool;
use iotrail_layout::{Edge, Graph, Node, layout};
use iotrail_model::units;
use std::collections::HashMap;

/// Width and height of ● and ■.
pub(crate) const MARK: i32 = 24;
/// Height of the box of an activity.
pub(crate) const HEIGHT: i32 = 60;
const WIDTHS: (f64, f64) = (150.0, 310.0);
/// Width of a character of a box's title, and what lies beside the text.
const CHARACTER: f64 = 7.5;
const PADDING: f64 = 20.0;
/// Width of a character of the lines below the title.
const LINE_CHARACTER: f64 = 6.0;
/// Room for the text on a transition: it changes with the reader's choice of measure.
const LABEL: (f64, f64) = (46.0, 14.0);
/// Width of a character of such a text.
const LABEL_CHARACTER: f64 = 6.2;

/// What is shown at the stops, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Positions {
    pub(crate) stops: Stops,
    /// By stop and level.
    pub(crate) placed: Vec<Vec<Placed>>,
}

/// Where everything is at a stop.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Placed {
    /// Left and top of ●, ■ and the shown activities in the order of [`Stops::order`].
    pub(crate) boxes: Vec<[i32; 2]>,
    /// Of each of [`Level::edges`], then of each of [`Level::ways`].
    pub(crate) lines: Vec<PlacedLine>,
}

/// A line and the middle of its label.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlacedLine {
    /// Bézier control points, x and y in turn.
    pub(crate) route: Vec<i32>,
    pub(crate) label: [i32; 2],
}

/// The activities and transitions that the page holds.
pub(crate) fn shown(dfg: &Dfg, options: &ReportOptions) -> Picture {
    let (max_nodes, max_edges) = (options.limits.nodes, options.limits.edges);
    Picture::select(dfg, &View { max_nodes: Some(max_nodes), max_edges, ..View::default() })
}

/// The width of the box of an activity: of its title, and of the longest line that may stand below.
pub(crate) fn width(node: &iotrail_dfg::result::Node) -> i32 {
    let title = iotrail_model::text::printable(&node.activity).chars().count() as f64 * CHARACTER;
    let most = node.max_concurrency.unwrap_or_default();
    let line = format!("{} calls, max {} at once", units::count(node.count), units::count(most));
    let line = line.len() as f64 * LINE_CHARACTER;
    (title.max(line) + PADDING).clamp(WIDTHS.0, WIDTHS.1).round() as i32
}

/// Positions for what the stops for `shown` show.
///
/// # Errors
/// If one of them is too large.
pub(crate) fn positions(dfg: &Dfg, shown: &Picture, options: &ReportOptions) -> Result<Positions, DrawError> {
    let limits = StopLimits {
        activities: options.limits.stops,
        transitions: options.limits.levels,
        lines: options.limits.routed_edges,
    };
    let stops = Stops::of(dfg, shown, limits);
    let jobs =
        stops.list.iter().flat_map(|stop| stop.levels.iter().map(move |level| (stop, level))).collect();
    let placing = |(stop, level): (&Stop, &Level)| placed(dfg, &stops.order[..stop.activities], level);
    let mut all = pool::each(options.threads, jobs, placing)?.into_iter();
    let placed = stops.list.iter().map(|stop| all.by_ref().take(stop.levels.len()).collect()).collect();
    Ok(Positions { stops, placed })
}

fn placed(dfg: &Dfg, activities: &[usize], level: &Level) -> Result<Placed, DrawError> {
    let mut vertices = HashMap::from([(Vertex::Start, 0), (Vertex::End, 1)]);
    let mut boxes = terminals((f64::from(MARK), f64::from(MARK)));
    let mut names: HashMap<&str, Vertex> = HashMap::from([(START, Vertex::Start), (END, Vertex::End)]);
    for index in activities {
        let name = &dfg.nodes[*index].activity;
        names.insert(name, Vertex::Activity(*index));
        vertices.insert(Vertex::Activity(*index), boxes.len());
        boxes.push(Node {
            width: width(&dfg.nodes[*index]).into(),
            height: HEIGHT.into(),
            ..Node::default()
        });
    }
    let line = |from: Vertex, to: Vertex, count: u64, label| {
        let share = (count as f64 + 1.0).ln() / (dfg.events.mapped as f64 + 2.0).ln();
        let weight = 1 + (share.clamp(0.0, 1.0) * 7.0) as u32;
        Some(Edge { label, weight, ..Edge::new(*vertices.get(&from)?, *vertices.get(&to)?) })
    };
    let edges = level.edges.iter().map(|index| &dfg.edges[*index]);
    let edges =
        edges.filter_map(|edge| line(*names.get(&*edge.from)?, *names.get(&*edge.to)?, edge.count, LABEL));
    let ways = level.ways.iter().filter_map(|way| {
        let text = format!(" {} hidden ", units::count(way.hidden.len() as u64));
        line(way.from, way.to, way.count, (text.len() as f64 * LABEL_CHARACTER, LABEL.1))
    });
    let edges = edges.chain(ways).collect();
    let layout = layout(&Graph { nodes: boxes, edges, ..Graph::default() }).map_err(DrawError::from)?;
    let lines = layout.routes.iter().zip(&layout.labels).map(|(way, label)| PlacedLine {
        route: route(way),
        label: point(label.unwrap_or_default().middle()),
    });
    Ok(Placed {
        boxes: layout.nodes.iter().map(|node| point(Point { x: node.x, y: node.y })).collect(),
        lines: lines.collect(),
    })
}

pub(crate) fn rect(rect: &Rect) -> [i32; 4] {
    [rect.x, rect.y, rect.width, rect.height].map(|value| value.round() as i32)
}

fn point(point: Point) -> [i32; 2] {
    [point.x.round() as i32, point.y.round() as i32]
}

pub(crate) fn route(route: &Route) -> Vec<i32> {
    std::iter::once(&route.start).chain(route.curves.iter().flatten()).flat_map(|at| point(*at)).collect()
}
