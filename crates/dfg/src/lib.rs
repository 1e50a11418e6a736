//! Directly-Follows Graphs: synthesis, statistics, variants, comparison.
//!
//! Definitions: Sankaran et al., "Inspection of I/O Operations from System Call Traces using Directly-Follows-Graph",
//! section IV; what goes beyond is defined in `docs/definitions.md`. Pure: event batches in, result structs out.

pub mod accumulate;
pub mod activity_change;
pub mod activity_set;
pub mod by_group;
pub mod compare;
pub mod comparison;
pub mod concurrency;
pub mod details;
pub mod error;
mod file_set;
pub mod finish;
mod keyed_sums;
pub mod once;
mod open_cases;
pub mod options;
pub mod partial;
pub mod plan;
pub mod quantile;
mod relation_set;
pub mod result;
pub mod slices;
mod summation;
pub mod synthesize;
pub mod timeline;
pub mod variant;

mod data_rate;
mod edges;
mod intervals;
mod per_case;
mod runs;
mod significance;
mod totals;
mod vertex;

pub use accumulate::Accumulator;
pub use activity_change::{ActivityChange, Pair};
pub use activity_set::ActivitySet;
pub use by_group::ByGroup;
pub use compare::{Contrast, compare};
pub use comparison::{Cause, Chance, Change, ChangeKind, Comparison};
pub use concurrency::ConcurrencyRule;
pub use details::Details;
pub use error::DfgError;
pub use finish::{DFG_FORMAT, Labels};
pub use options::DfgOptions;
pub use partial::Partial;
pub use plan::Plan;
pub use result::Dfg;
pub use slices::{SlicedActivity, SlicedGraph, Slicing};
pub use synthesize::{Synthesis, synthesize};
pub use timeline::Timeline;
