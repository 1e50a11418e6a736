//! Results in the formats of other programs: graphs, workflow systems, provenance, traces, tables. One file per format, one list
//! of all ([`Format`]).
//!
//! Graph formats hold the graph as it is, aggregated or not; formats that run hold its jobs ([`iotrail_workflow`]).

pub mod compare_csv;
pub mod dfg;
pub mod error;
pub mod escape;
pub mod figures;
pub mod fio;
mod format;
pub mod grafana;
pub mod graphml;
pub mod influx;
pub mod perfetto;
pub mod profile_csv;
pub mod sarif;

mod again;
mod c_program;
mod cyjs;
mod dagman;
mod dax;
mod describe;
mod dot;
mod fio_iolog;
mod gml;
mod ior;
mod later_names;
mod long_lines;
mod looks;
mod losses;
mod makefile;
mod mermaid;
mod needed;
mod owned;
mod pegasus;
mod perfetto_messages;
mod prov;
mod recorded;
mod runnable;
#[cfg(test)]
mod samples;
mod snakemake;
mod spares;
mod targets;
mod untouched;
mod uses;
mod watched;
mod wfformat;
mod workflow;

pub use c_program::{c_program, exchanges_in_c};
pub use dfg::{dfg_files, write_dfg};
pub use error::ExportError;
pub use fio::{FioJob, fio_job};
pub use fio_iolog::{FioReplay, fio_iolog};
pub use format::{Format, Subject, names};
pub use ior::{IorRuns, NotIor, ior_runs};
pub use recorded::write_recorded;
pub use workflow::{WriteOptions, write, write_jobs};
