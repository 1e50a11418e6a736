//! A workflow becomes a scene.

use super::ellipse::extend;
use super::place::place;
use super::select::Selection;
use super::widths::Widths;
use super::{FlowView, heads, label, stands_out};
use crate::error::DrawError;
use crate::font::Weight;
use crate::furniture::{LINE, Lines, MARGIN, Row, SMALL, entry_width, text};
use crate::layout::{Point, Rect, Route};
use crate::palette;
use crate::scene::{Anchor, Dash, Group, Ink, Item, Outline, Scene, Shape, Stroke};
use iotrail_model::text::{printable, shown};
use iotrail_model::units;
use iotrail_workflow::graph::{EdgeId, FileView, Graph, Relation, VertexId};
use std::collections::HashMap;

const NARROWEST: f64 = 640.0;
const COLOURS: usize = 8;
/// How far the second outline of an aggregate is off.
const BEHIND: f64 = 3.5;

/// The picture of `graph`.
///
/// # Errors
/// If the drawn part is too large.
pub fn scene(graph: &Graph, view: &FlowView) -> Result<Scene, DrawError> {
    let selection = Selection::of(graph, view);
    let layout = place(graph, &selection, view)?;
    let drawing = Drawing {
        graph,
        view,
        selection: &selection,
        widths: Widths::of(graph, &selection, view.width),
        colours: colours(graph, &selection),
    };
    Ok(drawing.scene(&layout.nodes, &layout.routes, &layout.labels))
}

/// A colour for each of the groups with the most drawn vertices.
fn colours(graph: &Graph, selection: &Selection) -> HashMap<u32, usize> {
    let mut members: HashMap<u32, u64> = HashMap::new();
    for vertex in selection.vertices.iter().map(|vertex| graph.vertex(*vertex)) {
        if let Some(phase) = vertex.phase {
            *members.entry(phase).or_default() += u64::from(vertex.members);
        }
    }
    let mut phases: Vec<u32> = members.keys().copied().collect();
    phases.sort_by_key(|phase| (std::cmp::Reverse(members[phase]), *phase));
    phases.truncate(COLOURS);
    phases.sort_unstable();
    phases.into_iter().enumerate().map(|(index, phase)| (phase, index)).collect()
}

struct Drawing<'a> {
    graph: &'a Graph,
    view: &'a FlowView,
    selection: &'a Selection,
    widths: Widths,
    colours: HashMap<u32, usize>,
}

