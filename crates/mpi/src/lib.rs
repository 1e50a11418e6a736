//! The library that a recorded MPI program loads (`LD_PRELOAD`): it stands before the functions of MPI, calls them, and tells the
//! recorder of each call through a file that both see. It needs no MPI to be built, and one binary serves every library.
//!
//! A call costs two records of 128 bytes and two looks at the clock. Nothing is allocated, no system call is made, unless the
//! file is full. Stacks are unwound once for each call site ([`sites`]). A call inside a call of MPI is the library's and is not told.

mod abi;
mod arguments;
mod facts;
mod fold;
mod hook;
mod modules;
mod producer;
mod requests;
mod sites;
mod symbol;
mod unwind;

use hook::{Language, call};
use iotrail_mpi_abi::{RequestUse, Roles, Shape};
use symbol::Symbol;

/// What the parameters of a function mean.
fn roles(function: u16) -> &'static Roles {
    &ROLES[usize::from(function)]
}

include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));
