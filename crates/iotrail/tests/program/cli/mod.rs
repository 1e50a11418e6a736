//! The command line as its users call it: one program, run in directories of its own.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a test")]

mod advise;
mod auto;
mod clone;
mod compare;
mod determinism;
mod errors;
mod formats;
mod help;
mod hostile;
mod identity;
mod importers;
mod incomplete;
mod influx;
mod input;
mod interrupted;
mod lines;
mod measure;
mod output;
mod paper;
mod redact;
mod replay;
mod requests;
mod sql;
mod stats;
mod structure;
mod structure_logs;
mod tables;
mod unfinished;
mod unknown;
mod util;
mod why;
mod workflow;
mod workload;
