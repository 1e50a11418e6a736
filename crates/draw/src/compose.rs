//! A graph, its layout and a view become a scene: header, nodes, edges, legend.

use crate::error::DrawError;
use crate::font::Weight;
use crate::furniture::{LINE, Lines, MARGIN, Row, SMALL, arrow_head};
use crate::label::{self, NodeLabel};
use crate::layout::{self, Layout, PlacedEdge, Point, Rect};
use crate::palette;
use crate::picture::Picture;
use crate::scene::{Anchor, Dash, Group, Ink, Item, Outline, Scene, Shape, Stroke, Text};
use crate::shade::Shades;
use crate::view::{Direction, EdgeMeasure, Scale, View};
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{END, Edge, START};
use iotrail_model::text::shown;
use iotrail_model::units;

const NARROWEST: f64 = 460.0;
const ARROW: f64 = 8.0;

/// The picture of `dfg` in `view`.
///
/// # Errors
/// If no layout is found.
pub fn call_graph(dfg: &Dfg, view: &View) -> Result<Scene, DrawError> {
    let (drawn, picture) = Picture::of(dfg, view);
    let dfg = &*drawn;
    let in_direction = |direction: Direction| {
        let layout = layout::layout(dfg, &picture, view, direction)?;
        let shades = Shades::new(dfg, &picture, view);
        Ok(Composer { dfg, view, picture: &picture, layout: &layout, shades }.scene())
    };
    let first = in_direction(view.direction.unwrap_or(Direction::Down))?;
    if view.direction.is_some() || first.height <= HIGHEST * first.width {
        return Ok(first);
    }
    in_direction(Direction::Right)
}

/// A page is not more than so many times as high as wide.
const HIGHEST: f64 = 1.5;

struct Composer<'a> {
    dfg: &'a Dfg,
    view: &'a View,
    picture: &'a Picture,
    layout: &'a Layout,
    shades: Shades<'a>,
}

