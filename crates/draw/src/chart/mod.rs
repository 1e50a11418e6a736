//! Charts: distributions, series over time, heat maps and boxes, as scenes.
//!
//! A [`Chart`] knows nothing of statistics: it holds names, numbers and what they mean. Everything drawn is exact; where
//! there is more than a page can show, the chart draws less and says how much less. Series differ in colour and in dashes,
//! so that a print in grey and a colour-blind reader tell them apart.

mod bins;
mod boxes;
pub(crate) mod frame;
mod heat;
mod histogram;
mod number;
mod of_messages;
mod of_profile;
mod over_time;
mod plot;
pub(crate) mod range;
mod scene;
mod steps;

pub use of_messages::of_messages;
pub use of_profile::of_profile;
pub use plot::{Plot, PlotKind};
pub use scene::{scene, sheet};

use crate::view::Scale;

/// What the numbers of an axis are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Calls per second.
    PerSecond,
    /// A plain number.
    #[default]
    Count,
    /// A share between 0 and 1.
    Share,
}

/// A direction of numbers: to the right, upwards, or from pale to deep.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it is, without the unit.
    pub label: String,
    /// What its numbers are.
    pub unit: Unit,
    /// By proportion or by orders of magnitude; values that have no logarithm get a place of their own before the others.
    pub scale: Scale,
}

/// A figure with axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows, short.
    pub title: String,
    /// What it shows, at length: of what, which layer, what is left out. A line each.
    pub notes: Vec<String>,
    /// To the right.
    pub x: Axis,
    /// What is drawn.
    pub marks: Marks,
}

/// What is drawn in a chart, with what its second axis needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Marks {
    /// Empirical distribution functions: the share of the values that are not larger.
    Steps(Vec<Steps>),
    /// Histograms, one above the other over the same bins.
    Histograms(Vec<Histogram>),
    /// Series over time in equal bins, stacked upon each other.
    Areas(Over),
    /// Series over time in equal bins.
    Lines(Over),
    /// Series over time, a row each; the shade is the value.
    Heat(Over),
    /// Five numbers of each group.
    Boxes(Vec<FiveNumbers>),
}

/// An empirical distribution function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// Name of the series.
    pub name: String,
    /// Distinct values, ascending, with the number of values not larger.
    pub steps: Vec<(f64, u64)>,
}

impl Steps {
    /// How many values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.1)
    }

    /// The nearest-rank quantile, if there is a value.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = (share * self.count() as f64).ceil().max(1.0);
        let at = self.steps.partition_point(|step| (step.1 as f64) < rank);
        self.steps.get(at.min(self.steps.len().checked_sub(1)?)).map(|step| step.0)
    }
}

/// How many values are in each of the bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Name of the series.
    pub name: String,
    /// Lower end (inside), upper end (outside), number of values.
    pub bins: Vec<(f64, f64, u64)>,
}

/// Series in equal bins of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    /// The values' axis.
    pub value: Axis,
    /// Width of a bin on the axis of time.
    pub bin: f64,
    /// Whether bins are numbers from 0 on, which stand at their middle.
    pub numbered: bool,
    /// What a row of a heat map is: `rank`.
    pub rows: String,
    /// One line for each series, drawn in this order.
    pub series: Vec<Line>,
}

/// A series of values over time, one for each bin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Name of the series.
    pub name: String,
    /// Value in each bin.
    pub values: Vec<f64>,
}

/// What a box shows: exact nearest-rank quantiles; the whiskers reach to the extremes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FiveNumbers {
    /// Name of the group.
    pub name: String,
    /// How many values.
    pub count: u64,
    /// Minimum, lower quartile, median, upper quartile, maximum.
    pub numbers: [f64; 5],
}
