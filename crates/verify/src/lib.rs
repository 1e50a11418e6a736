//! Advice put to the test: the calls of a program on a file are executed as recorded and as advised, in turns, on scratch files.
//!
//! Only the calls that were recorded are read; the files that they name are neither opened nor looked at. The calls of a program on a
//! file are issued one after the other in the order of their starts, by one thread, without the time between them.

mod advised;
mod calls;
mod intervals;
mod issue;
mod proofs;
mod verify;

pub use advised::Merge;
pub use proofs::{ProofsError, add, proofs_path, read};
pub use verify::{Options, VerifyError, verify};
