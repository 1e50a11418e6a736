//! Series over time: stacked areas or lines, flat within each bin, because that is all that a bin knows.

use super::frame::{Canvas, HEIGHT, MOST_SERIES, missing, name};
use super::range::Range;
use super::{Chart, Line, Over, number};
use crate::furniture::{SMALL, polyline};
use crate::layout::{Point, Rect};
use crate::palette;
use crate::scene::{Ink, Item, Outline, Shape, Stroke};
use iotrail_model::units;

/// More bins than that are joined for drawing.
const MOST_BINS: usize = 500;

/// Areas upon each other; what has no colour of its own is one area more, so that the sum is right.
pub(super) fn areas(canvas: &mut Canvas, chart: &Chart, over: &Over) {
    let (joined, note) = joined(over, MOST_BINS);
    let series = with_rest(&joined.series);
    let tops = stacked(&series);
    canvas.header(chart, &Vec::from_iter(note));
    canvas.legend(|row| {
        for (index, series) in series.iter().enumerate() {
            let stroke = Stroke { ink: ink(index), width: 1.4, dash: palette::group_dash(index) };
            row.swatch(tint(index), stroke, &name(&series.name));
        }
    });
    let y = Range::of(&over.value, tops.last().into_iter().flatten().copied().chain([0.0]));
    let (plot, x) = axes(canvas, chart, &joined, &y);
    let place = |bin: usize, value: f64| {
        let along = x.place(bin as f64 * joined.bin);
        Point::new(plot.x + along * plot.width, plot.y + (1.0 - y.place(value)) * plot.height)
    };
    for (index, upper) in tops.iter().enumerate() {
        let edge = outline(upper, &place);
        let mut corners = edge.clone();
        match index.checked_sub(1).map(|below| &tops[below]) {
            Some(lower) => corners.extend(outline(lower, &place).into_iter().rev()),
            None => corners.extend([place(upper.len(), 0.0), place(0, 0.0)]),
        }
        let area = Shape { outline: Outline::Polygon(corners), fill: Some(tint(index)), stroke: None };
        let line = Stroke { ink: ink(index), width: 1.2, dash: palette::group_dash(index) };
        canvas.series(index, tooltip(over, &series[index]), vec![Item::Shape(area), polyline(edge, line)]);
    }
}

/// A line for each series.
pub(super) fn lines(canvas: &mut Canvas, chart: &Chart, over: &Over) {
    let (joined, note) = joined(over, MOST_BINS);
    let drawn = &joined.series[..joined.series.len().min(MOST_SERIES)];
    let notes: Vec<String> = missing(joined.series.len(), drawn.len()).into_iter().chain(note).collect();
    canvas.header(chart, &notes);
    let stroke = |index: usize| Stroke { ink: ink(index), width: 1.6, dash: palette::group_dash(index) };
    canvas.legend(|row| {
        drawn.iter().enumerate().for_each(|(index, series)| row.stroke(stroke(index), &name(&series.name)));
    });
    let y =
        Range::of(&over.value, drawn.iter().flat_map(|series| series.values.iter().copied()).chain([0.0]));
    let (plot, x) = axes(canvas, chart, &joined, &y);
    for (index, series) in drawn.iter().enumerate() {
        let place = |bin: usize, value: f64| {
            let along = x.place(bin as f64 * joined.bin);
            Point::new(plot.x + along * plot.width, plot.y + (1.0 - y.place(value)) * plot.height)
        };
        let points = outline(&series.values, &place);
        canvas.series(index, tooltip(over, series), vec![polyline(points, stroke(index))]);
    }
}

fn axes(canvas: &mut Canvas, chart: &Chart, over: &Over, y: &Range) -> (Rect, Range) {
    canvas.upward_label(&over.value);
    let plot = canvas.plot(HEIGHT - SMALL * 3.0, y, 5);
    let end = over.bin * bins(over) as f64;
    let x = Range::until(chart.x.unit, end);
    canvas.upward(plot, y, 5);
    canvas.rightward(plot, &chart.x, &x);
    (plot, x)
}

fn ink(index: usize) -> Ink {
    if index < MOST_SERIES { palette::group(index) } else { palette::MUTED }
}

fn tint(index: usize) -> Ink {
    palette::mix(palette::PLAIN, ink(index), 0.6)
}

fn bins(over: &Over) -> usize {
    over.series.iter().map(|series| series.values.len()).max().unwrap_or(0)
}

