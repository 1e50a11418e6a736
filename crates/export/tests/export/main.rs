//! What is exported, read back.

mod arguments;
mod dfg;
#[path = "../../../draw/tests/draw/graphs/mod.rs"]
mod graphs;
mod refusals;
