//! Imports what strace prints.

pub mod parser;
