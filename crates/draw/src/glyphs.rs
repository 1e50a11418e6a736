//! Text for formats that draw it themselves: runs of characters that the font has, and boxes with the code point for
//! those that it has not, so that no text vanishes.

use crate::font::{self, MISSING_WIDTH, Weight};
use crate::layout::{Point, Rect};
use crate::scene::{Anchor, Dash, Item, Outline, Shape, Stroke, Text};

/// `text` as texts that the font has completely and as shapes.
pub(crate) fn drawable(text: &Text) -> Vec<Item> {
    let mut items = Vec::new();
    let mut x = text.left();
    let mut rest = text.content.as_str();
    while let Some(character) = rest.chars().next() {
        let run = rest.find(|character| font::glyph(text.weight, character).is_none()).unwrap_or(rest.len());
        if run > 0 {
            let known = Text {
                at: Point::new(x, text.at.y),
                anchor: Anchor::Start,
                content: rest[..run].to_owned(),
                ..text.clone()
            };
            x += known.width();
            items.push(Item::Text(known));
            rest = &rest[run..];
        } else {
            items.extend(code_box(text, character, x));
            x += MISSING_WIDTH * text.size;
            rest = &rest[character.len_utf8()..];
        }
    }
    items
}

/// A box of the size of a character with its code point in it, in two rows.
fn code_box(text: &Text, character: char, x: f64) -> Vec<Item> {
    let side = MISSING_WIDTH * text.size;
    let rect =
        Rect { x: x + 0.06 * side, y: text.at.y - 0.8 * side, width: 0.88 * side, height: 0.96 * side };
    let stroke = Stroke { ink: text.ink, width: 0.5, dash: Dash::Solid };
    let outline = Outline::Box { rect, radius: 0.0 };
    let mut items = vec![Item::Shape(Shape { outline, fill: None, stroke: Some(stroke) })];
    let code = format!("{:04X}", character as u32);
    let (upper, lower) = code.split_at(code.len() / 2);
    let size = (0.42 * side).min(rect.width / (0.6 * lower.len() as f64));
    for (row, content) in [upper, lower].into_iter().enumerate() {
        let at = Point::new(rect.middle().x, rect.y + rect.height * (0.44 + 0.46 * row as f64));
        let weight = Weight::Regular;
        let digits =
            Text { at, anchor: Anchor::Middle, size, weight, ink: text.ink, content: content.to_owned() };
        items.push(Item::Text(Text { at: Point::new(digits.left(), at.y), anchor: Anchor::Start, ..digits }));
    }
    items
}