impl Composer<'_> {
    fn scene(&self) -> Scene {
        let width = self.layout.width.max(NARROWEST) + 2.0 * MARGIN;
        let mut items = Vec::new();
        let (header, top) = self.header(width);
        items.extend(header);
        let shift = Point::new((width - self.layout.width) / 2.0, top);
        items.extend(self.graph(shift));
        let (legend, bottom) = self.legend(width, top + self.layout.height + 20.0);
        items.push(legend);
        Scene {
            width: width.ceil(),
            height: (bottom + MARGIN).ceil(),
            page: palette::PAGE,
            title: self.title(),
            description: self.description(),
            items,
        }
    }

    fn title(&self) -> String {
        let sources: Vec<String> = self.dfg.sources.iter().map(|source| shown(source, 60)).collect();
        match &self.view.title {
            Some(title) => shown(title, 240),
            None if sources.is_empty() => "Directly-Follows Graph".to_owned(),
            None => shown(&format!("Directly-Follows Graph of {}", sources.join(", ")), 120),
        }
    }

    fn description(&self) -> String {
        let dfg = self.dfg;
        let mut facts = vec![
            units::counted(dfg.events.mapped, "event", "events"),
            units::counted(dfg.cases, "case", "cases"),
            dfg.duration_ns.map_or_else(|| "time unknown".to_owned(), |nanos| units::duration(nanos as f64)),
            units::bytes(dfg.bytes as f64),
        ];
        if dfg.events.unmapped > 0 {
            facts.push(units::counted(dfg.events.unmapped, "event not mapped", "events not mapped"));
        }
        if !dfg.mapping.is_empty() {
            facts.push(format!("mapping {}", shown(&dfg.mapping, 40)));
        }
        if !dfg.selection.is_empty() {
            facts.push(format!("selected: {}", shown(&dfg.selection, 80)));
        }
        facts.join(" · ")
    }

    fn header(&self, width: f64) -> (Vec<Item>, f64) {
        let room = width - 2.0 * MARGIN;
        let mut lines = Lines::new(MARGIN, MARGIN);
        lines.add(&self.title(), 16.0, Weight::Bold, palette::TEXT, room);
        lines.add(&self.description(), SMALL, Weight::Regular, palette::MUTED, room);
        if let Some(hidden) = self.picture.hidden.statement() {
            lines.add(&hidden, SMALL, Weight::Bold, palette::TEXT, room);
        }
        let bottom = lines.y + 12.0;
        let header = Group { class: "header", index: None, title: None, items: lines.items };
        (vec![Item::Group(header)], bottom)
    }

    /// Edges first, so that nodes lie over their ends; labels last, so that no line crosses a figure.
    fn graph(&self, shift: Point) -> Vec<Item> {
        let edges =
            || self.picture.edges.iter().zip(&self.layout.edges).map(|(index, placed)| (*index, placed));
        let counts = || edges().map(|(index, _)| self.dfg.edges[index].count);
        let range = (counts().min().unwrap_or(1), counts().max().unwrap_or(1));
        let mut items: Vec<Item> =
            edges().map(|(index, placed)| self.edge(index, placed, range, shift)).collect();
        items.push(self.terminal(START, self.layout.start.moved(shift)));
        items.push(self.terminal(END, self.layout.end.moved(shift)));
        let nodes = self.picture.nodes.iter().zip(&self.layout.nodes);
        items.extend(nodes.map(|(index, rect)| self.node(*index, rect.moved(shift))));
        items.extend(edges().map(|(index, placed)| self.edge_label(index, placed.label.moved(shift))));
        items
    }

    fn node(&self, index: usize, rect: Rect) -> Item {
        let node = &self.dfg.nodes[index];
        let paint = self.shades.node(node);
        let text = NodeLabel::of(node, self.dfg, self.view);
        let mut items = vec![Item::Shape(Shape {
            outline: Outline::Box { rect, radius: 6.0 },
            fill: Some(paint.fill),
            stroke: Some(paint.border),
        })];
        let mut y = rect.y + text.top();
        for line in text.lines {
            let (size, weight, height) = (line.size, line.weight, line.height());
            let at = Point::new(rect.x + rect.width / 2.0, y + size);
            items.push(Item::Text(Text {
                at,
                anchor: Anchor::Middle,
                size,
                weight,
                ink: paint.text,
                content: line.text,
            }));
            y += height;
        }
        Item::Group(Group {
            class: "node",
            index: Some(index),
            title: Some(label::node_title(node, self.dfg)),
            items,
        })
    }

    fn terminal(&self, activity: &str, rect: Rect) -> Item {
        let (title, outline) = if activity == START {
            (
                "start of every trace",
                Outline::Circle { middle: rect.middle(), radius: rect.width / 2.0 - 2.0 },
            )
        } else {
            ("end of every trace", Outline::Box { rect: rect.grown(-3.0), radius: 2.0 })
        };
        let shape = Item::Shape(Shape { outline, fill: Some(palette::TEXT), stroke: None });
        Item::Group(Group {
            class: "terminal",
            index: None,
            title: Some(format!("{activity} {title}")),
            items: vec![shape],
        })
    }

    fn edge(&self, index: usize, placed: &PlacedEdge, range: (u64, u64), shift: Point) -> Item {
        let edge = &self.dfg.edges[index];
        let stroke = self.shades.edge(edge, edge_width(edge.count, range));
        let route = placed.route.moved(shift);
        let head = arrow_head(route.before_end(), route.end(), ARROW + stroke.width);
        let route = route.shortened(ARROW);
        let line = Shape { outline: Outline::Line(route), fill: None, stroke: Some(stroke) };
        let arrow = Shape { outline: Outline::Polygon(head), fill: Some(stroke.ink), stroke: None };
        let items = vec![Item::Shape(line), Item::Shape(arrow)];
        Item::Group(Group {
            class: "edge",
            index: Some(index),
            title: Some(label::edge_title(edge, self.dfg)),
            items,
        })
    }

    fn edge_label(&self, index: usize, rect: Rect) -> Item {
        let edge = &self.dfg.edges[index];
        let ground =
            Shape { outline: Outline::Box { rect, radius: 3.0 }, fill: Some(palette::PAGE), stroke: None };
        let at = Point::new(rect.x + rect.width / 2.0, rect.y + rect.height / 2.0 + label::EDGE_SIZE * 0.36);
        let content = label::edge_label(edge, self.view.edge_measure);
        let ink = self.label_ink(edge);
        let text = Text {
            at,
            anchor: Anchor::Middle,
            size: label::EDGE_SIZE,
            weight: Weight::Regular,
            ink,
            content,
        };
        let items = vec![Item::Shape(ground), Item::Text(text)];
        Item::Group(Group {
            class: "edge-label",
            index: Some(index),
            title: Some(label::edge_title(edge, self.dfg)),
            items,
        })
    }

    fn label_ink(&self, edge: &Edge) -> Ink {
        let exclusive =
            self.shades.by_groups() && edge.groups.values().filter(|group| group.count > 0).count() == 1;
        if exclusive { self.shades.edge(edge, 1.0).ink } else { palette::TEXT }
    }

    fn legend(&self, width: f64, top: f64) -> (Item, f64) {
        let mut row = Row::new(top, width - MARGIN);
        if self.shades.by_groups() {
            self.group_legend(&mut row)
        } else {
            self.scale_legend(&mut row)
        }
        row.text(edge_legend(self.view.edge_measure), palette::MUTED);
        let bottom = row.y + LINE;
        (Item::Group(Group { class: "legend", index: None, title: None, items: row.items }), bottom)
    }

    fn scale_legend(&self, row: &mut Row) {
        let (name, least, most) = self.shades.scale();
        let scale = if self.view.scale == Scale::Log { " (log)" } else { "" };
        const STEPS: usize = 24;
        const STEP: f64 = 5.0;
        row.text(&format!("Shade: {name}{scale}  {least}"), palette::MUTED);
        row.back(10.0);
        row.reserve(STEPS as f64 * STEP);
        for step in 0..STEPS {
            let rect =
                Rect { x: row.x + step as f64 * STEP, y: row.y + 2.0, width: STEP + 0.3, height: 11.0 };
            let fill = palette::sequential(step as f64 / (STEPS - 1) as f64);
            row.items.push(Item::Shape(Shape {
                outline: Outline::Box { rect, radius: 0.0 },
                fill: Some(fill),
                stroke: None,
            }));
        }
        row.x += STEPS as f64 * STEP + 6.0;
        row.text(&most, palette::MUTED);
    }

    fn group_legend(&self, row: &mut Row) {
        for (index, group) in self.dfg.groups.iter().enumerate() {
            let ink = palette::group(index);
            let cases = if group.cases == 1 { "case" } else { "cases" };
            let name = shown(&group.name, 40);
            let text = format!("only {name} ({} {cases})", units::count(group.cases));
            row.swatch(
                palette::mix(palette::PLAIN, ink, 0.62),
                Stroke { ink, width: 2.0, dash: palette::group_dash(index) },
                &text,
            );
        }
        let border = Stroke { ink: palette::BORDER, width: 1.0, dash: Dash::Solid };
        row.swatch(palette::PLAIN, border, "several groups, alike");
        row.swatch(
            palette::mix(palette::PLAIN, palette::group(self.dfg.groups.len().min(2) - 1), 0.34),
            border,
            "several groups, tinted towards the one that spends more time per case (full at × 32)",
        );
    }
}

/// 1.2 to 4.7 points by orders of magnitude between the least and the most frequent drawn edge.
fn edge_width(count: u64, (least, most): (u64, u64)) -> f64 {
    let magnitude = |count: u64| (count.max(1) as f64).ln();
    let range = magnitude(most) - magnitude(least);
    let share = if range > 0.0 { (magnitude(count) - magnitude(least)) / range } else { 0.2 };
    1.2 + share * 3.5
}

fn edge_legend(measure: EdgeMeasure) -> &'static str {
    match measure {
        EdgeMeasure::Count => "Edges: how often one directly follows the other; wider is more",
        EdgeMeasure::Cases => "Edges: in how many cases one directly follows the other; wider is more often",
        EdgeMeasure::Gap => "Edges: median gap between end and next start; wider is more often",
    }
}
