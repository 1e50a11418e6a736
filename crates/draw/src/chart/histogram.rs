//! Histograms one above the other: bars that overlap cannot be told apart.

use super::frame::{Canvas, MOST_SERIES, missing, name, small};
use super::range::Range;
use super::{Axis, Chart, Histogram, Unit, number};
use crate::furniture::{filled, straight};
use crate::layout::{Point, Rect};
use crate::palette;
use crate::scene::{Anchor, Item};
use crate::view::Scale;
use iotrail_model::units;

const GAP: f64 = 26.0;
/// Room for the name of the first panel.
const NAME: f64 = 16.0;
const FEW: f64 = 6.0;

pub(super) fn draw(canvas: &mut Canvas, chart: &Chart, series: &[Histogram]) {
    let drawn = &series[..series.len().min(MOST_SERIES)];
    canvas.header(chart, &Vec::from_iter(missing(series.len(), drawn.len())));
    let x = Range::of(&chart.x, ends(chart, drawn).into_iter());
    let count = Axis { label: "values in each bin".to_owned(), unit: Unit::Count, scale: Scale::Linear };
    canvas.upward_label(&count);
    let ranges: Vec<Range> = drawn
        .iter()
        .map(|series| Range::of(&count, series.bins.iter().map(|bin| bin.2 as f64).chain([0.0])))
        .collect();
    let height = if drawn.len() == 1 { 220.0 } else { 62.0 };
    // All panels have the place of the one with the widest labels, so that their bins are above each other.
    let places = ranges.iter().map(|range| canvas.plot(height, range, 2));
    let narrowest = places.reduce(|a, b| if a.x > b.x { a } else { b });
    let narrowest = narrowest.unwrap_or_else(|| canvas.plot_beside(height, 0.0));
    let panels = drawn.len().max(1) as f64;
    let whole = Rect { y: canvas.y + NAME, height: panels * (height + GAP) - GAP, ..narrowest };
    canvas.rightward(whole, &chart.x, &x);
    for (index, (series, y)) in drawn.iter().zip(&ranges).enumerate() {
        let plot = Rect { y: whole.y + index as f64 * (height + GAP), height, ..narrowest };
        canvas.upward(plot, y, if drawn.len() == 1 { 5 } else { 2 });
        let bottom = plot.y + plot.height;
        let right = Point::new(plot.x + plot.width, bottom);
        canvas.items.push(straight(Point::new(plot.x, bottom), right, palette::EDGE, 0.8));
        let total: u64 = series.bins.iter().map(|bin| bin.2).sum();
        let says = format!("{} (n = {})", name(&series.name), units::count(total));
        canvas.items.push(small(Point::new(plot.x + 2.0, plot.y - 5.0), Anchor::Start, says.clone()));
        canvas.series(index, says, bars(series, chart.x.unit, &x, y, plot, index));
    }
}

/// Ends of all bins; so few that they would fill the page get some room around them.
fn ends(chart: &Chart, drawn: &[Histogram]) -> Vec<f64> {
    let mut ends: Vec<f64> =
        drawn.iter().flat_map(|series| series.bins.iter().flat_map(|bin| [bin.0, bin.1])).collect();
    let (low, high) =
        (ends.iter().copied().fold(f64::INFINITY, f64::min), ends.iter().copied().fold(0.0, f64::max));
    let widest = drawn.iter().flat_map(|series| &series.bins).map(|bin| bin.1 - bin.0).fold(0.0, f64::max);
    if chart.x.scale == Scale::Linear && high - low < FEW * widest {
        ends.extend([(low - FEW * widest).max(0.0), high + FEW * widest]);
    }
    ends
}

fn bars(series: &Histogram, unit: Unit, x: &Range, y: &Range, plot: Rect, index: usize) -> Vec<Item> {
    let fill = palette::mix(palette::PLAIN, palette::group(index), 0.85);
    let bars = series.bins.iter().filter(|bin| bin.2 > 0).map(|(low, high, count)| {
        let (left, right) = (x.place(*low) * plot.width, x.place(*high) * plot.width);
        // A bin that holds a single value of all is still seen.
        let height = (y.place(*count as f64) * plot.height).max(1.0);
        let rect = Rect {
            x: plot.x + left,
            y: plot.y + plot.height - height,
            width: (right - left - 0.6).max(1.0),
            height,
        };
        let says = format!(
            "{} to {}: {}",
            number::precise(unit, *low),
            number::precise(unit, *high),
            units::count(*count)
        );
        Item::Group(crate::scene::Group {
            class: "bar",
            index: None,
            title: Some(says),
            items: vec![filled(rect, fill)],
        })
    });
    bars.collect()
}
