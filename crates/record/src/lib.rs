//! Runs programs and follows every call that they make to files.
//!
//! The tracer delivers raw calls; the resolver makes events of them ([`iotrail_resolve`]).

mod attach;
mod clock;
mod command;
mod error;
mod gate;
mod life;
mod looks;
mod names;
mod naming;
mod on_the_way;
mod orphans;
mod outcome;
mod placement;
mod plan;
mod privileges;
pub mod proc;
mod requests;
mod run;
mod scribe;
mod selection;
mod session;
mod signals;
mod store;
mod threads;
mod tracer;

pub use error::RecordError;
pub use iotrail_decode::CallSet;
pub use iotrail_kernel::file_limit::survive_file_limit;
pub use outcome::{End, Outcome};
pub use plan::{Limits, Placement, RecordPlan, Target, Wait};
pub use run::record;
pub use session::{Session, SessionError, SessionOptions, name_of, record_to_trail};
pub use store::Store;