/// The first series, and the sum of the others.
fn with_rest(series: &[Line]) -> Vec<Line> {
    if series.len() <= MOST_SERIES {
        return series.to_vec();
    }
    let (drawn, rest) = series.split_at(MOST_SERIES);
    let mut sum = Line { name: format!("{} others", rest.len()), values: Vec::new() };
    for line in rest {
        sum.values.resize(sum.values.len().max(line.values.len()), 0.0);
        sum.values.iter_mut().zip(&line.values).for_each(|(sum, value)| *sum += value);
    }
    [drawn, &[sum]].concat()
}

/// For each series its upper edge.
fn stacked(series: &[Line]) -> Vec<Vec<f64>> {
    let bins = series.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let mut height = vec![0.0; bins];
    let tops = series.iter().map(|line| {
        height.iter_mut().zip(&line.values).for_each(|(height, value)| *height += value.max(0.0));
        height.clone()
    });
    tops.collect()
}

/// Flat over each bin; places where nothing changes are left out.
fn outline(values: &[f64], place: &impl Fn(usize, f64) -> Point) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for (bin, value) in values.iter().enumerate() {
        if bin == 0 || values[bin - 1] != *value {
            points.extend((bin > 0).then(|| place(bin, values[bin - 1])));
            points.push(place(bin, *value));
        }
    }
    points.extend(values.last().map(|value| place(values.len(), *value)));
    points
}

/// At most `most` bins: means of as many neighbours as it takes, and what was done.
pub(super) fn joined(over: &Over, most: usize) -> (Over, Option<String>) {
    let bins = bins(over);
    let by = bins.div_ceil(most).max(1);
    if by == 1 {
        return (over.clone(), None);
    }
    // The last of the joined bins may be of fewer; its mean is over what there is.
    let join = |line: &Line| {
        let values = line.values.chunks(by).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64);
        Line { name: line.name.clone(), values: values.collect() }
    };
    let joined = Over {
        bin: over.bin * by as f64,
        numbered: over.numbered,
        series: over.series.iter().map(join).collect(),
        value: over.value.clone(),
        rows: over.rows.clone(),
    };
    let note = format!(
        "Drawn with {} of {} bins: each is the mean of {by}.",
        units::count(bins.div_ceil(by) as u64),
        units::count(bins as u64)
    );
    (joined, Some(note))
}

fn tooltip(over: &Over, series: &Line) -> String {
    let most = series.values.iter().copied().fold(0.0, f64::max);
    let mean = series.values.iter().sum::<f64>() / series.values.len().max(1) as f64;
    let unit = over.value.unit;
    format!(
        "{}\nmean {}, most {}",
        name(&series.name),
        number::precise(unit, mean),
        number::precise(unit, most)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Unit};
    use crate::view::Scale;

    fn over(series: usize, bins: usize) -> Over {
        let line = |index: usize| Line {
            name: format!("s{index}"),
            values: (0..bins).map(|bin| (bin + index) as f64).collect(),
        };
        let value = Axis { label: "bytes".to_owned(), unit: Unit::BytesPerSecond, scale: Scale::Linear };
        Over {
            value,
            bin: 10.0,
            numbered: false,
            rows: "rank".to_owned(),
            series: (0..series).map(line).collect(),
        }
    }

    fn sum(over: &Over) -> f64 {
        over.series.iter().flat_map(|line| &line.values).sum::<f64>() * over.bin
    }

    #[test]
    fn joined_bins_hold_what_the_bins_held() {
        let over = over(3, 1200);
        let (few, note) = joined(&over, 500);
        assert_eq!(few.series[0].values.len(), 400);
        assert!((sum(&few) - sum(&over)).abs() < 1e-6 * sum(&over));
        assert_eq!(note.as_deref(), Some("Drawn with 400 of 1,200 bins: each is the mean of 3."));
        assert_eq!(joined(&over, 1200).1, None);
    }

    #[test]
    fn areas_stack_to_the_sum_of_all_series() {
        let over = over(40, 5);
        let series = with_rest(&over.series);
        assert_eq!((series.len(), series[8].name.as_str()), (9, "32 others"));
        let tops = stacked(&series);
        let sum_of_first_bin: f64 = over.series.iter().map(|line| line.values[0]).sum();
        assert_eq!(tops[8][0], sum_of_first_bin);
    }
}
