//! Distribution functions as steps.

use super::frame::{Canvas, HEIGHT, MOST_SERIES, missing, name};
use super::range::Range;
use super::{Axis, Chart, Steps, Unit, number};
use crate::furniture::polyline;
use crate::layout::{Point, Rect};
use crate::palette;
use crate::scene::Stroke;
use crate::view::Scale;
use iotrail_model::units;

pub(super) fn draw(canvas: &mut Canvas, chart: &Chart, series: &[Steps]) {
    let drawn = &series[..series.len().min(MOST_SERIES)];
    let x = Range::of(&chart.x, drawn.iter().flat_map(|series| series.steps.iter().map(|step| step.0)));
    let share = Axis { label: "cumulative share (ECDF)".to_owned(), unit: Unit::Share, scale: Scale::Linear };
    let y = Range::of(&share, [0.0, 1.0].into_iter());
    let size = canvas.plot(HEIGHT, &y, 5);
    let curves: Vec<Curve> = drawn.iter().map(|series| Curve::of(series, &x, size)).collect();
    let (all, kept) =
        (drawn.iter().map(|series| series.steps.len()).sum(), curves.iter().map(|curve| curve.kept).sum());
    let notes: Vec<String> =
        missing(series.len(), drawn.len()).into_iter().chain(thinned(kept, all)).collect();
    canvas.header(chart, &notes);
    canvas.legend(|row| {
        for (index, series) in drawn.iter().enumerate() {
            row.stroke(stroke(index), &entry(series, chart.x.unit));
        }
    });
    canvas.upward_label(&share);
    let plot = canvas.plot(HEIGHT, &y, 5);
    canvas.upward(plot, &y, 5);
    canvas.rightward(plot, &chart.x, &x);
    for (index, (series, curve)) in drawn.iter().zip(curves).enumerate() {
        let points = curve.points.into_iter().map(|point| Point::new(plot.x + point.x, plot.y + point.y));
        canvas.series(index, tooltip(series, chart.x.unit), vec![polyline(points.collect(), stroke(index))]);
    }
}

fn stroke(index: usize) -> Stroke {
    Stroke { ink: palette::group(index), width: 1.8, dash: palette::group_dash(index) }
}

fn entry(series: &Steps, unit: Unit) -> String {
    let count = units::count(series.count());
    match series.quantile(0.5) {
        Some(median) => {
            format!("{} (n = {count}, median {})", name(&series.name), number::precise(unit, median))
        }
        None => format!("{} (no values)", name(&series.name)),
    }
}

fn tooltip(series: &Steps, unit: Unit) -> String {
    let quantiles = [
        ("min", 0.0),
        ("p25", 0.25),
        ("p50", 0.5),
        ("p75", 0.75),
        ("p95", 0.95),
        ("p99", 0.99),
        ("max", 1.0),
    ];
    let known = quantiles.iter().filter_map(|(word, share)| {
        Some(format!("{word} {}", number::precise(unit, series.quantile(*share)?)))
    });
    format!(
        "{}\n{} values\n{}",
        name(&series.name),
        units::count(series.count()),
        known.collect::<Vec<_>>().join(", ")
    )
}

/// Steps that are not drawn because the eye could not see them.
pub(super) fn thinned(kept: usize, all: usize) -> Option<String> {
    let (kept, all) = (kept as u64, all as u64);
    (kept < all).then(|| {
        format!(
            "Drawn with {} of {} steps: no place is off by more than half a point.",
            units::count(kept),
            units::count(all)
        )
    })
}

/// The line of a series, relative to the corner of its plot.
struct Curve {
    points: Vec<Point>,
    /// How many of its steps are drawn.
    kept: usize,
}

const FINEST: f64 = 0.5;

impl Curve {
    fn of(series: &Steps, x: &Range, plot: Rect) -> Self {
        let count = series.count().max(1) as f64;
        let mut here = Point::new(0.0, plot.height);
        let mut curve = Self { points: vec![here], kept: 0 };
        let last = series.steps.len().saturating_sub(1);
        for (index, (value, below)) in series.steps.iter().enumerate() {
            let next = Point::new(x.place(*value) * plot.width, (1.0 - *below as f64 / count) * plot.height);
            if next.x - here.x < FINEST && here.y - next.y < FINEST && index < last {
                continue;
            }
            curve.points.extend([Point::new(next.x, here.y), next]);
            curve.kept += 1;
            here = next;
        }
        if curve.kept > 0 {
            curve.points.push(Point::new(plot.width, here.y));
        }
        curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn thinned_curves_rise_and_are_nowhere_off_by_more_than_half_a_point(values in prop::collection::vec(0..100_000_u64, 1..400)) {
            let mut values: Vec<u64> = values;
            values.sort_unstable();
            let mut steps: Vec<(f64, u64)> = Vec::new();
            for (below, value) in values.iter().enumerate() {
                match steps.last_mut() {
                    Some(last) if last.0 == *value as f64 => last.1 = below as u64 + 1,
                    _ => steps.push((*value as f64, below as u64 + 1)),
                }
            }
            let series = Steps { name: String::new(), steps };
            let axis = Axis { label: String::new(), unit: Unit::Bytes, scale: Scale::Linear };
            let x = Range::of(&axis, series.steps.iter().map(|step| step.0));
            let plot = Rect { x: 0.0, y: 0.0, width: 60.0, height: 40.0 };
            let curve = Curve::of(&series, &x, plot);
            prop_assert!(curve.points.windows(2).all(|pair| pair[0].x <= pair[1].x && pair[0].y >= pair[1].y));
            for (value, below) in &series.steps {
                let exact = Point::new(x.place(*value) * 60.0, (1.0 - *below as f64 / series.count() as f64) * 40.0);
                let near = curve.points.iter().any(|point| (point.x - exact.x).abs() <= FINEST + 1e-9 && (point.y - exact.y).abs() <= FINEST + 1e-9);
                prop_assert!(near, "{:?}", exact);
            }
            prop_assert!(curve.points.last().is_some_and(|point| point.y == 0.0));
        }
    }
}
