//! Statistics and distributions of calls, files and processes, by group of processes.
//!
//! Definitions: Dun et al., "ParaTrac: A Fine-Grained Profiler for Data-Intensive Workflows", sections 5.1 and 6.3; what
//! goes beyond is defined in `docs/stats.md`. Pure: event batches in, result structs out; partial results merge.

pub mod result;

pub use result::Profile;
