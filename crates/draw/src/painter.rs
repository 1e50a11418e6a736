//! What draws a scene itself, glyph by glyph: pixels and pages. SVG leaves that to its viewer.

use crate::glyphs;
use crate::scene::{Item, Shape, Text};

/// Draws shapes and texts; how a scene falls into these is the same for all.
pub(crate) trait Painter {
    /// Draws a shape.
    fn shape(&mut self, shape: &Shape);

    /// Draws a text whose characters the embedded font has.
    fn text(&mut self, text: &Text);

    /// Draws an item and all that is in it.
    fn item(&mut self, item: &Item) {
        match item {
            Item::Shape(shape) => self.shape(shape),
            Item::Text(text) => glyphs::drawable(text).iter().for_each(|item| match item {
                Item::Text(text) => self.text(text),
                Item::Shape(shape) => self.shape(shape),
                Item::Group(_) => {}
            }),
            Item::Group(group) => group.items.iter().for_each(|item| self.item(item)),
        }
    }
}
