//! What all pictures have in common: a header of lines, a legend of swatches, heads of arrows.

use crate::font::{self, WIDER, Weight};
use crate::layout::{Point, Rect};
use crate::palette;
use crate::scene::{Anchor, Dash, Ink, Item, Outline, Shape, Stroke, Text};

/// Distance of everything from the border of the page.
pub(crate) const MARGIN: f64 = 24.0;
/// Size of small text.
pub(crate) const SMALL: f64 = 11.0;
/// Height of a line of small text.
pub(crate) const LINE: f64 = 15.0;

/// A line of text.
pub(crate) fn text(at: Point, anchor: Anchor, size: f64, weight: Weight, ink: Ink, content: String) -> Item {
    Item::Text(Text { at, anchor, size, weight, ink, content })
}

/// A filled rectangle.
pub(crate) fn filled(rect: Rect, fill: Ink) -> Item {
    Item::Shape(Shape { outline: Outline::Box { rect, radius: 0.0 }, fill: Some(fill), stroke: None })
}

/// An open line of straight pieces.
pub(crate) fn polyline(points: Vec<Point>, stroke: Stroke) -> Item {
    Item::Shape(Shape { outline: Outline::Polyline(points), fill: None, stroke: Some(stroke) })
}

/// A straight, uninterrupted line.
pub(crate) fn straight(from: Point, to: Point, ink: Ink, width: f64) -> Item {
    polyline(vec![from, to], Stroke { ink, width, dash: Dash::Solid })
}

/// The corners of the head of an arrow from `from` whose tip is at `tip`.
pub(crate) fn arrow_head(from: Point, tip: Point, length: f64) -> Vec<Point> {
    let distance = from.distance(tip).max(1e-9);
    let (dx, dy) = ((tip.x - from.x) / distance, (tip.y - from.y) / distance);
    let half = length * 0.42;
    let base = Point::new(tip.x - dx * length, tip.y - dy * length);
    vec![
        tip,
        Point::new(base.x - dy * half, base.y + dx * half),
        Point::new(base.x + dy * half, base.y - dx * half),
    ]
}

/// Lines of text below each other.
pub(crate) struct Lines {
    x: f64,
    /// Below the last line.
    pub(crate) y: f64,
    pub(crate) items: Vec<Item>,
}

impl Lines {
    pub(crate) fn new(x: f64, y: f64) -> Self {
        Self { x, y, items: Vec::new() }
    }

    /// Adds `content`, in as many lines as `room` makes of it.
    pub(crate) fn add(&mut self, content: &str, size: f64, weight: Weight, ink: Ink, room: f64) {
        for line in wrap(content, size, weight, room / WIDER) {
            self.y += size * 1.3;
            let at = Point::new(self.x, self.y - size * 0.3);
            self.items.push(Item::Text(Text { at, anchor: Anchor::Start, size, weight, ink, content: line }));
        }
    }
}

/// `content` in lines no wider than `room`: broken at blanks, and in words that are wider than a line.
pub(crate) fn wrap(content: &str, size: f64, weight: Weight, room: f64) -> Vec<String> {
    let width = |text: &str| font::width(text, size, weight);
    let mut lines = vec![String::new()];
    let mut used = 0.0;
    for word in content.split(' ') {
        let mut glue = if used > 0.0 { " " } else { "" };
        if used > 0.0 && used + width(" ") + width(word) > room {
            lines.push(String::new());
            (used, glue) = (0.0, "");
        }
        for character in glue.chars().chain(word.chars()) {
            let advance = font::advance(weight, character) * size;
            if used > 0.0 && used + advance > room {
                lines.push(String::new());
                used = 0.0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(character);
            }
            used += advance;
        }
    }
    lines
}

/// `content` cut in the middle to what fits into `room`, one ellipsis in place of the rest, also of what is cut already; the end,
/// where file names differ, keeps the larger share.
pub(crate) fn cut(content: &str, size: f64, weight: Weight, room: f64) -> String {
    if font::width(content, size, weight) <= room {
        return content.to_owned();
    }
    let (head, tail) = content.split_once('…').unwrap_or((content, content));
    let room = room - font::width("…", size, weight);
    let advance = |character: &char| font::advance(weight, *character) * size;
    let head = fitting(head.chars(), advance, room * 0.4);
    let left = room - head.iter().map(advance).sum::<f64>();
    let tail = fitting(tail.chars().rev(), advance, left);
    head.into_iter().chain(['…']).chain(tail.into_iter().rev()).collect()
}

