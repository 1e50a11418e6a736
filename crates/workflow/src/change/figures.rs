//! The figures of a verdict.

use serde::{Deserialize, Serialize};

/// What is told of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    /// From its first call or process start to its last end, ns; of ranks that of the slowest.
    Elapsed,
    /// Selected calls.
    Calls,
    /// Processes.
    Processes,
    /// Bytes read and written.
    Bytes,
    /// Bytes read.
    Read,
    /// Bytes written.
    Written,
    /// I/O time: of data, sync and metadata calls of all threads, ns.
    Io,
    /// Time of calls that wait, of all threads, ns.
    Waiting,
}

/// What the numbers of a figure count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// A count without a unit.
    Number,
}

impl Figure {
    /// All, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::Elapsed,
        Self::Calls,
        Self::Processes,
        Self::Bytes,
        Self::Read,
        Self::Written,
        Self::Io,
        Self::Waiting,
    ];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elapsed => "elapsed",
            Self::Calls => "calls",
            Self::Processes => "processes",
            Self::Bytes => "bytes",
            Self::Read => "read",
            Self::Written => "written",
            Self::Io => "io",
            Self::Waiting => "waiting",
        }
    }

    /// What its numbers count.
    #[must_use]
    pub const fn quantity(self) -> Quantity {
        match self {
            Self::Elapsed | Self::Io | Self::Waiting => Quantity::Time,
            Self::Bytes | Self::Read | Self::Written => Quantity::Bytes,
            Self::Calls | Self::Processes => Quantity::Number,
        }
    }
}

/// A figure on both sides: means of the runs, NULL where it is unknown of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureChange {
    /// The figure that changed.
    pub figure: Figure,
    /// Of the baseline.
    pub a: Option<f64>,
    /// Of the other side.
    pub b: Option<f64>,
    /// Second minus first.
    pub difference: Option<f64>,
    /// Second over first; NULL if the first is 0.
    pub ratio: Option<f64>,
    /// The smallest and the largest of the baseline's runs.
    pub range_a: Option<(f64, f64)>,
    /// The same of the other side.
    pub range_b: Option<(f64, f64)>,
}

impl FigureChange {
    /// From the values of the runs of each side.
    pub(super) fn new(figure: Figure, a: &[Option<i64>], b: &[Option<i64>]) -> Self {
        let known = |values: &[Option<i64>]| -> Option<Vec<i64>> {
            values.iter().copied().collect::<Option<Vec<i64>>>().filter(|values| !values.is_empty())
        };
        let (a, b) = (known(a), known(b));
        let mean = |values: &Vec<i64>| mean(values) as f64 / MEAN as f64;
        let range = |values: &Vec<i64>| Some((*values.iter().min()? as f64, *values.iter().max()? as f64));
        let means = [a.as_ref().map(mean), b.as_ref().map(mean)];
        let both = means[0].zip(means[1]);
        Self {
            figure,
            a: means[0],
            b: means[1],
            difference: both.map(|(a, b)| b - a),
            ratio: both.filter(|(a, _)| *a > 0.0).map(|(a, b)| b / a),
            range_a: a.as_ref().and_then(range),
            range_b: b.as_ref().and_then(range),
        }
    }

    /// Whether the sides differ by nothing that matters: by a hundredth at most, by a few bytes, or by no more than half
    /// of what the runs of one side differ among each other.
    #[must_use]
    pub fn is_alike(&self) -> bool {
        let (Some(a), Some(b)) = (self.a, self.b) else { return self.a.is_none() && self.b.is_none() };
        let least = if self.figure.quantity() == Quantity::Bytes { FEW_BYTES } else { 0.0 };
        let by = (b - a).abs();
        let spread = |range: Option<(f64, f64)>| range.map_or(0.0, |(least, most)| most - least);
        let scatter = spread(self.range_a).max(spread(self.range_b));
        by == 0.0 || by < least || by <= a.max(b) * NEGLIGIBLE || by <= scatter / 2.0
    }

    /// Whether both sides are known to be equal.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.difference == Some(0.0)
    }
}

/// The share of a figure below which a difference does not matter.
const NEGLIGIBLE: f64 = 0.01;

/// Bytes below which a difference does not matter: a line of text.
const FEW_BYTES: f64 = 64.0;

/// Parts of one that means are rounded to.
const MEAN: i128 = 1_000;

/// The mean in thousandths.
fn mean(values: &[i64]) -> i128 {
    let sum: i128 = values.iter().map(|value| i128::from(*value) * MEAN).sum();
    sum / (values.len() as i128).max(1)
}
