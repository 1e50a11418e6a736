//! Five numbers of each group as a box: quartiles with the median in it, and lines to the extremes.

use super::frame::{Canvas, missing, name, small, tick_text, tick_width};
use super::range::Range;
use super::{Chart, FiveNumbers, Unit, number};
use crate::font::Weight;
use crate::furniture::{straight, text};
use crate::layout::{Point, Rect};
use crate::palette;
use crate::scene::{Anchor, Dash, Item, Outline, Shape, Stroke};
use iotrail_model::units;

const ROW: f64 = 26.0;
const BOX: f64 = 14.0;
/// More rows than that are no picture but a table.
const MOST: usize = 30;

pub(super) fn draw(canvas: &mut Canvas, chart: &Chart, groups: &[FiveNumbers]) {
    let drawn = &groups[..groups.len().min(MOST)];
    canvas.header(chart, &Vec::from_iter(missing(groups.len(), drawn.len())));
    let x = Range::of(&chart.x, drawn.iter().flat_map(|group| group.numbers));
    let widest = drawn.iter().map(|group| tick_width(&name(&group.name))).fold(0.0, f64::max);
    let counts = drawn.iter().map(|group| tick_width(&counted(group))).fold(0.0, f64::max);
    let beside = canvas.plot_beside(ROW * drawn.len().max(1) as f64, widest);
    let plot = Rect { width: beside.width - counts - 10.0, ..beside };
    canvas.rightward(plot, &chart.x, &x);
    for (index, group) in drawn.iter().enumerate() {
        let middle = plot.y + (index as f64 + 0.5) * ROW;
        let base = middle + 3.6;
        let mut items = vec![tick_text(Point::new(plot.x - 7.0, base), Anchor::End, name(&group.name))];
        let right = Point::new(plot.x + plot.width + 10.0, base);
        items.push(small(right, Anchor::Start, counted(group)));
        items.extend(one(group, &x, plot, middle));
        canvas.series(index, tooltip(group, chart.x.unit), items);
    }
    if drawn.is_empty() {
        let ink = palette::MUTED;
        canvas.items.push(text(
            plot.middle(),
            Anchor::Middle,
            11.0,
            Weight::Regular,
            ink,
            "no values".to_owned(),
        ));
    }
}

fn one(group: &FiveNumbers, x: &Range, plot: Rect, middle: f64) -> Vec<Item> {
    let at = |value: f64| plot.x + x.place(value) * plot.width;
    let [min, lower, median, upper, max] = group.numbers.map(at);
    let line = |from: (f64, f64), to: (f64, f64), width: f64| {
        straight(Point::new(from.0, from.1), Point::new(to.0, to.1), palette::BORDER, width)
    };
    let rect = Rect { x: lower, y: middle - BOX / 2.0, width: (upper - lower).max(1.5), height: BOX };
    let fill = palette::mix(palette::PLAIN, palette::group(2), 0.4);
    let stroke = Stroke { ink: palette::BORDER, width: 1.0, dash: Dash::Solid };
    let cap = BOX / 4.0;
    vec![
        line((min, middle), (lower, middle), 1.0),
        line((upper, middle), (max, middle), 1.0),
        line((min, middle - cap), (min, middle + cap), 1.0),
        line((max, middle - cap), (max, middle + cap), 1.0),
        Item::Shape(Shape {
            outline: Outline::Box { rect, radius: 1.5 },
            fill: Some(fill),
            stroke: Some(stroke),
        }),
        straight(Point::new(median, rect.y), Point::new(median, rect.y + BOX), palette::TEXT, 2.2),
    ]
}

fn counted(group: &FiveNumbers) -> String {
    format!("n = {}", units::count(group.count))
}

fn tooltip(group: &FiveNumbers, unit: Unit) -> String {
    let words = ["min", "lower quartile", "median", "upper quartile", "max"];
    let numbers = words
        .iter()
        .zip(group.numbers)
        .map(|(word, value)| format!("{word} {}", number::precise(unit, value)));
    format!("{}, {}\n{}", name(&group.name), counted(group), numbers.collect::<Vec<_>>().join("\n"))
}