/// The first characters that fit into `room`.
fn fitting(characters: impl Iterator<Item = char>, advance: impl Fn(&char) -> f64, room: f64) -> Vec<char> {
    let mut left = room;
    let fits = characters.take_while(|character| {
        left -= advance(character);
        left >= 0.0
    });
    fits.collect()
}

/// The room that a text in a legend gets.
pub(crate) fn entry_width(content: &str) -> f64 {
    font::width(content, SMALL, Weight::Regular) * WIDER
}

/// Legend entries beside each other, in as many lines as they need.
pub(crate) struct Row {
    /// Where the next entry begins.
    pub(crate) x: f64,
    /// Top of the line.
    pub(crate) y: f64,
    /// Where a line ends.
    pub(crate) right: f64,
    pub(crate) items: Vec<Item>,
}

impl Row {
    /// A legend that begins at `y`, at the left margin, and ends at `right`.
    pub(crate) fn new(y: f64, right: f64) -> Self {
        Self { x: MARGIN, y, right, items: Vec::new() }
    }

    /// Begins a new line if `width` does not fit into this one.
    pub(crate) fn reserve(&mut self, width: f64) {
        if self.x > MARGIN && self.x + width > self.right {
            self.x = MARGIN;
            self.y += LINE + 3.0;
        }
    }

    /// Takes back a part of the gap after the last entry.
    pub(crate) fn back(&mut self, by: f64) {
        self.x -= by;
    }

    /// An entry of text alone, in as many lines as it needs.
    pub(crate) fn text(&mut self, content: &str, ink: Ink) {
        let room = (self.right - self.x).max((self.right - MARGIN) / 2.0);
        let room = if entry_width(content) > room { self.right - MARGIN } else { room };
        for line in wrap(content, SMALL, Weight::Regular, room / WIDER) {
            let width = entry_width(&line);
            self.reserve(width);
            let at = Point::new(self.x, self.y + SMALL);
            self.items.push(text(at, Anchor::Start, SMALL, Weight::Regular, ink, line));
            self.x += width + 14.0;
        }
    }

    /// A line and what it means.
    pub(crate) fn stroke(&mut self, stroke: Stroke, content: &str) {
        self.reserve(entry_width(content) + 36.0);
        let y = self.y + LINE / 2.0;
        self.items.push(polyline(vec![Point::new(self.x + 1.0, y), Point::new(self.x + 29.0, y)], stroke));
        self.x += 36.0;
        self.text(content, palette::TEXT);
    }

    /// A box and what it means.
    pub(crate) fn swatch(&mut self, fill: Ink, stroke: Stroke, content: &str) {
        self.reserve(entry_width(content) + 32.0);
        let rect = Rect { x: self.x + 1.0, y: self.y + 1.0, width: 24.0, height: 12.0 };
        self.items.push(Item::Shape(Shape {
            outline: Outline::Box { rect, radius: 3.0 },
            fill: Some(fill),
            stroke: Some(stroke),
        }));
        self.x += 32.0;
        self.text(content, palette::TEXT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_stays_on_its_page_in_wider_fonts_too() {
        let mut row = Row::new(0.0, 300.0);
        row.text("short", palette::TEXT);
        row.text(&"many words of an explanation ".repeat(6), palette::TEXT);
        row.text("after it", palette::TEXT);
        let mut ends: Vec<(f64, f64)> = Vec::new();
        for item in &row.items {
            let Item::Text(text) = item else { continue };
            let end = text.at.x + text.width() * WIDER;
            let before =
                ends.iter().filter(|(y, _)| *y == text.at.y).map(|(_, end)| *end).fold(0.0, f64::max);
            assert!(text.at.x > before && end <= 300.0, "{text:?}");
            ends.push((text.at.y, end));
        }
        assert!(ends.len() > 4, "{ends:?}");
    }
}
