//! The parser on single lines, on recorded traces, and under fuzzing.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod fixtures;
mod fuzz;
mod lines;
mod round_trip;
mod support;
