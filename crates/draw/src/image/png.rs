//! The picture as PNG, two pixels for each point. Drawn here, with the font of the program, so that it needs no font and
//! no other program on the machine and is the same everywhere.

use crate::error::DrawError;
use crate::font;
use crate::layout::{Point, Route};
use crate::painter::Painter;
use crate::scene::{Ink, Outline, Rgb, Scene, Shape, Text};
use crate::view::Theme;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

const SCALE: f64 = 2.0;
/// 100 million pixels need 400 MB while drawing.
const MAX_PIXELS: u64 = 100_000_000;

/// The bytes of the file.
pub(super) fn write(scene: &Scene, theme: Theme) -> Result<Vec<u8>, DrawError> {
    let mut canvas = Canvas::new(scene, theme)?;
    scene.items.iter().for_each(|item| canvas.item(item));
    let encode = |reason: String| DrawError::Encode { format: "PNG", reason };
    canvas.pixels.encode_png().map_err(|error| encode(error.to_string()))
}

struct Canvas {
    pixels: Pixmap,
    theme: Theme,
    scale: Transform,
}

impl Painter for Canvas {
    fn shape(&mut self, shape: &Shape) {
        // A shape without extent has no path and nothing to draw.
        let Some(path) = path(&shape.outline) else { return };
        if let Some(ink) = shape.fill {
            self.pixels.fill_path(&path, &self.paint(ink), FillRule::Winding, self.scale, None);
        }
        if let Some(line) = shape.stroke {
            let pattern = line
                .dash
                .pattern(line.width)
                .map(|pattern| pattern.into_iter().map(|length| length as f32).collect());
            let stroke = Stroke {
                width: line.width as f32,
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                dash: pattern.and_then(|pattern| StrokeDash::new(pattern, 0.0)),
                ..Stroke::default()
            };
            self.pixels.stroke_path(&path, &self.paint(line.ink), &stroke, self.scale, None);
        }
    }

    fn text(&mut self, text: &Text) {
        let Some(face) = font::face(text.weight) else { return };
        let scale = text.size / f64::from(face.units_per_em());
        let mut pen = Pen { path: PathBuilder::new(), x: text.at.x, y: text.at.y, scale };
        for character in text.content.chars() {
            if let Some(glyph) = face.glyph_index(character) {
                // A blank has no outline.
                let _ = face.outline_glyph(glyph, &mut pen);
            }
            pen.x += font::advance(text.weight, character) * text.size;
        }
        if let Some(path) = pen.path.finish() {
            self.pixels.fill_path(&path, &self.paint(text.ink), FillRule::Winding, self.scale, None);
        }
    }
}

impl Canvas {
    /// A page in the colour of the page. A picture that would be too large at two pixels for each point gets fewer.
    fn new(scene: &Scene, theme: Theme) -> Result<Self, DrawError> {
        let scale =
            [SCALE, SCALE / 2.0, SCALE / 4.0].into_iter().find(|scale| pixels(scene, *scale) <= MAX_PIXELS);
        let too_large = || DrawError::TooLarge {
            width: scene.width as u64,
            height: scene.height as u64,
            limit: MAX_PIXELS,
        };
        let scale = scale.ok_or_else(too_large)?;
        let pixels =
            Pixmap::new((scene.width * scale) as u32, (scene.height * scale) as u32).ok_or_else(too_large)?;
        let mut canvas = Self { pixels, theme, scale: Transform::from_scale(scale as f32, scale as f32) };
        let page = canvas.colour(scene.page);
        canvas.pixels.fill(Color::from_rgba8(page.0, page.1, page.2, 255));
        Ok(canvas)
    }

    fn colour(&self, ink: Ink) -> Rgb {
        if self.theme == Theme::Dark { ink.dark } else { ink.light }
    }

    fn paint(&self, ink: Ink) -> Paint<'static> {
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        let Rgb(red, green, blue) = self.colour(ink);
        paint.set_color_rgba8(red, green, blue, 255);
        paint
    }
}

fn pixels(scene: &Scene, scale: f64) -> u64 {
    (scene.width * scale) as u64 * (scene.height * scale) as u64
}

fn path(outline: &Outline) -> Option<Path> {
    match outline {
        Outline::Box { rect, radius } if *radius <= 0.0 => {
            let rect = Rect::from_xywh(rect.x as f32, rect.y as f32, rect.width as f32, rect.height as f32)?;
            Some(PathBuilder::from_rect(rect))
        }
        Outline::Box { rect, radius } => route(&Route::round_box(*rect, *radius), true),
        Outline::Circle { middle, radius } => {
            PathBuilder::from_circle(middle.x as f32, middle.y as f32, *radius as f32)
        }
        Outline::Ellipse(rect) => route(&Route::ellipse(*rect), true),
        Outline::Line(line) => route(line, false),
        Outline::Polyline(points) => pieces(points, false),
        Outline::Polygon(points) => pieces(points, true),
    }
}

fn route(line: &Route, close: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.move_to(line.start.x as f32, line.start.y as f32);
    for [a, b, end] in &line.curves {
        path.cubic_to(a.x as f32, a.y as f32, b.x as f32, b.y as f32, end.x as f32, end.y as f32);
    }
    if close {
        path.close();
    }
    path.finish()
}

fn pieces(points: &[Point], close: bool) -> Option<Path> {
    let (first, rest) = points.split_first()?;
    let mut path = PathBuilder::new();
    path.move_to(first.x as f32, first.y as f32);
    rest.iter().for_each(|point| path.line_to(point.x as f32, point.y as f32));
    if close {
        path.close();
    }
    path.finish()
}

/// Draws outlines of glyphs, which are in font units with y upwards.
struct Pen {
    path: PathBuilder,
    x: f64,
    y: f64,
    scale: f64,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.x + f64::from(x) * self.scale) as f32, (self.y - f64::from(y) * self.scale) as f32)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
