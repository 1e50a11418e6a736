//! Directly-Follows Graphs: synthesis, statistics, variants, comparison.
//!
//! Definitions: Sankaran et al., "Inspection of I/O Operations from System Call Traces using Directly-Follows-Graph",
//! section IV; what goes beyond is defined in `docs/definitions.md`. Pure: event batches in, result structs out.

pub mod comparison;
pub mod details;
pub mod result;
pub mod timeline;
pub mod wanted;

pub use comparison::{Change, ChangeKind, Comparison};
pub use details::Details;
pub use result::Dfg;
pub use timeline::Timeline;
pub use wanted::Wanted;
