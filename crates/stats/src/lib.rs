//! Statistics and distributions of calls, files and processes, by group of processes.
//!
//! Definitions: Dun et al., "ParaTrac: A Fine-Grained Profiler for Data-Intensive Workflows", sections 5.1 and 6.3; what
//! goes beyond is defined in `docs/stats.md`. Pure: event batches in, result structs out; partial results merge.

pub mod access_sample;
pub mod byte_ranges;
pub mod compare;
pub mod compare_groups;
pub mod distribution;
pub mod error;
pub mod file_slices;
pub mod file_uses;
pub mod messages;
pub mod options;
pub mod part;
pub mod profile;
pub mod result;
pub mod sessions;
pub mod size_histogram;
pub mod sql;
pub mod table;
pub mod values;

mod access;
mod across_cases;
mod bins;
mod call;
mod call_kind;
mod calls;
mod extent;
mod file_kinds;
mod file_table;
mod io_table;
mod lengths;
mod pattern;
mod phases;
mod storage;
mod summary;
mod throughput;
mod uses;

pub use access_sample::{AccessSample, AccessSampling, SampledAccess};
pub use byte_ranges::ByteRanges;
pub use compare_groups::compare_groups;
pub use error::StatsError;
pub use file_slices::{FileSlices, FileSlicing};
pub use file_uses::{FileUse, FileUses, FileUsing, RowBy, UsedFile, file_uses};
pub use messages::{MessageCalls, Messages, messages, messages_of};
pub use options::{FilesBy, ProfileOptions};
pub use part::{Context, Part, RowFacts};
pub use profile::{Profiling, profile};
pub use result::Profile;
pub use sessions::{Session, sessions};
pub use table::ProfileTable;
