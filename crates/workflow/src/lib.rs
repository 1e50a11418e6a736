//! Process tree and workflow DAG of what ran: construction, operations on the graph, critical path.
//!
//! Definitions: Dun et al., "ParaTrac: A Fine-Grained Profiler for Data-Intensive Workflows", sections 5.2 and 5.3; what
//! goes beyond is defined in `docs/workflow.md`. Pure: a trail in, result structs out.

pub mod build;
pub mod change;
pub mod cycles;
pub mod document;
pub mod error;
pub mod graph;
pub mod jobs;
pub mod ops;
pub mod system;
pub mod tree;
pub mod waits;
pub mod why;

pub use build::{BuildOptions, build};
pub use cycles::cycles;
pub use document::Document;
pub use error::WorkflowError;
pub use graph::{
    Edge, EdgeId, Facts, FileVertex, FileView, Graph, ProcessVertex, Relation, Transfer, Vertex, VertexId,
};
pub use tree::{Node, NodeId, Shape, ShapeId, Tree, tree};
pub use why::why;
