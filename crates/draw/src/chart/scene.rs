//! Charts become scenes: one alone, or several below each other.

use super::frame::{Canvas, WIDTH};
use super::{Chart, Marks, boxes, heat, histogram, over_time, steps};
use crate::font::Weight;
use crate::furniture::{MARGIN, SMALL, text};
use crate::layout::Point;
use crate::palette;
use crate::scene::{Anchor, Scene};
use iotrail_model::text::{printable, shown};

/// The picture of one chart.
#[must_use]
pub fn scene(chart: &Chart) -> Scene {
    sheet(&chart.title, std::slice::from_ref(chart))
}

/// The picture of `charts` below each other; `title` is for readers that cannot see it.
#[must_use]
pub fn sheet(title: &str, charts: &[Chart]) -> Scene {
    let mut canvas = Canvas::new(WIDTH);
    for (index, chart) in charts.iter().enumerate() {
        canvas.y += if index > 0 { BETWEEN } else { 0.0 };
        draw(&mut canvas, chart);
    }
    if charts.is_empty() {
        let at = Point::new(MARGIN, canvas.y + SMALL);
        let nothing = "There is nothing of this kind to draw.".to_owned();
        canvas.items.push(text(at, Anchor::Start, SMALL, Weight::Regular, palette::TEXT, nothing));
        canvas.y += 2.0 * SMALL;
    }
    let notes = charts.iter().flat_map(|chart| &chart.notes).map(|note| printable(note));
    Scene {
        width: WIDTH,
        height: (canvas.y + MARGIN).ceil(),
        page: palette::PAGE,
        title: shown(title, 120),
        description: notes.collect::<Vec<_>>().join(" "),
        items: canvas.items,
    }
}

const BETWEEN: f64 = 30.0;

fn draw(canvas: &mut Canvas, chart: &Chart) {
    match &chart.marks {
        Marks::Steps(series) => steps::draw(canvas, chart, series),
        Marks::Histograms(series) => histogram::draw(canvas, chart, series),
        Marks::Areas(over) => over_time::areas(canvas, chart, over),
        Marks::Lines(over) => over_time::lines(canvas, chart, over),
        Marks::Heat(over) => heat::draw(canvas, chart, over),
        Marks::Boxes(groups) => boxes::draw(canvas, chart, groups),
    }
}
