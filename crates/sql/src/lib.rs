//! SQL over trails: the tables of an event log, the functions of the mapping and the Directly-Follows Graph in a query
//! engine, which can reach nothing else.
//!
//! A crate and a binary of its own because of the weight of the engine (DataFusion); `iotrail sql` calls the binary.

mod answer;
mod batches;
mod dfg_tables;
mod error;
mod events_table;
mod format;
mod functions;
mod lazy_table;
mod log_tables;
mod row_groups;
mod session;
mod statement;

pub use answer::{Answer, Interrupt};
pub use datafusion::sql::parser::Statement;
pub use error::SqlError;
pub use format::OutputFormat;
pub use session::{Limits, Session};
