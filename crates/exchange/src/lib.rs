//! Workflows in the formats of other programs: graphs, workflow systems, provenance, traces. One file per format.
//!
//! Graph formats hold the graph as it is, aggregated or not; formats that run hold its jobs ([`iotrail_workflow`]).

pub mod error;
pub mod escape;
pub mod figures;
pub mod format;
pub mod graphml;
pub mod perfetto;
pub mod quote;

mod again;
mod cyjs;
mod dagman;
mod dax;
mod describe;
mod dot;
mod gml;
mod makefile;
mod mermaid;
mod pegasus;
mod perfetto_messages;
mod prov;
mod recorded;
mod runnable;
#[cfg(test)]
mod samples;
mod snakemake;
mod targets;
mod uses;
mod wfformat;

pub use error::ExchangeError;
pub use format::{Format, WriteOptions, write, write_jobs};
pub use recorded::write_recorded;
