//! A log as an SQLite database, as ParaTrac kept its profiles (Dun et al., section 4.3): for everybody who has SQLite.
//!
//! Texts that repeat (calls, paths, errors, flags) have tables of their own, and the view `events` joins them back to the
//! columns of the trail. Every value goes in as a parameter, so no name can become a statement; unknown is NULL.

mod database;
mod error;
mod event_table;
mod log_tables;
mod names;
mod value;

pub use database::export;
pub use error::SqliteError;
