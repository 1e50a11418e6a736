//! The parts of a chart around its marks: title and notes, legend, axes with grid and ticks.

use super::range::Range;
use super::{Axis, Chart};
use crate::font::{self, Weight};
use crate::furniture::{LINE, Lines, MARGIN, Row, SMALL, straight, text};
use crate::layout::{Point, Rect};
use crate::palette;
use crate::scene::{Anchor, Group, Item};
use crate::view::Scale;
use iotrail_model::text::{printable, shown};

/// Width of the page of a chart.
pub(crate) const WIDTH: f64 = 820.0;
/// Height of the marks where nothing else decides.
pub(crate) const HEIGHT: f64 = 280.0;
const TICK: f64 = 10.5;
const TICK_GAP: f64 = 7.0;
const LONGEST_NAME: usize = 44;

/// Charts below each other, as far as they are drawn.
pub(crate) struct Canvas {
    /// What is drawn.
    pub(crate) items: Vec<Item>,
    /// Below it.
    pub(crate) y: f64,
    /// Width of the page.
    pub(crate) width: f64,
}

impl Canvas {
    pub(crate) fn new(width: f64) -> Self {
        Self { items: Vec::new(), y: MARGIN, width }
    }

    /// Width between the margins.
    pub(crate) fn room(&self) -> f64 {
        self.width - 2.0 * MARGIN
    }

    /// Title and notes, `more` of them from the drawing itself.
    pub(crate) fn header(&mut self, chart: &Chart, more: &[String]) {
        let notes: Vec<&str> = chart.notes.iter().chain(more).map(String::as_str).collect();
        self.title(&chart.title, &notes);
    }

    /// A title and lines below it.
    pub(crate) fn title(&mut self, title: &str, notes: &[&str]) {
        let mut lines = Lines::new(MARGIN, self.y);
        let title = shown(title, 120);
        lines.add(&title, 15.0, Weight::Bold, palette::TEXT, self.room());
        lines.y += 3.0;
        for note in notes {
            lines.add(&printable(note), SMALL, Weight::Regular, palette::MUTED, self.room());
        }
        self.y = lines.y + 8.0;
        self.group("header", lines.items);
    }

    /// Entries of a legend, as `fill` draws them.
    pub(crate) fn legend(&mut self, fill: impl FnOnce(&mut Row)) {
        let mut row = Row::new(self.y, self.width - MARGIN);
        fill(&mut row);
        self.y = row.y + LINE + 8.0;
        self.group("legend", row.items);
    }

    pub(crate) fn group(&mut self, class: &'static str, items: Vec<Item>) {
        self.items.push(Item::Group(Group { class, index: None, title: None, items }));
    }

    /// The marks of the series at `index`, with its tooltip.
    pub(crate) fn series(&mut self, index: usize, title: String, items: Vec<Item>) {
        let group = Group { class: "series", index: Some(index), title: Some(title), items };
        self.items.push(Item::Group(group));
    }

    /// Name of the axis that points upwards, above it: text is read without turning the head.
    pub(crate) fn upward_label(&mut self, axis: &Axis) {
        let at = Point::new(MARGIN, self.y + SMALL);
        self.items.push(small(at, Anchor::Start, axis_label(axis)));
        self.y += LINE + 4.0;
    }

    /// Grid and labels of the axis to the right below `plot`, and its name.
    pub(crate) fn rightward(&mut self, plot: Rect, axis: &Axis, range: &Range) {
        let bottom = plot.y + plot.height;
        let mut items = Vec::new();
        let mut free = f64::NEG_INFINITY;
        for tick in range.ticks(7) {
            let x = plot.x + tick.place * plot.width;
            let labelled = tick.label.is_some();
            if labelled {
                items.push(straight(Point::new(x, plot.y), Point::new(x, bottom), palette::GRID, 0.8));
            }
            let length = if labelled { 4.0 } else { 2.5 };
            items.push(straight(Point::new(x, bottom), Point::new(x, bottom + length), palette::EDGE, 0.8));
            let Some(content) = tick.label else { continue };
            let half = font::width(&content, TICK, Weight::Regular) / 2.0;
            let x = x.min(self.width - 4.0 - half);
            if x - half > free {
                free = x + half + 6.0;
                items.push(tick_text(Point::new(x, bottom + 5.0 + TICK), Anchor::Middle, content));
            }
        }
        items.push(straight(
            Point::new(plot.x, bottom),
            Point::new(plot.x + plot.width, bottom),
            palette::EDGE,
            1.0,
        ));
        let middle = Point::new(plot.middle().x, bottom + 2.0 * LINE + 4.0);
        items.push(small(middle, Anchor::Middle, axis_label(axis)));
        self.group("axis", items);
        self.y = bottom + 2.0 * LINE + 8.0;
    }

    /// Grid and labels of an axis upwards, beside `plot`.
    pub(crate) fn upward(&mut self, plot: Rect, range: &Range, wanted: usize) {
        let mut items = Vec::new();
        for tick in range.ticks(wanted) {
            let Some(content) = tick.label else { continue };
            let y = plot.y + (1.0 - tick.place) * plot.height;
            items.push(straight(
                Point::new(plot.x, y),
                Point::new(plot.x + plot.width, y),
                palette::GRID,
                0.8,
            ));
            items.push(tick_text(Point::new(plot.x - TICK_GAP, y + TICK * 0.35), Anchor::End, content));
        }
        self.group("axis", items);
    }

    /// The place of marks of `height`, with room for the labels of `range` at its left.
    pub(crate) fn plot(&self, height: f64, range: &Range, wanted: usize) -> Rect {
        let labels = range.ticks(wanted).into_iter().filter_map(|tick| tick.label);
        let widest = labels.map(|label| font::width(&label, TICK, Weight::Regular)).fold(0.0, f64::max);
        self.plot_beside(height, widest)
    }

    /// The place of marks of `height`, with room for labels of `widest` at its left.
    pub(crate) fn plot_beside(&self, height: f64, widest: f64) -> Rect {
        let x = MARGIN + (widest + TICK_GAP).max(12.0);
        Rect { x, y: self.y, width: self.width - MARGIN - 8.0 - x, height }
    }
}

/// A label of an axis.
pub(crate) fn tick_text(at: Point, anchor: Anchor, content: String) -> Item {
    text(at, anchor, TICK, Weight::Regular, palette::TEXT, content)
}

/// Width of such a label.
pub(crate) fn tick_width(content: &str) -> f64 {
    font::width(content, TICK, Weight::Regular)
}

/// A text of less importance.
pub(crate) fn small(at: Point, anchor: Anchor, content: String) -> Item {
    text(at, anchor, SMALL, Weight::Regular, palette::MUTED, content)
}

/// The name of a series, fit to be seen.
pub(crate) fn name(name: &str) -> String {
    shown(name, LONGEST_NAME)
}

/// Name of an axis, and its scale where it is not the usual one.
pub(crate) fn axis_label(axis: &Axis) -> String {
    let label = shown(&axis.label, 100);
    match axis.scale {
        Scale::Linear => label,
        Scale::Log => format!("{label} (log scale)"),
    }
}

/// The most series that can be told apart.
pub(crate) const MOST_SERIES: usize = 8;

/// How many series are not drawn, in words.
pub(crate) fn missing(all: usize, drawn: usize) -> Option<String> {
    (all > drawn).then(|| format!("Drawn: the first {drawn} of {all} series."))
}
