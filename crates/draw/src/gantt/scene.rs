//! Lanes become a scene: names in the shape of the tree at the left, bars over time, figures at the right.

use super::lanes::{self, Lane};
use super::{Gantt, GanttRow};
use crate::chart::frame::{Canvas, small, tick_text, tick_width};
use crate::chart::range::Range;
use crate::chart::{Axis, Unit};
use crate::font::Weight;
use crate::furniture::{MARGIN, cut, polyline, straight};
use crate::label;
use crate::layout::{Point, Rect};
use crate::palette;
use crate::scene::{Anchor, Dash, Group, Ink, Item, Outline, Scene, Shape, Stroke};
use crate::view::Scale;
use iotrail_model::text::printable;
use iotrail_model::units;
use std::collections::HashMap;

const WIDTH: f64 = 1180.0;
const NAMES: f64 = 250.0;
const INDENT: f64 = 10.0;
/// Deeper rows are not indented further.
const DEEPEST: usize = 12;
const SINGLE: f64 = 11.0;
const STRIP: f64 = 5.0;
const CROWD: f64 = 30.0;
/// More strips than that become one area of how many there are.
const MOST_STRIPS: usize = 6;
const GAP: f64 = 6.0;
const COLOURS: usize = 8;

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
        title: label::shown(&gantt.title, 120),
        description: notes.iter().map(|note| printable(note)).collect::<Vec<_>>().join(" "),
        items: canvas.items,
    }
}

/// First and last moment.
#[derive(Clone, Copy)]
struct Clock {
    first: i64,
    last: i64,
}

impl Clock {
    fn of(gantt: &Gantt) -> Self {
        let known = || gantt.rows.iter().flat_map(|row| [row.start, row.end]).flatten();
        let (first, last) = gantt.span.unwrap_or((i64::MAX, i64::MIN));
        let first = known().fold(first, i64::min);
        let last = known().fold(last, i64::max);
        if first <= last { Self { first, last } } else { Self { first: 0, last: 0 } }
    }

    fn length(self) -> f64 {
        self.since(self.last)
    }

    fn since(self, moment: i64) -> f64 {
        (i128::from(moment) - i128::from(self.first)) as f64
    }

    /// Start and end of a row as far as they are drawn; what is not known reaches to the border.
    fn span(self, row: &GanttRow) -> (i64, i64) {
        let start = row.start.or(row.end).unwrap_or(self.first);
        let start = if row.start.is_none() { self.first } else { start };
        (start, row.end.unwrap_or(self.last).max(start))
    }
}

/// Groups with a colour: those whose processes live the longest together.
struct Colours {
    place: HashMap<usize, usize>,
    others: usize,
    ungrouped: bool,
}

impl Colours {
    fn of(gantt: &Gantt) -> Self {
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
        let others = groups.len().saturating_sub(COLOURS);
        groups.truncate(COLOURS);
        // Colours in the order of the groups, which is that of time.
        groups.sort_unstable();
        let place = groups.into_iter().enumerate().map(|(place, group)| (group, place)).collect();
        Self { place, others, ungrouped: gantt.rows.iter().any(|row| row.group.is_none()) }
    }

    fn ink(&self, group: Option<usize>) -> Ink {
        let place = group.and_then(|group| self.place.get(&group));
        place.map_or(palette::MUTED, |place| palette::group(*place))
    }

    fn border(&self, group: Option<usize>) -> Stroke {
        Stroke { ink: self.ink(group), width: 0.8, dash: Dash::Solid }
    }

    fn fill(&self, group: Option<usize>) -> Ink {
        palette::mix(palette::PLAIN, self.ink(group), 0.62)
    }
}

struct Drawing<'a> {
    gantt: &'a Gantt,
    lanes: &'a [Lane],
    clock: Clock,
    colours: Colours,
}

/// Where a lane is drawn, and how its rows lie in it.
struct Place {
    y: f64,
    height: f64,
    /// For each row of the lane its strip; none if there are too many.
    strips: Option<Vec<usize>>,
}

