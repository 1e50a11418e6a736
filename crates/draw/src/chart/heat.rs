//! Rows over time, the deeper the shade the larger the value.

use super::frame::{Canvas, axis_label, name, tick_text, tick_width};
use super::over_time::joined;
use super::range::Range;
use super::{Chart, Line, Over, Unit, number};
use crate::furniture::filled;
use crate::layout::{Point, Rect};
use crate::palette;
use crate::scene::{Anchor, Dash, Ink, Item, Stroke};
use iotrail_model::units;

const MOST_COLUMNS: usize = 160;
const MOST_ROWS: usize = 96;
/// Shades that differ by less are not told apart.
const SHADES: f64 = 24.0;
const LABEL_HEIGHT: f64 = 12.0;

pub(super) fn draw(canvas: &mut Canvas, chart: &Chart, over: &Over) {
    let (mut over, columns) = joined(over, MOST_COLUMNS);
    let rows = join_rows(&mut over);
    canvas.header(chart, &Vec::from_iter(columns.into_iter().chain(rows)));
    let shown = over.series.iter().flat_map(|line| line.values.iter().copied()).filter(|value| *value > 0.0);
    let range = Range::of(&over.value, shown);
    scale(canvas, &over, &range);
    let row = (HEIGHT / over.series.len().max(1) as f64).clamp(4.0, 24.0);
    let every = (LABEL_HEIGHT / row).ceil() as usize;
    let labelled = || over.series.iter().enumerate().filter(|(index, _)| index % every == 0);
    let widest = labelled().map(|(_, line)| tick_width(&name(&line.name))).fold(0.0, f64::max);
    let plot = canvas.plot_beside(row * over.series.len().max(1) as f64, widest);
    let bins = over.series.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let end = over.bin * bins as f64;
    let x = if over.numbered { Range::numbers(chart.x.unit, end) } else { Range::until(chart.x.unit, end) };
    canvas.rightward(plot, &chart.x, &x);
    canvas.items.push(filled(plot, nothing()));
    for (index, line) in over.series.iter().enumerate() {
        let y = plot.y + index as f64 * row;
        let place = |bin: usize| plot.x + x.place(x.low() + bin as f64 * over.bin) * plot.width;
        let cells = runs(line, &range).into_iter().map(|(from, to, step)| {
            let rect = Rect {
                x: place(from),
                y,
                width: place(to) - place(from),
                height: row - if row > 8.0 { 1.0 } else { 0.0 },
            };
            filled(rect, shade(step))
        });
        canvas.series(index, tooltip(line, over.value.unit), cells.collect());
    }
    let labels = labelled().map(|(index, line)| {
        let at = Point::new(plot.x - 7.0, plot.y + (index as f64 + 0.5) * row + 3.6);
        tick_text(at, Anchor::End, name(&line.name))
    });
    let labels: Vec<Item> = labels.collect();
    canvas.group("axis", labels);
}

const HEIGHT: f64 = 300.0;

/// What a cell without a value looks like: the page shows through a little.
fn nothing() -> Ink {
    palette::PLAIN
}

fn shade(step: u32) -> Ink {
    // The palest tenth of the scale is hardly seen beside nothing.
    palette::sequential(0.15 + 0.85 * f64::from(step) / SHADES)
}

/// Neighbouring cells of one shade: first, one after the last, shade; none where there is nothing.
fn runs(line: &Line, range: &Range) -> Vec<(usize, usize, u32)> {
    let mut runs: Vec<(usize, usize, u32)> = Vec::new();
    for (bin, value) in line.values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
        let step = (range.place(*value) * SHADES).round() as u32;
        match runs.last_mut() {
            Some((_, end, last)) if *end == bin && *last == step => *end = bin + 1,
            _ => runs.push((bin, bin + 1, step)),
        }
    }
    runs
}

fn scale(canvas: &mut Canvas, over: &Over, range: &Range) {
    let unit = over.value.unit;
    let border = Stroke { ink: palette::GRID, width: 1.0, dash: Dash::Solid };
    canvas.legend(|row| {
        row.text(&format!("Shade: {}", axis_label(&over.value)), palette::MUTED);
        row.text(&number::alone(unit, range.low()), palette::MUTED);
        row.back(12.0);
        const STEP: f64 = 6.0;
        row.reserve(STEP * SHADES);
        for step in 0..=SHADES as u32 {
            let rect =
                Rect { x: row.x + f64::from(step) * STEP, y: row.y + 1.5, width: STEP + 0.3, height: 12.0 };
            row.items.push(filled(rect, shade(step)));
        }
        row.x += STEP * (SHADES + 1.0) + 6.0;
        row.text(&number::alone(unit, range.high()), palette::MUTED);
        row.swatch(nothing(), border, "nothing");
    });
}

/// At most [`MOST_ROWS`] rows: means of neighbours, and what was done.
fn join_rows(over: &mut Over) -> Option<String> {
    let all = over.series.len();
    let by = all.div_ceil(MOST_ROWS).max(1);
    if by == 1 {
        return None;
    }
    over.series = over.series.chunks(by).map(mean).collect();
    Some(format!(
        "Drawn with {} of {} rows: each is the mean of {by} {}s, named after the first.",
        units::count(over.series.len() as u64),
        units::count(all as u64),
        over.rows
    ))
}

fn mean(lines: &[Line]) -> Line {
    let bins = lines.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let value =
        |bin: usize| lines.iter().filter_map(|line| line.values.get(bin)).sum::<f64>() / lines.len() as f64;
    Line {
        name: lines.first().map(|line| line.name.clone()).unwrap_or_default(),
        values: (0..bins).map(value).collect(),
    }
}

fn tooltip(line: &Line, unit: Unit) -> String {
    let most = line.values.iter().copied().fold(0.0, f64::max);
    format!("{}\nmost {}", name(&line.name), number::precise(unit, most))
}
