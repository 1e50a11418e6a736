//! A scene as SVG: one file, no script, no external reference.
//!
//! Colours are presentation attributes, which every viewer understands; a style sheet for viewers that prefer dark
//! replaces them. The stated length of each text keeps it in its box where our font is missing.

use crate::font::{FAMILY, Weight};
use crate::layout::Point;
use crate::scene::{Anchor, Group, Ink, Item, Outline, Rgb, Scene, Shape, Text};
use crate::view::Theme;
use iotrail_model::quote::xml as escape;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The SVG of `scene`.
#[must_use]
pub fn write(scene: &Scene, theme: Theme) -> String {
    Writer { theme, out: String::with_capacity(64 * 1024), inks: BTreeSet::new() }.document(scene)
}

struct Writer {
    theme: Theme,
    out: String,
    /// Every ink in use, for the dark style sheet.
    inks: BTreeSet<Ink>,
}

// Writing to a String cannot fail, so results of `write!` are dropped throughout.
impl Writer {
    fn document(mut self, scene: &Scene) -> String {
        scene.items.iter().for_each(|item| self.item(item));
        let body = std::mem::take(&mut self.out);
        let (width, height) = (number(scene.width), number(scene.height));
        let page = self.fill(scene.page);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" font-family=\"{}\">\n<title>{}</title>\n<desc>{}</desc>\n{}<rect width=\"100%\" height=\"100%\"{page}/>\n",
            escape(FAMILY),
            escape(&scene.title),
            escape(&scene.description),
            self.style_sheet(),
        );
        out.push_str(&body);
        out.push_str("</svg>\n");
        out
    }

    fn style_sheet(&self) -> String {
        if self.theme != Theme::Auto {
            return String::new();
        }
        let mut rules = String::new();
        for ink in &self.inks {
            let (class, dark) = (class(*ink), ink.dark.hex());
            let _ = write!(rules, ".f{class}{{fill:{dark}}}.s{class}{{stroke:{dark}}}");
        }
        format!("<style>@media (prefers-color-scheme:dark){{{rules}}}</style>\n")
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Shape(shape) => self.shape(shape),
            Item::Text(text) => self.text(text),
            Item::Group(group) => self.group(group),
        }
    }

    fn group(&mut self, group: &Group) {
        let index = group.index.map(|index| format!(" data-index=\"{index}\"")).unwrap_or_default();
        let _ = write!(self.out, "<g class=\"{}\"{index}>", group.class);
        if let Some(title) = &group.title {
            let _ = write!(self.out, "<title>{}</title>", escape(title));
        }
        group.items.iter().for_each(|item| self.item(item));
        self.out.push_str("</g>\n");
    }

    fn shape(&mut self, shape: &Shape) {
        let paint = self.paint(shape);
        let out = &mut self.out;
        let _ = match &shape.outline {
            Outline::Box { rect, radius } => write!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"{paint}/>",
                number(rect.x),
                number(rect.y),
                number(rect.width),
                number(rect.height),
                number(*radius)
            ),
            Outline::Circle { middle, radius } => write!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{paint}/>",
                number(middle.x),
                number(middle.y),
                number(*radius)
            ),
            Outline::Ellipse(rect) => write!(
                out,
                "<ellipse cx=\"{}\" cy=\"{}\" rx=\"{}\" ry=\"{}\"{paint}/>",
                number(rect.middle().x),
                number(rect.middle().y),
                number(rect.width / 2.0),
                number(rect.height / 2.0)
            ),
            Outline::Line(route) => write!(out, "<path d=\"{}\"{paint}/>", route_data(route)),
            Outline::Polyline(points) => write!(out, "<polyline points=\"{}\"{paint}/>", places(points)),
            Outline::Polygon(points) => write!(out, "<polygon points=\"{}\"{paint}/>", places(points)),
        };
    }

    fn paint(&mut self, shape: &Shape) -> String {
        let fill = shape.fill.map_or_else(|| " fill=\"none\"".to_owned(), |ink| self.fill(ink));
        let Some(stroke) = shape.stroke else { return fill };
        self.inks.insert(stroke.ink);
        let dash = stroke.dash.pattern(stroke.width).map(|pattern| {
            let lengths: Vec<String> = pattern.into_iter().map(number).collect();
            format!(" stroke-dasharray=\"{}\"", lengths.join(" "))
        });
        let (colour, width) = (self.colour(stroke.ink).hex(), number(stroke.width));
        let line = format!(" stroke=\"{colour}\" stroke-width=\"{width}\"{}", dash.unwrap_or_default());
        let classes = match (self.theme, shape.fill) {
            (Theme::Auto, Some(ink)) => {
                return format!(
                    "{}{line}",
                    fill.replace(
                        &format!("class=\"f{}\"", class(ink)),
                        &format!("class=\"f{} s{}\"", class(ink), class(stroke.ink))
                    )
                );
            }
            (Theme::Auto, None) => format!(" class=\"s{}\"", class(stroke.ink)),
            _ => String::new(),
        };
        format!("{fill}{line}{classes}")
    }

    fn fill(&mut self, ink: Ink) -> String {
        self.inks.insert(ink);
        let class =
            if self.theme == Theme::Auto { format!(" class=\"f{}\"", class(ink)) } else { String::new() };
        format!(" fill=\"{}\"{class}", self.colour(ink).hex())
    }

    fn colour(&self, ink: Ink) -> Rgb {
        if self.theme == Theme::Dark { ink.dark } else { ink.light }
    }

    fn text(&mut self, text: &Text) {
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if text.weight == Weight::Bold { " font-weight=\"bold\"" } else { "" };
        let fill = self.fill(text.ink);
        let _ = write!(
            self.out,
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\"{anchor}{weight} textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"{fill}>{}</text>",
            number(text.at.x),
            number(text.at.y),
            number(text.size),
            number(text.width()),
            escape(&text.content)
        );
    }
}

/// The `d` attribute of a route.
#[must_use]
pub fn route_data(route: &crate::layout::Route) -> String {
    let mut data = format!("M{}", place(route.start));
    for [a, b, end] in &route.curves {
        let _ = write!(data, "C{} {} {}", place(*a), place(*b), place(*end));
    }
    data
}

fn class(ink: Ink) -> String {
    format!("{}-{}", &ink.light.hex()[1..], &ink.dark.hex()[1..])
}

fn places(points: &[Point]) -> String {
    points.iter().map(|point| place(*point)).collect::<Vec<String>>().join(" ")
}

fn place(point: Point) -> String {
    format!("{},{}", number(point.x), number(point.y))
}

/// At most two decimals, no trailing zeros, no `-0`.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
