//! Totals of a run on both sides.

use super::figures::{Figure, FigureChange};
use serde::{Deserialize, Serialize};

/// What one side takes and does, and the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Runs of the baseline.
    pub runs_a: u64,
    /// Runs of the other side.
    pub runs_b: u64,
    /// Every figure, in the order of [`Figure::ALL`].
    pub figures: Vec<FigureChange>,
}

impl Verdict {
    /// A figure of both sides.
    #[must_use]
    pub fn of(&self, figure: Figure) -> Option<&FigureChange> {
        self.figures.iter().find(|change| change.figure == figure)
    }

    /// Whether calls, processes and bytes do not differ by anything that matters, as far as they are known of both.
    #[must_use]
    pub fn does_the_same(&self) -> bool {
        let figures = [Figure::Calls, Figure::Processes, Figure::Read, Figure::Written];
        figures.into_iter().filter_map(|figure| self.of(figure)).all(FigureChange::is_alike)
    }
}
