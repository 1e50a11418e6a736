//! The picture as PDF, one page of its size: lines stay lines and text stays text that can be searched and copied. The
//! font of the program is embedded.

use crate::error::DrawError;
use crate::font::{self, Weight};
use crate::layout::{Point, Route};
use crate::painter::Painter;
use crate::scene::{Ink, Outline, Rgb, Scene, Shape, Text};
use crate::view::Theme;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Rect, Ref, Str, TextStr};
use std::collections::BTreeMap;
use std::io::Write;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
/// The first of five objects for each weight.
const FONTS: [i32; 2] = [10, 20];
const SYSTEM: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };
/// The largest side of a page; larger pictures state a larger unit.
const MAX_SIDE: f64 = 14_000.0;

/// The bytes of the file.
pub(super) fn write(scene: &Scene, theme: Theme) -> Result<Vec<u8>, DrawError> {
    document(scene, theme).map_err(|error| DrawError::Encode { format: "PDF", reason: error.to_string() })
}

fn document(scene: &Scene, theme: Theme) -> std::io::Result<Vec<u8>> {
    let unit = (scene.width.max(scene.height) / MAX_SIDE).max(1.0);
    let mut page = PageWriter::new(scene, theme, unit);
    scene.items.iter().for_each(|item| page.item(item));
    let mut pdf = pdf_writer::Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    pdf.document_info(INFO)
        .title(TextStr(&scene.title))
        .subject(TextStr(&scene.description))
        .producer(TextStr("iotrail"));
    let mut object = pdf.page(PAGE);
    object.media_box(Rect::new(0.0, 0.0, (scene.width / unit) as f32, (scene.height / unit) as f32));
    object.parent(PAGES).contents(CONTENT);
    if unit > 1.0 {
        object.user_unit(unit as f32);
    }
    let mut resources = object.resources();
    let mut fonts = resources.fonts();
    for weight in WEIGHTS {
        fonts.pair(Name(font_name(weight)), Ref::new(FONTS[weight as usize]));
    }
    fonts.finish();
    resources.finish();
    object.finish();
    pdf.stream(CONTENT, &deflated(&page.content.finish())?).filter(Filter::FlateDecode);
    for weight in WEIGHTS {
        embed(&mut pdf, weight, &page.used[weight as usize])?;
    }
    Ok(pdf.finish())
}

const WEIGHTS: [Weight; 2] = [Weight::Regular, Weight::Bold];

fn font_name(weight: Weight) -> &'static [u8] {
    match weight {
        Weight::Regular => b"F1",
        Weight::Bold => b"F2",
    }
}

