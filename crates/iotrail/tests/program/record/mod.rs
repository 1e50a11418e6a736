//! Recordings against the truth: programs that note what they do, recorded and compared call by call.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a test")]

mod classes;
mod identity;
mod program;
mod truth;
mod waits;
