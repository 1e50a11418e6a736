//! Which charts somebody wants: a kind, and of what where there is a choice.

use crate::view::choices;
use iotrail_stats::result::Quantity;
use serde::{Deserialize, Serialize};

choices! {
    /// A kind of chart.
    PlotKind {
        /// Distribution functions.
        Ecdf = "ecdf",
        /// Histograms.
        Histogram = "histogram",
        /// A box for each group.
        Box = "box",
        /// Bytes per second over time.
        Bytes = "bytes",
        /// Calls per second over time.
        Calls = "calls",
        /// Bytes per second of each rank over time, as shades.
        Heat = "heat",
    }
}

/// Charts of one kind: `ecdf` of everything that is distributed, `ecdf:latency` of one quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plot {
    /// What kind of chart it is.
    pub kind: PlotKind,
    /// Of what; of everything if it is not said. Kinds over time have no choice.
    pub quantity: Option<Quantity>,
}

/// Each quantity with the word for it.
pub(super) const QUANTITIES: [(Quantity, &str); 8] = [
    (Quantity::Latency, "latency"),
    (Quantity::ReadLength, "read-length"),
    (Quantity::WriteLength, "write-length"),
    (Quantity::ProcessRead, "process-read"),
    (Quantity::ProcessWritten, "process-written"),
    (Quantity::FileReadLength, "file-read-length"),
    (Quantity::FileWriteLength, "file-write-length"),
    (Quantity::Lifetime, "lifetime"),
];

impl Plot {
    /// Every way to write a plot, for help texts.
    #[must_use]
    pub fn words() -> String {
        let kinds: Vec<&str> = PlotKind::ALL.iter().map(|kind| kind.word()).collect();
        let quantities: Vec<&str> = QUANTITIES.iter().map(|(_, word)| *word).collect();
        format!(
            "{}; ecdf, histogram and box of one quantity: ecdf:{}",
            kinds.join(", "),
            quantities.join(", ecdf:")
        )
    }
}

impl std::str::FromStr for Plot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((kind, of)) = text.split_once(':') else {
            return Ok(Self { kind: text.parse()?, quantity: None });
        };
        let kind = kind.parse()?;
        if !matches!(kind, PlotKind::Ecdf | PlotKind::Histogram | PlotKind::Box) {
            return Err(format!("`{}` has no choice of quantities; write `{0}` alone", kind.word()));
        }
        let quantity = QUANTITIES.iter().find(|(_, word)| *word == of).map(|(quantity, _)| *quantity);
        let words = || QUANTITIES.map(|(_, word)| word).join(", ");
        Ok(Self {
            kind,
            quantity: Some(quantity.ok_or_else(|| format!("`{of}` is not one of {}", words()))?),
        })
    }
}
