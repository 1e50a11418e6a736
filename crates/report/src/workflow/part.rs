//! Parts of the page that can be left out.

use serde::Serialize;

/// A part of the page about the workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What each group of processes read and wrote.
    Phases,
    /// The processes over time.
    Processes,
    /// The workflow DAG.
    Workflow,
    /// Distributions and throughput.
    Distributions,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Phases, Self::Processes, Self::Workflow, Self::Distributions];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Phases => "phases",
            Self::Processes => "processes",
            Self::Workflow => "workflow",
            Self::Distributions => "distributions",
        }
    }
}
