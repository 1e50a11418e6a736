//! The parts of the page about the workflow: phases, processes over time, the workflow DAG, distributions.
//!
//! Each is there only if the log has data for it; otherwise the page says why it is not.

mod distributions;
mod flow;
mod material;
mod part;
mod phases;
mod processes;
pub(crate) mod thin;

pub use distributions::{PageBins, PageDistribution, PageRow, PageSeries, PageThroughput};
pub use flow::{FlowEdge, FlowGroup, FlowLink, FlowPath, FlowVertex, MoreFlow, PageFlow};
pub(crate) use material::{Ground, Material};
pub use part::Part;
pub use phases::PagePhases;
pub use processes::{PageProcess, PageProcesses};

use crate::data::NameId;
use serde::Serialize;

/// What the page shows of the workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageWorkflow {
    /// How processes are grouped.
    pub by: String,
    /// The groups of processes, the first to start first.
    pub groups: Vec<NameId>,
    /// What each group read and wrote.
    pub phases: Option<PagePhases>,
    /// The processes over time.
    pub processes: Option<PageProcesses>,
    /// The workflow DAG.
    pub flow: Option<PageFlow>,
    /// Distributions, by quantity.
    pub distributions: Vec<PageDistribution>,
    /// Throughput over time.
    pub throughput: Option<PageThroughput>,
    /// Parts that the log has no data for, and why.
    pub absent: Vec<(Part, String)>,
    /// Parts that were left out as asked.
    pub without: Vec<Part>,
}
