//! Results of analyses as text for terminals: tables that fit the width, summaries, the process tree.
//!
//! Everything is readable without colour, and names from traces are made harmless here ([`table`]).

pub mod access_table;
pub mod advice_summary;
pub mod compare_phases;
pub mod compare_summary;
pub mod compare_verdict;
pub mod dfg_summary;
pub mod file_table;
pub mod foremost_advice;
pub mod hints;
pub mod loop_tables;
pub mod message_tables;
pub mod never_returned;
pub mod outline;
pub mod process_tree;
pub mod profile_tables;
pub mod session_table;
pub mod table;
pub mod why_summary;
pub mod workflow_summary;
pub mod workload_summary;

mod figures;
mod incomplete;

pub use hints::{Hint, Hints};
pub use incomplete::{incomplete, limitation_of_figures};
pub use table::Style;
