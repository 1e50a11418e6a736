//! What can go wrong.

use thiserror::Error;

/// Why there is no report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The log cannot be read.
    #[error("{0}")]
    Trail(#[from] iotrail_trail::TrailError),
    /// Processes cannot be grouped so.
    #[error("{0}")]
    Query(#[from] iotrail_query::QueryError),
    /// The profile cannot be made.
    #[error(transparent)]
    Stats(#[from] iotrail_stats::StatsError),
    /// The workflow cannot be built.
    #[error(transparent)]
    Workflow(#[from] iotrail_workflow::WorkflowError),
    /// The graph cannot be synthesized.
    #[error(transparent)]
    Dfg(#[from] iotrail_dfg::DfgError),
    /// A structure contradicts itself.
    #[error(transparent)]
    Structure(#[from] iotrail_compress::CompressError),
    /// The graph cannot be laid out.
    #[error(transparent)]
    Draw(#[from] iotrail_draw::DrawError),
    /// The data cannot be written as JSON, which happens only for numbers that JSON does not have.
    #[error("the report's data cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
