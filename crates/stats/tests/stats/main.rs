//! Profiles of whole logs.

mod files;
mod io_table;
mod schema;
mod sessions;
