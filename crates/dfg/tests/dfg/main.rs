//! Graphs of whole logs: the paper, laws, parts.

mod common;
mod engine;
mod laws;
mod paper_example;
mod parts;
mod slices;
