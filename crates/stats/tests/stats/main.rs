//! Profiles of whole logs.

mod in_out;
mod schema;
