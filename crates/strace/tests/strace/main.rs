//! Traces of strace: lines, the order of calls, whole files.

mod common;
mod hints;
mod import;
mod in_flight;
mod order;
mod parser;