fn deflated(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

struct PageWriter {
    content: Content,
    theme: Theme,
    /// Characters drawn in each weight, by glyph.
    used: [BTreeMap<u16, char>; 2],
}

impl Painter for PageWriter {
    fn shape(&mut self, shape: &Shape) {
        if let Some(ink) = shape.fill {
            self.fill(ink);
        }
        if let Some(line) = shape.stroke {
            let [red, green, blue] = self.colour(line.ink);
            self.content.set_stroke_rgb(red, green, blue);
            self.content.set_line_width(line.width as f32);
            let pattern = line.dash.pattern(line.width).unwrap_or_default();
            self.content.set_dash_pattern(pattern.into_iter().map(|length| length as f32), 0.0);
        }
        self.outline(&shape.outline);
        match (shape.fill.is_some(), shape.stroke.is_some()) {
            (true, true) => self.content.fill_nonzero_and_stroke(),
            (true, false) => self.content.fill_nonzero(),
            (false, true) => self.content.stroke(),
            (false, false) => self.content.end_path(),
        };
    }

    fn text(&mut self, text: &Text) {
        self.fill(text.ink);
        let mut codes = Vec::with_capacity(2 * text.content.len());
        for character in text.content.chars() {
            if let Some(glyph) = font::glyph(text.weight, character) {
                self.used[text.weight as usize].entry(glyph.0).or_insert(character);
                codes.extend(glyph.0.to_be_bytes());
            }
        }
        self.content.begin_text();
        self.content.set_font(Name(font_name(text.weight)), text.size as f32);
        self.content.set_text_matrix([1.0, 0.0, 0.0, -1.0, text.at.x as f32, text.at.y as f32]);
        self.content.show(Str(&codes));
        self.content.end_text();
    }
}

impl PageWriter {
    /// A page whose y axis points downwards, as in a scene.
    fn new(scene: &Scene, theme: Theme, unit: f64) -> Self {
        let mut page = Self { content: Content::new(), theme, used: Default::default() };
        let scale = (1.0 / unit) as f32;
        page.content.transform([scale, 0.0, 0.0, -scale, 0.0, (scene.height / unit) as f32]);
        page.fill(scene.page);
        page.content.rect(0.0, 0.0, scene.width as f32, scene.height as f32);
        page.content.fill_nonzero();
        page
    }

    fn colour(&self, ink: Ink) -> [f32; 3] {
        let Rgb(red, green, blue) = if self.theme == Theme::Dark { ink.dark } else { ink.light };
        [red, green, blue].map(|channel| f32::from(channel) / 255.0)
    }

    fn fill(&mut self, ink: Ink) {
        let [red, green, blue] = self.colour(ink);
        self.content.set_fill_rgb(red, green, blue);
    }

    fn outline(&mut self, outline: &Outline) {
        match outline {
            Outline::Box { rect, radius } => self.route(&Route::round_box(*rect, *radius), true),
            Outline::Circle { middle, radius } => {
                let rect = crate::layout::Rect::around(*middle, (2.0 * radius, 2.0 * radius));
                self.route(&Route::round_box(rect, *radius), true);
            }
            Outline::Ellipse(rect) => self.route(&Route::ellipse(*rect), true),
            Outline::Line(line) => self.route(line, false),
            Outline::Polyline(points) => self.pieces(points, false),
            Outline::Polygon(points) => self.pieces(points, true),
        }
    }

    fn route(&mut self, line: &Route, close: bool) {
        self.content.move_to(line.start.x as f32, line.start.y as f32);
        for [a, b, end] in &line.curves {
            let [a, b, end] = [a, b, end].map(|point| (point.x as f32, point.y as f32));
            self.content.cubic_to(a.0, a.1, b.0, b.1, end.0, end.1);
        }
        if close {
            self.content.close_path();
        }
    }

    fn pieces(&mut self, points: &[Point], close: bool) {
        for (index, point) in points.iter().enumerate() {
            let (x, y) = (point.x as f32, point.y as f32);
            if index == 0 {
                self.content.move_to(x, y)
            } else {
                self.content.line_to(x, y)
            };
        }
        if close {
            self.content.close_path();
        }
    }
}

/// Five objects: composite font, its descendant, its descriptor, its file, and the way from glyphs back to characters.
fn embed(pdf: &mut pdf_writer::Pdf, weight: Weight, used: &BTreeMap<u16, char>) -> std::io::Result<()> {
    let Some(face) = font::face(weight) else { return Ok(()) };
    let [composite, descendant, descriptor, file, characters] =
        [0, 1, 2, 3, 4].map(|offset| Ref::new(FONTS[weight as usize] + offset));
    let name = match weight {
        Weight::Regular => Name(b"IOTRAI+Arimo-Regular"),
        Weight::Bold => Name(b"IOTRAI+Arimo-Bold"),
    };
    let per_mille = |units: i16| f32::from(units) * 1000.0 / f32::from(face.units_per_em());
    pdf.type0_font(composite)
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(descendant)
        .to_unicode(characters);
    let mut cid = pdf.cid_font(descendant);
    cid.subtype(CidFontType::Type2).base_font(name).system_info(SYSTEM).font_descriptor(descriptor);
    cid.default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = cid.widths();
    for (glyph, character) in used {
        widths.consecutive(*glyph, [(font::advance(weight, *character) * 1000.0) as f32]);
    }
    widths.finish();
    cid.finish();
    let bounds = face.global_bounding_box();
    let bounds = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(per_mille);
    pdf.font_descriptor(descriptor)
        .name(name)
        .flags(FontFlags::NON_SYMBOLIC)
        .bbox(Rect::new(bounds[0], bounds[1], bounds[2], bounds[3]))
        .italic_angle(0.0)
        .ascent(per_mille(face.ascender()))
        .descent(per_mille(face.descender()))
        .cap_height(per_mille(face.capital_height().unwrap_or(face.ascender())))
        .stem_v(if weight == Weight::Bold { 140.0 } else { 80.0 })
        .font_file2(file);
    let bytes = font::file(weight);
    let compressed = deflated(bytes)?;
    let mut stream = pdf.stream(file, &compressed);
    stream.filter(Filter::FlateDecode);
    stream.pair(Name(b"Length1"), i32::try_from(bytes.len()).unwrap_or(i32::MAX));
    stream.finish();
    let mut map = UnicodeCmap::new(Name(b"Arimo"), SYSTEM);
    used.iter().for_each(|(glyph, character)| map.pair(*glyph, *character));
    pdf.cmap(characters, &map.finish());
    Ok(())
}
