//! Lanes become a scene: names in the shape of the tree at the left, bars over time, figures at the right.

use super::clock::Clock;
use super::colours::Colours;
use super::lanes::{self, Lane};
use super::strips::{MOST_STRIPS, changes, pack};
use super::{Gantt, GanttRow};
use crate::chart::frame::{Canvas, small, tick_text, tick_width};
use crate::chart::range::Range;
use crate::chart::{Axis, Unit};
use crate::font::Weight;
use crate::furniture::{MARGIN, cut, polyline, straight};
use crate::layout::{Point, Rect};
use crate::palette;
use crate::scene::{Anchor, Dash, Group, Ink, Item, Outline, Scene, Shape, Stroke};
use crate::view::Scale;
use iotrail_model::text::{printable, shown};
use iotrail_model::units;

const WIDTH: f64 = 1180.0;
const NAMES: f64 = 250.0;
const INDENT: f64 = 10.0;
/// Deeper rows are not indented further.
const DEEPEST: usize = 12;
const SINGLE: f64 = 11.0;
const STRIP: f64 = 5.0;
const CROWD: f64 = 30.0;
const GAP: f64 = 6.0;

/// The picture of `gantt`.
#[must_use]
pub fn scene(gantt: &Gantt) -> Scene {
    let found = lanes::of(gantt);
    let mut canvas = Canvas::new(WIDTH);
    let notes: Vec<&str> = gantt.notes.iter().chain(&found.notes).map(String::as_str).collect();
    canvas.title(&gantt.title, &notes);
    let drawing =
        Drawing { gantt, lanes: &found.lanes, clock: Clock::of(gantt), colours: Colours::of(gantt) };
    drawing.legend(&mut canvas);
    drawing.lanes(&mut canvas);
    Scene {
        width: WIDTH,
        height: (canvas.y + MARGIN).ceil(),
        page: palette::PAGE,
        title: shown(&gantt.title, 120),
        description: notes.iter().map(|note| printable(note)).collect::<Vec<_>>().join(" "),
        items: canvas.items,
    }
}

struct Drawing<'a> {
    gantt: &'a Gantt,
    lanes: &'a [Lane],
    clock: Clock,
    colours: Colours,
}

/// Where a lane is drawn, and how its rows lie in it.
struct LaneLayout {
    y: f64,
    height: f64,
    /// For each row of the lane its strip; none if there are too many.
    strips: Option<Vec<usize>>,
}

impl LaneLayout {
    fn middle(&self) -> f64 {
        self.y + self.height / 2.0
    }
}