impl Place {
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
                    .map_or_else(|| format!("group {group}"), |name| label::shown(name, 40));
                row.swatch(self.colours.fill(Some(*group)), self.colours.border(Some(*group)), &name);
            }
            if self.colours.others > 0 {
                let name = format!("{} other groups", self.colours.others);
                row.swatch(self.colours.fill(None), self.colours.border(None), &name);
            }
            if self.colours.ungrouped {
                row.swatch(self.colours.fill(None), self.colours.border(None), "in no group");
            }
            if failed {
                let (x, y) = (row.x + 8.0, row.y + 7.0);
                row.reserve(120.0);
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

    fn place(&self, lane: &Lane, y: f64) -> Place {
        if lane.rows.len() == 1 {
            return Place { y, height: SINGLE, strips: Some(vec![0]) };
        }
        let spans: Vec<(i64, i64)> =
            lane.rows.iter().map(|row| self.clock.span(&self.gantt.rows[*row])).collect();
        let (strips, count) = pack(&spans);
        if count > MOST_STRIPS {
            return Place { y, height: CROWD, strips: None };
        }
        Place { y, height: (count as f64 * (STRIP + 1.0)).max(SINGLE), strips: Some(strips) }
    }

    /// From the parent's bar at the moment of the child's birth down to the child.
    fn connectors(&self, canvas: &mut Canvas, places: &[Place], at: &impl Fn(i64) -> f64) {
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

    fn bars(&self, lane: &Lane, place: &Place, at: &impl Fn(i64) -> f64) -> Vec<Item> {
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
    fn crowd(&self, lane: &Lane, place: &Place, at: &impl Fn(i64) -> f64) -> Vec<Item> {
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
        let name = label::shown(name, 48);
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
        let mut lines = vec![label::shown(detail, 300)];
        lines.extend(group.map(|group| format!("group {}", label::shown(group, 80))));
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

/// A strip for each span, so that those of one strip do not overlap, and how many strips that takes.
fn pack(spans: &[(i64, i64)]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|index| spans[*index]);
    let mut free: Vec<i64> = Vec::new();
    let mut strips = vec![0; spans.len()];
    for index in order {
        let (start, end) = spans[index];
        // Only the first few matter: whoever needs more strips gets none.
        let strip = free.iter().take(MOST_STRIPS + 1).position(|busy| *busy <= start);
        strips[index] = strip.unwrap_or_else(|| {
            free.push(i64::MIN);
            free.len() - 1
        });
        free[strips[index]] = end.max(start.saturating_add(1));
    }
    (strips, free.len())
}

/// How many spans there are from each moment at which that changes.
fn changes(spans: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut moments: Vec<(i64, i64)> = spans.flat_map(|(start, end)| [(start, 1), (end, -1)]).collect();
    moments.sort_unstable();
    let mut running = 0;
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for (moment, by) in moments {
        running += by;
        match changes.last_mut() {
            Some(last) if last.0 == moment => last.1 = running,
            _ => changes.push((moment, running)),
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_overlap_are_in_different_strips() {
        let (strips, count) = pack(&[(0, 10), (5, 15), (10, 20), (15, 16)]);
        assert_eq!((strips, count), (vec![0, 1, 0, 1], 2));
    }

    #[test]
    fn what_ends_when_another_begins_is_not_counted_twice() {
        assert_eq!(
            changes([(0, 10), (10, 20), (5, 12)].into_iter()),
            [(0, 1), (5, 2), (10, 2), (12, 1), (20, 0)]
        );
    }

    #[test]
    fn what_was_not_seen_reaches_to_the_border() {
        let clock = Clock { first: 0, last: 100 };
        let row = |start, end| GanttRow { start, end, ..GanttRow::default() };
        assert_eq!(clock.span(&row(None, None)), (0, 100));
        assert_eq!(clock.span(&row(Some(7), None)), (7, 100));
        assert_eq!(clock.span(&row(None, Some(9))), (0, 9));
        assert_eq!(clock.span(&row(Some(9), Some(3))), (9, 9));
    }
}
