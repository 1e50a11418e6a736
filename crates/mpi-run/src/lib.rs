//! Calls functions of an MPI library that is loaded while the program runs: the program is built without MPI, and uses the library of
//! whoever launched it. Open MPI and MPICH, and what shares their binary interfaces.
//!
//! Data has no meaning here: all sends come from one buffer, all receives go to another one, and elements are bytes.
//!
//! Differences of the interfaces: Scala-H-Trace's replay has none; the values are those of `mpi.h` of Open MPI 4.1 and MPICH 4.0.

mod abi;
mod collective;
mod communicators;
mod files;
mod library;
mod messages;
mod session;

pub use collective::Collective;
pub use communicators::Communicator;
pub use files::{File, FileMode, Transfer};
pub use library::{Launched, Launcher, Library, LoadError};
pub use messages::{Request, SendMode};
pub use session::{Mpi, MpiError};
