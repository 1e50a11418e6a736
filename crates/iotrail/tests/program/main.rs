//! The program as its users call it, and what it records.

mod architecture;
mod cli;
mod record;
mod recorded;
mod workflow;
