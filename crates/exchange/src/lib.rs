//! Workflows in the formats of other programs: graphs, workflow systems, provenance, traces. One file per format.
//!
//! Graph formats hold the graph as it is, aggregated or not; formats that run hold its jobs ([`iotrail_workflow`]).

pub mod error;
pub mod figures;
pub mod format;
pub mod graphml;
pub mod perfetto;
pub mod quote;

mod cyjs;
mod dot;
mod gml;
mod mermaid;
mod perfetto_messages;
mod prov;
#[cfg(test)]
mod samples;

pub use error::ExchangeError;
pub use format::{Format, WriteOptions, write};