impl Drawing<'_> {
    fn scene(&self, vertices: &[Rect], routes: &[Route], labels: &[Option<Rect>]) -> Scene {
        let rects = vertices.iter().copied().chain(labels.iter().flatten().copied());
        let all = rects.chain(routes.iter().map(Route::bounds)).reduce(Rect::union).unwrap_or_default();
        let width = (all.width + BEHIND).max(NARROWEST) + 2.0 * MARGIN;
        let mut items = Vec::new();
        let notes = self.notes();
        let top = self.header(&mut items, &notes, width);
        let shift = Point::new((width - all.width) / 2.0 - all.x, top - all.y);
        let routes: Vec<Route> = routes
            .iter()
            .zip(&self.selection.edges)
            .map(|(route, edge)| self.route(route, *edge, vertices).moved(shift))
            .collect();
        self.edges(&mut items, &routes);
        for (vertex, rect) in self.selection.vertices.iter().zip(vertices) {
            items.push(self.vertex(*vertex, rect.moved(shift)));
        }
        for (edge, rect) in self.selection.edges.iter().zip(labels) {
            items.extend(rect.and_then(|rect| self.edge_label(*edge, rect.moved(shift))));
        }
        let bottom = self.legend(&mut items, width, top + all.height + BEHIND + 20.0);
        Scene {
            width: width.ceil(),
            height: (bottom + MARGIN).ceil(),
            page: palette::PAGE,
            title: shown(&self.view.title, 120),
            description: notes.join(" "),
            items,
        }
    }

    fn notes(&self) -> Vec<String> {
        let graph = self.graph;
        let members = |process: bool| {
            let vertices = graph.vertices.iter().filter(move |vertex| vertex.process().is_some() == process);
            vertices.fold((0_u64, 0_u64), |(count, members), vertex| {
                (count + 1, members + u64::from(vertex.members.max(1)))
            })
        };
        let counted = |(count, members): (u64, u64), one: &str, many: &str| {
            let noun = if members == 1 { one } else { many };
            if count == members {
                format!("{} {noun}", units::count(members))
            } else {
                let vertices = units::counted(count, "vertex", "vertices");
                format!("{} {noun} in {vertices}", units::count(members))
            }
        };
        let (process, processes, file, files) = match graph.view {
            FileView::Version => (
                "process or part of one",
                "processes and parts of processes",
                "file or version of one",
                "files and versions of files",
            ),
            FileView::File => ("process", "processes", "file", "files"),
        };
        let (processes, files) =
            (counted(members(true), process, processes), counted(members(false), file, files));
        let mut notes = vec![format!(
            "{processes}, {files}, {}. Layer of bytes and rates: system calls.",
            units::counted(graph.edges.len() as u64, "edge", "edges")
        )];
        if !graph.history.is_empty() {
            notes.push(format!("Made by: {}.", graph.history.join(", then ")));
        }
        let left_out = graph.left_out.counted();
        if !left_out.is_empty() {
            let bytes = match graph.left_out.bytes {
                0 => String::new(),
                bytes => format!(", {} moved to or from them", units::bytes(bytes as f64)),
            };
            notes.push(format!("Left out: {}{bytes}.", left_out.join(", ")));
        }
        notes.extend(graph.notes.iter().take(4).cloned());
        notes.into_iter().map(|note| printable(&note).into_owned()).collect()
    }

    fn header(&self, items: &mut Vec<Item>, notes: &[String], width: f64) -> f64 {
        let mut lines = Lines::new(MARGIN, MARGIN);
        let room = width - 2.0 * MARGIN;
        lines.add(&shown(&self.view.title, 120), 16.0, Weight::Bold, palette::TEXT, room);
        lines.y += 3.0;
        for note in notes {
            lines.add(note, SMALL, Weight::Regular, palette::MUTED, room);
        }
        if let Some(hidden) = self.selection.hidden(self.graph) {
            lines.add(&hidden, SMALL, Weight::Bold, palette::TEXT, room);
        }
        let top = lines.y + 14.0;
        items.push(group("header", None, None, lines.items));
        top
    }

    /// Layouts know boxes only: a route that ends at the box around an ellipse goes on to the ellipse.
    fn route(&self, route: &Route, edge: EdgeId, rects: &[Rect]) -> Route {
        let edge = self.graph.edge(edge);
        let ellipse = |vertex: VertexId| {
            let index = self.selection.vertices.binary_search(&vertex).ok()?;
            self.graph.vertex(vertex).process()?;
            rects.get(index).copied()
        };
        let mut route = route.clone();
        if let Some(rect) = ellipse(edge.to) {
            extend(&mut route, rect);
        }
        if let Some(rect) = ellipse(edge.from) {
            route = route.reversed();
            extend(&mut route, rect);
            route = route.reversed();
        }
        route
    }

    /// What stands out last, so that nothing crosses it.
    fn edges(&self, items: &mut Vec<Item>, routes: &[Route]) {
        let mut order: Vec<usize> = (0..routes.len()).collect();
        order.sort_by_key(|index| stands_out(self.view, self.selection.edges[*index]));
        for index in order {
            let id = self.selection.edges[index];
            let edge = self.graph.edge(id);
            let (ink, width) = self.look(id);
            let arrow = heads::arrow(edge.relation, &routes[index], ink, width);
            items.push(group("edge", Some(id.index()), Some(label::edge_title(edge, self.graph)), arrow));
        }
    }

    fn look(&self, id: EdgeId) -> (Ink, f64) {
        let width = self.widths.width(self.graph.edge(id));
        if stands_out(self.view, id) { (palette::CRITICAL, width.max(2.4)) } else { (palette::EDGE, width) }
    }

    fn vertex(&self, id: VertexId, rect: Rect) -> Item {
        let vertex = self.graph.vertex(id);
        let critical = self.view.highlight.as_ref().is_some_and(|path| path.vertices.contains(&id));
        let place = vertex.phase.and_then(|phase| self.colours.get(&phase)).copied();
        let ink = place.map_or(palette::BORDER, palette::group);
        let fill = palette::mix(palette::PLAIN, ink, if vertex.process().is_some() { 0.3 } else { 0.1 });
        let stroke = if critical {
            Stroke { ink: palette::CRITICAL, width: 2.6, dash: Dash::Solid }
        } else {
            Stroke { ink, width: 1.2, dash: place.map_or(Dash::Solid, palette::group_dash) }
        };
        let outline = |rect: Rect| {
            let outline = if vertex.process().is_some() {
                Outline::Ellipse(rect)
            } else {
                Outline::Box { rect, radius: 2.0 }
            };
            Item::Shape(Shape { outline, fill: Some(fill), stroke: Some(stroke) })
        };
        let mut items = Vec::new();
        if vertex.members > 1 {
            items.push(outline(rect.moved(Point::new(BEHIND, BEHIND))));
        }
        items.push(outline(rect));
        let lines = label::lines(vertex);
        let mut y = rect.middle().y - label::extent(&lines).1 / 2.0;
        for line in lines {
            let at = Point::new(rect.middle().x, y + line.size * 0.98);
            y += line.height();
            items.push(text(at, Anchor::Middle, line.size, line.weight, palette::TEXT, line.text));
        }
        group("node", Some(id.index()), Some(label::vertex_title(vertex, self.graph)), items)
    }

    fn edge_label(&self, id: EdgeId, rect: Rect) -> Option<Item> {
        let edge = self.graph.edge(id);
        let content = label::edge(edge)?;
        let written =
            Rect { x: rect.x + label::BESIDE - 2.0, width: rect.width - 2.0 * label::BESIDE + 4.0, ..rect };
        let ground = Shape {
            outline: Outline::Box { rect: written, radius: 3.0 },
            fill: Some(palette::PAGE),
            stroke: None,
        };
        let at = Point::new(rect.middle().x, rect.middle().y + label::EDGE_SIZE * 0.36);
        let ink = if stands_out(self.view, id) { palette::CRITICAL } else { palette::TEXT };
        let items = vec![
            Item::Shape(ground),
            text(at, Anchor::Middle, label::EDGE_SIZE, Weight::Regular, ink, content),
        ];
        Some(group("edge-label", Some(id.index()), Some(label::edge_title(edge, self.graph)), items))
    }

    fn legend(&self, items: &mut Vec<Item>, width: f64, top: f64) -> f64 {
        let mut row = Row::new(top, width - MARGIN);
        let mut phases: Vec<(&u32, &usize)> = self.colours.iter().collect();
        phases.sort_unstable();
        for (phase, place) in phases {
            let ink = palette::group(*place);
            let stroke = Stroke { ink, width: 1.4, dash: palette::group_dash(*place) };
            let name = self
                .graph
                .phases
                .get(*phase as usize)
                .map_or_else(|| format!("group {phase}"), |name| shown(name, 40));
            row.swatch(palette::mix(palette::PLAIN, ink, 0.3), stroke, &name);
        }
        if let Some(path) = &self.view.highlight {
            let stroke = Stroke { ink: palette::CRITICAL, width: 2.6, dash: Dash::Solid };
            row.swatch(palette::PAGE, stroke, &shown(&path.name, 80));
        }
        row.text(match self.graph.view {
                FileView::Version => "Ellipse: process or part of one. Box: file or version of one. N ×: N of them drawn as one.",
                FileView::File => "Ellipse: process. Box: file. N ×: N of them drawn as one.",
            }, palette::MUTED);
        for (relation, words) in heads::LEGEND {
            if self.selection.edges.iter().any(|edge| self.graph.edge(*edge).relation == relation) {
                sample(&mut row, relation, words);
            }
        }
        if let Some(width) = self.widths.legend() {
            row.text(&width, palette::MUTED);
        }
        items.push(group("legend", None, None, row.items));
        row.y + LINE
    }
}

fn sample(row: &mut Row, relation: Relation, words: &str) {
    const LENGTH: f64 = 34.0;
    row.reserve(LENGTH + 8.0 + entry_width(words));
    let y = row.y + LINE / 2.0;
    let (from, to) = (Point::new(row.x + 1.0, y), Point::new(row.x + LENGTH, y));
    let route = Route { start: from, curves: vec![[from.towards(to, 0.33), from.towards(to, 0.67), to]] };
    row.items.extend(heads::arrow(relation, &route, palette::EDGE, 1.4));
    row.x += LENGTH + 8.0;
    row.text(words, palette::MUTED);
}

fn group(class: &'static str, index: Option<usize>, title: Option<String>, items: Vec<Item>) -> Item {
    Item::Group(Group { class, index, title, items })
}
