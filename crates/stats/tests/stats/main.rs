//! Profiles of whole logs.

mod files;
mod in_out;
mod schema;
