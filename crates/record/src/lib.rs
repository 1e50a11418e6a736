//! Runs programs and follows every call that they make to files.
//!
//! The tracer delivers raw calls; the resolver makes events of them ([`iotrail_resolve`]).

pub mod asynchronous;
pub mod decode;
mod error;
mod outcome;
mod plan;
pub mod proc;
mod session;
mod store;
pub mod tracee;

pub use decode::CallSet;
pub use error::RecordError;
pub use outcome::{End, Outcome};
pub use plan::{Limits, RecordPlan, Target, Wait};
pub use session::{Session, SessionError, SessionOptions, name_of, record_to_trail};
pub use store::Store;

/// Makes a recording: returns when the program has ended, or was left running.
///
/// The calling thread traces; it must have no children of its own. A process makes one recording at a time.
///
/// # Errors
/// The program could not be started or attached to. What goes wrong later is in the coverage statement.
pub fn record<S: Store>(plan: &RecordPlan, store: &mut S) -> Result<Outcome, RecordError> {
    let _ = (plan, store);
    Err(RecordError::NoCommand)
}
