//! Advice put to the test: the calls of a program on a file are executed as recorded and as advised, in turns, on scratch files.
//!
//! Only the calls that were recorded are read; the files that they name are neither opened nor looked at. Threads that used a file at the
//! same time do so again (`lanes`); a call waits for those of others that were over before it began and touched the same bytes (`order`).

mod advised;
mod calls;
mod issue;
mod lanes;
#[cfg(test)]
mod laws;
mod lengths;
mod merge;
mod order;
mod position;
mod proofs;
mod ranks;
#[cfg(test)]
mod testing;
mod timeline;
mod verify;

pub use calls::{Call, CallAction, Description, Moved, Refusal, Thread};
pub use issue::transfer;
pub use lanes::Lanes;
pub use merge::Merge;
pub use order::{Waits, shared, waits};
pub use proofs::{ProofsError, add, proofs_path, read};
pub use verify::{Options, VerifyError, verify};
