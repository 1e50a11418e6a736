//! What colour a node or an edge has in a view, and what the legend says about it.
//!
//! Statistics: a sequential scale over the drawn nodes. Groups: what only one group has carries that group's colour and
//! border style; what several have is tinted towards the group that spends more on it for each case, by the logarithm
//! of the ratio, so that "both have it, but one spends 40 times the time" can be seen.

use crate::palette;
use crate::picture::Picture;
use crate::scene::{Dash, Ink, Stroke};
use crate::view::{ColourBy, Scale, View};
use iotrail_dfg::Dfg;
use iotrail_dfg::result::{Edge, Node};
use iotrail_model::units;

/// A ratio of this or more has the full tint of a shared node.
const FULL_TINT_RATIO: f64 = 32.0;
/// How much of a group's colour a shared node has at most; exclusive nodes have [`EXCLUSIVE_TINT`].
const SHARED_TINT: f64 = 0.34;
const EXCLUSIVE_TINT: f64 = 0.62;

/// How a node is painted.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    /// Of its area.
    pub fill: Ink,
    /// Of its label.
    pub text: Ink,
    /// Of its border.
    pub border: Stroke,
}

/// Shades for one picture.
#[derive(Debug)]
pub struct Shades<'a> {
    dfg: &'a Dfg,
    view: &'a View,
    /// Smallest positive and largest figure of the drawn nodes.
    range: (f64, f64),
}

impl<'a> Shades<'a> {
    /// Shades that tell the drawn nodes apart.
    #[must_use]
    pub fn new(dfg: &'a Dfg, picture: &Picture, view: &'a View) -> Self {
        let figures = picture.nodes.iter().filter_map(|index| figure(&dfg.nodes[*index], view.colour_by));
        let range = figures
            .filter(|value| *value > 0.0)
            .fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        Self { dfg, view, range }
    }

    /// Whether colours mean groups.
    #[must_use]
    pub fn by_groups(&self) -> bool {
        self.view.shows_groups(self.dfg)
    }

    /// How a node is painted.
    #[must_use]
    pub fn node(&self, node: &Node) -> Paint {
        if self.by_groups() { self.node_by_groups(node) } else { self.node_by_figure(node) }
    }

    fn node_by_figure(&self, node: &Node) -> Paint {
        let (fill, dash) = match figure(node, self.view.colour_by) {
            Some(value) => (palette::sequential(self.share(value)), Dash::Solid),
            None => (palette::PLAIN, Dash::Dotted),
        };
        Paint {
            fill,
            text: palette::text_on(fill),
            border: Stroke { ink: palette::BORDER, width: 1.0, dash },
        }
    }

    /// Where `value` is on the scale. An invisible difference between "nothing" and "least" is avoided: the least
    /// positive figure of a logarithmic scale is a tenth up.
    fn share(&self, value: f64) -> f64 {
        let (least, most) = self.range;
        match self.view.scale {
            _ if value <= 0.0 || most <= 0.0 => 0.0,
            Scale::Linear => value / most,
            Scale::Log if most <= least => 1.0,
            Scale::Log => 0.1 + 0.9 * (value / least).ln() / (most / least).ln(),
        }
    }

    fn node_by_groups(&self, node: &Node) -> Paint {
        let values = self.per_case(|name| {
            node.groups.get(name).map(|group| (group.duration_ns.unwrap_or(0) as f64, group.count as f64))
        });
        let (tint, border) = match present(&values).as_slice() {
            [only] => {
                let ink = palette::group(*only);
                let border = Stroke { ink, width: 2.4, dash: palette::group_dash(*only) };
                (palette::mix(palette::PLAIN, ink, EXCLUSIVE_TINT), border)
            }
            _ => (
                self.tint(&values, palette::PLAIN, SHARED_TINT),
                Stroke { ink: palette::BORDER, width: 1.0, dash: Dash::Solid },
            ),
        };
        Paint { fill: tint, text: palette::text_on(tint), border }
    }

    /// How an edge of this width is drawn.
    #[must_use]
    pub fn edge(&self, edge: &Edge, width: f64) -> Stroke {
        if !self.by_groups() {
            return Stroke { ink: palette::EDGE, width, dash: Dash::Solid };
        }
        let values =
            self.per_case(|name| edge.groups.get(name).map(|group| (group.count as f64, group.count as f64)));
        match present(&values).as_slice() {
            [only] => {
                Stroke { ink: palette::group(*only), width: width.max(1.6), dash: palette::group_dash(*only) }
            }
            _ => Stroke { ink: self.tint(&values, palette::EDGE, 0.8), width, dash: Dash::Solid },
        }
    }

    /// For each group the figure for each case, or nothing where the group does not have it.
    fn per_case(&self, figures: impl Fn(&str) -> Option<(f64, f64)>) -> Vec<Option<f64>> {
        let of = |group: &iotrail_dfg::result::Group| {
            let (value, count) = figures(&group.name).filter(|(_, count)| *count > 0.0)?;
            let value = if value > 0.0 { value } else { count * f64::MIN_POSITIVE };
            Some(value / group.cases.max(1) as f64)
        };
        self.dfg.groups.iter().map(of).collect()
    }

    /// `from` tinted towards the largest of `values` by its ratio to the second largest.
    fn tint(&self, values: &[Option<f64>], from: Ink, most: f64) -> Ink {
        let mut order: Vec<(usize, f64)> =
            values.iter().enumerate().filter_map(|(index, value)| Some((index, (*value)?))).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let [(largest, a), (_, b), ..] = order.as_slice() else { return from };
        let strength = ((a / b).ln() / FULL_TINT_RATIO.ln()).clamp(0.0, 1.0);
        palette::mix(from, palette::group(*largest), strength * most)
    }

    /// What the ends of the scale mean: name, least, most.
    pub fn scale(&self) -> (&'static str, String, String) {
        let (least, most) = self.range;
        let least = match self.view.scale {
            Scale::Log if most > 0.0 => least,
            _ => 0.0,
        };
        let (name, show): (_, fn(f64) -> String) = match self.view.colour_by {
            ColourBy::RelativeDuration | ColourBy::Groups if self.dfg.duration_ns.is_none() => {
                return ("share of time", "unknown".to_owned(), "unknown".to_owned());
            }
            ColourBy::RelativeDuration | ColourBy::Groups => ("share of time", units::percent),
            ColourBy::Bytes => ("bytes moved", units::bytes),
            ColourBy::Count => ("events", |value| units::count(value as u64)),
            ColourBy::DataRate => ("process data rate", units::rate),
            ColourBy::MaxConcurrency => ("max concurrency", |value| units::count(value as u64)),
        };
        (name, show(least), show(most))
    }
}

fn present(values: &[Option<f64>]) -> Vec<usize> {
    values.iter().enumerate().filter_map(|(index, value)| value.map(|_| index)).collect()
}

fn figure(node: &Node, by: ColourBy) -> Option<f64> {
    match by {
        ColourBy::RelativeDuration | ColourBy::Groups => node.relative_duration,
        ColourBy::Bytes => Some(node.bytes as f64),
        ColourBy::Count => Some(node.count as f64),
        ColourBy::DataRate => node.data_rate,
        ColourBy::MaxConcurrency => node.max_concurrency.map(|most| most as f64),
    }
}
