//! The parser on single lines, on recorded traces, and under fuzzing.

mod fixtures;
mod fuzz;
mod lines;
mod round_trip;
mod support;
