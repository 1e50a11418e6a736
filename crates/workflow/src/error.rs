//! What can go wrong with a workflow.

use iotrail_trail::TrailError;

/// Why a workflow graph or a process tree could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The trail cannot be read.
    #[error("{0}")]
    Trail(#[from] TrailError),
}
