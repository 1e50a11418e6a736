//! Positions of the whole graph of a page, in whole points, found once: sliders hide, they do not move.

use crate::options::ReportOptions;
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{END, START};
use iotrail_draw::layout::{Point, Rect, Route, terminals};
use iotrail_draw::{DrawError, Picture, View};
use iotrail_layout::{Edge, Graph, Node, layout};
use std::collections::HashMap;

const TERMINAL: (f64, f64) = (24.0, 24.0);
const HEIGHT: f64 = 60.0;
const WIDTHS: (f64, f64) = (150.0, 310.0);
/// Width of a character of a box's title, and what lies beside the text.
const CHARACTER: f64 = 7.5;
const PADDING: f64 = 20.0;
/// Room for the text on a path: it changes with the reader's choice of measure.
const LABEL: (f64, f64) = (46.0, 14.0);

/// Where everything is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Positions {
    pub(crate) start: [i32; 4],
    pub(crate) end: [i32; 4],
    /// By place in the picture's list of nodes.
    pub(crate) nodes: Vec<[i32; 4]>,
    /// Route and middle of the label, by index into [`Dfg::edges`].
    pub(crate) edges: HashMap<usize, (Vec<i32>, [i32; 2])>,
}

/// The activities and transitions that the page holds.
pub(crate) fn shown(dfg: &Dfg, options: &ReportOptions) -> Picture {
    picture(dfg, options.limits.nodes, options.limits.edges)
}

fn picture(dfg: &Dfg, max_nodes: usize, max_edges: usize) -> Picture {
    Picture::select(dfg, &View { max_nodes, max_edges, ..View::default() })
}

/// Positions for `shown`, with routes for its most important transitions.
pub(crate) fn positions(dfg: &Dfg, shown: &Picture, options: &ReportOptions) -> Result<Positions, DrawError> {
    let room = options.limits.routed_edges.min(2 * shown.nodes.len() + 12);
    let mut routed = picture(dfg, options.limits.nodes, room).edges;
    routed.retain(|edge| shown.edges.binary_search(edge).is_ok());
    let mut vertices = HashMap::from([(START, 0), (END, 1)]);
    let mut boxes = terminals(TERMINAL);
    for node in &shown.nodes {
        let name = &dfg.nodes[*node].activity;
        vertices.insert(&**name, boxes.len());
        let characters = iotrail_model::text::printable(name).chars().count();
        let width = (characters as f64).mul_add(CHARACTER, PADDING).clamp(WIDTHS.0, WIDTHS.1);
        boxes.push(Node { width, height: HEIGHT, ..Node::default() });
    }
    let link = |edge: &usize| {
        let edge = &dfg.edges[*edge];
        let (from, to) = (*vertices.get(&*edge.from)?, *vertices.get(&*edge.to)?);
        let share = (edge.count as f64 + 1.0).ln() / (dfg.events.mapped as f64 + 2.0).ln();
        Some(Edge { label: LABEL, weight: 1 + (share.clamp(0.0, 1.0) * 7.0) as u32, ..Edge::new(from, to) })
    };
    let edges = routed.iter().filter_map(link).collect();
    let placed = layout(&Graph { nodes: boxes, edges, ..Graph::default() }).map_err(DrawError::from)?;
    let mut boxes = placed.nodes.iter().map(rect);
    Ok(Positions {
        start: boxes.next().unwrap_or_default(),
        end: boxes.next().unwrap_or_default(),
        nodes: boxes.collect(),
        edges: (routed.into_iter().zip(placed.routes.iter().zip(&placed.labels)))
            .map(|(edge, (way, label))| (edge, (route(way), point(label.unwrap_or_default().middle()))))
            .collect(),
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
