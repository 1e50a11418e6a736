//! From structures to programs of the engine of replay: what a recorded program did to files, done again below one directory.
//!
//! Each call of a thread is classified ([`Reason`] tells why some are not issued), its names are mapped injectively below the directory
//! (`names`), files that must be there beforehand get the sizes that are read (`begin`), and threads wait for each other where it
//! matters: for bytes as in the measurements of advice, for names here (`name_order`). What was issued is compared with what was
//! recorded ([`Tally`]).
//!
//! Source: Scala-H-Trace, sections 2.3 and 5.1.

mod begin;
mod coordinated;
mod error;
mod issue;
mod mpi_calls;
mod mpi_exchanges;
mod mpi_execute;
mod mpi_io;
mod mpi_partners;
mod mpi_rank;
mod mpi_requests;
mod name_order;
mod names;
mod posix;
mod reason;
mod recorded;
mod tally;

pub use error::ReenactError;
pub use mpi_calls::{MpiCall, Wanted};
pub use mpi_execute::{MpiFigures, Rank};
pub use mpi_rank::{FileCalls, MpiReplay, mpi, ranks};
pub use posix::{Posix, posix};
pub use reason::{LeftOut, Reason};
pub use tally::{Difference, Listener, Tally, differences};
