//! Runs programs and follows every call that they make to files.
//!
//! The tracer delivers raw calls; the resolver makes events of them ([`iotrail_resolve`]).

mod attach;
mod calls;
mod clock;
mod command;
mod cores;
mod cost;
mod emitter;
mod error;
mod fd_probe;
mod filter;
mod gathering;
mod job_control;
mod lifecycle;
mod mpi;
mod mpi_calls;
mod mpi_file;
mod mpi_requests;
mod mpi_sites;
mod names;
mod naming;
mod orphans;
mod outcome;
mod placement;
mod plan;
mod privileges;
pub mod proc;
mod recording;
mod reports;
mod requests;
mod run;
mod selection;
mod sent_descriptors;
mod session;
mod signals;
mod store;
mod tally;
mod threads;
mod tracee_memory;
mod tracing;

pub use error::RecordError;
pub use iotrail_decode::CallSet;
pub use iotrail_kernel::file_limit::survive_file_limit;
pub use outcome::{End, Outcome};
pub use plan::{Limits, MpiPlan, Placement, RecordPlan, Target, Wait};
pub use run::record;
pub use session::{Session, SessionError, SessionOptions, name_of, record_to_trail};
pub use store::{Store, StoreError};
