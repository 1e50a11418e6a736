//! Runs programs and follows every call that they make to files.
//!
//! The tracer delivers raw calls; the resolver makes events of them ([`iotrail_resolve`]).

pub mod decode;
pub mod tracee;