impl Drawing<'_> {
    fn legend(&self, canvas: &mut Canvas) {
        let mut groups: Vec<(&usize, &usize)> = self.colours.place.iter().collect();
        groups.sort_unstable();
        let failed = self.gantt.rows.iter().any(|row| row.failed);
        let open = self.gantt.rows.iter().any(|row| row.end.is_none());
        canvas.legend(|row| {
            for (group, _) in groups {
                let name = self
                    .gantt
                    .groups
                    .get(*group)
                    .map_or_else(|| format!("group {group}"), |name| shown(name, 40));
                row.swatch(self.colours.fill(Some(*group)), self.colours.border(Some(*group)), &name);
            }
            if self.colours.others > 0 {
                let name = units::counted(self.colours.others as u64, "other group", "other groups");
                row.swatch(self.colours.fill(None), self.colours.border(None), &name);
            }
            if self.colours.ungrouped {
                row.swatch(self.colours.fill(None), self.colours.border(None), "in no group");
            }
            if failed {
                row.reserve(120.0);
                let (x, y) = (row.x + 8.0, row.y + 7.0);
                row.items.extend(cross(Point::new(x, y)));
                row.x += 20.0;
                row.text("failed", palette::TEXT);
            }
            if open {
                row.text("pointed end: the end was not seen", palette::MUTED);
            }
            if self.lanes.iter().any(|lane| lane.parent.is_some()) {
                row.text("dotted: made by", palette::MUTED);
            }
            if self.lanes.is_empty() {
                row.text("There are no processes.", palette::TEXT);
            }
        });
    }

    fn lanes(&self, canvas: &mut Canvas) {
        let names: Vec<String> = self.lanes.iter().map(|lane| self.name(lane)).collect();
        let figures: Vec<String> = self.lanes.iter().map(|lane| self.figures(lane)).collect();
        let widest = figures.iter().map(|figures| tick_width(figures)).fold(0.0, f64::max);
        let named = self
            .lanes
            .iter()
            .zip(&names)
            .map(|(lane, name)| indent(lane) + tick_width(name))
            .fold(0.0, f64::max);
        let left = MARGIN + named.min(NAMES) + 10.0;
        let mut places = Vec::with_capacity(self.lanes.len());
        let top = canvas.y;
        let mut y = top + 4.0;
        for lane in self.lanes {
            let place = self.place(lane, y);
            y += place.height + GAP;
            places.push(place);
        }
        let right = WIDTH - MARGIN - widest - 10.0;
        let plot = Rect { x: left, y: top, width: right - left, height: y - top };
        let axis =
            Axis { label: "time since the start".to_owned(), unit: Unit::Nanoseconds, scale: Scale::Linear };
        let range = Range::until(Unit::Nanoseconds, self.clock.length());
        canvas.rightward(plot, &axis, &range);
        let at = |moment: i64| plot.x + range.place(self.clock.since(moment)) * plot.width;
        self.connectors(canvas, &places, &at);
        for (index, (lane, place)) in self.lanes.iter().zip(&places).enumerate() {
            let base = place.middle() + 3.6;
            let x = MARGIN + indent(lane);
            let name = cut(&names[index], 10.5, Weight::Regular, left - 8.0 - x);
            let mut items = vec![tick_text(Point::new(x, base), Anchor::Start, name)];
            let figures = figures[index].clone();
            items.push(small(Point::new(right + 10.0, base), Anchor::Start, figures));
            items.extend(self.bars(lane, place, &at));
            let title = Some(self.tooltip(lane));
            canvas.items.push(Item::Group(Group { class: "lane", index: Some(index), title, items }));
        }
    }

    fn place(&self, lane: &Lane, y: f64) -> LaneLayout {
        if lane.rows.len() == 1 {
            return LaneLayout { y, height: SINGLE, strips: Some(vec![0]) };
        }
        let spans: Vec<(i64, i64)> =
            lane.rows.iter().map(|row| self.clock.span(&self.gantt.rows[*row])).collect();
        let (strips, count) = pack(&spans);
        if count > MOST_STRIPS {
            return LaneLayout { y, height: CROWD, strips: None };
        }
        LaneLayout { y, height: (count as f64 * (STRIP + 1.0)).max(SINGLE), strips: Some(strips) }
    }

    /// From the parent's bar at the moment of the child's birth down to the child.
    fn connectors(&self, canvas: &mut Canvas, places: &[LaneLayout], at: &impl Fn(i64) -> f64) {
        let stroke = Stroke { ink: palette::EDGE, width: 0.9, dash: Dash::Dotted };
        let mut items = Vec::new();
        for (lane, place) in self.lanes.iter().zip(places) {
            let first = lane.rows.iter().filter_map(|row| self.gantt.rows[*row].start).min();
            if let (Some(parent), Some(start)) = (lane.parent, first) {
                let x = at(start);
                let from = places[parent].y + places[parent].height;
                items.push(polyline(vec![Point::new(x, from), Point::new(x, place.y)], stroke));
            }
        }
        canvas.group("connectors", items);
    }

    fn bars(&self, lane: &Lane, place: &LaneLayout, at: &impl Fn(i64) -> f64) -> Vec<Item> {
        let Some(strips) = &place.strips else { return self.crowd(lane, place, at) };
        let count = strips.iter().max().map_or(1, |most| most + 1);
        let height = if lane.rows.len() == 1 { SINGLE } else { place.height / count as f64 - 1.0 };
        let mut items = Vec::new();
        for (row, strip) in lane.rows.iter().zip(strips) {
            let row = &self.gantt.rows[*row];
            let (start, end) = self.clock.span(row);
            let (x, right) = (at(start), at(end));
            let y = place.y + *strip as f64 * (height + 1.0);
            let rect = Rect { x, y, width: (right - x).max(1.2), height };
            items.push(self.bar(row, rect));
            if row.failed {
                items.extend(cross(Point::new(rect.x + rect.width + 4.5, rect.middle().y)));
            }
        }
        items
    }

    fn bar(&self, row: &GanttRow, rect: Rect) -> Item {
        let (fill, stroke) = (Some(self.colours.fill(row.group)), Some(self.colours.border(row.group)));
        let outline = if row.end.is_some() {
            Outline::Box { rect, radius: 1.5 }
        } else {
            let (right, tip) = (rect.x + rect.width, (rect.height * 0.7).min(rect.width));
            let point = |x: f64, share: f64| Point::new(x, rect.y + share * rect.height);
            let corners =
                [(rect.x, 0.0), (right - tip, 0.0), (right, 0.5), (right - tip, 1.0), (rect.x, 1.0)];
            Outline::Polygon(corners.map(|(x, share)| point(x, share)).to_vec())
        };
        let shape = Item::Shape(Shape { outline, fill, stroke });
        Item::Group(Group { class: "bar", index: None, title: Some(self.about(row)), items: vec![shape] })
    }

    /// How many rows of the lane there are at each moment.
    fn crowd(&self, lane: &Lane, place: &LaneLayout, at: &impl Fn(i64) -> f64) -> Vec<Item> {
        let changes = changes(lane.rows.iter().map(|row| self.clock.span(&self.gantt.rows[*row])));
        let most = changes.iter().map(|change| change.1).max().unwrap_or(1).max(1) as f64;
        let bottom = place.y + place.height;
        let mut edge = Vec::new();
        let mut here = bottom;
        for (moment, running) in changes {
            let x = at(moment);
            edge.push(Point::new(x, here));
            here = bottom - place.height * running as f64 / most;
            edge.push(Point::new(x, here));
        }
        let group = self.gantt.rows[lane.rows[0]].group;
        let area = Shape {
            outline: Outline::Polygon(edge.clone()),
            fill: Some(self.colours.fill(group)),
            stroke: None,
        };
        let mut items = vec![Item::Shape(area), polyline(edge, self.colours.border(group))];
        let failed = lane.rows.iter().map(|row| &self.gantt.rows[*row]).filter(|row| row.failed);
        items.extend(failed.flat_map(|row| cross(Point::new(at(self.clock.span(row).1), bottom - 4.0))));
        items
    }

    fn count(&self, lane: &Lane) -> u64 {
        lane.rows.iter().map(|row| self.gantt.rows[*row].count.max(1)).sum()
    }

    fn name(&self, lane: &Lane) -> String {
        let row = &self.gantt.rows[lane.rows[0]];
        let alike = lane.rows.iter().all(|other| self.gantt.rows[*other].label == row.label);
        let group = row.group.and_then(|group| self.gantt.groups.get(group));
        let name = if alike { &row.label } else { group.unwrap_or(&row.label) };
        let name = shown(name, 48);
        match self.count(lane) {
            1 => name,
            count => format!("{} × {name}", units::count(count)),
        }
    }

    fn figures(&self, lane: &Lane) -> String {
        let rows = || lane.rows.iter().map(|row| &self.gantt.rows[*row]);
        let time = lanes::time(self.gantt, lane) as f64;
        let known = rows().any(|row| row.start.is_some() && row.end.is_some());
        let time = match (known, rows().any(|row| row.start.is_some())) {
            (true, _) => units::duration(time),
            (false, true) => "end not seen".to_owned(),
            (false, false) => "start not seen".to_owned(),
        };
        let spans = rows().map(|row| self.clock.span(row));
        let most = changes(spans).iter().map(|change| change.1).max().unwrap_or(0);
        let failed = rows().filter(|row| row.failed).count();
        let failed = match (failed, lane.rows.len()) {
            (0, _) => String::new(),
            (_, 1) => ", failed".to_owned(),
            (failed, _) => format!(", {failed} failed"),
        };
        if lane.rows.len() > 1 {
            format!("{time} in all, at most {most} at once{failed}")
        } else {
            format!("{time}{failed}")
        }
    }

    fn about(&self, row: &GanttRow) -> String {
        let group = row.group.and_then(|group| self.gantt.groups.get(group));
        let moment = |moment: Option<i64>| {
            moment.map_or_else(|| "not seen".to_owned(), |at| units::duration(self.clock.since(at)))
        };
        let detail = if row.detail.is_empty() { &row.label } else { &row.detail };
        let mut lines = vec![shown(detail, 300)];
        lines.extend(group.map(|group| format!("group {}", shown(group, 80))));
        lines.push(format!("start {}, end {}", moment(row.start), moment(row.end)));
        lines.extend(row.failed.then(|| "failed".to_owned()));
        lines.join("\n")
    }

    fn tooltip(&self, lane: &Lane) -> String {
        match lane.rows.as_slice() {
            [only] => self.about(&self.gantt.rows[*only]),
            _ => format!("{}\n{}", self.name(lane), self.figures(lane)),
        }
    }
}

fn indent(lane: &Lane) -> f64 {
    lane.depth.min(DEEPEST) as f64 * INDENT
}

/// A mark that is seen in grey, too.
fn cross(middle: Point) -> Vec<Item> {
    let line = |dx: f64, ink: Ink, width: f64| {
        let (from, to) =
            (Point::new(middle.x - dx, middle.y - 3.0), Point::new(middle.x + dx, middle.y + 3.0));
        straight(from, to, ink, width)
    };
    let (page, text) = (palette::PAGE, palette::TEXT);
    vec![line(3.0, page, 3.8), line(-3.0, page, 3.8), line(3.0, text, 1.8), line(-3.0, text, 1.8)]
}
