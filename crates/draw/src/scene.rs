//! A picture as shapes and text in points, in paint order, before it becomes SVG, PNG or PDF.
//!
//! One scene serves all three, so that they cannot differ; an [`Ink`] holds its light and its dark colour, so that one
//! SVG can follow the viewer's preference.

use crate::font::Weight;
use crate::layout::{Point, Rect, Route};

/// Red, green, blue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// `#rrggbb`
    #[must_use]
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// A colour on a light page and on a dark one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ink {
    /// On a light page.
    pub light: Rgb,
    /// On a dark page.
    pub dark: Rgb,
}

/// How a line is interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dash {
    /// Not at all.
    #[default]
    Solid,
    /// Into dashes.
    Dashed,
    /// Into dots.
    Dotted,
    /// Into dashes and dots.
    DashDot,
}

impl Dash {
    /// Lengths of strokes and gaps for a line of `width`.
    #[must_use]
    pub fn pattern(self, width: f64) -> Option<Vec<f64>> {
        let unit = width.max(1.0);
        match self {
            Self::Solid => None,
            Self::Dashed => Some(vec![4.0 * unit, 2.5 * unit]),
            Self::Dotted => Some(vec![1.2 * unit, 1.8 * unit]),
            Self::DashDot => Some(vec![5.0 * unit, 2.0 * unit, 1.2 * unit, 2.0 * unit]),
        }
    }
}

/// A line around or along a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Colour.
    pub ink: Ink,
    /// Width in points.
    pub width: f64,
    /// Interruptions.
    pub dash: Dash,
}

/// The geometry of a shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Outline {
    /// A rectangle with round corners.
    Box {
        /// Where.
        rect: Rect,
        /// Radius of the corners.
        radius: f64,
    },
    /// A circle.
    Circle {
        /// Where.
        middle: Point,
        /// How large.
        radius: f64,
    },
    /// An ellipse that fills a rectangle.
    Ellipse(Rect),
    /// An open smooth line.
    Line(Route),
    /// An open line of straight pieces.
    Polyline(Vec<Point>),
    /// A closed polygon.
    Polygon(Vec<Point>),
}

/// An outline with its colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The geometry.
    pub outline: Outline,
    /// Inside.
    pub fill: Option<Ink>,
    /// Border.
    pub stroke: Option<Stroke>,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// On its base line.
    pub at: Point,
    /// Which end of it.
    pub anchor: Anchor,
    /// Size in points.
    pub size: f64,
    /// Weight.
    pub weight: Weight,
    /// Colour.
    pub ink: Ink,
    /// What it says.
    pub content: String,
}

impl Text {
    /// Its width.
    #[must_use]
    pub fn width(&self) -> f64 {
        crate::font::width(&self.content, self.size, self.weight)
    }

    /// Where its left end is.
    #[must_use]
    pub fn left(&self) -> f64 {
        match self.anchor {
            Anchor::Start => self.at.x,
            Anchor::Middle => self.at.x - self.width() / 2.0,
            Anchor::End => self.at.x - self.width(),
        }
    }
}

/// Something in a scene.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A shape.
    Shape(Shape),
    /// A text.
    Text(Text),
    /// Items that belong together.
    Group(Group),
}

/// Items that belong together: a node, an edge, the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// `node`, `edge`, `terminal`, `legend`, `header`; `axis`, `series`, `cell`, `box`, `bar` of charts.
    pub class: &'static str,
    /// Which one: an index into the graph's nodes or edges.
    pub index: Option<usize>,
    /// Its tooltip.
    pub title: Option<String>,
    /// Its items, in paint order.
    pub items: Vec<Item>,
}

/// A whole picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Extent, from (0, 0).
    pub width: f64,
    /// Extent, from (0, 0).
    pub height: f64,
    /// The page.
    pub page: Ink,
    /// What the picture is, for readers that cannot see it.
    pub title: String,
    /// What it shows and hides, in words.
    pub description: String,
    /// Its items, in paint order.
    pub items: Vec<Item>,
}
