//! The JSON form of a graph (`schema/workflow.schema.json`).

use crate::graph::Graph;
use iotrail_model::Limitation;
use serde::Serialize;

/// The version of the JSON form.
pub const WORKFLOW_FORMAT: u32 = 1;

/// A graph and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document<'a> {
    /// [`WORKFLOW_FORMAT`].
    pub format: u32,
    /// Names of the trails.
    pub sources: Vec<String>,
    /// Which events the trails lack.
    pub limitations: Vec<Limitation>,
    /// The graph; ends of edges are places in its list of vertices.
    #[serde(flatten)]
    pub graph: &'a Graph,
}

impl<'a> Document<'a> {
    /// The document of `graph`, which was made of the trails of these names and lack
    /// these events.
    #[must_use]
    pub const fn new(sources: Vec<String>, limitations: Vec<Limitation>, graph: &'a Graph) -> Self {
        Self { format: WORKFLOW_FORMAT, sources, limitations, graph }
    }
}
