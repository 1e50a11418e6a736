//! The program as its users call it, and what it records.

mod architecture;
mod cli;
mod memory;
mod record;
mod recorded;
mod workflow;
