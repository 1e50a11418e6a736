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
    /// Colour of the line.
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
        /// Bounds of the rectangle.
        rect: Rect,
        /// Radius of the corners.
        radius: f64,
    },
    /// A circle.
    Circle {
        /// Centre of the circle.
        middle: Point,
        /// Radius in points.
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
    /// Geometry of the shape.
    pub outline: Outline,
    /// Colour of the interior; none leaves it empty.
    pub fill: Option<Ink>,
    /// Line around the shape, if any.
    pub stroke: Option<Stroke>,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The text is centred at its position.
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
    /// Weight of the font.
    pub weight: Weight,
    /// Colour of the text.
    pub ink: Ink,
    /// What it says.
    pub content: String,
}

impl Text {
    /// Width of the text in points.
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
    /// A filled or outlined shape.
    Shape(Shape),
    /// A line of text.
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
    /// Tooltip of the group; none shows nothing.
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
    /// Colour of the background.
    pub page: Ink,
    /// What the picture is, for readers that cannot see it.
    pub title: String,
    /// What it shows and hides, in words.
    pub description: String,
    /// Its items, in paint order.
    pub items: Vec<Item>,
}
