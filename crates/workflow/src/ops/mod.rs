//! Operations on workflow graphs (Dun et al., section 5.3.2). Each is a pure function: a graph in, a graph or a table out.
//!
//! A graph that an operation makes says so in [`Graph::history`](crate::Graph::history), and counts what it lacks in
//! [`Graph::left_out`](crate::Graph::left_out). The order of the vertices stays topological where there is no cycle.

mod adjacency;
pub mod aggregate;
pub mod bottleneck;
pub mod centrality;
pub mod cluster;
pub mod condense;
pub mod critical_executed;
pub mod critical_static;
pub mod error;
pub mod expression;
mod file_groups;
pub mod find;
#[cfg(test)]
mod laws;
mod lifetimes;
pub mod operation;
mod order;
pub mod phase;
mod quotient;
pub mod reach;
#[cfg(test)]
mod samples;
pub mod select;
mod subgraph;
pub mod table;
pub mod timed_path;
pub mod weight;
mod whole;
pub mod window;
#[cfg(test)]
mod worked;

pub use aggregate::{Aggregation, FileKey, ProcessKey, aggregate, aggregate_mapped};
pub use bottleneck::{Bottleneck, Bottlenecks, EdgeKind, bottlenecks};
pub use centrality::{DegreeRow, Degrees, degrees};
pub use cluster::{Cluster, clusters};
pub use condense::{READABLE, condense};
pub use critical_executed::{Executed, ExecutedStep, Reason, critical_executed};
pub use critical_static::{Critical, CriticalStep, critical_static};
pub use error::OpError;
pub use expression::Expression;
pub use find::find;
pub use operation::{Operation, Outcome, run};
pub use phase::phase;
pub use reach::{ancestors, descendants, neighbours};
pub use select::{hide, hide_system, select};
pub use table::{Rows, Table};
pub use weight::Weight;
pub use window::{Window, window};
