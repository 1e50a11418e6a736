//! What the width of an edge means.

use super::EdgeWidth;
use super::select::Selection;
use iotrail_model::units;
use iotrail_workflow::graph::{Edge, Graph};

/// Widths of edges by orders of magnitude of what they mean.
pub(super) struct Widths {
    by: EdgeWidth,
    least: f64,
    most: f64,
}

impl Widths {
    pub(super) fn of(graph: &Graph, selection: &Selection, by: EdgeWidth) -> Self {
        let values = || selection.edges.iter().filter_map(|edge| Self::value(graph.edge(*edge), by));
        Self { by, least: values().fold(f64::INFINITY, f64::min), most: values().fold(0.0, f64::max) }
    }

    fn value(edge: &Edge, by: EdgeWidth) -> Option<f64> {
        match by {
            EdgeWidth::Bytes => (edge.bytes() > 0).then(|| edge.bytes() as f64),
            EdgeWidth::InverseRate => edge.rate().map(|rate| 1.0 / rate),
        }
    }

    pub(super) fn width(&self, edge: &Edge) -> f64 {
        let Some(value) = Self::value(edge, self.by) else { return 1.0 };
        let range = (self.most / self.least).ln();
        let share = if range > 0.0 { (value / self.least).ln() / range } else { 0.3 };
        1.1 + 4.4 * share.clamp(0.0, 1.0)
    }

    pub(super) fn legend(&self) -> Option<String> {
        (self.least <= self.most).then(|| match self.by {
            EdgeWidth::Bytes => {
                let (least, most) = (units::bytes(self.least), units::bytes(self.most));
                format!("Width of edges: bytes, {least} to {most} (log scale)")
            }
            EdgeWidth::InverseRate => {
                let (slow, fast) = (units::rate(1.0 / self.most), units::rate(1.0 / self.least));
                format!("Width of edges: slowness, {slow} (wide) to {fast} (narrow, log scale)")
            }
        })
    }
}
